#pragma once
/// A step on the face of the current signs, for working sets on which an inner problem would cost more than
/// the pass that it replaces.
///
/// Let v be minus the minimum-norm subgradient of F on the working set, and H the inverse L-BFGS matrix of
/// the smooth part. The step is
///
///     p = H v,   p_j = 0 if w_j = 0 and p_j v_j <= 0,   w_j + p_j = 0 if the sign of w_j would change.
///
/// It costs two walks over the pairs. OWL-QN (Andrew and Gao 2007) also sets p_j = 0 if w_j != 0 and p_j v_j
/// <= 0. That ensures descent, but loses much of the quasi-Newton step. So here it is done only if the step
/// predicts no descent otherwise.
///
/// H starts from the diagonal D^-1 / gamma, where D is the fourth root of the Hessian's diagonal times the
/// counts (diagonals.h), and gamma is the curvature of the newest pair. Each of the two alone is a poor D:
/// the Hessian nearly vanishes where data are fitted well, and counts know nothing of the fit. Where full
/// gradients are costly, and at w = 0, counts take the place of both. D = I is poor if some features are much
/// more frequent than others.

#include <optional>
#include <span>
#include <vector>

#include "solvers/shared/lbfgs_memory.h"
#include "solvers/shared/proximal/iterate.h"

namespace proxbench::prox_newton {

class FaceModel {
 public:
  /// Forgets all that was learned.
  void forget() {
    memory_.reset();
    first_slope_.reset();
  }
  /// Moves to the working set of a new epoch. Keeps the pairs, with zeros in new rows.
  void start_epoch(proximal::Iterate& at);
  /// Moves the pairs to this working set, if there are any, while another model makes the steps.
  void follow(const proximal::Iterate& at);
  /// The working set has shrunk to these rows (ascending).
  void keep_rows(std::span<const std::uint32_t> kept);
  /// Sets at.d to the step. Returns Delta = g^T d + lambda*(||w + d||_1 - ||w||_1).
  double step(proximal::Iterate& at);
  /// Learns from a step along at.d.
  void learn(const proximal::Step& step, const proximal::Iterate& at);

 private:
  double curvature_along_direction(proximal::Iterate& at) const;

  std::optional<dense::LbfgsMemory> memory_;
  std::vector<double> diagonal_;  ///< D; empty while another model makes the steps
  double gamma_ = 1.0;
  std::vector<double> v_;
  std::optional<double> first_slope_;  ///< of at.d, if it is the first step already
};

}  // namespace proxbench::prox_newton
