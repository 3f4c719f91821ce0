#include "core/base/profile.h"

#include <chrono>

namespace proxbench {

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::kScores:
      return "scores";
    case Phase::kInference:
      return "inference";
    case Phase::kPartialGradient:
      return "partial gradient";
    case Phase::kFullGradient:
      return "full gradient";
    case Phase::kSolver:
      break;
  }
  return "solver";
}

double Profile::accounted_seconds() const {
  double sum = counting_seconds;
  for (const PhaseProfile& phase : phases) sum += phase.seconds;
  return sum;
}

double profile_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

LoopTimer::LoopTimer(Profile* profile, std::size_t chunks)
    : profile_(chunks > 1 ? profile : nullptr), chunks_(chunks) {
  if (profile_ != nullptr) begin_ = profile_clock();
}

LoopTimer::~LoopTimer() {
  if (profile_ == nullptr) return;
  PhaseProfile& phase = profile_->of(profile_->current);
  phase.loop_seconds += profile_clock() - begin_;
  ++phase.loops[chunks_];
}

}  // namespace proxbench
