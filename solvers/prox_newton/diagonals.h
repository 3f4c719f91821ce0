#pragma once
/// Diagonals for quasi-Newton models of l on a working set. Both leave out the penalty.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/objective.h"

namespace proxbench::prox_newton {

/// m_pk * (1 - m_pk) of one output k, by position p, where m_pk is its marginal. The residual holds m_pk or
/// m_pk - 1.
class Spread {
 public:
  Spread(const Residual& residual, Index output)
      : column_(residual.find(output)), share_(residual.owns(output) ? 1.0 : residual.share[output]) {}
  double operator()(std::size_t p) const {
    const double r = std::abs(share_ * column_[p]);
    return std::max(r * (1.0 - r), 0.0);
  }

 private:
  const double* column_;
  double share_;
};

/// The Hessian's diagonal at the w of `residual`, at ascending coordinates: sum_p x_pj^2 * m_pk * (1 - m_pk).
/// For an extra weight, its expected count takes the place of the second derivative.
std::vector<double> hessian_diagonal(const Objective& objective, const Residual& residual,
                                     std::span<const Coord> index);

/// A diagonal that does not depend on w. The entry of (j, k) is feature j's sum of squares times the share of
/// positions at which an output is on, averaged over outputs. The entry of an extra weight is the mean count
/// of all extra weights. Shares and counts are those of the gold structures.
std::vector<double> counts_diagonal(const Objective& objective, std::span<const Coord> index);

/// What is added to a diagonal, which may have entries that nearly vanish: a share of its mean. Steps there
/// would be far too long.
double ridge_of(std::span<const double> diagonal);

}  // namespace proxbench::prox_newton
