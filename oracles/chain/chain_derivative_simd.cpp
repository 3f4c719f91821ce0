/// The derivative of forward-backward, compiled for one instruction set (core/kernels/kernels.h). Several
/// sequences are walked at once, as in chain_simd.cpp. Products with dM depend on no earlier step, so they
/// are computed for all rows at once.
#include "oracles/chain/chain_derivative_kernels.h"
#include "oracles/chain/chain_tiles.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using Chunk = ChainDerivativeChunk;

/// The doubles of a row that are computed.
std::size_t covered(const Chunk& c) {
  return (c.outputs + kLanes - 1) / kLanes * kLanes;
}

/// out[row] = from[row] * matrix for the R rows from `row` on.
template <int R>
void multiply_rows(const Chunk& c, const double* from, const double* matrix, std::size_t row, double* out) {
  const double* rows[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) rows[r] = from + (row + static_cast<std::size_t>(r)) * c.width;
  for (std::size_t k = 0; k < c.outputs; k += kTile)
    with_tile(c.outputs - k, [&](auto vectors, auto half) {
      constexpr int V = decltype(vectors)::value, H = decltype(half)::value;
      Vec sums[R][V];
      multiply<R, V, H>(rows, matrix + k, c.outputs, c.width, sums);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) store(
          out + (row + static_cast<std::size_t>(r)) * c.width + k + static_cast<std::size_t>(v) * kLanes,
          sums[r][v]);
    });
}

void multiply_all_rows(const Chunk& c, const double* from, const double* matrix, double* out) {
  const std::size_t end = c.begin[c.sequences] - c.origin;
  for (std::size_t row = c.begin[0] - c.origin; row < end; row += kTileRows)
    with_count<kTileRows>(
        end - row, [&](auto rows) { multiply_rows<decltype(rows)::value>(c, from, matrix, row, out); });
}

/// Subtracts h_t from the scores of row t. `h` is the sum of da_t before that.
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

/// Computes da at the rows t[r] from the rows before.
template <int R>
void next_changes(const Chunk& c, const std::size_t* t) {
  const double* from[R];
  Vec total[R];
  for (int r = 0; r < R; ++r) {
    from[r] = c.message_change + (t[r] - 1) * c.width;
    total[r] = Vec{};
  }
  for (std::size_t k = 0; k < c.outputs; k += kTile)
    with_tile(c.outputs - k, [&](auto vectors, auto half) {
      constexpr int V = decltype(vectors)::value, H = decltype(half)::value;
      Vec sums[R][V];
      multiply<R, V, H>(from, c.forward + k, c.outputs, c.width, sums);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
        const std::size_t at = t[r] * c.width + k + static_cast<std::size_t>(v) * kLanes;
        const Vec x = load(c.message + at) * load(c.change + at) +
                      load(c.ratio + at) * (sums[r][v] + load(c.through + at - c.width));
        store(c.message_change + at, x);
        total[r] += x;
      }
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

/// Computes db at the rows t[r] from the rows behind.
template <int R>
void previous_changes(const Chunk& c, const std::size_t* t) {
  const double* from[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) from[r] = c.weight_change + (t[r] + 1) * c.width;
  for (std::size_t k = 0; k < c.outputs; k += kTile)
    with_tile(c.outputs - k, [&](auto vectors, auto half) {
      constexpr int V = decltype(vectors)::value, H = decltype(half)::value;
      Vec sums[R][V];
      multiply<R, V, H>(from, c.backward + k, c.outputs, c.width, sums);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
        const std::size_t column = k + static_cast<std::size_t>(v) * kLanes;
        finish_row(c, t[r], column, sums[r][v] + load(c.through + (t[r] + 1) * c.width + column));
      }
    });
}

/// Some sequences, longest first: the first row and the number of positions of each.
struct Group {
  std::size_t count, first[kWalked], length[kWalked];
};

Group group(const Chunk& c, std::size_t index, std::size_t groups) {
  const std::size_t from = index * c.sequences / groups, to = (index + 1) * c.sequences / groups;
  Group g{to - from, {}, {}};
  for (std::size_t r = 0; r < g.count; ++r) {
    const Index sequence = c.by_length[from + r];
    g.first[r] = c.begin[sequence] - c.origin;
    g.length[r] = c.begin[sequence + 1] - c.origin - g.first[r];
  }
  return g;
}

void walk_forward(const Chunk& c, const Group& g) {
  std::size_t t[kWalked], going = g.count;
  for (std::size_t r = 0; r < g.count; ++r) first_change(c, g.first[r]);
  for (std::size_t step = 1; step < g.length[0]; ++step) {
    while (g.length[going - 1] <= step) --going;
    for (std::size_t r = 0; r < going; ++r) t[r] = g.first[r] + step;
    for_tiles(going, [&](auto rows, std::size_t from) { next_changes<decltype(rows)::value>(c, t + from); });
  }
}

void walk_back(const Chunk& c, const Group& g) {
  std::size_t t[kWalked], going = g.count;
  for (std::size_t r = 0; r < g.count; ++r)
    for (std::size_t k = 0; k < covered(c); k += kLanes)
      finish_row(c, g.first[r] + g.length[r] - 1, k, Vec{});
  for (std::size_t step = 1; step < g.length[0]; ++step) {
    while (g.length[going - 1] <= step) --going;
    for (std::size_t r = 0; r < going; ++r) t[r] = g.first[r] + g.length[r] - 1 - step;
    for_tiles(going,
              [&](auto rows, std::size_t from) { previous_changes<decltype(rows)::value>(c, t + from); });
  }
}

/// pair[i + r][k..] = M . sum of left[i + r] * right[k..] over the pairs of rows, for r < R.
template <int R, int V, int H>
void add_pairs(const Chunk& c, std::size_t n, std::size_t i, std::size_t k) {
  Vec sums[R][V];
  sum_products<R, V, H>(
      n, [&](int r, std::size_t e) { return c.left[e][i + static_cast<std::size_t>(r)]; },
      [&](std::size_t e) { return c.right[e] + k; }, sums);
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
    const std::size_t at =
        (i + static_cast<std::size_t>(r)) * c.width + k + static_cast<std::size_t>(v) * kLanes;
    store(c.pair + at, sums[r][v] * load(c.forward + at));
  }
}

