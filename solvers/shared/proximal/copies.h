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
  /// Looks for copies if lambda > 0 and mu > 0.
  explicit Copies(const Objective& objective);

  bool empty() const { return copies_ == 0; }
  /// Replaces the coordinates of copies by those of the first one of them, whose weight is their sum.
  void fold(const Objective& objective, Objective::Selection& selection) const;
  /// The reverse: gives each copy its share of the weight.
  void spread(const Objective& objective, SparseVector& w) const;
  /// mu/m of a coordinate of a first copy.
  double mu(const Objective& objective, Coord c) const {
    return empty() || c >= objective.unary_weights() ? objective.mu()
                                                     : objective.mu() / count_[objective.map().feature_of(c)];
  }

 private:
  std::size_t copies_ = 0;     ///< features that are no first copy
  std::vector<Index> first_;   ///< of each feature, the first one with this column
  std::vector<Index> next_;    ///< the next one with this column, or the feature itself
  std::vector<double> count_;  ///< m, for first copies
};

}  // namespace proxbench::proximal
