#include "solvers/prox_qn/epochs.h"

#include <cmath>

namespace proxbench::prox_qn {

namespace {

/// An epoch of a growing working set has so many iterations at least where full gradients are dear, and so
/// many at most where they are cheap.
constexpr std::int64_t kFewestIterations = 3, kMostIterations = 15, kMostWithBlocks = 25;

}  // namespace

void Epochs::start(double measure) {
  if (!begun()) {
    first_ = measure;
    target_ = settings_.epochs.tol * measure;
  } else {
    target_ *= settings_.epochs.factor;
  }
  if (settings_.relative_epochs)
    target_ = (dear_ ? settings_.epochs.factor : std::sqrt(settings_.epochs.factor)) * measure;
  iterations_ = 0;
}

bool Epochs::over(double measure, bool blocks) {
  ++iterations_;
  if (settings_.growing && !dear_ && iterations_ >= (blocks ? kMostWithBlocks : kMostIterations)) return true;
  return settings_.epochs.shrinking && measure <= target_ &&
         (!settings_.growing || !dear_ || iterations_ >= kFewestIterations);
}

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

}  // namespace proxbench::prox_qn
