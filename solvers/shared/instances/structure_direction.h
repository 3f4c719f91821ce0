#pragma once
/// A weighted sum of the features of one instance's structures, by the positions and outputs where it is not
/// 0: what max-margin solvers change w by.

#include <span>
#include <vector>

#include "core/objective.h"
#include "solvers/shared/instances/weight_rows.h"

namespace proxbench {

/// Inner products x_t . x_u of an instance's positions, and so ||X^T d||^2 without w's features.
class PositionGrams {
 public:
  /// Throws Error (kUsage) if the inner products need more memory than the limit (require_memory()).
  PositionGrams(const Objective& objective, double limit_gigabytes);
  /// x_t . x_u, u <= t, positions counted from the instance's first.
  double at(Index instance, std::size_t t, std::size_t u) const {
    return value_[begin_[instance] + t * (t + 1) / 2 + u];
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<double> value_;  ///< lower triangles by rows
};

class StructureDirection {
 public:
  struct Term {
    std::span<const Index> structure;
    double weight;
  };
  /// Coefficients smaller than rounding leaves of 1 - 1 are left out.
  static constexpr double kRounding = 1e-14;

  /// d = sum of weight * features of the structure of an instance. The data are borrowed.
  void form(const Objective& objective, Index instance, std::span<const Term> terms);
  /// ||X^T d||^2.
  double squared_norm(const PositionGrams& grams) const;
  /// <w, X^T d>.
  double dot(const WeightRows& w) const;
  /// w += step * X^T d.
  void add_to(WeightRows& w, double step) const;

 private:
  struct Position {
    Index position;
    std::size_t begin, end;  ///< its outputs
  };
  struct Output {
    Index output;
    double value;
  };
  struct Extra {
    std::size_t weight;
    double value;
  };
  const DesignMatrix* x_ = nullptr;
  Index instance_ = 0, begin_ = 0;  ///< and its first position
  std::vector<Position> positions_;
  std::vector<Output> outputs_;
  std::vector<Extra> extra_;
  /// Scratch: zeros between calls.
  mutable AlignedVector<double> by_output_;
  std::vector<double> by_extra_;
  std::vector<std::size_t> touched_, on_;
};

}  // namespace proxbench
