/// Forward-backward, compiled for one instruction set (core/kernels/kernels.h). Several sequences are
/// processed at once. So each row of the transition matrix is loaded once for all of them, and no sequence
/// waits for the results of its own last step.
#include "core/kernels/kernels.h"
#include "oracles/chain/chain_kernels.h"
#include "oracles/chain/chain_tiles.h"

namespace proxbench::PROXBENCH_SIMD {

void derivative(const ChainDerivativeChunk& chunk);  // chain_derivative_simd.cpp

namespace {

/// The number of rows in use.
std::size_t rows(const ChainChunk& c) {
  return c.begin[c.sequences] - c.origin;
}

/// The scores of output k at rows [row, row + kLanes).
template <bool kDirection>
inline Vec scores(const ChainChunk& c, std::size_t k, std::size_t row) {
  const std::size_t at = k * c.stride + row;
  if constexpr (kDirection) return load(c.base + at) + c.alpha * load(c.direction + at);
  return load(c.base + at);
}

/// Computes exp(score - top) of the N outputs from k on at rows [row, row + kLanes), as rows. Meanwhile it
/// prefetches the scores kAhead rows later, since there are more columns than hardware prefetchers can
/// follow.
template <int N, bool kDirection>
inline void exponentiate_block(const ChainChunk& c, std::size_t k, std::size_t row, const Vec& top) {
  constexpr std::size_t kAhead = 24;
  Vec block[kLanes];
  PROXBENCH_UNROLL for (std::size_t i = 0; i < kLanes; ++i) {
    if (i >= N) {
      block[i] = Vec{};
      continue;
    }
    __builtin_prefetch(c.base + (k + i) * c.stride + row + kAhead);
    if constexpr (kDirection) __builtin_prefetch(c.direction + (k + i) * c.stride + row + kAhead);
    block[i] = exp(scores<kDirection>(c, k + i, row) - top);
  }
  transpose(block);
  double* weight = c.weight + row * c.width + k;
  PROXBENCH_UNROLL for (std::size_t i = 0; i < kLanes; ++i) store(weight + i * c.width, block[i]);
}

/// Sets weight rows to exp(score - top), with top the largest score of a position. Both are computed in
/// columns, where no lane is padding. Blocks are then transposed into rows.
template <bool kDirection>
void exponentiate(const ChainChunk& c) {
  const std::size_t end = rows(c);
  for (std::size_t row = 0; row < end; row += kLanes) {
    Vec even = scores<kDirection>(c, 0, row), odd = even;
    std::size_t k = 1;
    for (; k + 2 <= c.outputs; k += 2) {
      odd = larger(scores<kDirection>(c, k, row), odd);
      even = larger(scores<kDirection>(c, k + 1, row), even);
    }
    if (k < c.outputs) odd = larger(scores<kDirection>(c, k, row), odd);
    const Vec top = larger(odd, even);
    store(c.top + row, top);
    k = 0;
    for (; k + kLanes <= c.outputs; k += kLanes) exponentiate_block<kLanes, kDirection>(c, k, row, top);
    if (k < c.outputs)
      with_count<kLanes - 1>(c.outputs - k, [&](auto left) {
        exponentiate_block<decltype(left)::value, kDirection>(c, k, row, top);
      });
  }
}

/// Stores the scale of row t, which is the sum of its message. Returns its inverse.
double keep_scale(const ChainChunk& c, std::size_t t, double scale) {
  c.scale[t] = scale;
  return c.inverse[t] = 1.0 / scale;
}

/// Makes message row t sum to 1, given its sum.
void normalise(const ChainChunk& c, std::size_t t, double scale) {
  const double inverse = keep_scale(c, t, scale);
  double* message = c.message + t * c.width;
  for (std::size_t k = 0; k < covered(c); k += kLanes) store(message + k, load(message + k) * inverse);
}

void first_message(const ChainChunk& c, std::size_t t) {
  const double* weight = c.weight + t * c.width;
  Vec total{};
  for (std::size_t k = 0; k < covered(c); k += kLanes) {
    const Vec e = load(weight + k);
    store(c.message + t * c.width + k, e);
    total += e;
  }
  normalise(c, t, sum(total));
}

/// Computes messages at the rows t[r] from the rows before them: (message * M) . weight, normalised. Requires
/// that V vectors hold a row.
template <int R, int V, int H>
void next_messages_in_registers(const ChainChunk& c, const std::size_t* t) {
  const double* from[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) from[r] = c.message + (t[r] - 1) * c.width;
  Vec sums[R][V];
  multiply<R, V, H>(from, c.forward, c.outputs, c.width, sums);
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) {
    const double* weight = c.weight + t[r] * c.width;
    double* message = c.message + t[r] * c.width;
    Vec total{};
    PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
      sums[r][v] *= load(weight + static_cast<std::size_t>(v) * kLanes);
      total += sums[r][v];
    }
    const double inverse = keep_scale(c, t[r], sum(total));
    PROXBENCH_UNROLL for (int v = 0; v < V; ++v)
        store(message + static_cast<std::size_t>(v) * kLanes, sums[r][v] * inverse);
  }
}

