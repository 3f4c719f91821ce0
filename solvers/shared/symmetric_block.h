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
  /// Rows of one block: indices of two bytes count them.
  static constexpr std::size_t kMostRows = 65535;

  std::size_t size = 0;
  AlignedVector<double> dense;     ///< rows of padded(size)
  std::vector<std::size_t> begin;  ///< of sparse rows; empty: dense
  std::vector<std::uint32_t> slot;
  std::vector<double> value;
  std::vector<double> exact_diagonal;  ///< over all positions

  bool is_dense() const { return begin.empty(); }
  const double* dense_row(std::size_t i) const { return dense.data() + i * padded(size); }
  /// Entry (i, i).
  double diagonal(std::size_t i) const;

  /// visit(i, j, value) for the entries, row by row; where the block is sparse, for those that are not zero.
  template <class Visit>
  void for_each_entry(const Visit& visit) const {
    for (std::size_t i = 0; i < size; ++i)
      if (is_dense())
        for (std::size_t j = 0; j < size; ++j) visit(i, j, dense_row(i)[j]);
      else
        for (std::size_t e = begin[i]; e < begin[i + 1]; ++e) visit(i, std::size_t{slot[e]}, value[e]);
  }
};

/// sum + sum_p spread(p) * x_pj^2, j the feature.
template <class Spread>
double second_derivative(const DesignMatrix& x, Index feature, const Spread& spread, double sum = 0.0) {
  for (std::size_t b = 0; b < x.blocks(); ++b) {
    const auto entries = x.column_block(feature, b);
    const std::size_t first = x.block_begin(b);
    for (std::size_t e = 0; e < entries.size; ++e) {
      const double value = entries.value == nullptr ? 1.0 : entries.value[e];
      sum += value * value * spread(first + entries.offset[e]);
    }
  }
  return sum;
}

/// For each block b, with spread = spread_of(b) of all positions: sum_p spread[p] * x_pj * x_pj' for j, j' of
/// features[b], ascending, kMostRows at most; where there are many positions from a sample of them, drawn in
/// proportion to `spread` by fixed numbers. Of no use where the token asks to stop.
using SpreadOf = std::function<std::vector<double>(std::size_t block)>;
std::vector<SymmetricBlock> second_derivatives(const DesignMatrix& x, const Parallel& parallel,
                                               std::span<const std::vector<Index>> features,
                                               const SpreadOf& spread_of, const StopToken& stop = {});

}  // namespace proxbench
