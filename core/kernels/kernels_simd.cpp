/// The kernels of core, compiled for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernel_table.h"
#include "core/kernels/kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

/// The entries of a block are prefetched this many blocks ahead, since hardware prefetchers do not find them.
constexpr std::size_t kPrefetchAhead = 3;
constexpr std::size_t kCacheLine = 64;

void prefetch(const ColumnBlock& block) {
  for (std::size_t i = 0; i < block.size; i += kCacheLine / sizeof(std::uint16_t))
    __builtin_prefetch(block.offset + i);
  if (block.value != nullptr)
    for (std::size_t i = 0; i < block.size; i += kCacheLine / sizeof(double))
      __builtin_prefetch(block.value + i);
}

void add_block_rows(const double* rows, const ColumnBlock& block, double* out, std::size_t width) {
  for (std::size_t first = 0; first < block.size; first += kPieceEntries) {
    const std::uint16_t* const offset = block.offset + first;
    accumulate_rows([&](std::size_t e) { return rows + offset[e] * width; },
                    block.value == nullptr ? nullptr : block.value + first,
                    block.size - first < kPieceEntries ? block.size - first : kPieceEntries, out, width);
  }
}

void add_rows(const double* rows, const Index* index, const double* x, std::size_t n, double* out,
              std::size_t width) {
  accumulate_rows([&](std::size_t i) { return rows + index[i] * width; }, x, n, out, width);
}

/// The remaining entries of a block, how many of them are in the current piece, and the piece's sum so far.
struct Entries {
  const std::uint16_t* at;
  const double* x;
  std::size_t left, in_piece;
  double sum;
  double* out;

  void begin_piece() {
    in_piece = left < kPieceEntries ? left : kPieceEntries;
    sum = 0.0;
  }
  template <bool kValues>
  double add(double to, const double* column, std::size_t i) const {
    return kValues ? to + x[i] * column[at[i]] : to + column[at[i]];
  }
  /// Passes `n` entries of the piece, with which its sum is `with`. Returns whether entries are left.
  template <bool kValues>
  bool pass(std::size_t n, double with) {
    at += n;
    if (kValues) x += n;
    left -= n;
    in_piece -= n;
    sum = with;
    if (in_piece > 0) return true;
    *out += sum;
    begin_piece();
    return left > 0;
  }
};

/// In a sum in order, each addition waits for the one before it. So kBlocksAtOnce long blocks are summed
/// together. The processor itself overlaps blocks shorter than kLongBlock.
constexpr std::size_t kLongBlock = 24, kBlocksAtOnce = 4;

template <bool kValues>
void gather_in_pieces(const double* column, const ColumnBlock* blocks, std::size_t n, double* sums) {
  const auto finish = [&](Entries& e) {
    while (e.left > 0) {
      double sum = e.sum;
      for (std::size_t i = 0; i < e.in_piece; ++i) sum = e.template add<kValues>(sum, column, i);
      e.template pass<kValues>(e.in_piece, sum);
    }
  };
  Entries held[kBlocksAtOnce];
  std::size_t count = 0;
  for (std::size_t b = 0; b < n; ++b) {
    if (b + kPrefetchAhead < n) prefetch(blocks[b + kPrefetchAhead]);
    Entries next{blocks[b].offset, blocks[b].value, blocks[b].size, 0, 0.0, sums + b};
    next.begin_piece();
    if (next.left < kLongBlock) {
      finish(next);
      continue;
    }
    held[count++] = next;
    if (count < kBlocksAtOnce) continue;
    // Until one of them ends.
    while (count == kBlocksAtOnce) {
      std::size_t together = kPieceEntries;
      double sum[kBlocksAtOnce];
      for (std::size_t l = 0; l < kBlocksAtOnce; ++l) {
        together = held[l].in_piece < together ? held[l].in_piece : together;
        sum[l] = held[l].sum;
      }
      for (std::size_t i = 0; i < together; ++i)
        PROXBENCH_UNROLL for (std::size_t l = 0; l < kBlocksAtOnce; ++l) sum[l] =
            held[l].template add<kValues>(sum[l], column, i);
      count = 0;
      for (std::size_t l = 0; l < kBlocksAtOnce; ++l) {
        Entries e = held[l];
        if (e.template pass<kValues>(together, sum[l])) held[count++] = e;
      }
    }
  }
  for (std::size_t l = 0; l < count; ++l) finish(held[l]);
}

void gather(const double* column, const ColumnBlock* blocks, std::size_t n, double* sums) {
  // If one block has values, all non-empty blocks have.
  bool values = false;
  for (std::size_t b = 0; b < n; ++b) values |= blocks[b].value != nullptr;
  if (values)
    gather_in_pieces<true>(column, blocks, n, sums);
  else
    gather_in_pieces<false>(column, blocks, n, sums);
}

void scatter(double* column, const ColumnBlock* blocks, const double* weight, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kPrefetchAhead < n) prefetch(blocks[i + kPrefetchAhead]);
    const std::uint16_t* at = blocks[i].offset;
    const double* x = blocks[i].value;
    const double w = weight[i];
    if (x == nullptr) {
      for (std::size_t e = 0; e < blocks[i].size; ++e) column[at[e]] += w;
    } else {
      for (std::size_t e = 0; e < blocks[i].size; ++e) column[at[e]] += w * x[e];
    }
  }
}

