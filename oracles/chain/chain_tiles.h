#pragma once
/// Shared by the kernels of chains: products of rows with a matrix in tiles of registers, and walks over
/// several sequences at once. Only for sources named *_simd.cpp (core/kernels/kernels.h).

#include "core/kernels/kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

constexpr std::size_t kTile = kTileVectors * kLanes;

/// The number of doubles of a row that are computed. The padding behind them is neither written nor read.
template <class Chunk>
std::size_t covered(const Chunk& c) {
  return (c.outputs + kLanes - 1) / kLanes * kLanes;
}

/// sums[r][v] = sum_j from[r][j] * matrix[j][v], for R rows and V vectors of the matrix's columns.
template <int R, int V, int H>
[[gnu::always_inline]] inline void multiply(const double* const (&from)[R], const double* matrix,
                                            std::size_t n, std::size_t width, Vec (&sums)[R][V]) {
  sum_products<R, V, H>(
      n, [&](int r, std::size_t j) { return from[r][j]; }, [&](std::size_t j) { return matrix + j * width; },
      sums);
}

/// Calls use(r, k, (from[r] * matrix)[k, k + kLanes)) for R rows and all columns of a chunk.
template <int R, class Chunk, class Use>
[[gnu::always_inline]] inline void multiply(const Chunk& c, const double* const (&from)[R],
                                            const double* matrix, const Use& use) {
  for (std::size_t k = 0; k < c.outputs; k += kTile)
    with_tile(c.outputs - k, [&](auto vectors, auto half) {
      constexpr int V = decltype(vectors)::value, H = decltype(half)::value;
      Vec sums[R][V];
      multiply<R, V, H>(from, matrix + k, c.outputs, c.width, sums);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v)
          use(r, k + static_cast<std::size_t>(v) * kLanes, sums[r][v]);
    });
}

/// pair[i + r][k..] = M . sum over e < n of left[e][i + r] * right[e][k..], for r < R. If `more`, adds the
/// result to `pair`.
template <int R, int V, int H, class Chunk>
void add_pairs(const Chunk& c, std::size_t n, bool more, std::size_t i, std::size_t k) {
  Vec sums[R][V];
  sum_products<R, V, H>(
      n, [&](int r, std::size_t e) { return c.left[e][i + static_cast<std::size_t>(r)]; },
      [&](std::size_t e) { return c.right[e] + k; }, sums);
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
    const std::size_t at =
        (i + static_cast<std::size_t>(r)) * c.width + k + static_cast<std::size_t>(v) * kLanes;
    const Vec sum = sums[r][v] * load(c.forward + at);
    store(c.pair + at, more ? load(c.pair + at) + sum : sum);
  }
}

/// pair = M . sum over e < n of left[e]^T right[e]. If `more`, adds the result to `pair`.
template <class Chunk>
void sum_pairs(const Chunk& c, std::size_t n, bool more) {
  for (std::size_t i = 0; i < c.outputs; i += kTileRows)
    with_count<kTileRows>(c.outputs - i, [&](auto rows) {
      for (std::size_t k = 0; k < c.outputs; k += kTile)
        with_tile(c.outputs - k, [&](auto vectors, auto half) {
          add_pairs<decltype(rows)::value, decltype(vectors)::value, decltype(half)::value>(c, n, more, i, k);
        });
    });
}

/// The number of sequences walked at once, and the number from which they form two tiles.
constexpr std::size_t kWalked = 2 * kTileRows, kSplitFrom = 4;

/// Some sequences, longest first: the first row and the number of positions of each.
struct Group {
  std::size_t count, first[kWalked], length[kWalked];
};

/// Cuts the sequences of a chunk into groups of about equal size, and calls walk(group) for each.
template <class Chunk, class Walk>
void for_groups(const Chunk& c, const Walk& walk) {
  const std::size_t groups = (c.sequences + kWalked - 1) / kWalked;
  for (std::size_t i = 0; i < groups; ++i) {
    const std::size_t from = i * c.sequences / groups, to = (i + 1) * c.sequences / groups;
    Group g;
    g.count = to - from;
    for (std::size_t r = 0; r < g.count; ++r) {
      const Index sequence = c.by_length[from + r];
      g.first[r] = c.begin[sequence] - c.origin;
      g.length[r] = c.begin[sequence + 1] - c.origin - g.first[r];
    }
    walk(g);
  }
}

/// For each step but the first: calls tile(Count<R>(), t) with the rows t[0], ..., t[R - 1] of R sequences
/// that go on, row(r, step) of sequence r. The rows form one tile, or two of about equal size. The sums of
/// products of the second tile overlap with the latency at the end of the first. After every kChainRest
/// steps, calls rest(t[r]) for all these rows.
template <class Row, class Tile, class Rest>
inline void walk_on(const Group& g, const Row& row, const Tile& tile, const Rest& rest) {
  std::size_t t[kWalked], going = g.count;
  for (std::size_t step = 1; step < g.length[0]; ++step) {
    while (g.length[going - 1] <= step) --going;
    for (std::size_t r = 0; r < going; ++r) t[r] = row(r, step);
    const std::size_t first = going < kSplitFrom ? going : (going + 1) / 2;
    with_count<kTileRows>(first, [&](auto rows) { tile(rows, t); });
    if (first < going) with_count<kTileRows>(going - first, [&](auto rows) { tile(rows, t + first); });
    if (step % kChainRest == 0)
      for (std::size_t r = 0; r < going; ++r) rest(t[r]);
  }
}

template <class Tile>
inline void walk_forward(const Group& g, const Tile& tile) {
  walk_on(
      g, [&](std::size_t r, std::size_t step) { return g.first[r] + step; }, tile, [](std::size_t) {});
}

template <class Tile, class Rest>
inline void walk_back(const Group& g, const Tile& tile, const Rest& rest) {
  walk_on(
      g, [&](std::size_t r, std::size_t step) { return g.first[r] + g.length[r] - 1 - step; }, tile, rest);
}

}  // namespace

}  // namespace proxbench::PROXBENCH_SIMD
