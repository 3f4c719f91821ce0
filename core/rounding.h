#pragma once
/// Bounds on what rounding does to F and to gradients, so that a certificate can state its own.
///
/// Sums are bounded as by Higham 2002, "Accuracy and Stability of Numerical Algorithms", chapter 4: m terms
/// that are added in order are off by at most m * 2^-53 times the sum of their sizes, and so are trees, m
/// being the longest path from a term to the sum. Second-order terms are covered by the constants added to m.

#include <vector>

#include "core/objective.h"

namespace proxbench {

/// The unit roundoff of double precision.
inline constexpr double kUnitRoundoff = 0x1p-53;

/// What is known of a point beside w: its scores, and for the log loss the residual there.
struct KnownPoint {
  const Scores* scores = nullptr;
  const Residual* residual = nullptr;
};

/// By how much F may be off that is computed from the scores of w, mapped afresh. An error e of the scores
/// changes an instance's loss by R.e, R its residual, and by at most (sum over positions of max |e|)^2 more;
/// without R, by at most 2 max |e| for each position. Inference is taken to be as exact as scores that are
/// rounded a few times. The more is known of the point, the closer the bound. Costs a walk over X.
double objective_rounding(const Objective& objective, const SparseVector& w, const KnownPoint& known = {});

/// A coordinate of X^T R, and by how much it may be off.
struct SharpGradient {
  double value, error;
};
/// Those of unary weights by compensated sums (Neumaier; Higham 2002, section 4.3): what is left is the
/// rounding of R itself. Where each output has its column. Costs several times as much as plain sums.
std::vector<SharpGradient> sharp_gradients(const LinearMap& map, const Residual& residual,
                                           std::span<const Coord> index);

/// By how much the coordinates of X^T R may be off, R the residual at hand: the sums over positions, and R
/// itself, whose numbers are taken to be off by a few units of 2^-53. (What else an inference rounds moves R
/// to that of other scores nearby, which objective_rounding() accounts for.)
class GradientRounding {
 public:
  /// Costs as much as a full gradient of kPad outputs.
  GradientRounding(const Objective& objective, const Residual& residual);
  /// Of a residual given by rows: squares[p] = sum_k R_pk^2, and sizes of what each extra weight's number is
  /// a difference of.
  GradientRounding(const Objective& objective, std::span<const double> squares,
                   std::span<const double> extra_sizes);

  /// At a coordinate; and the largest of all.
  double at(Coord c) const;
  double largest() const { return largest_; }
  /// The norm of all.
  double norm() const { return norm_; }
  /// The most that a sum of |v_i| times the error at coordinate index[i] (ascending) can be.
  double weighted(std::span<const Coord> index, std::span<const double> v) const;

 private:
  void add_features(const Objective& objective, std::span<const double> squares);
  void add_outputs(const Objective& objective, const Residual& residual);
  void add_extra(const Objective& objective, std::span<const double> sizes);

  Coord unary_;
  Index outputs_;
  std::vector<double> feature_;  ///< by feature: the norm over its outputs
  /// For binary X: by output the sum of |R|, by feature what it is multiplied by, and what is added.
  std::vector<double> output_, of_terms_, of_marginals_;
  std::vector<double> extra_;
  double largest_ = 0.0, norm_ = 0.0;
};

}  // namespace proxbench
