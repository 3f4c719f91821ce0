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

#include <cstdint>
#include <span>
#include <vector>

#include "core/objective.h"
#include "core/types.h"

namespace proxbench {

class BlockMetric {
 public:
  /// At the w that `residual` was inferred at. `index`: the working set, ascending. Blocks of more than
  /// `largest` coordinates are replaced by their diagonal.
  void build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
             std::size_t largest);
  /// The same matrix for another working set: row i is the old row from[i], or CompactLbfgs::kNew: a
  /// diagonal one.
  void take_rows(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                 std::span<const std::uint32_t> from);
  /// Keeps only the given rows (ascending).
  void keep_rows(std::span<const std::uint32_t> kept);

  std::size_t rows() const { return place_.size(); }
  double diagonal(std::size_t j) const { return diagonal_[j]; }

  /// A running product B0 d, from d = 0: start(), then add(j, z) for each d_j += z.
  void start();
  void add(std::size_t j, double z);
  /// (B0 d)_j.
  double product(std::size_t j) const { return product_[place_[j].at]; }
  /// out = B0 d.
  void multiply(std::span<const double> d, std::vector<double>& out);

 private:
  struct Place {
    std::size_t at;      ///< of the coordinate in product_
    std::size_t column;  ///< of its column in values_
    std::size_t first;   ///< of its block in product_
    std::uint32_t size;  ///< of the block, padded; 0: a diagonal one
  };
  double ridge_ = 0.0;
  std::vector<Place> place_;
  std::vector<double> diagonal_;
  AlignedVector<double> values_, product_;
};

}  // namespace proxbench
