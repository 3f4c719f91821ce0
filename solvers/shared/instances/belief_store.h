#pragma once
/// The beliefs of all instances in one block of memory. They are the dual point of solvers that keep
/// marginals.

#include <algorithm>
#include <string>
#include <vector>

#include "core/dual.h"
#include "solvers/shared/instances/passes.h"

namespace proxbench {

class BeliefStore final : public BeliefPoint {
 public:
  /// The memory that the beliefs of all instances take, in bytes.
  static double bytes(const Objective& objective) {
    double numbers = 0.0;
    for (Index i = 0; i < objective.instances(); ++i)
      numbers += static_cast<double>(objective.beliefs().belief_size(i).all());
    return numbers * sizeof(double);
  }

  /// Throws Error (kUsage) if the beliefs of all instances need more memory than the limit
  /// (require_memory()).
  BeliefStore(const Objective& objective, double limit_gigabytes) : begin_{0} {
    require_memory(bytes(objective), limit_gigabytes,
                   "the marginals of " + std::to_string(objective.instances()) + " instances");
    for (Index i = 0; i < objective.instances(); ++i)
      begin_.push_back(begin_.back() + objective.beliefs().belief_size(i).all());
    logs_.resize(begin_.back());
  }

  /// The beliefs of an instance, to read and write. Threads may work on distinct instances at the same time.
  double* at(Index instance) { return logs_.data() + begin_[instance]; }
  void beliefs(const BeliefOracle&, Index instance, double* log_beliefs) const override {
    std::copy(logs_.data() + begin_[instance], logs_.data() + begin_[instance + std::size_t{1}], log_beliefs);
  }

  double estimated_gap() const override { return estimated_gap_; }
  void set_estimated_gap(double gap) { estimated_gap_ = gap; }

 private:
  std::vector<std::size_t> begin_;
  AlignedVector<double> logs_;
  double estimated_gap_ = kNaN;
};

}  // namespace proxbench
