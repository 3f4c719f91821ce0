#pragma once
/// The time of a run by phase: seconds, calls, seconds inside parallel loops, and work by definition.
///
/// Profile a separate run, because solvers are compared only by the monitor's clock. The clock here is read
/// only after Objective::time_phases(). Its seconds can be compared only with those of other profiles.

#include <array>
#include <cstddef>
#include <cstdint>

namespace proxbench {

/// The phases of an objective's work for a solver. kSolver is everything else: coordinate descent,
/// quasi-Newton matrix, line search.
enum class Phase { kScores, kInference, kPartialGradient, kFullGradient, kSolver };
inline constexpr std::size_t kPhases = 5;
/// "scores", "inference", "partial gradient", "full gradient" or "solver".
const char* phase_name(Phase phase);

/// Work as defined in experiments/bench/SCALING.md.
struct Work {
  double flops = 0.0;  ///< a multiply-add counts as two, exponentials and padding as none
  double bytes = 0.0;  ///< bytes that move if no cache holds them
  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

struct PhaseProfile {
  std::int64_t calls = 0;
  double seconds = 0.0;       ///< 0 for kSolver, whose time is what the others leave of the run
  double loop_seconds = 0.0;  ///< the part of `seconds` inside loops of two chunks or more
  Work work;
  /// The number of sums over instances (core/base/sum.h), and the bytes of their results. Several processes
  /// would exchange these. They are counted for a single process, too.
  std::int64_t sums = 0;
  double sum_bytes = 0.0;
};

struct Profile {
  std::array<PhaseProfile, kPhases> phases;
  Phase current = Phase::kSolver;
  double counting_seconds = 0.0;  ///< time that counting the work took; it belongs to no phase

  PhaseProfile& of(Phase phase) { return phases[static_cast<std::size_t>(phase)]; }
  const PhaseProfile& of(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  /// Seconds of all phases except the solver's, plus those of counting.
  double accounted_seconds() const;
};

/// Wall seconds since some fixed moment.
double profile_clock();

/// Assigns the time from here to the end of the scope to `phase`, unless it is nested in another phase, which
/// then gets the time. count() returns the work and is called at the end. If `profile` is null, does nothing
/// and reads no clock.
template <class Count>
class PhaseTimer {
 public:
  PhaseTimer(Profile* profile, Phase phase, const Count& count)
      : profile_(profile != nullptr && profile->current == Phase::kSolver ? profile : nullptr),
        count_(count) {
    if (profile_ == nullptr) return;
    profile_->current = phase;
    begin_ = profile_clock();
  }
  ~PhaseTimer() {
    if (profile_ == nullptr) return;
    const double end = profile_clock();
    PhaseProfile& phase = profile_->of(profile_->current);
    ++phase.calls;
    phase.seconds += end - begin_;
    phase.work += count_();
    profile_->current = Phase::kSolver;
    profile_->counting_seconds += profile_clock() - end;
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Profile* profile_;
  Count count_;
  double begin_ = 0.0;
};

}  // namespace proxbench
