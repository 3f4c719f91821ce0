#pragma once
/// A positive definite stand-in for the Hessian of a smooth F = l + (mu/2)*||w||^2, whose inverse is cheap:
/// what L-BFGS starts from, and what conjugate gradients are preconditioned with.
///
/// For an output k, and features j, j' among those that are on at the most positions,
///
///     M[(j,k), (j',k)] = sum_p x_pj * x_pj' * m_pk * (1 - m_pk) + mu*[j = j'],
///
/// m_pk the marginal of output k at position p: the exact second derivatives but for covariances between
/// positions and between outputs. All other weights have the diagonal of that alone
/// (Objective::rough_diagonal()). What makes l ill-conditioned is mostly that frequent features go together:
/// pixels, the bias, words and their tags.
///
/// Where the marginals of each position sum to one, l does not change along directions that are constant over
/// the outputs of a feature (Zhong et al. 2014, Theorem 3): there the Hessian is mu*I exactly, and so is M;
/// on what is orthogonal to them M^-1 is P M^-1 P, P the projection.

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "core/objective.h"

namespace proxbench::dense {

class RoughHessian {
 public:
  explicit RoughHessian(const Objective& objective);

  /// At the point of the residual.
  void build(const Objective& objective, const Residual& residual);
  /// Whether the blocks hold all features.
  bool complete() const { return frequent_.size() == objective_.features(); }
  /// r := M^-1 r, d numbers.
  void solve(std::span<double> r) const;

 private:
  void solve_rough(std::span<double> r) const;
  /// Takes the mean over outputs out of each feature's numbers, and returns the means.
  std::vector<double> centre(std::span<double> r) const;
  void build_blocks(const Objective& objective, const Residual& residual);

  const Objective& objective_;
  std::vector<Index> frequent_;  ///< ascending; empty: no blocks
  std::vector<std::size_t> begin_;
  std::vector<std::uint16_t> slot_;  ///< position p has the frequent features slot_[begin_[p]..begin_[p+1])
  std::vector<double> value_;        ///< theirs; empty: all 1
  std::size_t stride_ = 1;           ///< every so many-th position is looked at
  std::vector<double> inverse_;      ///< of the diagonal
  bool centred_ = false;             ///< marginals sum to one at every position
  std::vector<Eigen::LLT<Eigen::MatrixXd>> block_;  ///< one an output
};

}  // namespace proxbench::dense
