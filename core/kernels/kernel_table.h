#pragma once
/// The hot loops of core and solvers, compiled once for each instruction set. An entry does at least some
/// hundred nanoseconds of work where work is large, so that calling through a pointer costs nothing.
///
/// Rows are padded: width is a multiple of kPad, and so is a stride of rows.

#include <cstddef>
#include <cstdint>

#include "core/base/sum.h"
#include "core/base/types.h"
#include "core/kernels/instruction_set.h"

namespace proxbench {

/// The entries of one column of X in one block of positions: positions relative to the block's first, and
/// values (null: all 1).
struct ColumnBlock {
  const std::uint16_t* offset;
  const double* value;
  std::size_t size;
};

/// out[r][0..width) += sum_i rows[r][i] * matrix[i][0..width), r < count, i < inner.
struct MatrixProduct {
  const double* rows;
  std::size_t rows_stride, count, inner;
  const double* matrix;
  std::size_t matrix_stride, width;  ///< `width` a multiple of kPad
  double* out;
  std::size_t out_stride;
};

/// Sums of rows over the leaves of a tree (core/base/sum.h, LeafTree), for one feature. Leaves come in order.
/// The sums of subtrees wait, largest first, until their siblings are complete.
struct TreeRows {
  double* out;  ///< the sum of node n at out + n * node_stride; zeros at first
  std::size_t node_stride;
  double* waiting;  ///< room for kWaitingSums - 1 rows, each `apart` behind the one before
  std::size_t apart;
  std::uint32_t leaf[kWaitingSums];  ///< the first leaf of each subtree that waits
  std::uint32_t count, node;         ///< of those; the node that they belong to
};
/// By leaf: its number in the tree, and the node that holds it.
struct TreeLeaves {
  const std::uint32_t *number, *node;
};

struct KernelTable {
  /// Adds the rows of a block's entries, value * rows[offset][0..width) each, in their order. leaf_of[offset]
  /// is the leaf.
  void (*add_tree_rows)(const double* rows, const ColumnBlock& block, const std::uint8_t* leaf_of,
                        const TreeLeaves& leaves, TreeRows& sums, std::size_t width);
  /// Completes the last node.
  void (*finish_tree_rows)(TreeRows& sums, std::size_t width);
  /// The same of rows in single precision for a block whose values are all 1, and in single precision until
  /// the block's sum is added. width is a multiple of kSinglePad.
  void (*add_single_rows)(const float* rows, const ColumnBlock& block, double* gradient, std::size_t width);
  /// out[p] = rows[p][0..width), then 0 up to `single_width`; sizes[k] += sum_p |rows[p][k]|; p < n.
  void (*shorten_rows)(const double* rows, std::size_t width, std::size_t n, float* out,
                       std::size_t single_width, double* sizes);
  /// sum[0..width) += sum_i x_i * rows[index_i][0..width); x null means all ones.
  void (*add_rows)(const double* rows, const Index* index, const double* x, std::size_t n, double* sum,
                   std::size_t width);
  /// sums[at[i]] += sum over the entries of blocks[i] of value * column[offset], in their order. The numbers
  /// at[i] differ.
  void (*gather)(const double* column, const ColumnBlock* blocks, const std::uint32_t* at, std::size_t n,
                 double* sums);
  /// column[offset] += weight_i * value over the entries of blocks[i].
  void (*scatter)(double* column, const ColumnBlock* blocks, const double* weight, std::size_t n);
  /// rows[p][k] = columns[k][begin + p], p < n, for k < outputs, and 0 up to `width`.
  void (*columns_to_rows)(const double* columns, std::size_t stride, std::size_t outputs, std::size_t begin,
                          std::size_t n, double* rows, std::size_t width);
  /// columns[k][begin + p] = rows[p][k].
  void (*rows_to_columns)(const double* rows, std::size_t width, std::size_t outputs, std::size_t begin,
                          std::size_t n, double* columns, std::size_t stride);
  /// Whether |x_i| <= bound for all i < n; false where one is NaN.
  bool (*all_within)(const double* x, std::size_t n, double bound);
  /// The lanes l in which some |x[i*kPad + l]| > bound, i < n, or is NaN, as bits.
  unsigned (*lanes_outside)(const double* x, std::size_t n, double bound);

  /// x_i = exp(x_i) for x_i <= 700, at most 2 ulp off; 0 below -708, NaN for NaN. n is a multiple of kPad.
  void (*exponentiate)(double* x, std::size_t n);
  /// x_i = log(x_i), at most 2 ulp off; that of the smallest normal number where x_i is less. n is a multiple
  /// of kPad.
  void (*logarithm)(double* x, std::size_t n);
  /// y += alpha * x.
  void (*add_scaled)(double* y, double alpha, const double* x, std::size_t n);
  /// sum_i a_i * b_i.
  double (*dot)(const double* a, const double* b, std::size_t n);
  /// y += alpha * x, then sum_i y_i * z_i.
  double (*add_then_dot)(double alpha, const double* x, double* y, const double* z, std::size_t n);

  /// sum[0..width) += sum_r x_r * rows[r][0..width), `count` rows of `stride`.
  void (*combine_rows)(const double* rows, std::size_t stride, std::size_t count, const double* x,
                       double* sum, std::size_t width);
  /// out[r] = rows[r] * matrix for `count` rows of `stride`, width x width matrix: add_product() where that
  /// is small and what is there does not count, in fewer instructions.
  void (*rows_times_matrix)(const double* rows, std::size_t stride, std::size_t count, const double* matrix,
                            std::size_t width, double* out);
  void (*add_product)(const MatrixProduct& product);
};

/// For the instruction set in use; see instruction_set().
const KernelTable& kernels_in_use();

}  // namespace proxbench
