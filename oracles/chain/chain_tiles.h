#pragma once
/// Shared by the kernels of chains: products of rows with a matrix in tiles of registers, and walks over
/// several sequences at once. Only for sources named *_simd.cpp (core/kernels/kernels.h).

#include "core/kernels/kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

constexpr std::size_t kTile = kTileVectors * kLanes;

/// sums[r][v] = sum_j from[r][j] * matrix[j][v], for R rows and V vectors of the matrix's columns.
template <int R, int V, int H>
[[gnu::always_inline]] inline void multiply(const double* const (&from)[R], const double* matrix,
                                            std::size_t n, std::size_t width, Vec (&sums)[R][V]) {
  sum_products<R, V, H>(
      n, [&](int r, std::size_t j) { return from[r][j]; }, [&](std::size_t j) { return matrix + j * width; },
      sums);
}

/// The number of sequences walked at once, and the number from which they form two tiles.
constexpr std::size_t kWalked = 2 * kTileRows, kSplitFrom = 4;

/// Calls step(Count<R>(), first) for one tile, or for two of about equal size. The sums of products of the
/// second tile overlap with the latency at the end of the first.
template <class Step>
inline void for_tiles(std::size_t n, const Step& step) {
  const std::size_t tile = n < kSplitFrom ? n : (n + 1) / 2;
  with_count<kTileRows>(tile, [&](auto rows) { step(rows, std::size_t{0}); });
  if (tile < n) with_count<kTileRows>(n - tile, [&](auto rows) { step(rows, tile); });
}

}  // namespace

}  // namespace proxbench::PROXBENCH_SIMD
