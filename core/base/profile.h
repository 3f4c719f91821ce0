#pragma once
/// How the time of a run is spent, by phase: how long, over how many calls, how much of it inside parallel
/// loops, and what work that is by definition.
///
/// A profile is of a run of its own. What solvers are timed by is the monitor's clock alone; this one is read
/// only where an objective is told to (Objective::time_phases), and such a run's seconds are compared with
/// those of other profiles.

#include <array>
#include <cstddef>
#include <cstdint>

namespace proxbench {

/// What an objective does for a solver; kSolver is all else: coordinate descent, quasi-Newton matrix, line
/// search.
enum class Phase { kScores, kInference, kPartialGradient, kFullGradient, kSolver };
inline constexpr std::size_t kPhases = 5;
/// "scores", "inference", "partial gradient", "full gradient" or "solver".
const char* phase_name(Phase phase);

/// By the definitions of experiments/bench/SCALING.md.
struct Work {
  double flops = 0.0;  ///< a multiply-add counts as two; exponentials and padding as none
  double bytes = 0.0;  ///< that move where no cache holds them
  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

struct PhaseProfile {
  std::int64_t calls = 0;
  double seconds = 0.0;       ///< 0 for kSolver: it is what the others leave of the run
  double loop_seconds = 0.0;  ///< of these, inside loops of two chunks or more
  Work work;
  /// What would cross between processes (core/base/sum.h), whether there are any: sums over instances, and
  /// the bytes of their results.
  std::int64_t sums = 0;
  double sum_bytes = 0.0;
};

struct Profile {
  std::array<PhaseProfile, kPhases> phases;
  Phase current = Phase::kSolver;
  double counting_seconds = 0.0;  ///< that counting the work took: in no phase

  PhaseProfile& of(Phase phase) { return phases[static_cast<std::size_t>(phase)]; }
  const PhaseProfile& of(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  /// Seconds of all phases but the solver's, and of counting.
  double accounted_seconds() const;
};

/// Wall seconds from some fixed moment on.
double profile_clock();

/// The time from here to the end of the scope goes to the phase; inside another phase, to that one.
/// count() -> Work is called at the end. Does nothing, and reads no clock, where `profile` is null.
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
