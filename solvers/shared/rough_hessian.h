#pragma once
/// A positive definite stand-in for the Hessian of a smooth F = l + (mu/2)*||w||^2, whose inverse is cheap:
/// what L-BFGS starts from, and what conjugate gradients are preconditioned with. Where features are few, it
/// has blocks by output, for features j, j' and an output k
///
///     M[(j,k), (j',k)] = sum_p x_pj * x_pj' * m_pk * (1 - m_pk) + mu*[j = j'],
///
/// m_pk the marginal of output k at position p: the exact second derivatives but for covariances between
/// positions and between outputs, from a sample of positions where these are many (symmetric_block.h). An
/// extra weight has its expected number + mu.
///
/// Where the marginals of each position sum to one, l does not change along directions that
/// are constant over the outputs of a feature (Zhong et al. 2014, Theorem 3): there the Hessian is mu*I
/// exactly, and so is M; on what is orthogonal to them M^-1 is P M^-1 P, P the projection.

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "core/objective.h"

namespace proxbench::dense {

class RoughHessian {
 public:
  explicit RoughHessian(const Objective& objective) : objective_(objective) {}

  /// Whether features are few enough for blocks.
  bool has_blocks() const;
  /// At the point of the residual. Only where it has blocks.
  void build(const Residual& residual);
  /// r := M^-1 r, d numbers.
  void solve(std::span<double> r) const;

 private:
  /// Takes the mean over outputs out of each feature's numbers, and returns the means.
  std::vector<double> centre(std::span<double> r) const;
  void solve_rough(std::span<double> r) const;

  const Objective& objective_;
  std::vector<double> inverse_;                     ///< of the diagonal
  bool centred_ = false;                            ///< marginals sum to one at every position
  std::vector<Eigen::LLT<Eigen::MatrixXd>> block_;  ///< one an output
};

}  // namespace proxbench::dense
