#pragma once
/// The hot loops of core and solvers, compiled once for each instruction set. For large problems, each entry
/// does at least some hundred nanoseconds of work, so that a call through a pointer costs nothing.
///
/// Rows are padded: widths are multiples of kPad, and so are the strides of rows.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

/// The entries of one column of X in one block of positions: their positions relative to the first one of the
/// block, and their values (null: all 1).
struct ColumnBlock {
  const std::uint16_t* offset;
  const double* value;
  std::size_t size;
};

/// The same entries with the squares of their values, which are stored in `squared`.
inline ColumnBlock with_squares(ColumnBlock entries, std::vector<double>& squared) {
  if (entries.value == nullptr) return entries;
  squared.assign(entries.value, entries.value + entries.size);
  for (double& value : squared) value *= value;
  entries.value = squared.data();
  return entries;
}

/// The rule of all sums over a column of X: in each block, its entries are summed in pieces of this many, the
/// last one shorter. Pieces are added in their order. Shorter ones cost time
/// (experiments/bench/RESULTS.md, "Pieces of sums").
inline constexpr std::size_t kPieceEntries = 128;

/// out[r][0..width) += sum_i rows[r][i] * matrix[i][0..width), r < count, i < inner.
struct MatrixProduct {
  const double* rows;
  std::size_t rows_stride, count, inner;
  const double* matrix;
  std::size_t matrix_stride, width;  ///< `width` must be a multiple of kPad
  double* out;
  std::size_t out_stride;
  bool overwrite = false;  ///< = in place of +=
};

struct KernelTable {
  /// out[0..width) += value * rows[offset][0..width), summed over the entries of a block in pieces.
  void (*add_block_rows)(const double* rows, const ColumnBlock& block, double* out, std::size_t width);
  /// sum[0..width) += sum_i x_i * rows[index_i][0..width). If x is null, all x_i are 1.
  void (*add_rows)(const double* rows, const Index* index, const double* x, std::size_t n, double* sum,
                   std::size_t width);
  /// sums[i] += value * column[offset], summed over the entries of blocks[i] in pieces.
  void (*gather)(const double* column, const ColumnBlock* blocks, std::size_t n, double* sums);
  /// column[offset] += weight_i * value for the entries of blocks[i].
  void (*scatter)(double* column, const ColumnBlock* blocks, const double* weight, std::size_t n);
  /// rows[p][k] = columns[k][begin + p] for k < outputs, and 0 from there to `width`; p < n.
  void (*columns_to_rows)(const double* columns, std::size_t stride, std::size_t outputs, std::size_t begin,
                          std::size_t n, double* rows, std::size_t width);
  /// columns[k][begin + p] = rows[p][k].
  void (*rows_to_columns)(const double* rows, std::size_t width, std::size_t outputs, std::size_t begin,
                          std::size_t n, double* columns, std::size_t stride);
  /// Whether |x_i| <= bound for all i < n. False if one of them is NaN.
  bool (*all_within)(const double* x, std::size_t n, double bound);
  /// The lanes l in which, for some i < n, |x[i*kPad + l]| > bound or is NaN, as bits.
  unsigned (*lanes_outside)(const double* x, std::size_t n, double bound);

  /// x_i = exp(x_i) for x_i <= 700, off by at most 2 ulp; 0 below -708, NaN for NaN. n is a multiple of kPad.
  void (*exponentiate)(double* x, std::size_t n);
  /// x_i = log(x_i), off by at most 2 ulp. Numbers below the smallest normal one are treated as that one. n
  /// is a multiple of kPad.
  void (*logarithm)(double* x, std::size_t n);
  /// y += alpha * x.
  void (*add_scaled)(double* y, double alpha, const double* x, std::size_t n);
  /// sum_i a_i * b_i.
  double (*dot)(const double* a, const double* b, std::size_t n);
  /// Computes y += alpha * x, then returns sum_i y_i * z_i.
  double (*add_then_dot)(double alpha, const double* x, double* y, const double* z, std::size_t n);

  void (*add_product)(const MatrixProduct& product);
};

/// The kernels for the instruction set in use (instruction_set()).
const KernelTable& kernels_in_use();

}  // namespace proxbench
