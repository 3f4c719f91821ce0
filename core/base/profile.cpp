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

}  // namespace proxbench
