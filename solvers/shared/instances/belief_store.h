#pragma once
/// The beliefs of all instances in one block of memory. They are the dual point of solvers that keep
/// marginals.

#include <vector>

#include "core/dual.h"

namespace proxbench {

class BeliefStore final : public BeliefPoint {
 public:
  /// The memory that the beliefs of all instances take, in bytes.
  static double bytes(const Objective& objective);
  /// Throws Error (kUsage) if the beliefs of all instances need more memory than the limit
  /// (require_memory()).
  BeliefStore(const Objective& objective, double limit_gigabytes);
  /// The beliefs of an instance, to read and write. Threads may work on distinct instances at the same time.
  double* at(Index instance) { return logs_.data() + begin_[instance]; }
  void beliefs(const BeliefOracle& oracle, Index instance, double* log_beliefs) const override;
  double estimated_gap() const override { return estimated_gap_; }
  void set_estimated_gap(double gap) { estimated_gap_ = gap; }

 private:
  std::vector<std::size_t> begin_;
  AlignedVector<double> logs_;
  double estimated_gap_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace proxbench
