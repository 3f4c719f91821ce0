/// The derivative of forward-backward, compiled for one instruction set (core/kernels/kernels.h). Several
/// sequences are processed at once, as in chain_simd.cpp. Products with dM depend on no earlier step, so they
/// are computed for all rows at once.
#include "oracles/chain/chain_kernels.h"
#include "oracles/chain/chain_tiles.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using Chunk = ChainDerivativeChunk;

/// out[row] = from[row] * matrix for the R rows from `row` on.
template <int R>
void multiply_rows(const Chunk& c, const double* from, const double* matrix, std::size_t row, double* out) {
  const double* rows[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) rows[r] = from + (row + static_cast<std::size_t>(r)) * c.width;
  multiply(c, rows, matrix, [&](int r, std::size_t k, const Vec& x) {
    store(out + (row + static_cast<std::size_t>(r)) * c.width + k, x);
  });
}

void multiply_all_rows(const Chunk& c, const double* from, const double* matrix, double* out) {
  const std::size_t end = c.begin[c.sequences] - c.origin;
  for (std::size_t row = c.begin[0] - c.origin; row < end; row += kTileRows)
    with_count<kTileRows>(
        end - row, [&](auto rows) { multiply_rows<decltype(rows)::value>(c, from, matrix, row, out); });
}

/// Subtracts h_t from the scores of row t, so that da_t sums to 0. `h` is the sum of da_t before that.
void centre(const Chunk& c, std::size_t t, double h) {
  c.shift[t] = h;
  const double* message = c.message + t * c.width;
  double* change = c.message_change + t * c.width;
  for (std::size_t k = 0; k < covered(c); k += kLanes)
    store(change + k, load(change + k) - h * load(message + k));
}

void first_change(const Chunk& c, std::size_t t) {
  Vec total{};
  for (std::size_t k = 0; k < covered(c); k += kLanes) {
    const Vec x = load(c.message + t * c.width + k) * load(c.change + t * c.width + k);
    store(c.message_change + t * c.width + k, x);
    total += x;
  }
  centre(c, t, sum(total));
}

/// Computes da at the rows t[r] from the rows before them.
template <int R>
void next_changes(const Chunk& c, const std::size_t* t) {
  const double* from[R];
  Vec total[R];
  for (int r = 0; r < R; ++r) {
    from[r] = c.message_change + (t[r] - 1) * c.width;
    total[r] = Vec{};
  }
  multiply(c, from, c.forward, [&](int r, std::size_t k, const Vec& product) {
    const std::size_t at = t[r] * c.width + k;
    const Vec x = load(c.message + at) * load(c.change + at) +
                  load(c.ratio + at) * (product + load(c.through + at - c.width));
    store(c.message_change + at, x);
    total[r] += x;
  });
  for (int r = 0; r < R; ++r) centre(c, t[r], sum(total[r]));
}

/// Given db at row t, computes dv, and replaces ds by dp.
[[gnu::always_inline]] inline void finish_row(const Chunk& c, std::size_t t, std::size_t k, const Vec& db) {
  const std::size_t at = t * c.width + k;
  const Vec b = load(c.back + at);
  store(c.weight_change + at, load(c.ratio + at) * (b * (load(c.change + at) - c.shift[t]) + db));
  store(c.change + at, load(c.message_change + at) * b + load(c.message + at) * db);
}

/// Computes db at the rows t[r] from the rows after them.
template <int R>
void previous_changes(const Chunk& c, const std::size_t* t) {
  const double* from[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) from[r] = c.weight_change + (t[r] + 1) * c.width;
  multiply(c, from, c.backward, [&](int r, std::size_t k, const Vec& product) {
    finish_row(c, t[r], k, product + load(c.through + (t[r] + 1) * c.width + k));
  });
}

}  // namespace

void derivative(const Chunk& chunk);
void derivative(const Chunk& chunk) {
  const Chunk c = chunk;  // a local copy, which no store can change
  multiply_all_rows(c, c.message, c.forward_change, c.through);
  for_groups(c, [&](const Group& g) {
    for (std::size_t r = 0; r < g.count; ++r) first_change(c, g.first[r]);
    walk_forward(g, [&](auto rows, const std::size_t* t) { next_changes<decltype(rows)::value>(c, t); });
  });

  for (std::size_t t = c.begin[0] - c.origin; t < c.begin[c.sequences] - c.origin; ++t)
    for (std::size_t k = 0; k < covered(c); k += kLanes)
      store(c.weight + t * c.width + k, load(c.ratio + t * c.width + k) * load(c.back + t * c.width + k));
  multiply_all_rows(c, c.weight, c.backward_change, c.through);
  for_groups(c, [&](const Group& g) {
    for (std::size_t r = 0; r < g.count; ++r)
      for (std::size_t k = 0; k < covered(c); k += kLanes)
        finish_row(c, g.first[r] + g.length[r] - 1, k, Vec{});
    walk_back(
        g, [&](auto rows, const std::size_t* t) { previous_changes<decltype(rows)::value>(c, t); },
        [](std::size_t) {});
  });

  std::size_t n = 0;
  for (std::size_t s = 0; s < c.sequences; ++s)
    for (std::size_t t = c.begin[s] - c.origin; t + 1 < c.begin[s + 1] - c.origin; ++t) {
      const std::size_t here = t * c.width, next = here + c.width;
      c.left[n] = c.message_change + here;
      c.right[n++] = c.weight + next;
      c.left[n] = c.message + here;
      c.right[n++] = c.weight_change + next;
    }
  sum_pairs(c, n, false);
}

}  // namespace proxbench::PROXBENCH_SIMD
