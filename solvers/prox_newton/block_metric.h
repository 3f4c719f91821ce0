#pragma once
/// The start matrix of a quasi-Newton model of l on a working set: the Hessian's blocks by output.
///
/// For a coordinate (feature j, output k) and another of the same output,
///
///     B0[(j,k), (j',k)] = sum_p x_pj * x_pj' * m_pk * (1 - m_pk),
///
/// m_pk the marginal of output k at position p: the exact second derivatives but for covariances between
/// positions and between outputs, which are left to the L-BFGS pairs. What makes l ill-conditioned is mostly
/// that features go together (pixels and their products, words and their tags), and that is all in here. An
/// extra weight has its expected count. Works for every oracle: only marginals are needed, and those are the
/// residual plus the gold structure.
///
/// Where there are many positions, off-diagonal entries come from a sample of them (symmetric_block.h):
/// always the same for the same data. Diagonals are exact.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/objective.h"
#include "solvers/shared/proximal/descent_kernels.h"
#include "solvers/shared/symmetric_block.h"

namespace proxbench::prox_newton {

class BlockMetric {
 public:
  /// What entries() may be at most for a working set: beyond, blocks cost more than they bring.
  static constexpr double kMostEntries = 2e8;
  /// The sum of squared block sizes.
  static double entries(const Objective& objective, std::span<const Coord> index);

  /// At the w that `residual` was inferred at. `index`: the working set, ascending, of kMostEntries at most.
  /// False: given up for the token; then it is built again before anything else.
  bool build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
             const StopToken& stop = {});
  /// Diagonal entries alone, for any working set: of (j, k) feature j's sum of squares times the mean number
  /// of times that an output is on at a position, of an extra weight their mean count, both in the gold
  /// structures.
  void build_counts(const Objective& objective, std::span<const Coord> index);
  /// The same matrix for another working set: row i is the old row from[i], or CompactLbfgs::kNew: one with
  /// a diagonal entry only.
  void take_rows(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                 std::span<const std::uint32_t> from);
  /// Keeps only the given rows (ascending).
  void keep_rows(std::span<const std::uint32_t> kept);

  double diagonal(std::size_t j) const { return diagonal_[j]; }
  std::span<const double> diagonal() const { return diagonal_; }

  /// Returns the rows of B0 for DescentKernels::descend, and begins a running product B0 d at d = 0. The rows
  /// are valid until the working set or the matrix changes.
  const BlockRow* start();
  /// out = B0 d; ends a product that was running.
  void multiply(std::span<const double> d, std::vector<double>& out);
  /// The products with several vectors, each on one thread.
  std::vector<std::vector<double>> multiply(std::span<const std::vector<double>> d, const Parallel& parallel);

 private:
  struct Block : SymmetricBlock {
    std::size_t first = 0;  ///< of its coordinates in product_
  };
  static constexpr std::uint32_t kNoBlock = static_cast<std::uint32_t>(-1);
  struct Place {
    std::size_t at;       ///< of the coordinate in product_
    std::uint32_t block;  ///< kNoBlock: a diagonal entry only
    double excess;        ///< of the diagonal over the block's
  };

  void set_ridge(double mu);
  void multiply_into(std::span<const double> d, double* product, std::vector<double>& out) const;

  std::vector<Block> blocks_;
  std::vector<Place> place_;
  std::vector<double> diagonal_;
  AlignedVector<double> product_;
  std::vector<BlockRow> rows_;
  double ridge_ = 0.0;
};

}  // namespace proxbench::prox_newton
