#pragma once

#include <memory>
#include <span>

#include "core/objective.h"

namespace proxbench {

/// The Hessian of the smooth part at one point, for products with vectors: what the oracle stores about the
/// point, and buffers for a direction. Requires an oracle with derivatives. The objective is borrowed.
class Curvature {
 public:
  explicit Curvature(Objective& objective)
      : objective_(objective), direction_(objective.make_scores()), change_(objective.make_residual()) {}
  /// Makes one pass: Objective::infer() with a residual. From then on, products belong to this point.
  double infer(const ScorePoint& at, Residual& residual);
  /// out = H v on the coordinates `set`, which must ascend, for a v that is zero elsewhere. This is the
  /// partial adjoint of the derivative of the residual along the scores of v, plus mu*v. The derivative
  /// counts as one pass.
  void product(std::span<const Coord> set, std::span<const double> v, std::span<double> out);
  /// Does the same for all coordinates; v.size() == out.size() == dimension(). v must be zero outside the
  /// objective's candidates().
  void product(std::span<const double> v, std::span<double> out);

 private:
  void differentiate();

  Objective& objective_;
  std::unique_ptr<DerivativeOracle::Messages> messages_;  ///< null: there is no point yet
  Scores direction_;
  Residual change_;
};

}  // namespace proxbench
