#pragma once
/// What the kernels of chains share: products of rows with a matrix in tiles of registers, and sequences
/// walked side by side. For sources named *_simd.cpp alone (core/kernels/kernels.h).

#include "core/kernels/kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

constexpr std::size_t kTile = kTileVectors * kLanes;

/// sums[r][v] = sum_j from[r][j] * matrix[j][v]: R rows times V vectors of the matrix's columns.
template <int R, int V, int H>
[[gnu::always_inline]] inline void multiply(const double* const (&from)[R], const double* matrix,
                                            std::size_t n, std::size_t width, Vec (&sums)[R][V]) {
  sum_products<R, V, H>(
      n, [&](int r, std::size_t j) { return from[r][j]; }, [&](std::size_t j) { return matrix + j * width; },
      sums);
}

/// Sequences that are walked at once, and from how many on they are two tiles.
constexpr std::size_t kWalked = 2 * kTileRows, kSplitFrom = 4;

/// step(Count<R>(), first) for one tile or two of about equal size: the second's sums of products fill the
/// time in which the first's ends are waited for.
template <class Step>
inline void for_tiles(std::size_t n, const Step& step) {
  const std::size_t tile = n < kSplitFrom ? n : (n + 1) / 2;
  with_count<kTileRows>(tile, [&](auto rows) { step(rows, std::size_t{0}); });
  if (tile < n) with_count<kTileRows>(n - tile, [&](auto rows) { step(rows, tile); });
}

}  // namespace

}  // namespace proxbench::PROXBENCH_SIMD
