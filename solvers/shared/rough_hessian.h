#pragma once
/// A positive definite approximation M of the Hessian of a smooth F = l + (mu/2)*||w||^2, with a cheap
/// inverse. It is the initial matrix of L-BFGS and the preconditioner of conjugate gradients. It requires
/// that there are few features. It is made from a matrix B with one block per output k. For features j, j',
///
///     B[(j,k), (j',k)] = sum_p x_pj * x_pj' * m_pk * (1 - m_pk) + mu*[j = j'],
///
/// where m_pk is the marginal of output k at position p. These are the exact second derivatives without the
/// covariances between positions and between outputs. If there are many positions, they are estimated from a
/// sample (symmetric_block.h). On the extra weights B is diagonal: the expected count of each, plus mu.
///
/// If the marginals sum to one at each position, l does not change along directions that are constant over
/// the outputs of a feature (Zhong et al. 2014, Theorem 3). Along these directions the Hessian is exactly
/// mu*I, and so is M. On their orthogonal complement M^-1 = P B^-1 P, with P the projection onto it.
/// Otherwise M = B.

#include <span>
#include <vector>

#include "core/objective.h"

namespace proxbench::dense {

class RoughHessian {
 public:
  explicit RoughHessian(const Objective& objective);
  ~RoughHessian();

  /// With more features than this there are no blocks.
  static constexpr Index kMostFeatures = 512;
  /// Whether building M costs no more than a few passes, by counts of operations, and there are few features.
  bool has_blocks() const;
  /// Builds M at the point of `residual`. Requires has_blocks().
  void build(const Residual& residual);
  /// Builds M from spread[k][p] instead of m_pk * (1 - m_pk), and from `extra` instead of the expected counts
  /// of extra weights. If `constant`, the exact Hessian is mu*I along directions that are constant over the
  /// outputs of a feature.
  void build(const std::vector<std::vector<double>>& spread, std::span<const double> extra, bool constant);
  /// r := M^-1 r. `r` has length d.
  void solve(std::span<double> r) const;

 private:
  struct Block;  ///< a Cholesky factor; only the source reads Eigen, which compiles slowly

  /// Subtracts from each feature's values their mean over outputs. Returns the means.
  std::vector<double> centre(std::span<double> r) const;
  void solve_rough(std::span<double> r) const;

  const Objective& objective_;
  std::vector<double> inverse_;  ///< 1 / diagonal of M
  bool centred_ = false;         ///< marginals sum to one at every position
  std::vector<Block> blocks_;    ///< one per output
};

}  // namespace proxbench::dense
