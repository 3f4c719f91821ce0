/// Forward-backward, compiled for one instruction set (core/kernels/kernels.h). Several sequences are walked
/// at once. A row of the transition matrix is then loaded once for all of them, and no sequence waits for the
/// results of its own last step.
#include "core/kernels/kernels.h"
#include "oracles/chain/chain_kernels.h"
#include "oracles/chain/chain_tiles.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

/// The doubles of a row that are computed. Those behind them in the padding are neither written nor read.
std::size_t covered(const ChainChunk& c) {
  return (c.outputs + kLanes - 1) / kLanes * kLanes;
}

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

/// Computes messages at the rows t[r] from the rows before: (message * M) . weight, normalised. Requires that
/// V vectors hold a row.
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

/// The same for any width, in two passes.
template <int R>
void next_messages(const ChainChunk& c, const std::size_t* t) {
  const double* from[R];
  Vec total[R];
  for (int r = 0; r < R; ++r) {
    from[r] = c.message + (t[r] - 1) * c.width;
    total[r] = Vec{};
  }
  for (std::size_t k = 0; k < c.outputs; k += kTile)
    with_tile(c.outputs - k, [&](auto vectors, auto half) {
      constexpr int V = decltype(vectors)::value, H = decltype(half)::value;
      Vec sums[R][V];
      multiply<R, V, H>(from, c.forward + k, c.outputs, c.width, sums);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
        const std::size_t at = t[r] * c.width + k + static_cast<std::size_t>(v) * kLanes;
        const Vec m = sums[r][v] * load(c.weight + at);
        store(c.message + at, m);
        total[r] += m;
      }
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

/// Computes backward messages b at the rows t[r] from the rows behind: M * (weight . b / scale).
template <int R, bool kKeep>
void previous_messages(const ChainChunk& c, const std::size_t* t) {
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) ask_for_residual(c, t[r]);
  const double* from[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) from[r] = c.weight + (t[r] + 1) * c.width;
  for (std::size_t k = 0; k < c.outputs; k += kTile)
    with_tile(c.outputs - k, [&](auto vectors, auto half) {
      constexpr int V = decltype(vectors)::value, H = decltype(half)::value;
      Vec sums[R][V];
      multiply<R, V, H>(from, c.backward + k, c.outputs, c.width, sums);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v)
          finish_row<kKeep>(c, t[r], k + static_cast<std::size_t>(v) * kLanes, sums[r][v]);
    });
}

/// Walks at most kWalked sequences, longest first, forward and, if posteriors are wanted, backward.
template <bool kKeep>
void walk(const ChainChunk& c, const Index* sequence, std::size_t count) {
  std::size_t first[kWalked], length[kWalked], t[kWalked];
  for (std::size_t r = 0; r < count; ++r) {
    first[r] = c.begin[sequence[r]] - c.origin;
    length[r] = c.begin[sequence[r] + 1] - c.origin - first[r];
    first_message(c, first[r]);
  }
  std::size_t going = count;
  for (std::size_t step = 1; step < length[0]; ++step) {
    while (length[going - 1] <= step) --going;
    for (std::size_t r = 0; r < going; ++r) t[r] = first[r] + step;
    for_tiles(going, [&](auto rows, std::size_t from) {
      constexpr int R = decltype(rows)::value;
      if (covered(c) > kTile) return next_messages<R>(c, t + from);
      with_tile(c.outputs, [&](auto vectors, auto half) {
        next_messages_in_registers<R, decltype(vectors)::value, decltype(half)::value>(c, t + from);
      });
    });
  }
  if (c.posterior == nullptr) return;

  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t last = first[r] + length[r] - 1;
    ask_for_residual(c, last);
    for (std::size_t k = 0; k < covered(c); k += kLanes) finish_row<kKeep>(c, last, k, splat(1.0));
  }
  going = count;
  for (std::size_t step = 1; step < length[0]; ++step) {
    while (length[going - 1] <= step) --going;
    for (std::size_t r = 0; r < going; ++r) t[r] = first[r] + length[r] - 1 - step;
    for_tiles(going, [&](auto rows, std::size_t from) {
      previous_messages<decltype(rows)::value, kKeep>(c, t + from);
    });
  }
}