/// Does what the function above does for rows of any width, in two passes.
template <int R>
void next_messages(const ChainChunk& c, const std::size_t* t) {
  const double* from[R];
  Vec total[R];
  for (int r = 0; r < R; ++r) {
    from[r] = c.message + (t[r] - 1) * c.width;
    total[r] = Vec{};
  }
  multiply(c, from, c.forward, [&](int r, std::size_t k, const Vec& product) {
    const std::size_t at = t[r] * c.width + k;
    const Vec m = product * load(c.weight + at);
    store(c.message + at, m);
    total[r] += m;
  });
  for (int r = 0; r < R; ++r) normalise(c, t[r], sum(total[r]));
}

/// Given the backward message b at row t, sets the posterior to message . b, and replaces the weight by
/// weight . b / scale.
template <bool kKeep>
[[gnu::always_inline]] inline void finish_row(const ChainChunk& c, std::size_t t, std::size_t k,
                                              const Vec& b) {
  const std::size_t at = t * c.width + k;
  store(c.posterior + at, load(c.message + at) * b);
  if constexpr (kKeep) {
    store(c.back + at, b);
    store(c.ratio + at, load(c.weight + at) * c.inverse[t]);
  }
  store(c.weight + at, load(c.weight + at) * b * c.inverse[t]);
}

/// Prefetches a share of the residual's cache lines. Once all rows have passed, all lines have been
/// requested.
inline void ask_for_residual(const ChainChunk& c, std::size_t t) {
  if (c.residual == nullptr) return;
  for (std::size_t k = t % kPad; k < c.outputs; k += kPad)
    __builtin_prefetch(c.residual + k * c.residual_stride + t, 1);
}

/// Computes backward messages b at the rows t[r] from the rows after them: M * (weight . b / scale).
template <int R, bool kKeep>
void previous_messages(const ChainChunk& c, const std::size_t* t) {
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) ask_for_residual(c, t[r]);
  const double* from[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) from[r] = c.weight + (t[r] + 1) * c.width;
  multiply(c, from, c.backward,
           [&](int r, std::size_t k, const Vec& b) { finish_row<kKeep>(c, t[r], k, b); });
}

/// Makes the posterior of row t sum to 1, and scales the backward message with it.
template <bool kKeep>
void renormalise(const ChainChunk& c, std::size_t t) {
  Vec total{};
  for (std::size_t k = 0; k < covered(c); k += kLanes) total += load(c.posterior + t * c.width + k);
  const double inverse = 1.0 / sum(total);
  for (std::size_t at = t * c.width; at < t * c.width + covered(c); at += kLanes) {
    for (double* const row : {c.posterior, c.weight}) store(row + at, load(row + at) * inverse);
    if constexpr (kKeep) store(c.back + at, load(c.back + at) * inverse);
  }
}

/// Computes the messages of a group of sequences forward and, if posteriors are wanted, backward.
template <bool kKeep>
void walk(const ChainChunk& c, const Group& g) {
  for (std::size_t r = 0; r < g.count; ++r) first_message(c, g.first[r]);
  walk_forward(g, [&](auto rows, const std::size_t* t) {
    constexpr int R = decltype(rows)::value;
    if (covered(c) > kTile) return next_messages<R>(c, t);
    with_tile(c.outputs, [&](auto vectors, auto half) {
      next_messages_in_registers<R, decltype(vectors)::value, decltype(half)::value>(c, t);
    });
  });
  if (c.posterior == nullptr) return;

  for (std::size_t r = 0; r < g.count; ++r) {
    const std::size_t last = g.first[r] + g.length[r] - 1;
    ask_for_residual(c, last);
    for (std::size_t k = 0; k < covered(c); k += kLanes) finish_row<kKeep>(c, last, k, splat(1.0));
  }
  walk_back(
      g, [&](auto rows, const std::size_t* t) { previous_messages<decltype(rows)::value, kKeep>(c, t); },
      [&](std::size_t t) { renormalise<kKeep>(c, t); });
}

