#pragma once
/// The mean of the last iterates. A solver's steps make the gradients of directions with large curvature
/// oscillate, which hardly changes F. But the largest of all gradients decides the bound that an iterate
/// proves (core/certificates/dual.h). At the mean of some iterates the oscillations cancel, while F is at
/// most the mean of their F. So the mean of slowly converging iterates proves more than the last one.

#include "core/base/types.h"

namespace proxbench {

class MeanIterate {
 public:
  void clear() {
    sum_.clear();
    objectives_.clear();
  }
  /// Adds an iterate, whose indices ascend, and its F.
  void add(const SparseVector& w, double objective);
  /// Whether there are enough iterates, and F has fallen in their second half by at least a quarter of what
  /// it fell in the first one. If F falls faster, the last iterate is better than the mean.
  bool useful() const;
  SparseVector mean() const;

 private:
  SparseVector sum_;
  std::vector<double> objectives_;
};

}  // namespace proxbench
