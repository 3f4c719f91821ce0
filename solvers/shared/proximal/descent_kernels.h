#pragma once
/// The loop of coordinate descent on the quasi-Newton model. It is compiled once for each instruction set.

#include <cstddef>
#include <cstdint>

namespace proxbench {

/// A row of a symmetric block-diagonal matrix B0, with pointers to the running products B0 d of its block.
struct BlockRow {
  double* product;            ///< (B0 d) of this row
  double excess;              ///< the diagonal entry of B0 minus the one stored in the block
  double* block;              ///< products of all rows of the block; null if only B0_jj is nonzero
  const double* dense;        ///< the row, with `size` a multiple of kPad; null if the row is sparse
  const std::uint32_t* slot;  ///< row numbers within the block
  const double* value;
  std::size_t size;
};

/// One pass of coordinate descent on the quasi-Newton model (Zhong et al. 2014, section 2.2). Coordinate j
/// has the gradient g_j + gamma*(B0 d)_j - q_j . d_hat and the curvature diagonal_j, with d_hat = sum_j
/// q_hat_j d_j.
struct DescentPass {
  const BlockRow* start;    ///< rows of B0 with up-to-date products; null if B0 = I
  const double *q, *q_hat;  ///< rows are `stride` doubles apart and have `width` in use
  std::size_t stride, width;
  double gamma, lambda;
  const double *w, *g, *diagonal;
  double *d, *d_hat;
};
struct DescentKernels {
  /// Updates the products B0 d for d_j += z.
  void (*add_block_row)(const BlockRow& row, double z);
  /// Takes one step in each of the n coordinates, and updates d, d_hat and the products of B0. Returns the
  /// largest change of a coordinate's gradient that its own step caused.
  double (*descend)(const DescentPass& pass, const std::uint32_t* coordinates, std::size_t n);
};

/// The kernels of the instruction set in use.
const DescentKernels& descent_kernels();

}  // namespace proxbench
