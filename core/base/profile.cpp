#include "core/base/profile.h"

#include <chrono>

namespace proxbench {

const char* phase_name(Phase phase) {
  constexpr const char* kNames[] = {"scores", "inference", "partial gradient", "full gradient", "solver"};
  return kNames[static_cast<std::size_t>(phase)];
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
