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

/// The i-th partial sum that waits to be merged.
double* waiting_row(const TreeRows& sums, std::size_t i) {
  return i == 0 ? sums.out + sums.node * sums.node_stride : sums.waiting + (i - 1) * sums.apart;
}

/// Adds the last waiting sum to the one before it.
void merge_rows(TreeRows& sums, std::size_t width) {
  --sums.count;
  const double* from = waiting_row(sums, sums.count);
  double* to = waiting_row(sums, sums.count - std::size_t{1});
  for (std::size_t k = 0; k < width; k += kLanes) store(to + k, load(to + k) + load(from + k));
}

void finish_tree_rows(TreeRows& sums, std::size_t width) {
  while (sums.count > 1) merge_rows(sums, width);
}

/// Returns the highest bit in which the numbers of two leaves differ. The larger it is, the higher in the
/// tree lies the lowest node that holds both.
std::uint32_t highest_difference(const TreeLeaves& leaves, std::uint32_t a, std::uint32_t b) {
  return 31u - static_cast<std::uint32_t>(__builtin_clz(leaves.number[a] ^ leaves.number[b]));
}

/// Returns the row in which to add up a leaf, after completing all earlier sums that can be completed.
double* row_of_leaf(const TreeLeaves& leaves, std::uint32_t leaf, TreeRows& sums, std::size_t width) {
  if (sums.count > 0) {
    if (sums.leaf[sums.count - 1] == leaf) return waiting_row(sums, sums.count - std::size_t{1});
    if (leaves.node[leaf] == sums.node) {
      const std::uint32_t level = highest_difference(leaves, sums.leaf[sums.count - 1], leaf);
      while (sums.count > 1 &&
             highest_difference(leaves, sums.leaf[sums.count - 2], sums.leaf[sums.count - 1]) < level)
        merge_rows(sums, width);
    } else {
      finish_tree_rows(sums, width);
      sums.count = 0;
    }
  }
  if (sums.count == 0) sums.node = leaves.node[leaf];
  double* const row = waiting_row(sums, sums.count);
  if (sums.count > 0)
    for (std::size_t k = 0; k < width; k += kLanes) store(row + k, Vec{});
  sums.leaf[sums.count++] = leaf;
  return row;
}

void add_tree_rows(const double* rows, const ColumnBlock& block, const std::uint8_t* leaf_of,
                   const TreeLeaves& leaves, TreeRows& sums, std::size_t width) {
  for (std::size_t i = 0, end; i < block.size; i = end) {
    const std::uint8_t leaf = leaf_of[block.offset[i]];
    // Most blocks of long columns lie within a leaf.
    end = leaf_of[block.offset[block.size - 1]] == leaf ? block.size : i + 1;
    while (end < block.size && leaf_of[block.offset[end]] == leaf) ++end;
    const std::uint16_t* const offset = block.offset + i;
    accumulate_rows([&](std::size_t e) { return rows + offset[e] * width; },
                    block.value == nullptr ? nullptr : block.value + i, end - i,
                    row_of_leaf(leaves, leaf, sums, width), width);
  }
}

template <int V>
void add_single_rows(const float* rows, std::size_t width, const ColumnBlock& block, double* gradient) {
  // Each output has several partial sums, so that consecutive additions do not depend on each other.
  constexpr int kSums = V <= 2 ? 4 : (V <= 4 ? 2 : 1);
  Floats sums[V] = {}, more[kSums][V] = {};
  const auto add = [&](std::size_t i, Floats(&to)[V]) {
    const float* row = rows + block.offset[i] * width;
    PROXBENCH_UNROLL for (int v = 0; v < V; ++v) to[v] += load(row + static_cast<std::size_t>(v) * kFloats);
  };
  std::size_t i = 0;
  for (; i + kSums <= block.size; i += kSums)
    PROXBENCH_UNROLL for (int s = 0; s < kSums; ++s) add(i + static_cast<std::size_t>(s), more[s]);
  for (; i < block.size; ++i) add(i, sums);
  PROXBENCH_UNROLL for (int s = 0; s < kSums; ++s) PROXBENCH_UNROLL for (int v = 0; v < V; ++v) sums[v] +=
      more[s][v];
  PROXBENCH_UNROLL for (int v = 0; v < V; ++v) {
    float numbers[kFloats];
    std::memcpy(numbers, &sums[v], sizeof numbers);
    double* to = gradient + static_cast<std::size_t>(v) * kFloats;
    for (std::size_t l = 0; l < kFloats; ++l) to[l] += static_cast<double>(numbers[l]);
  }
}

void add_single_rows(const float* rows, const ColumnBlock& block, double* gradient, std::size_t width) {
  constexpr std::size_t kTile = 8 * kFloats;
  for (std::size_t k = 0; k < width; k += kTile)
    with_count<8>((width - k < kTile ? width - k : kTile) / kFloats, [&](auto vectors) {
      add_single_rows<decltype(vectors)::value>(rows + k, width, block, gradient + k);
    });
}

void shorten_rows(const double* rows, std::size_t width, std::size_t n, float* out, std::size_t single_width,
                  double* sizes) {
  for (std::size_t p = 0; p < n; ++p) {
    const double* row = rows + p * width;
    float* to = out + p * single_width;
    for (std::size_t k = 0; k < width; ++k) {
      to[k] = static_cast<float>(row[k]);
      sizes[k] += row[k] < 0.0 ? -row[k] : row[k];
    }
    for (std::size_t k = width; k < single_width; ++k) to[k] = 0.0f;
  }
}