void sum_pairs(const Chunk& c) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < c.sequences; ++s)
    for (std::size_t t = c.begin[s] - c.origin; t + 1 < c.begin[s + 1] - c.origin; ++t) {
      const std::size_t here = t * c.width, next = here + c.width;
      c.left[n] = c.message_change + here;
      c.right[n++] = c.weight + next;
      c.left[n] = c.message + here;
      c.right[n++] = c.weight_change + next;
    }
  for (std::size_t i = 0; i < c.outputs; i += kTileRows)
    with_count<kTileRows>(c.outputs - i, [&](auto rows) {
      for (std::size_t k = 0; k < c.outputs; k += kTile)
        with_tile(c.outputs - k, [&](auto vectors, auto half) {
          add_pairs<decltype(rows)::value, decltype(vectors)::value, decltype(half)::value>(c, n, i, k);
        });
    });
}

void derivative(const Chunk& chunk) {
  const Chunk c = chunk;  // a local copy, which no store can change
  const std::size_t groups = (c.sequences + kWalked - 1) / kWalked;
  multiply_all_rows(c, c.message, c.forward_change, c.through);
  for (std::size_t g = 0; g < groups; ++g) walk_forward(c, group(c, g, groups));

  for (std::size_t t = c.begin[0] - c.origin; t < c.begin[c.sequences] - c.origin; ++t)
    for (std::size_t k = 0; k < covered(c); k += kLanes)
      store(c.weight + t * c.width + k, load(c.ratio + t * c.width + k) * load(c.back + t * c.width + k));
  multiply_all_rows(c, c.weight, c.backward_change, c.through);
  for (std::size_t g = 0; g < groups; ++g) walk_back(c, group(c, g, groups));
  sum_pairs(c);
}

}  // namespace

extern const ChainDerivativeKernels chain_derivative_kernels;
const ChainDerivativeKernels chain_derivative_kernels{.derivative = derivative};

}  // namespace proxbench::PROXBENCH_SIMD
