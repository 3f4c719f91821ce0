#pragma once
/// The start matrix B0 of a quasi-Newton model of l on a working set: the Hessian's blocks by output.
///
/// For a coordinate (feature j, output k) and another of the same output,
///
///     B0[(j,k), (j',k)] = sum_p x_pj * x_pj' * m_pk * (1 - m_pk),
///
/// where m_pk is the marginal of output k at position p. These are the exact second derivatives without the
/// covariances between positions and between outputs, which are left to the L-BFGS pairs. l is
/// ill-conditioned mostly because features occur together (pixels and their products, words and their tags).
/// B0 captures this dependence. An extra weight has its expected count as diagonal entry. B0 needs only
/// marginals, which are the residual plus the gold structure, so it works for every oracle. If there are many
/// positions, off-diagonal entries come from a sample of the positions (symmetric_block.h), which is the same
/// whenever the data are the same. Diagonals are exact.

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
  /// The most entries() that a working set may have. With more, blocks cost more than they bring.
  static constexpr double kMostEntries = 2e8;
  /// The sum of squared block sizes.
  static double entries(const Objective& objective, std::span<const Coord> index);

  /// Builds the matrix at the w of `residual`. `index` is the working set, ascending, with at most
  /// kMostEntries entries. Returns false if `stop` was requested. The matrix must then be built again before
  /// any other call.
  bool build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
             const StopToken& stop = {});
  /// Moves the same matrix to another working set. Row i becomes the old row from[i], or, if that is
  /// CompactLbfgs::kNew, a row with only a diagonal entry.
  void take_rows(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                 std::span<const std::uint32_t> from);
  /// Keeps only the given rows, which must be ascending.
  void keep_rows(std::span<const std::uint32_t> kept);

  double diagonal(std::size_t j) const { return diagonal_[j]; }
  std::span<const double> diagonal() const { return diagonal_; }

  /// Returns the rows of B0 for DescentKernels::descend, and starts a running product B0 d at d = 0. The rows
  /// are valid until the working set or the matrix changes.
  const BlockRow* start();
  /// out = B0 d. Ends a running product.
  void multiply(std::span<const double> d, std::vector<double>& out);
  /// B0 times each of several vectors, each product on one thread.
  std::vector<std::vector<double>> multiply(std::span<const std::vector<double>> d, const Parallel& parallel);

 private:
  struct Block : SymmetricBlock {
    std::size_t first = 0;  ///< where the block's coordinates begin in product_
  };
  static constexpr std::uint32_t kNoBlock = static_cast<std::uint32_t>(-1);
  struct Place {
    std::size_t at;       ///< the coordinate's index in product_
    std::uint32_t block;  ///< kNoBlock if the row has only its diagonal entry
    double excess;        ///< the diagonal entry minus the block's
  };

  void multiply_into(std::span<const double> d, double* product, std::vector<double>& out) const;

  std::vector<Block> blocks_;
  std::vector<Place> place_;
  std::vector<double> diagonal_;
  AlignedVector<double> product_;
  std::vector<BlockRow> rows_;
  double ridge_ = 0.0;
};

}  // namespace proxbench::prox_newton
