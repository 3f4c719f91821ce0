#pragma once
/// Bounds on the effect of rounding on F and on gradients, so that a certificate can include them.
///
/// Sums are bounded as in Higham 2002, "Accuracy and Stability of Numerical Algorithms", chapter 4. The error
/// of a sum of m terms, added in order, is at most m * 2^-53 times the sum of their sizes. For a tree, m is
/// the longest path from a term to the sum. The constants added to m cover second-order terms.

#include <vector>

#include "core/objective.h"

namespace proxbench {

/// The unit roundoff of double precision.
inline constexpr double kUnitRoundoff = 0x1p-53;

/// The known facts about a point in addition to w: its scores and, for the log loss, its residual.
struct KnownPoint {
  const Scores* scores = nullptr;
  const Residual* residual = nullptr;
};

/// Bounds the error of F at w, if F is computed from scores that are mapped from w directly. An error e of
/// the scores changes the loss of an instance by R.e, R being its residual, plus at most (sum over positions
/// of max |e|)^2. If R is unknown, the change is at most 2 max |e| per position. Inference is taken to be as
/// exact as if it rounded each score a few times. The more is known of the point, the tighter the bound.
/// Costs a walk over X.
double objective_rounding(const Objective& objective, const SparseVector& w, const KnownPoint& known = {});

/// A coordinate of X^T R and a bound on its error.
struct SharpGradient {
  double value, error;
};
/// Computes the coordinates of unary weights by compensated sums (Neumaier; Higham 2002, section 4.3), so
/// that only the rounding of R itself remains. Each output must have its own column. Costs several times as
/// much as plain sums.
std::vector<SharpGradient> sharp_gradients(const LinearMap& map, const Residual& residual,
                                           std::span<const Coord> index);
/// Does the same for all extra weights, whose gradients are sums over instances: makes a pass, one instance
/// at a time, and adds up what they contribute. Requires an oracle for single instances. Not counted.
std::vector<SharpGradient> sharp_extra_gradients(const Objective& objective, const Scores& scores);

/// Bounds the errors of the coordinates of X^T R for a given residual R. They come from the sums over
/// positions and from R itself, whose numbers are taken to be off by a few units of 2^-53. (The other
/// roundings of an inference turn R into the residual of slightly different scores. objective_rounding()
/// accounts for them.)
class GradientRounding {
 public:
  /// Costs as much as a full gradient of kPad outputs.
  GradientRounding(const Objective& objective, const Residual& residual);
  /// For a residual given by rows: squares[p] = sum_k R_pk^2. The gradient in an extra weight is the
  /// difference of two counts, and extra_sizes holds their sum.
  GradientRounding(const Objective& objective, std::span<const double> squares,
                   std::span<const double> extra_sizes);

  /// The bound at one coordinate, and the largest of all bounds.
  double at(Coord c) const;
  double largest() const { return largest_; }
  /// The norm of the bounds at all coordinates.
  double norm() const { return norm_; }
  /// Bounds the sum over i of |v_i| times the error at coordinate index[i]. `index` must ascend.
  double weighted(std::span<const Coord> index, std::span<const double> v) const;

 private:
  void add_features(const Objective& objective, std::span<const double> squares);
  void add_outputs(const Objective& objective, const Residual& residual);
  void add_extra(const Objective& objective, std::span<const double> sizes);

  Coord unary_;
  Index outputs_;
  std::vector<double> feature_;  ///< by feature, the norm over its outputs
  /// For binary X: output_ is the sum of |R| by output. By feature, of_terms_ is its factor and of_marginals_
  /// is added.
  std::vector<double> output_, of_terms_, of_marginals_;
  std::vector<double> extra_;
  double largest_ = 0.0, norm_ = 0.0;
};

}  // namespace proxbench