/// Subtracts 1 at the gold label of each row. Since a posterior sums to 1, that number is minus the sum of
/// the others. So its relative error is as small as theirs, however near to 1 the posterior of gold is.
void subtract_gold(const ChainChunk& c) {
  const std::size_t first = c.begin[0] - c.origin, last = c.begin[c.sequences] - c.origin;
  for (std::size_t t = first; t < last; ++t) c.posterior[t * c.width + c.gold[t]] = 0.0;
  for (std::size_t t = first; t < last; ++t) {
    double* const row = c.posterior + t * c.width;
    Vec others{};
    for (std::size_t k = 0; k < covered(c); k += kLanes) others += load(row + k);
    row[c.gold[t]] = -sum(others);
  }
}

/// Sums the products of message_t and weight_{t+1} over edges (t, t+1), times M, minus gold.
void sum_edges(const ChainChunk& c) {
  std::size_t edges = 0, gold[kChainEdges];
  bool more = false;
  const auto sum_them = [&] {
    sum_pairs(c, edges, more);
    if (c.gold != nullptr)
      for (std::size_t e = 0; e < edges; ++e) c.pair[gold[e]] -= 1.0;
    edges = 0;
    more = true;
  };
  for (std::size_t s = 0; s < c.sequences; ++s)
    for (std::size_t t = c.begin[s] - c.origin; t + 1 < c.begin[s + 1] - c.origin; ++t) {
      if (edges == kChainEdges) sum_them();
      c.left[edges] = c.message + t * c.width;
      c.right[edges] = c.weight + (t + 1) * c.width;
      gold[edges++] = c.gold != nullptr ? c.gold[t] * c.width + c.gold[t + 1] : 0;
    }
  sum_them();
}

void forward_backward(const ChainChunk& chunk) {
  const ChainChunk c = chunk;  // a local copy, which no store can change
  c.direction == nullptr ? exponentiate<false>(c) : exponentiate<true>(c);
  for_groups(c, [&](const Group& g) { c.back == nullptr ? walk<false>(c, g) : walk<true>(c, g); });
  if (c.posterior == nullptr) return;
  if (c.gold != nullptr) subtract_gold(c);
  sum_edges(c);
}

void log_pairs(const LogPairs& pairs) {
  const LogPairs p = pairs;
  const std::size_t whole = p.outputs / kLanes * kLanes;
  double* out = p.out;
  for (std::size_t t = 0; t < p.edges; ++t)
    for (std::size_t j = 0; j < p.outputs; ++j) {
      const double before = p.before[t * p.width + j];
      const double *edge = p.transition + j * p.outputs, *after = p.after + t * p.width;
      std::size_t k = 0;
      for (; k < whole; k += kLanes) {
        const Vec sum = before + (load(edge + k) + p.shift) + load(after + k);
        store(out + k, sum < Vec{} ? sum : Vec{});
      }
      for (; k < p.outputs; ++k) {
        const double sum = before + (edge[k] + p.shift) + after[k];
        out[k] = sum < 0.0 ? sum : 0.0;
      }
      out += p.outputs;
    }
}

/// Number of vectors in a strip of columns. strip() keeps the maximum of each column in a register.
constexpr std::size_t kStrip = 4;

template <std::size_t kVectors>
void strip(const double* row, std::size_t n, const double* matrix, std::size_t width, double* out) {
  Vec best[kVectors];
  PROXBENCH_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) best[v] = row[0] + load(matrix + v * kLanes);
  for (std::size_t j = 1; j < n; ++j) {
    PROXBENCH_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      best[v] = larger(row[j] + load(matrix + j * width + v * kLanes), best[v]);
  }
  PROXBENCH_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) store(out + v * kLanes, best[v]);
}

void row_times_matrix(const double* row, std::size_t n, const double* matrix, std::size_t width,
                      double* out) {
  std::size_t k = 0;
  for (; k + kStrip * kLanes <= width; k += kStrip * kLanes)
    strip<kStrip>(row, n, matrix + k, width, out + k);
  for (; k < width; k += kLanes) strip<1>(row, n, matrix + k, width, out + k);
}

}  // namespace

extern const ChainKernels chain_kernels;
const ChainKernels chain_kernels{forward_backward, derivative, log_pairs, row_times_matrix};

}  // namespace proxbench::PROXBENCH_SIMD
