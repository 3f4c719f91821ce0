#pragma once
/// A weighted sum of the features of one instance's structures. Only the positions and outputs with nonzero
/// coefficients are stored. Max-margin solvers change w along this direction.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/objective.h"
#include "solvers/shared/instances/weight_rows.h"

namespace proxbench {

/// The inner products x_t . x_u between the positions of each instance. These products give ||X^T d||^2
/// without a walk over the features.
class PositionGrams {
 public:
  /// Throws Error (kUsage) if the inner products need more memory than the limit (require_memory()).
  PositionGrams(const Objective& objective, double limit_gigabytes);
  /// The inner product x_t . x_u. Positions are counted from the instance's first one.
  double at(Index instance, std::size_t t, std::size_t u) const {
    if (t < u) std::swap(t, u);
    return value_[begin_[instance] + t * (t + 1) / 2 + u];
  }

 private:
  std::vector<std::size_t> begin_;
  std::unique_ptr<double[]> value_;  ///< lower triangles by rows
};

class StructureDirection {
 public:
  struct Term {
    std::span<const Index> structure;
    double weight;
  };
  /// Coefficients of at most this size are dropped: they may be rounding errors of 1 - 1.
  static constexpr double kRounding = 1e-14;

  /// Sets d = sum of weight * features of each structure, all of one instance. Borrows the data set.
  void form(const Objective& objective, Index instance, std::span<const Term> terms);
  /// ||X^T d||^2.
  double squared_norm(const PositionGrams& grams) const;
  /// <w, X^T d>.
  double dot(const WeightRows& w) const;
  /// w += step * X^T d.
  void add_to(WeightRows& w, double step) const;
  /// For X^T d as weights: sets rows[t] to the scores of the instance's position t. Rows are `width` numbers
  /// apart.
  void scores(const PositionGrams& grams, std::size_t width, std::span<double> rows) const;
  /// For each extra weight of d, sets its entry in `extra` to `scale` times its coefficient.
  void set_extra(std::span<double> extra, double scale) const {
    for (const Extra& e : extra_) extra[e.weight] = scale * e.value;
  }

 private:
  struct Position {
    Index position;
    std::size_t begin, end;  ///< the position's range of outputs_
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
  Index instance_ = 0, begin_ = 0;  ///< the instance and its first position
  std::vector<Position> positions_;
  std::vector<Output> outputs_;
  std::vector<Extra> extra_;
  /// Scratch, all zeros between calls.
  mutable AlignedVector<double> by_output_;
  std::vector<double> by_extra_;
  std::vector<std::size_t> touched_, on_;
};

}  // namespace proxbench
