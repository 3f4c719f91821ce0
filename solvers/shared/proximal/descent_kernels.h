#pragma once
/// The loop of coordinate descent on the quasi-Newton model, compiled once for each instruction set.

#include <cstddef>
#include <cstdint>

#include "core/kernels/instruction_set.h"

namespace proxbench {

/// A row of a symmetric matrix B0 that consists of blocks, and where the products B0 d of its block are kept.
struct BlockRow {
  double* product;            ///< (B0 d) of this row
  double excess;              ///< of the diagonal entry over what the block has of it
  double* block;              ///< the products of all rows of the block; null: a diagonal entry only
  const double* dense;        ///< the row, `size` a multiple of kPad; null: sparse
  const std::uint32_t* slot;  ///< within the block
  const double* value;
  std::size_t size;
};

/// One pass of coordinate descent on the quasi-Newton model (Zhong et al. 2014, section 2.2): coordinate j
/// has the gradient g_j + gamma*(B0 d)_j - q_j . d_hat and the curvature diagonal_j, d_hat = sum_j q_hat_j
/// d_j.
struct DescentPass {
  const BlockRow* start;    ///< B0 by rows, its products up to date; null: B0 = I
  const double *q, *q_hat;  ///< rows of `stride`, `width` doubles in use
  std::size_t stride, width;
  double gamma, lambda;
  const double *w, *g, *diagonal;
  double *d, *d_hat;
};
struct DescentKernels {
  /// (B0 d) for d_j += z.
  void (*add_block_row)(const BlockRow& row, double z);
  /// One step for each of the coordinates; d, d_hat and the products of B0 follow. Returns the largest change of
  /// a coordinate's gradient by its own step.
  double (*descend)(const DescentPass& pass, const std::uint32_t* coordinates, std::size_t n);
};

/// For the instruction set in use.
const DescentKernels& descent_kernels();

}  // namespace proxbench
