#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/numbers.h"
#include "core/objective.h"

namespace proxbench {

/// F and its optimality measures at one point.
struct Certificate {
  double objective = 0.0, loss = 0.0, l1 = 0.0;
  double kkt = 0.0;           ///< 0 or NaN for a hinge loss: one subgradient shows no more
  double dual = 0.0;          ///< a lower bound on min F, net of rounding (dual.h)
  double rounding = 0.0;      ///< a bound on the error of F (rounding.h)
  double kkt_rounding = 0.0;  ///< a bound on the error of kkt; 0 for a hinge loss
  std::uint64_t nnz = 0;

  /// That of a point at which nothing was computed.
  static Certificate unknown(std::uint64_t nnz) { return {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, nnz}; }
  /// Whether F, its rounding and the bound are finite. Otherwise nothing is proven.
  bool proves() const { return std::isfinite(objective) && std::isfinite(rounding) && std::isfinite(dual); }
  /// An upper bound on F - min F, never less than the rounding of F. NaN if nothing is proven.
  double gap() const { return proves() ? std::max(difference_up(objective, dual), rounding) : kNaN; }
  /// gap() divided by |F|; 0 if both are 0. NaN if nothing is proven, or if rounding hides F.
  double relative_gap() const {
    if (objective == 0.0 && gap() == 0.0) return 0.0;
    return rounding < std::abs(objective) ? quotient_up(gap(), std::abs(objective)) : kNaN;
  }
};
/// Costs about two full gradients and two inferences (one for a hinge loss). l1 is ||w||_1, without lambda.
Certificate certify(Objective& objective, const SparseVector& w);
/// kkt of a full selection. NaN for a hinge loss, unless w is optimal.
double kkt_of(const Objective& objective, const Objective::Selection& found);
/// kkt at w = 0, in one inference and one full gradient.
double kkt_at_zero(Objective& objective);

}  // namespace proxbench