void columns_to_rows(const double* columns, std::size_t stride, std::size_t outputs, std::size_t begin,
                     std::size_t n, double* rows, std::size_t width) {
  std::size_t p = 0;
  for (; p + kLanes <= n; p += kLanes)
    for (std::size_t k = 0; k < width; k += kLanes) {
      Vec block[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i)
        block[i] = k + i < outputs ? load(columns + (k + i) * stride + begin + p) : Vec{};
      transpose(block);
      for (std::size_t i = 0; i < kLanes; ++i) store(rows + (p + i) * width + k, block[i]);
    }
  for (; p < n; ++p)
    for (std::size_t k = 0; k < width; ++k)
      rows[p * width + k] = k < outputs ? columns[k * stride + begin + p] : 0.0;
}

/// columns[i][0..kLanes) = rows[0..kLanes)[i] for N columns.
template <int N>
void block_to_columns(const double* rows, std::size_t width, double* columns, std::size_t stride) {
  Vec block[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) block[i] = load(rows + i * width);
  transpose(block);
  for (std::size_t i = 0; i < N; ++i) store(columns + i * stride, block[i]);
}

/// Whole vectors are stored to positions that are multiples of kLanes, so that each stays within one cache
/// line.
void rows_to_columns(const double* rows, std::size_t width, std::size_t outputs, std::size_t begin,
                     std::size_t n, double* columns, std::size_t stride) {
  const auto one_position = [&](std::size_t p) {
    for (std::size_t k = 0; k < outputs; ++k) columns[k * stride + begin + p] = rows[p * width + k];
  };
  std::size_t p = 0;
  for (; p < n && (begin + p) % kLanes != 0; ++p) one_position(p);
  for (; p + kLanes <= n; p += kLanes) {
    const double* from = rows + p * width;
    double* to = columns + begin + p;
    std::size_t k = 0;
    for (; k + kLanes <= outputs; k += kLanes)
      block_to_columns<kLanes>(from + k, width, to + k * stride, stride);
    if (k < outputs)
      with_count<kLanes - 1>(outputs - k, [&](auto left) {
        block_to_columns<decltype(left)::value>(from + k, width, to + k * stride, stride);
      });
  }
  for (; p < n; ++p) one_position(p);
}

bool all_within(const double* x, std::size_t n, double bound) {
  std::size_t i = 0;
  IntVec inside = ~IntVec{};
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = load(x + i);
    inside &= (v <= splat(bound)) & (v >= splat(-bound));
  }
  for (std::size_t l = 0; l < kLanes; ++l)
    if (inside[l] == 0) return false;
  for (; i < n; ++i)
    if (!(x[i] <= bound && x[i] >= -bound)) return false;
  return true;
}

unsigned lanes_outside(const double* x, std::size_t n, double bound) {
  unsigned out = 0;
  for (std::size_t part = 0; part < kPad; part += kLanes) {
    IntVec inside = ~IntVec{};
    for (std::size_t i = 0; i < n; ++i) {
      const Vec v = load(x + i * kPad + part);
      inside &= (v <= splat(bound)) & (v >= splat(-bound));
    }
    for (std::size_t l = 0; l < kLanes; ++l) out |= inside[l] != 0 ? 0u : 1u << (part + l);
  }
  return out;
}

void exponentiate(double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) store(x + i, exp(load(x + i)));
}

void logarithm(double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) store(x + i, log_and_inverse(load(x + i)).log);
}

double add_then_dot(double alpha, const double* x, double* y, const double* z, std::size_t n) {
  Vec lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec moved = load(y + i) + alpha * load(x + i);
    store(y + i, moved);
    lanes += moved * load(z + i);
  }
  double s = sum(lanes);
  for (; i < n; ++i) {
    y[i] += alpha * x[i];
    s += y[i] * z[i];
  }
  return s;
}

template <bool kAdd>
void product(const MatrixProduct& p) {
  constexpr std::size_t kTile = kTileVectors * kLanes;
  for (std::size_t r = 0; r < p.count; r += kTileRows)
    with_count<kTileRows>(p.count - r, [&](auto in_tile) {
      for (std::size_t k = 0; k < p.width; k += kTile)
        with_count<kTileVectors>((p.width - k) / kLanes, [&](auto vectors) {
          constexpr int R = decltype(in_tile)::value, V = decltype(vectors)::value;
          const double* rows = p.rows + r * p.rows_stride;
          Vec sums[R][V];
          sum_products<R, V, 0>(
              p.inner,
              [&](int i, std::size_t j) { return rows[static_cast<std::size_t>(i) * p.rows_stride + j]; },
              [&](std::size_t j) { return p.matrix + j * p.matrix_stride + k; }, sums);
          PROXBENCH_UNROLL for (int i = 0; i < R; ++i) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
            double* out = p.out + (r + static_cast<std::size_t>(i)) * p.out_stride + k +
                          static_cast<std::size_t>(v) * kLanes;
            store(out, kAdd ? load(out) + sums[i][v] : sums[i][v]);
          }
        });
    });
}

void add_product(const MatrixProduct& p) {
  p.overwrite ? product<false>(p) : product<true>(p);
}

}  // namespace

extern const KernelTable kernels_in_use;
const KernelTable kernels_in_use{
    .add_block_rows = add_block_rows,
    .add_rows = add_rows,
    .gather = gather,
    .scatter = scatter,
    .columns_to_rows = columns_to_rows,
    .rows_to_columns = rows_to_columns,
    .all_within = all_within,
    .lanes_outside = lanes_outside,
    .exponentiate = exponentiate,
    .logarithm = logarithm,
    .add_scaled = add_scaled,
    .dot = dot,
    .add_then_dot = add_then_dot,
    .add_product = add_product,
};

}  // namespace proxbench::PROXBENCH_SIMD
