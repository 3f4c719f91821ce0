#include "solvers/shared/symmetric_block.h"

#include <algorithm>
#include <utility>

#include "core/base/sum.h"

namespace proxbench {

double most_samples(std::size_t block_size) {
  constexpr double kSamples = 10.0, kFewestSamples = 1000.0;
  return std::max(kSamples * static_cast<double>(block_size), kFewestSamples);
}

namespace {

/// A block with at least this share of nonzeros is kept dense.
constexpr double kDenseShare = 0.25;

/// A fixed pseudo-random number in [0, 1) for each position.
double sampling_number(std::uint64_t position) {
  std::uint64_t x = (position + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  return static_cast<double>((x ^ (x >> 32)) >> 11) * 0x1p-53;
}

/// Sparse rows or columns. List i consists of index[begin[i]..begin[i+1]) and the values at the same places.
/// If `value` is empty, all values are 1.
template <class Number>
struct Lists {
  std::vector<std::size_t> begin{0};
  std::vector<Number> index;
  std::vector<double> value;

  /// Makes room for `entries` entries after the last list. Returns where they start.
  std::size_t make_room(std::size_t entries, bool values) {
    const std::size_t end = begin.back();
    if (index.size() < end + entries) index.resize(2 * (end + entries));
    if (values) value.resize(index.size());
    return end;
  }
  /// In the result, list j holds each i whose list i holds j, in ascending order.
  template <class Other>
  Lists<Other> transposed(std::size_t lists) const {
    Lists<Other> out;
    out.begin.assign(lists + 1, 0);
    for (std::size_t e = 0; e < begin.back(); ++e) ++out.begin[index[e] + std::size_t{1}];
    for (std::size_t j = 0; j < lists; ++j) out.begin[j + 1] += out.begin[j];
    out.index.resize(begin.back());
    if (!value.empty()) out.value.resize(begin.back());
    std::vector<std::size_t> next(out.begin.begin(), out.begin.end() - 1);
    for (std::size_t i = 0; i + 1 < begin.size(); ++i)
      for (std::size_t e = begin[i]; e < begin[i + 1]; ++e) {
        const std::size_t at = next[index[e]]++;
        out.index[at] = static_cast<Other>(i);
        if (!value.empty()) out.value[at] = value[e];
      }
    return out;
  }
};

/// Row numbers of a block. They have two bytes so that half a table of them for all features stays in the
/// first-level cache.
using Slot = std::uint16_t;
constexpr Slot kNoSlot = static_cast<Slot>(-1);
static_assert(SymmetricBlock::kMostRows <= kNoSlot);

/// The positions that a block is made from, and the weight of each.
struct Sample {
  std::vector<Index> position;
  std::vector<double> weight;
};

/// Draws positions in proportion to `spread`, whose sum over all positions is `total`. `first` is the number
/// of positions that earlier processes hold.
Sample draw(const DesignMatrix& x, std::span<const double> spread, double total, std::size_t first,
            std::size_t block_size) {
  const double samples = most_samples(block_size);
  const bool all = static_cast<double>(x.whole_positions()) <= samples;
  const double certain = all ? 0.0 : total / samples;  // positions with at least this spread are always taken
  Sample out;
  for (std::size_t p = 0; p < spread.size(); ++p) {
    double h = spread[p];
    if (h < certain) h = sampling_number(first + p) * certain < h ? certain : 0.0;
    if (h == 0.0) continue;
    out.position.push_back(static_cast<Index>(p));
    out.weight.push_back(h);
  }
  return out;
}

/// The block's entries of X at the sampled positions, by position and by feature. `columns` may be empty.
struct Entries {
  Lists<Slot> rows;
  Lists<std::uint32_t> columns;
  bool binary = false;  ///< all values are 1 and are not stored
};

// The entries are found by walking whole rows or columns, most of whose entries are not wanted. To avoid
// mispredicted branches, each entry is written, and the end moves on only if it is kept.

Lists<Slot> find_in_rows(const DesignMatrix& x, const Sample& sample, std::span<const Index> features) {
  std::vector<Slot> slot_of(x.features(), kNoSlot);
  for (std::size_t i = 0; i < features.size(); ++i) slot_of[features[i]] = static_cast<Slot>(i);
  const bool binary = x.binary();
  Lists<Slot> rows;
  std::vector<double> scratch;
  for (const Index p : sample.position) {
    const auto row = x.row(p);
    const auto values = x.row_values(p, scratch);
    std::size_t end = rows.make_room(row.size(), !binary);
    for (std::size_t e = 0; e < row.size(); ++e) {
      rows.index[end] = slot_of[row[e]];
      if (!binary) rows.value[end] = values[e];
      end += rows.index[end] != kNoSlot ? 1 : 0;
    }
    rows.begin.push_back(end);
  }
  return rows;
}

Lists<std::uint32_t> find_in_columns(const DesignMatrix& x, const Sample& sample,
                                     std::span<const Index> features) {
  constexpr auto kNoRow = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> row_of(x.positions(), kNoRow);
  for (std::size_t r = 0; r < sample.position.size(); ++r)
    row_of[sample.position[r]] = static_cast<std::uint32_t>(r);
  const bool binary = x.binary();
  Lists<std::uint32_t> columns;
  for (const Index j : features) {
    std::size_t end = columns.make_room(x.column_size(j), !binary);
    x.for_each_in_column(j, [&](std::size_t p, double value) {
      columns.index[end] = row_of[p];
      if (!binary) columns.value[end] = value;
      end += columns.index[end] != kNoRow ? 1 : 0;
    });
    columns.begin.push_back(end);
  }
  return columns;
}

Entries find_entries(const DesignMatrix& x, const Sample& sample, std::span<const Index> features) {
  std::uint64_t row_entries = 0, column_entries = 0;
  for (const Index p : sample.position) row_entries += x.row(p).size();
  for (const Index j : features) column_entries += x.column_size(j);
  Entries out{.rows = {}, .columns = {}, .binary = x.binary()};
  if (row_entries < column_entries) {
    out.rows = find_in_rows(x, sample, features);
  } else {
    out.columns = find_in_columns(x, sample, features);
    out.rows = out.columns.transposed<Slot>(sample.position.size());
  }
  return out;
}

/// Sums position by position into the upper triangle, then mirrors it. Returns the number of nonzero entries.
std::size_t fill_dense(const Entries& entries, const Sample& sample, SymmetricBlock& block,
                       const StopToken& stop) {
  const Lists<Slot>& rows = entries.rows;
  const auto value = [&](std::size_t e) { return entries.binary ? 1.0 : rows.value[e]; };
  const std::size_t n = block.size, width = padded(n);
  block.dense.assign(n * width, 0.0);
  for (std::size_t r = 0; r < sample.weight.size() && !stop.requested(); ++r)
    for (std::size_t a = rows.begin[r]; a < rows.begin[r + 1]; ++a) {
      const double scaled = sample.weight[r] * value(a);
      double* sums = block.dense.data() + rows.index[a] * width;
      for (std::size_t e = a; e < rows.begin[r + 1]; ++e) sums[rows.index[e]] += scaled * value(e);
    }
  std::size_t nonzeros = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = block.dense.data() + i * width;
    for (std::size_t j = i; j < n; ++j) {
      block.dense[j * width + i] = row[j];
      nonzeros += row[j] != 0.0 ? (i == j ? 1 : 2) : 0;
    }
  }
  return nonzeros;
}

void make_sparse(SymmetricBlock& block) {
  std::vector<std::size_t> begin(1, 0);
  for (std::size_t i = 0; i < block.size; ++i) {
    for (std::size_t j = 0; j < block.size; ++j) {
      const double value = block.dense_row(i)[j];
      if (value == 0.0) continue;
      block.slot.push_back(static_cast<std::uint32_t>(j));
      block.value.push_back(value);
    }
    begin.push_back(block.slot.size());
  }
  block.begin = std::move(begin);
  block.dense = {};
}

/// Forms one row i of the block at a time (Gustavson): it visits the positions where feature i is on, and the
/// other features there.
void fill_sparse(Entries& entries, const Sample& sample, SymmetricBlock& block, const StopToken& stop) {
  const std::size_t n = block.size;
  const Lists<Slot>& rows = entries.rows;
  Lists<std::uint32_t>& columns = entries.columns;
  if (columns.begin.size() == 1) columns = rows.transposed<std::uint32_t>(n);
  const auto value = [&](const auto& lists, std::size_t e) { return entries.binary ? 1.0 : lists.value[e]; };
  AlignedVector<double> sums(padded(n), 0.0);
  std::vector<std::uint32_t> touched;
  block.begin.assign(1, 0);
  for (std::size_t i = 0; i < n && !stop.requested(); ++i) {
    touched.clear();
    for (std::size_t c = columns.begin[i]; c < columns.begin[i + 1]; ++c) {
      const std::uint32_t r = columns.index[c];
      const double scaled = sample.weight[r] * value(columns, c);
      for (std::size_t e = rows.begin[r]; e < rows.begin[r + std::size_t{1}]; ++e) {
        double& sum = sums[rows.index[e]];
        if (sum == 0.0) touched.push_back(rows.index[e]);
        sum += scaled * value(rows, e);
      }
    }
    for (const std::uint32_t slot : touched) {
      if (sums[slot] == 0.0) continue;  // listed twice after an exact cancellation
      block.slot.push_back(slot);
      block.value.push_back(sums[slot]);
      sums[slot] = 0.0;
    }
    block.begin.push_back(block.slot.size());
  }
}

/// The data that a block is made from.
struct Sampled {
  Sample sample;
  Entries entries;
};

/// Concatenates the samples of all processes in the order of their ranks.
void share_samples(const Parallel& parallel, std::vector<Sampled>& blocks) {
  std::vector<double> own;
  for (const Sampled& block : blocks) {
    const Lists<Slot>& rows = block.entries.rows;
    own.push_back(static_cast<double>(block.sample.weight.size()));
    for (std::size_t r = 0; r < block.sample.weight.size(); ++r) {
      own.push_back(block.sample.weight[r]);
      own.push_back(static_cast<double>(rows.begin[r + 1] - rows.begin[r]));
      for (std::size_t e = rows.begin[r]; e < rows.begin[r + 1]; ++e) {
        own.push_back(static_cast<double>(rows.index[e]));
        own.push_back(block.entries.binary ? 1.0 : rows.value[e]);
      }
    }
  }
  const std::vector<double> all = whole_list(parallel, std::move(own));
  for (Sampled& block : blocks)
    block = {.sample = {}, .entries = {.rows = {}, .columns = {}, .binary = false}};
  const double *next = all.data(), *const end = next + all.size();
  const auto count = [&] { return static_cast<std::size_t>(*next++); };
  while (next < end)
    for (Sampled& block : blocks) {
      Lists<Slot>& rows = block.entries.rows;
      for (std::size_t left = count(); left > 0; --left) {
        block.sample.weight.push_back(*next++);
        for (std::size_t entries = count(); entries > 0; --entries) {
          rows.index.push_back(static_cast<Slot>(count()));
          rows.value.push_back(*next++);
        }
        rows.begin.push_back(rows.index.size());
      }
    }
}

void fill(Sampled& from, SymmetricBlock& block, const StopToken& stop) {
  double products = 0.0;
  for (std::size_t r = 0; r < from.sample.weight.size(); ++r) {
    const auto size = static_cast<double>(from.entries.rows.begin[r + 1] - from.entries.rows.begin[r]);
    products += size * size;
  }
  const double dense_from = kDenseShare * static_cast<double>(block.size) * static_cast<double>(block.size);
  if (products < dense_from)
    fill_sparse(from.entries, from.sample, block, stop);
  else if (static_cast<double>(fill_dense(from.entries, from.sample, block, stop)) < dense_from)
    make_sparse(block);
}

}  // namespace

double SymmetricBlock::diagonal(std::size_t i) const {
  if (is_dense()) return dense_row(i)[i];
  for (std::size_t e = begin[i]; e < begin[i + 1]; ++e)
    if (slot[e] == i) return value[e];
  return 0.0;
}

std::vector<SymmetricBlock> second_derivatives(const DesignMatrix& x, const Parallel& parallel,
                                               std::span<const std::vector<Index>> features,
                                               const SpreadOf& spread_of, bool exact_diagonal,
                                               const StopToken& stop) {
  std::vector<SymmetricBlock> blocks(features.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].size = features[b].size();
    if (exact_diagonal) blocks[b].exact_diagonal.assign(blocks[b].size, 0.0);
  }
  std::vector<double> totals(blocks.size());
  const std::size_t first = count_before(parallel, x.positions());
  const auto add_totals = [&](std::size_t b, std::span<const double> spread) {
    for (const double h : spread) totals[b] += h;
    for (std::size_t i = 0; i < blocks[b].exact_diagonal.size(); ++i)
      blocks[b].exact_diagonal[i] =
          second_derivative(x, features[b][i], [&](std::size_t p) { return spread[p]; });
  };
  const auto sample = [&](std::size_t b, std::span<const double> spread) {
    Sampled out{.sample = draw(x, spread, totals[b], first, blocks[b].size), .entries = {}};
    out.entries = find_entries(x, out.sample, features[b]);
    return out;
  };
  if (parallel.processes() == nullptr) {
    parallel.for_each(blocks.size(), [&](std::size_t b) {
      if (stop.requested()) return;
      const std::vector<double> spread = spread_of(b);
      add_totals(b, spread);
      Sampled sampled = sample(b, spread);
      fill(sampled, blocks[b], stop);
    });
    return blocks;
  }
  parallel.for_each(blocks.size(), [&](std::size_t b) { add_totals(b, spread_of(b)); });
  add_processes(parallel, totals);
  for (SymmetricBlock& block : blocks) add_processes(parallel, block.exact_diagonal);
  std::vector<Sampled> sampled(blocks.size());
  parallel.for_each(blocks.size(), [&](std::size_t b) { sampled[b] = sample(b, spread_of(b)); });
  share_samples(parallel, sampled);
  parallel.for_each(blocks.size(), [&](std::size_t b) { fill(sampled[b], blocks[b], stop); });
  return blocks;
}

}  // namespace proxbench
