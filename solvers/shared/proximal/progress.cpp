#include "solvers/shared/proximal/progress.h"

namespace proxbench::proximal {

void Progress::saw_subgradient(double largest) {
  if (!(largest < lowest_kkt_)) return;
  lowest_kkt_ = largest;
  since_ = 0;
}

bool Progress::saw_step(const ArmijoResult& step) {
  if (step.accepted && step.value < lowest_) {
    lowest_ = step.value;
    since_ = 0;
  } else {
    ++since_;
  }
  const bool progress = step.accepted && since_ <= patience_;
  if (!progress) since_ = 0;
  return progress;
}

bool Progress::restart() {
  if (!(lowest_ < at_restart_) && !(lowest_kkt_ < kkt_at_restart_)) return false;
  at_restart_ = lowest_;
  kkt_at_restart_ = lowest_kkt_;
  return true;
}

}  // namespace proxbench::proximal
