#pragma once
/// Features with equal columns, and weights that they share.
///
/// Let m features have the same column. With u the sum of their weights for one output, the loss depends on u
/// only. Their penalty is smallest if each has the weight u/m: then it is lambda*|u| + mu/(2m)*u^2. So a
/// solver needs one weight u for all of them, whose l2 penalty has mu/m in place of mu. (With mu = 0,
/// core/data/reduction.h leaves out copies altogether.)

#include <vector>

#include "core/objective.h"

namespace proxbench::proximal {

class Copies {
 public:
  Copies() = default;
  /// Compares the columns of all features if lambda > 0 and mu > 0. Otherwise the object stays empty.
  explicit Copies(const Objective& objective);

  /// Whether no two columns are known to be equal.
  bool empty() const { return first_.empty(); }
  /// For each output, replaces the coordinates of several copies by the coordinate of the first copy. Its
  /// weight is the sum of their weights.
  void fold(const Objective& objective, Objective::Selection& selection) const;
  /// Does the reverse: gives each of m copies the share 1/m of the weight.
  void spread(const Objective& objective, SparseVector& w) const;
  /// Returns mu/m, for a coordinate of the first of m copies.
  double mu(const Objective& objective, Coord c) const {
    return empty() || c >= objective.unary_weights() ? objective.mu()
                                                     : objective.mu() / count_[objective.map().feature_of(c)];
  }

 private:
  /// For each feature j: the first feature with the same column; the next one, or j if there is none; and m
  /// if j is the first one.
  std::vector<Index> first_, next_;
  std::vector<double> count_;
};

}  // namespace proxbench::proximal