void add_rows(const double* rows, const Index* index, const double* x, std::size_t n, double* out,
              std::size_t width) {
  accumulate_rows([&](std::size_t i) { return rows + index[i] * width; }, x, n, out, width);
}

/// The remaining entries of a block, and its sum so far.
struct Entries {
  const std::uint16_t* at;
  const double* x;
  std::size_t left;
  double sum;
  double* out;

  template <bool kValues>
  double add(double to, const double* column, std::size_t i) const {
    return kValues ? to + x[i] * column[at[i]] : to + column[at[i]];
  }
};

/// In a sum in order, each addition waits for the one before it. So kBlocksAtOnce long blocks are summed
/// together. The processor itself overlaps blocks shorter than kLongBlock.
constexpr std::size_t kLongBlock = 24, kBlocksAtOnce = 4;

template <bool kValues>
void gather_in_order(const double* column, const ColumnBlock* blocks, const std::uint32_t* to, std::size_t n,
                     double* sums) {
  const auto finish = [&](const Entries& e) {
    double sum = e.sum;
    for (std::size_t i = 0; i < e.left; ++i) sum = e.template add<kValues>(sum, column, i);
    *e.out = sum;
  };
  Entries held[kBlocksAtOnce];
  std::size_t count = 0;
  for (std::size_t b = 0; b < n; ++b) {
    if (b + kPrefetchAhead < n) prefetch(blocks[b + kPrefetchAhead]);
    const Entries next{blocks[b].offset, blocks[b].value, blocks[b].size, sums[to[b]], sums + to[b]};
    if (next.left < kLongBlock) {
      finish(next);
      continue;
    }
    held[count++] = next;
    if (count < kBlocksAtOnce) continue;
    std::size_t together = held[0].left;
    double sum[kBlocksAtOnce];
    for (std::size_t l = 0; l < kBlocksAtOnce; ++l) {
      together = held[l].left < together ? held[l].left : together;
      sum[l] = held[l].sum;
    }
    for (std::size_t i = 0; i < together; ++i)
      PROXBENCH_UNROLL for (std::size_t l = 0; l < kBlocksAtOnce; ++l) sum[l] =
          held[l].template add<kValues>(sum[l], column, i);
    count = 0;
    for (std::size_t l = 0; l < kBlocksAtOnce; ++l) {
      Entries& e = held[l];
      e.at += together;
      if (kValues) e.x += together;
      e.left -= together;
      e.sum = sum[l];
      if (e.left == 0) {
        *e.out = e.sum;
      } else {
        held[count++] = e;
      }
    }
  }
  for (std::size_t l = 0; l < count; ++l) finish(held[l]);
}

void gather(const double* column, const ColumnBlock* blocks, const std::uint32_t* at, std::size_t n,
            double* sums) {
  // If one block has values, all non-empty blocks have.
  bool values = false;
  for (std::size_t b = 0; b < n; ++b) values |= blocks[b].value != nullptr;
  if (values)
    gather_in_order<true>(column, blocks, at, n, sums);
  else
    gather_in_order<false>(column, blocks, at, n, sums);
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

void combine_rows(const double* rows, std::size_t stride, std::size_t count, const double* x, double* out,
                  std::size_t width) {
  accumulate_rows([&](std::size_t r) { return rows + r * stride; }, x, count, out, width);
}

/// out[r][0..V*kLanes) = sum_j rows[r][j] * matrix[j][0..V*kLanes) for R rows.
template <int R, int V>
void tile_times_matrix(const double* rows, std::size_t stride, const double* matrix, std::size_t width,
                       double* out) {
  Vec a[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) a[r][v] = Vec{};
  for (std::size_t j = 0; j < width; ++j)
    for (int v = 0; v < V; ++v) {
      const Vec m = load(matrix + j * width + static_cast<std::size_t>(v) * kLanes);
      for (int r = 0; r < R; ++r) a[r][v] += rows[static_cast<std::size_t>(r) * stride + j] * m;
    }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      store(out + static_cast<std::size_t>(r) * stride + static_cast<std::size_t>(v) * kLanes, a[r][v]);
}

void rows_times_matrix(const double* rows, std::size_t stride, std::size_t count, const double* matrix,
                       std::size_t width, double* out) {
  constexpr std::size_t kTile = kTileVectors * kLanes;
  for (std::size_t r = 0; r < count; r += kTileRows)
    with_count<kTileRows>(count - r, [&](auto in_tile) {
      for (std::size_t k = 0; k < width; k += kTile)
        with_count<kTileVectors>((width - k) / kLanes, [&](auto vectors) {
          tile_times_matrix<decltype(in_tile)::value, decltype(vectors)::value>(
              rows + r * stride, stride, matrix + k, width, out + r * stride + k);
        });
    });
}

void add_product(const MatrixProduct& p) {
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
            store(out, load(out) + sums[i][v]);
          }
        });
    });
}

}  // namespace

extern const KernelTable kernels_in_use;
const KernelTable kernels_in_use{
    .add_tree_rows = add_tree_rows,
    .finish_tree_rows = finish_tree_rows,
    .add_single_rows = add_single_rows,
    .shorten_rows = shorten_rows,
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
    .combine_rows = combine_rows,
    .rows_times_matrix = rows_times_matrix,
    .add_product = add_product,
};

}  // namespace proxbench::PROXBENCH_SIMD
