#pragma once
/// The beliefs of all instances in one block of memory: the dual point of solvers that keep marginals.

#include <vector>

#include "core/dual.h"

namespace proxbench {

class BeliefStore final : public BeliefPoint {
 public:
  /// What beliefs of all instances take, in bytes.
  static double bytes(const Objective& objective, bool single);

  /// In single precision where `single`. Throws Error (kUsage) where they exceed the limit
  /// (require_memory()).
  BeliefStore(const Objective& objective, bool single, double limit_gigabytes);

  /// As stored.
  void get(Index instance, double* log_beliefs) const;
  void set(Index instance, const double* log_beliefs);
  /// The same without copies where they are stored in double precision: their place, or `scratch` filled with
  /// them, for reading and writing; and what is to be done once they are written. Distinct instances may be
  /// open at once.
  double* open(Index instance, AlignedVector<double>& scratch);
  void written(Index instance, const AlignedVector<double>& scratch) {
    if (!singles_.empty()) set(instance, scratch.data());
  }

  /// Marginals of a distribution: in single precision, of one within rounding of what is stored.
  void beliefs(const BeliefOracle& oracle, Index instance, double* log_beliefs) const override;
  double estimated_gap() const override { return estimated_gap_; }
  void set_estimated_gap(double gap) { estimated_gap_ = gap; }

 private:
  std::vector<std::size_t> begin_;
  AlignedVector<double> doubles_;
  std::vector<float> singles_;
  double estimated_gap_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace proxbench
