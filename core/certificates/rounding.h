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

struct PointRounding {
  /// How far the F that is computed at w may be from F(w).
  double objective = 0.0;
  /// For each instance of this process: how far the logarithms of probabilities may be from those of the
  /// model at w, in the distribution that the residual is the one of (InferenceRounding).
  std::vector<double> divergence;
};

/// Bounds the rounding at w if scores are mapped from w directly. `loss` is the loss that was found.
///
/// - A score is a sum of n products. It is off by e <= (n + 1) u sum |x w|, u = 2^-53.
/// - Errors e of the scores change the loss of an instance by at most R.e, R being its residual, plus
///   (sum over positions of max |e|)^2 / 2, since they change its second derivative along e by at most its
///   variance. If R is unknown, the first term is at most 2 max |e| per position.
/// - Inference adds what InferenceRounding states.
/// - The KL divergence of two distributions whose log probabilities differ by at most d is at most d^2 / 2.
///   PointRounding::objective has room for that, too, so F minus it is below F(w) - KL.
/// - The sum over instances, and that of the penalty, add non-negative terms: each addition is one u of F.
///
/// The bound is tighter if the scores at w and, for the log loss, the residual are given. Costs a walk over
/// X.
PointRounding point_rounding(const Objective& objective, const SparseVector& w, double loss,
                             const Scores* scores = nullptr, const Residual* residual = nullptr);

/// For each position of this process, in units of 2^-53: a number R of the residual is off by at most
/// marginal * its marginal + drift * |R|.
struct ResidualErrors {
  std::vector<double> marginal, drift;
};
ResidualErrors residual_errors(const Objective& objective);

/// A coordinate of X^T R and a bound on its error.
struct SharpGradient {
  double value, error;
};
/// Computes the coordinates of unary weights by compensated sums, so that only the errors of R itself remain.
/// Each output must have its own column. Costs several times as much as plain sums.
std::vector<SharpGradient> sharp_gradients(const LinearMap& map, const Residual& residual,
                                           std::span<const Coord> index, const ResidualErrors& of);
/// Does the same for all extra weights, whose gradients are sums over instances: makes a pass, one instance
/// at a time, and adds up what they contribute. drift[e] is what SumOracle::spread_drift() gives to weight e.
/// Requires an oracle for single instances. Not counted.
std::vector<SharpGradient> sharp_extra_gradients(const Objective& objective, const Scores& scores,
                                                 std::span<const double> drift);

/// The numbers of a residual that is given by rows, as differences of expected and gold features.
struct RowResidual {
  std::span<const double> squares;      ///< by position: the sum over outputs of the squares
  std::span<const double> extra_sizes;  ///< by extra weight: expected count + gold count
  /// In units of 2^-53: the relative error of an expected feature, and of an expected count.
  double of_marginals, of_extra;
};

/// Bounds the errors of the coordinates of X^T R. They come from the sums over positions, and from R as far
/// as it is not the residual of one distribution (ResidualErrors). By Cauchy-Schwarz, a feature with n
/// entries has sum_p |x_p| r_p <= sqrt(n sum_p x_p^2 r_p^2).
class GradientRounding {
 public:
  /// Costs as much as a full gradient of kPad outputs. `divergence` is that of PointRounding, for kkt().
  GradientRounding(const Objective& objective, const Residual& residual,
                   std::span<const double> divergence = {});
  GradientRounding(const Objective& objective, const RowResidual& residual);

  /// The bound at one coordinate, and the largest of all bounds.
  double at(Coord c) const;
  double largest() const { return largest_; }
  /// The norm of the bounds at all coordinates.
  double norm() const { return norm_; }
  /// Bounds the sum over i of |v_i| times the error at coordinate index[i]. `index` must ascend.
  double weighted(std::span<const Coord> index, std::span<const double> v) const;
  /// The largest difference between a coordinate and the gradient of l at w. It also has the rounding of the
  /// scores, which the bounds above need not have: a certificate may take any distribution.
  double from_gradient() const { return from_gradient_; }
  const ResidualErrors& errors() const { return errors_; }
  /// For each extra weight, its part of the bound that comes from drift, in units of 2^-53.
  std::span<const double> extra_drift() const { return extra_drift_; }

 private:
  /// By position: the norms of R, of its error, and of its difference from the residual at w, the last two in
  /// units of 2^-53.
  struct Rows {
    std::vector<double> size, error, difference;
  };
  Rows rows_of(const Objective& objective, const Residual& residual, std::span<const double> divergence);
  void add_features(const Objective& objective, const Rows& rows, double additions);
  void add_outputs(const Objective& objective, const Residual& residual, std::span<const double> divergence);
  void add_extra(std::span<const double> sizes, double roundings);

  Coord unary_;
  Index outputs_;
  ResidualErrors errors_;
  std::vector<double> feature_;  ///< by feature, the norm over its outputs
  /// For binary X: output_ is the sum of |R| by output, and output_error_ that of its error. By feature,
  /// of_terms_ is the factor of output_, and of_marginals_ is added.
  std::vector<double> output_, output_error_, of_terms_, of_marginals_;
  std::vector<double> extra_drift_, extra_difference_, extra_;
  double largest_ = 0.0, norm_ = 0.0, from_gradient_ = 0.0;
};

}  // namespace proxbench
