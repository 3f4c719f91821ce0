/// Coordinate descent, compiled for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernels.h"
#include "solvers/shared/proximal/descent_kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

/// Rows of the quasi-Newton matrix are prefetched this many coordinates ahead.
constexpr std::size_t kRowsAhead = 2;

double soft_threshold(double x, double t) {
  return x > t ? x - t : (x < -t ? x + t : 0.0);
}

void add_block_row(const BlockRow& row, double z) {
  *row.product += z * row.excess;
  if (row.block == nullptr) return;
  if (row.dense != nullptr)
    add_scaled(row.block, z, row.dense, row.size);
  else
    for (std::size_t e = 0; e < row.size; ++e) row.block[row.slot[e]] += z * row.value[e];
}

double descend(const DescentPass& pass, const std::uint32_t* coordinates, std::size_t n) {
  double moved = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kRowsAhead < n) {
      const double* ahead = pass.q + coordinates[i + kRowsAhead] * pass.stride;
      for (std::size_t c = 0; c < pass.width; c += kPad) __builtin_prefetch(ahead + c);
    }
    const std::size_t j = coordinates[i];
    const double a = pass.diagonal[j];
    if (!(a > 0.0)) continue;  // rounding made the model flat along this coordinate
    const double product = pass.start != nullptr ? *pass.start[j].product : pass.d[j];
    const double b = pass.g[j] + pass.gamma * product - dot(pass.q + j * pass.stride, pass.d_hat, pass.width);
    const double c = pass.w[j] + pass.d[j];
    const double next = soft_threshold(c - b / a, pass.lambda / a);
    if (next == c) continue;
    const double z = next - c;
    // If the coordinate becomes zero, w + d must be zero to the last bit.
    pass.d[j] = next == 0.0 ? -pass.w[j] : pass.d[j] + z;
    add_scaled(pass.d_hat, z, pass.q_hat + j * pass.stride, pass.width);
    if (pass.start != nullptr) add_block_row(pass.start[j], z);
    const double change = z < 0.0 ? -z * a : z * a;
    if (change > moved) moved = change;
  }
  return moved;
}

}  // namespace

extern const DescentKernels descent_kernels;
const DescentKernels descent_kernels{.add_block_row = add_block_row, .descend = descend};

}  // namespace proxbench::PROXBENCH_SIMD
