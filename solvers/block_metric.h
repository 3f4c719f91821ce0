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
/// Where there are many positions, off-diagonal entries come from a sample of them, drawn in proportion to
/// m_pk * (1 - m_pk) by fixed numbers: always the same for the same data. Diagonals are exact.

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernel_table.h"
#include "core/objective.h"
#include "core/stop_token.h"
#include "core/types.h"

namespace proxbench {

class BlockMetric {
 public:
  /// What entries() may be at most for a working set: beyond, blocks cost more than they bring.
  static constexpr double kMostEntries = 2e8;
  /// Rows of a block whose inverse costs less than the iterations that it spares.
  static constexpr std::size_t kMostInverted = 256;
  /// The sum of squared block sizes.
  static double entries(const Objective& objective, std::span<const Coord> index);

  /// At the w that `residual` was inferred at. `index`: the working set, ascending, of kMostEntries at most.
  /// False: given up for the token; then it is built again before anything else.
  bool build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
             const StopToken& stop = {});
  /// The same matrix for another working set: row i is the old row from[i], or CompactLbfgs::kNew: one with
  /// a diagonal entry only.
  void take_rows(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                 std::span<const std::uint32_t> from);
  /// Keeps only the given rows (ascending).
  void keep_rows(std::span<const std::uint32_t> kept);

  double diagonal(std::size_t j) const { return diagonal_[j]; }

  /// The rows of B0 and a running product B0 d, from d = 0, for KernelTable::descend. Valid until the working
  /// set or the matrix changes.
  const BlockRow* start();
  /// out = B0 d; ends a product that was running.
  void multiply(std::span<const double> d, std::vector<double>& out);
  /// The products with several vectors, each on one thread.
  std::vector<std::vector<double>> multiply(std::span<const std::vector<double>> d, const Parallel& parallel);

  /// B0 on some rows alone, in single precision: half the bytes, and without the rows that have left the
  /// working set since the blocks were made.
  class Subset {
   public:
    /// out = B0 x, both aligned with the rows.
    void multiply(std::span<const double> x, std::span<double> out, const Parallel& parallel);
    /// out = factor * B0^-1 x, nearly: symmetric, positive definite, with the inverses of the blocks of
    /// take_inverses(). Leaves `out` as it is in rows that none of them is on.
    void precondition(std::span<const double> x, double factor, std::span<double> out,
                      const Parallel& parallel);

   private:
    friend class BlockMetric;
    struct Block {
      std::size_t first = 0, width = 0;  ///< of its numbers in x_ and product_
      AlignedVector<float> dense;        ///< rows of `width`
      std::vector<std::size_t> begin;    ///< of sparse rows; empty: dense
      std::vector<std::uint32_t> slot;
      std::vector<float> value;
      std::vector<std::uint32_t> inverted;  ///< slots that `inverse` is on, ascending
      AlignedVector<float> inverse;         ///< rows of padded_single(inverted.size())
      std::vector<std::uint32_t> place;     ///< of the block's rows in `inverted`, or kNoBlock
    };
    std::vector<std::uint32_t> rows_;
    std::uint64_t version_ = 0, built_ = 0;
    std::vector<std::size_t> begin_;    ///< of the rows of each block; those without one come last
    std::vector<std::uint32_t> order_;  ///< places in the list of rows, by block
    std::vector<double> excess_;        ///< by place
    std::vector<Block> blocks_;
    std::vector<std::size_t> task_begin_;  ///< blocks cut into tasks of about equal numbers
    double numbers_ = 0.0;                 ///< of all blocks
    AlignedVector<float> x_, product_;
  };
  /// Leaves `out` as it is where it is that of these rows already.
  void take_subset(std::span<const std::uint32_t> rows, const Parallel& parallel, Subset& out) const;
  /// Inverts those of the subset's blocks that are no larger than kMostInverted. One that was inverted on
  /// nearly the same rows stays.
  void take_inverses(const Parallel& parallel, Subset& out) const;

 private:
  /// Symmetric, either dense rows of padded(size) numbers or sparse ones; without its diagonal's excess.
  struct Block {
    std::size_t first = 0;  ///< of its coordinates in product_
    std::size_t size = 0;
    AlignedVector<double> dense;
    std::vector<std::size_t> begin;  ///< of sparse rows; empty: dense
    std::vector<std::uint32_t> slot;
    std::vector<double> value;
  };
  static constexpr std::uint32_t kNoBlock = static_cast<std::uint32_t>(-1);
  struct Place {
    std::size_t at;       ///< of the coordinate in product_
    std::uint32_t block;  ///< kNoBlock: a diagonal entry only
    double excess;        ///< of the diagonal over the block's
  };

  void multiply_into(std::span<const double> d, double* product, std::vector<double>& out) const;

  /// `spread`: m_pk * (1 - m_pk) of all positions.
  static void fill(const DesignMatrix& x, std::span<const double> spread, std::span<const Index> features,
                   Block& block, const StopToken& stop);

  std::vector<Block> blocks_;
  std::vector<Place> place_;
  std::vector<double> diagonal_;
  AlignedVector<double> product_;
  std::uint64_t version_ = 0;  ///< counts what rows and matrices there were
  std::uint64_t built_ = 0;    ///< version_ of the matrix
  std::vector<BlockRow> rows_;
  double ridge_ = 0.0;
};

}  // namespace proxbench
