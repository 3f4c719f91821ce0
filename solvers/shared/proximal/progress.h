#pragma once
/// Decides whether a solve has stalled. Even if F has settled to within rounding, a step may still reduce the
/// subgradient. The L-BFGS pairs are therefore cleared only after many iterations without a new low of
/// either. If clearing them brings neither F nor kkt to a new low, the run is over.

#include <cstdint>

#include "core/quasi_newton/line_search.h"

namespace proxbench::proximal {

class Progress {
 public:
  /// `patience`: the number of iterations in a row without a new low of F or kkt after which a step counts as
  /// no progress. `value`: F at the start.
  Progress(std::int64_t patience, double value) : patience_(patience), lowest_(value) {}

  /// `largest`: the largest entry of the minimum-norm subgradient on the working set.
  void saw_subgradient(double largest) {
    if (!(largest < lowest_kkt_)) return;
    lowest_kkt_ = largest;
    since_ = 0;
  }
  /// Whether the step counts as progress.
  bool saw_step(const ArmijoResult& step) {
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
  /// Starts afresh after a step without progress. Returns whether there was progress since the last restart.
  bool restart() {
    if (!(lowest_ < at_restart_) && !(lowest_kkt_ < kkt_at_restart_)) return false;
    at_restart_ = lowest_;
    kkt_at_restart_ = lowest_kkt_;
    return true;
  }

 private:
  std::int64_t patience_, since_ = 0;
  double lowest_, lowest_kkt_ = kInfinity;
  double at_restart_ = kInfinity, kkt_at_restart_ = kInfinity;
};

}  // namespace proxbench::proximal