/// pair[i + r][k..] = M . sum over edges (t, t+1) of message_t[i + r] * weight_{t+1}[k..], for r < R.
template <int R, int V, int H>
void add_pairs(const ChainChunk& c, std::size_t edges, std::size_t i, std::size_t k) {
  Vec sums[R][V];
  sum_products<R, V, H>(
      edges,
      [&](int r, std::size_t e) { return c.message[c.edge[e] * c.width + i + static_cast<std::size_t>(r)]; },
      [&](std::size_t e) { return c.weight + (c.edge[e] + std::size_t{1}) * c.width + k; }, sums);
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
    const std::size_t at =
        (i + static_cast<std::size_t>(r)) * c.width + k + static_cast<std::size_t>(v) * kLanes;
    store(c.pair + at, sums[r][v] * load(c.forward + at));
  }
}

void sum_pairs(const ChainChunk& c) {
  std::size_t edges = 0;
  for (std::size_t s = 0; s < c.sequences; ++s)
    for (Index p = c.begin[s]; p + 1 < c.begin[s + 1]; ++p)
      c.edge[edges++] = static_cast<Index>(p - c.origin);
  for (std::size_t i = 0; i < c.outputs; i += kTileRows)
    with_count<kTileRows>(c.outputs - i, [&](auto rows) {
      for (std::size_t k = 0; k < c.outputs; k += kTile)
        with_tile(c.outputs - k, [&](auto vectors, auto half) {
          add_pairs<decltype(rows)::value, decltype(vectors)::value, decltype(half)::value>(c, edges, i, k);
        });
    });
}

/// sum_t (log scale_t + top_t) plus the transitions that were factored out. It takes one logarithm, of the
/// product of the scales, whose exponent is kept separately.
double log_partition(const ChainChunk& c, std::size_t begin, std::size_t end) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1, kOne = std::uint64_t{1023} << 52;
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  double product = 1.0, tops = static_cast<double>(end - begin - 1) * c.largest_transition, logs = 0.0;
  std::int64_t exponent = 0;
  for (std::size_t t = begin; t < end; ++t) {
    tops += c.top[t];
    if (!(c.scale[t] > 0x1p-1000 && c.scale[t] < 0x1p1000)) {  // catches NaN, too
      logs += __builtin_log(c.scale[t]);
      continue;
    }
    product *= c.scale[t];
    std::uint64_t bits;
    std::memcpy(&bits, &product, sizeof bits);
    exponent += static_cast<std::int64_t>(bits >> 52) - 1023;
    bits = (bits & kMantissa) | kOne;
    std::memcpy(&product, &bits, sizeof bits);
  }
  return tops + (logs + __builtin_log(product) + static_cast<double>(exponent) * kLn2);
}

void forward_backward(const ChainChunk& chunk) {
  const ChainChunk c = chunk;  // a local copy, which no store can change
  c.direction == nullptr ? exponentiate<false>(c) : exponentiate<true>(c);
  // Groups of about equal size.
  const std::size_t groups = (c.sequences + kWalked - 1) / kWalked;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = g * c.sequences / groups, to = (g + 1) * c.sequences / groups;
    c.back == nullptr ? walk<false>(c, c.by_length + from, to - from)
                      : walk<true>(c, c.by_length + from, to - from);
  }
  for (std::size_t i = 0; i < c.sequences; ++i)
    c.log_partition[i] = log_partition(c, c.begin[i] - c.origin, c.begin[i + 1] - c.origin);
  if (c.posterior != nullptr) sum_pairs(c);
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

}  // namespace

extern const ChainKernels chain_kernels;
const ChainKernels chain_kernels{.forward_backward = forward_backward, .log_pairs = log_pairs};

}  // namespace proxbench::PROXBENCH_SIMD
