#pragma once
/// A symmetric matrix of second derivatives among the coordinates of one output, dense or sparse.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/data/design_matrix.h"

namespace proxbench {

struct SymmetricBlock {
  /// The most rows of a block, since row numbers take two bytes.
  static constexpr std::size_t kMostRows = 65535;

  std::size_t size = 0;
  AlignedVector<double> dense;     ///< rows of padded(size) doubles
  std::vector<std::size_t> begin;  ///< start of each sparse row; empty if the block is dense
  std::vector<std::uint32_t> slot;
  std::vector<double> value;
  std::vector<double> exact_diagonal;  ///< computed from all positions, if asked for

  bool is_dense() const { return begin.empty(); }
  const double* dense_row(std::size_t i) const { return dense.data() + i * padded(size); }
  /// Entry (i, i).
  double diagonal(std::size_t i) const;

  /// Calls visit(i, j, value) for each entry, row by row. A sparse block skips zeros.
  template <class Visit>
  void for_each_entry(const Visit& visit) const {
    for (std::size_t i = 0; i < size; ++i)
      if (is_dense())
        for (std::size_t j = 0; j < size; ++j) visit(i, j, dense_row(i)[j]);
      else
        for (std::size_t e = begin[i]; e < begin[i + 1]; ++e) visit(i, std::size_t{slot[e]}, value[e]);
  }
};

/// Returns sum_p spread(p) * x_pj^2, where j is `feature`.
template <class Spread>
double second_derivative(const DesignMatrix& x, Index feature, const Spread& spread) {
  double sum = 0.0;
  x.for_each_in_column(feature, [&](std::size_t p, double value) { sum += value * value * spread(p); });
  return sum;
}

/// The positions that are sampled for a block of so many rows, if there are more.
double most_samples(std::size_t block_size);

/// For each block b, with spread = spread_of(b) over all positions, returns the matrix sum_p spread[p] * x_pj
/// * x_pj' for j, j' in features[b]. Features must be ascending, at most kMostRows. If there are many
/// positions, uses a sample of the positions, drawn in proportion to `spread` with fixed random numbers. The
/// result is meaningless if `stop` was requested. If `exact_diagonal` is false, the blocks have none.
using SpreadOf = std::function<std::vector<double>(std::size_t block)>;
std::vector<SymmetricBlock> second_derivatives(const DesignMatrix& x, const Parallel& parallel,
                                               std::span<const std::vector<Index>> features,
                                               const SpreadOf& spread_of, bool exact_diagonal,
                                               const StopToken& stop = {});

}  // namespace proxbench
