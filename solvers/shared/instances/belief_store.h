#pragma once
/// The beliefs of all instances in one block of memory. They are the dual point of solvers that keep
/// marginals.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/certificates/dual_points.h"
#include "solvers/shared/instances/passes.h"

namespace proxbench {

class BeliefStore final : public BeliefPoint {
 public:
  /// The memory that the beliefs of all instances take, in bytes.
  static double bytes(const Objective& objective) {
    double numbers = 0.0;
    for (Index i = 0; i < objective.instances(); ++i)
      numbers += static_cast<double>(objective.oracle().beliefs()->belief_size(i).all());
    return numbers * sizeof(double);
  }

  /// Throws Error (kUsage) if the beliefs of all instances need more memory than the limit
  /// (require_memory()).
  BeliefStore(const Objective& objective, double limit_gigabytes) : begin_{0} {
    require_memory(bytes(objective), limit_gigabytes,
                   "the marginals of " + std::to_string(objective.instances()) + " instances");
    for (Index i = 0; i < objective.instances(); ++i)
      begin_.push_back(begin_.back() + objective.oracle().beliefs()->belief_size(i).all());
    // calloc() does not touch the memory, which may take minutes to fill.
    std::size_t room = (begin_.back() + kPad) * sizeof(double);
    memory_.reset(std::calloc(room, 1));
    void* start = memory_.get();
    if (start == nullptr) throw std::bad_alloc();
    logs_ =
        static_cast<double*>(std::align(kPad * sizeof(double), begin_.back() * sizeof(double), start, room));
  }

  /// The beliefs of an instance, to read and write. Threads may work on distinct instances at the same time.
  double* at(Index instance) { return logs_ + begin_[instance]; }
  void beliefs(const BeliefOracle&, Index instance, double* log_beliefs) const override {
    std::copy(logs_ + begin_[instance], logs_ + begin_[instance + std::size_t{1}], log_beliefs);
  }

  double estimated_gap() const override { return estimated_gap_; }
  void set_estimated_gap(double gap) { estimated_gap_ = gap; }

 private:
  std::vector<std::size_t> begin_;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
  double* logs_ = nullptr;  ///< in memory_, on a boundary of a cache line
  double estimated_gap_ = kNaN;
};

}  // namespace proxbench
