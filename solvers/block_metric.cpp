#include "solvers/block_metric.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/lbfgs.h"
#include "solvers/single_kernels.h"

namespace proxbench {

namespace {

/// m*(1 - m) below which a position tells nothing of an output's curvature.
constexpr double kNegligible = 1e-5;
/// Share of the mean of a working set's second derivatives that all are raised by, so that coordinates whose
/// curvature has all but gone do not run away.
constexpr double kRidge = 1e-3;
/// Positions that a block is made from, relative to its size, and at least.
constexpr double kSamples = 10.0, kFewestSamples = 1000.0;
/// Numbers of a subset that one task takes.
constexpr double kTaskNumbers = 16384.0;
/// Share of nonzeros from which on a block is kept dense.
constexpr double kDenseShare = 0.25;
/// A block's inverse serves other rows of it as long as at most this share of them, or of its own, is not in
/// the other.
constexpr double kNearlyTheSame = 0.05;

/// A fixed number in [0, 1) for each position.
double sampling_number(std::uint64_t position) {
  std::uint64_t x = (position + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  return static_cast<double>((x ^ (x >> 32)) >> 11) * 0x1p-53;
}

/// m_pk * (1 - m_pk), 0 where negligible.
class Spread {
 public:
  Spread(const Objective& objective, const Residual& residual, Index output)
      : oracle_(objective.oracle()),
        output_(output),
        column_(residual.find(output)),
        owns_(residual.owns(output)),
        share_(owns_ ? 1.0 : residual.share[output]) {}
  double operator()(std::size_t p) const {
    double m = share_ * column_[p];
    if (owns_)
      for (const Index on : oracle_.gold_outputs(static_cast<Index>(p)))
        if (on == output_) m += 1.0;
    return of(m);
  }
  /// The same for all positions, given those that the output is on at in the gold structures.
  std::vector<double> everywhere(std::size_t positions, std::span<const Index> gold) const {
    std::vector<double> out(positions);
    for (std::size_t p = 0; p < positions; ++p) out[p] = of(share_ * column_[p]);
    for (const Index p : gold)
      if (owns_) out[p] = (*this)(p);
    return out;
  }

 private:
  static double of(double m) {
    const double h = m * (1.0 - m);
    return h > kNegligible ? h : 0.0;
  }

  const Oracle& oracle_;
  Index output_;
  const double* column_;
  bool owns_;
  double share_;
};

/// The positions that each output is on at in the gold structures, ascending: at[begin[k]..begin[k+1]).
struct GoldPositions {
  explicit GoldPositions(const Oracle& oracle) : begin(oracle.outputs() + std::size_t{1}, 0) {
    for (Index p = 0; p < oracle.positions(); ++p)
      for (const Index k : oracle.gold_outputs(p)) ++begin[k + std::size_t{1}];
    for (Index k = 0; k < oracle.outputs(); ++k) begin[k + std::size_t{1}] += begin[k];
    at.resize(begin.back());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (Index p = 0; p < oracle.positions(); ++p)
      for (const Index k : oracle.gold_outputs(p)) at[next[k]++] = p;
  }
  std::span<const Index> of(Index k) const {
    return std::span(at).subspan(begin[k], begin[k + std::size_t{1}] - begin[k]);
  }
  std::vector<std::size_t> begin;
  std::vector<Index> at;
};

/// Sparse rows or columns: list i has what is in index[begin[i]..begin[i+1]), and the values there, which are
/// all 1 where there are none.
template <class Number>
struct Lists {
  std::vector<std::size_t> begin{0};
  std::vector<Number> index;
  std::vector<double> value;

  /// Room for so many entries behind the last list; returns where.
  std::size_t make_room(std::size_t entries, bool values) {
    const std::size_t end = begin.back();
    if (index.size() < end + entries) index.resize(2 * (end + entries));
    if (values) value.resize(index.size());
    return end;
  }
  /// List j has an i for every j of list i, ascending.
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

/// The exact second derivative of a unary weight. `spread(p)` for all positions.
template <class Values>
double second_derivative(const DesignMatrix& x, Index feature, const Values& spread) {
  double sum = 0.0;
  for (std::size_t b = 0; b < x.blocks(); ++b) {
    const auto entries = x.column_block(feature, b);
    const std::size_t first = b * x.block_positions();
    for (std::size_t e = 0; e < entries.size; ++e) {
      const double value = entries.value == nullptr ? 1.0 : entries.value[e];
      sum += value * value * spread(first + entries.offset[e]);
    }
  }
  return sum;
}

}  // namespace

double BlockMetric::entries(const Objective& objective, std::span<const Coord> index) {
  std::vector<double> size(objective.outputs(), 0.0);
  for (const Coord c : index)
    if (c < objective.unary_weights()) size[c % objective.outputs()] += 1.0;
  double sum = 0.0;
  for (const double n : size) sum += n * n;
  return sum;
}

bool BlockMetric::build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                        const StopToken& stop) {
  const Index outputs = objective.outputs();
  const std::size_t n = index.size();
  const std::size_t unary = static_cast<std::size_t>(
      std::lower_bound(index.begin(), index.end(), objective.unary_weights()) - index.begin());

  // Coordinates by output: order[begin[k]..begin[k+1]).
  std::vector<std::size_t> begin(outputs + std::size_t{1}, 0), order(unary);
  for (std::size_t i = 0; i < unary; ++i) ++begin[index[i] % outputs + 1];
  for (Index k = 0; k < outputs; ++k) begin[k + 1] += begin[k];
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < unary; ++i) order[next[index[i] % outputs]++] = i;

  built_ = ++version_;
  place_.resize(n);
  diagonal_.assign(n, 0.0);
  blocks_.clear();
  std::vector<Index> output_of;
  std::size_t products = 0;
  for (Index k = 0; k < outputs; ++k) {
    const std::size_t size = begin[k + 1] - begin[k];
    if (size == 0) continue;
    for (std::size_t i = 0; i < size; ++i)
      place_[order[begin[k] + i]] = {products + i, static_cast<std::uint32_t>(blocks_.size()), 0.0};
    blocks_.emplace_back().first = products;
    blocks_.back().size = size;
    output_of.push_back(k);
    products += padded(size);
  }
  for (std::size_t i = unary; i < n; ++i) place_[i] = {products++, kNoBlock, 0.0};
  product_.assign(products, 0.0);

  const GoldPositions gold_positions(objective.oracle());
  objective.parallel().for_each(blocks_.size(), [&](std::size_t b) {
    if (stop.requested()) return;
    const Index k = output_of[b];
    std::vector<Index> features(blocks_[b].size);
    for (std::size_t i = 0; i < features.size(); ++i)
      features[i] = static_cast<Index>(index[order[begin[k] + i]] / outputs);
    const std::vector<double> h =
        Spread(objective, residual, k).everywhere(objective.x().positions(), gold_positions.of(k));
    fill(objective.x(), h, features, blocks_[b], stop);
    for (std::size_t i = 0; i < features.size(); ++i)
      diagonal_[order[begin[k] + i]] =
          second_derivative(objective.x(), features[i], [&](std::size_t p) { return h[p]; });
  });

  if (stop.requested()) return false;
  const std::vector<double> gold = unary < n ? objective.oracle().gold_extra() : std::vector<double>();
  for (std::size_t i = unary; i < n; ++i) {
    const std::size_t e = index[i] - objective.unary_weights();
    diagonal_[i] = std::max(residual.extra[e] + gold[e], 0.0);
  }

  double mean = 0.0;
  for (const double a : diagonal_) mean += a;
  ridge_ = kRidge * mean / static_cast<double>(std::max<std::size_t>(n, 1)) + objective.mu();
  for (std::size_t i = 0; i < n; ++i) {
    double sampled = 0.0;
    if (place_[i].block != kNoBlock) {
      const Block& block = blocks_[place_[i].block];
      const std::size_t row = place_[i].at - block.first;
      if (block.begin.empty()) {
        sampled = block.dense[row * padded(block.size) + row];
      } else {
        for (std::size_t e = block.begin[row]; e < block.begin[row + 1]; ++e)
          if (block.slot[e] == row) sampled = block.value[e];
      }
    }
    diagonal_[i] = std::max(diagonal_[i], sampled) + ridge_;
    place_[i].excess = diagonal_[i] - sampled;
  }
  return true;
}

/// Row i of the block at a time (Gustavson): the positions that feature i is on at, and what else is on
/// there.
void BlockMetric::fill(const DesignMatrix& x, std::span<const double> spread, std::span<const Index> features,
                       Block& block, const StopToken& stop) {
  // Slots are fewer than kMostEntries allows in one block; half the table stays in the first-level cache.
  using Slot = std::uint16_t;
  constexpr Slot kNoSlot = static_cast<Slot>(-1);
  static_assert(kMostEntries < double{kNoSlot} * double{kNoSlot});
  const std::size_t n = features.size();
  const bool binary = x.binary();

  double total = 0.0;
  for (const double h : spread) total += h;
  const double samples = std::max(kSamples * static_cast<double>(n), kFewestSamples);
  const bool all = static_cast<double>(x.positions()) <= samples;
  const double certain = all ? 0.0 : total / samples;  // from which on a position is taken for sure
  std::vector<Index> sampled;
  std::vector<double> weight;
  std::uint64_t row_entries = 0, column_entries = 0;
  for (std::size_t p = 0; p < x.positions(); ++p) {
    double h = spread[p];
    if (h < certain) h = sampling_number(p) * certain < h ? certain : 0.0;
    if (h == 0.0) continue;
    sampled.push_back(static_cast<Index>(p));
    weight.push_back(h);
    row_entries += x.row(static_cast<Index>(p)).size();
  }
  for (const Index j : features) column_entries += x.column_size(j);

  // The block's entries in the sampled positions' rows: found in whole rows or in whole columns, of which
  // most is not wanted. No branch foretells which: each entry is written, few are kept.
  Lists<Slot> rows;
  Lists<std::uint32_t> columns;
  if (row_entries < column_entries) {
    std::vector<Slot> slot_of(x.features(), kNoSlot);
    for (std::size_t i = 0; i < n; ++i) slot_of[features[i]] = static_cast<Slot>(i);
    for (const Index p : sampled) {
      const auto row = x.row(p);
      const auto values = x.row_values(p);
      std::size_t end = rows.make_room(row.size(), !binary);
      for (std::size_t e = 0; e < row.size(); ++e) {
        rows.index[end] = slot_of[row[e]];
        if (!binary) rows.value[end] = values[e];
        end += rows.index[end] != kNoSlot ? 1 : 0;
      }
      rows.begin.push_back(end);
    }
  } else {
    constexpr auto kNoRow = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> row_of(x.positions(), kNoRow);
    for (std::size_t r = 0; r < sampled.size(); ++r) row_of[sampled[r]] = static_cast<std::uint32_t>(r);
    for (const Index j : features) {
      std::size_t end = columns.make_room(x.column_size(j), !binary);
      for (std::size_t b = 0; b < x.blocks(); ++b) {
        const auto column = x.column_block(j, b);
        const std::uint32_t* row = row_of.data() + b * x.block_positions();
        for (std::size_t e = 0; e < column.size; ++e) {
          columns.index[end] = row[column.offset[e]];
          if (!binary) columns.value[end] = column.value[e];
          end += columns.index[end] != kNoRow ? 1 : 0;
        }
      }
      columns.begin.push_back(end);
    }
    rows = columns.transposed<Slot>(sampled.size());
  }
  const auto value = [&](const auto& lists, std::size_t e) { return binary ? 1.0 : lists.value[e]; };

  const std::size_t width = padded(n);
  double products = 0.0;
  for (std::size_t r = 0; r < sampled.size(); ++r) {
    const auto size = static_cast<double>(rows.begin[r + 1] - rows.begin[r]);
    products += size * size;
  }
  const double dense_from = kDenseShare * static_cast<double>(n) * static_cast<double>(n);
  if (products >= dense_from) {
    // The upper triangle; what is missing below it follows.
    block.dense.assign(n * width, 0.0);
    for (std::size_t r = 0; r < sampled.size() && !stop.requested(); ++r)
      for (std::size_t a = rows.begin[r]; a < rows.begin[r + 1]; ++a) {
        const double scaled = weight[r] * value(rows, a);
        double* sums = block.dense.data() + rows.index[a] * width;
        for (std::size_t e = a; e < rows.begin[r + 1]; ++e) sums[rows.index[e]] += scaled * value(rows, e);
      }
    std::size_t nonzeros = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = block.dense.data() + i * width;
      for (std::size_t j = i; j < n; ++j) {
        block.dense[j * width + i] = row[j];
        nonzeros += row[j] != 0.0 ? (i == j ? 1 : 2) : 0;
      }
    }
    if (static_cast<double>(nonzeros) >= dense_from) return;
    block.begin.assign(1, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (block.dense[i * width + j] == 0.0) continue;
        block.slot.push_back(static_cast<std::uint32_t>(j));
        block.value.push_back(block.dense[i * width + j]);
      }
      block.begin.push_back(block.slot.size());
    }
    block.dense.clear();
    return;
  }

  if (columns.begin.size() == 1) columns = rows.transposed<std::uint32_t>(n);
  AlignedVector<double> sums(width, 0.0);
  std::vector<std::uint32_t> touched;
  block.begin.assign(1, 0);
  for (std::size_t i = 0; i < n && !stop.requested(); ++i) {
    touched.clear();
    for (std::size_t c = columns.begin[i]; c < columns.begin[i + 1]; ++c) {
      const std::uint32_t r = columns.index[c];
      const double scaled = weight[r] * value(columns, c);
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

void BlockMetric::take_rows(const Objective& objective, const Residual& residual,
                            std::span<const Coord> index, std::span<const std::uint32_t> from) {
  std::vector<Place> place(from.size());
  std::vector<double> diagonal(from.size()), gold;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != CompactLbfgs::kNew) {
      place[i] = place_[from[i]];
      diagonal[i] = diagonal_[from[i]];
      continue;
    }
    if (index[i] >= objective.unary_weights()) {
      const std::size_t e = index[i] - objective.unary_weights();
      if (gold.empty()) gold = objective.oracle().gold_extra();
      diagonal[i] = std::max(residual.extra[e] + gold[e], 0.0);
    } else {
      diagonal[i] =
          second_derivative(objective.x(), static_cast<Index>(index[i] / objective.outputs()),
                            Spread(objective, residual, static_cast<Index>(index[i] % objective.outputs())));
    }
    diagonal[i] += ridge_;
    place[i] = {product_.size(), kNoBlock, diagonal[i]};
    product_.push_back(0.0);
  }
  place_.swap(place);
  diagonal_.swap(diagonal);
  ++version_;
}

void BlockMetric::keep_rows(std::span<const std::uint32_t> kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    place_[i] = place_[kept[i]];
    diagonal_[i] = diagonal_[kept[i]];
  }
  place_.resize(kept.size());
  diagonal_.resize(kept.size());
  ++version_;
}

const BlockRow* BlockMetric::start() {
  std::fill(product_.begin(), product_.end(), 0.0);
  rows_.resize(place_.size());
  for (std::size_t j = 0; j < place_.size(); ++j) {
    const Place& place = place_[j];
    BlockRow& row = rows_[j];
    row = BlockRow{};
    row.product = product_.data() + place.at;
    row.excess = place.excess;
    if (place.block == kNoBlock) continue;
    const Block& block = blocks_[place.block];
    const std::size_t i = place.at - block.first;
    row.block = product_.data() + block.first;
    if (block.begin.empty()) {
      row.size = padded(block.size);
      row.dense = block.dense.data() + i * row.size;
    } else {
      row.slot = block.slot.data() + block.begin[i];
      row.value = block.value.data() + block.begin[i];
      row.size = block.begin[i + 1] - block.begin[i];
    }
  }
  return rows_.data();
}

void BlockMetric::multiply(std::span<const double> d, std::vector<double>& out) {
  start();
  multiply_into(d, product_.data(), out);
}

std::vector<std::vector<double>> BlockMetric::multiply(std::span<const std::vector<double>> d,
                                                       const Parallel& parallel) {
  start();
  std::vector<std::vector<double>> out(d.size());
  parallel.for_each(d.size(), [&](std::size_t i) {
    AlignedVector<double> product(product_.size(), 0.0);
    multiply_into(d[i], product.data(), out[i]);
  });
  return out;
}

/// `product`: zeros, as many as in product_.
void BlockMetric::multiply_into(std::span<const double> d, double* product, std::vector<double>& out) const {
  const KernelTable& kernels = kernels_in_use();
  for (std::size_t j = 0; j < d.size(); ++j) {
    if (d[j] == 0.0) continue;
    BlockRow row = rows_[j];
    row.product = product + place_[j].at;
    if (row.block != nullptr) row.block = product + blocks_[place_[j].block].first;
    kernels.add_block_row(row, d[j]);
  }
  out.resize(d.size());
  for (std::size_t j = 0; j < d.size(); ++j) out[j] = product[place_[j].at];
}

void BlockMetric::take_subset(std::span<const std::uint32_t> rows, const Parallel& parallel,
                              Subset& out) const {
  if (out.version_ == version_ && std::equal(rows.begin(), rows.end(), out.rows_.begin(), out.rows_.end()))
    return;
  out.version_ = version_;
  out.rows_.assign(rows.begin(), rows.end());
  const auto group = [&](std::uint32_t row) {
    return place_[row].block == kNoBlock ? blocks_.size() : place_[row].block;
  };
  out.begin_.assign(blocks_.size() + 2, 0);
  out.order_.resize(rows.size());
  out.excess_.resize(rows.size());
  for (const std::uint32_t row : rows) ++out.begin_[group(row) + 1];
  for (std::size_t b = 0; b + 1 < out.begin_.size(); ++b) out.begin_[b + 1] += out.begin_[b];
  std::vector<std::size_t> next(out.begin_.begin(), out.begin_.end() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.order_[next[group(rows[i])]++] = static_cast<std::uint32_t>(i);
    out.excess_[i] = place_[rows[i]].excess;
  }

  if (out.built_ != built_) out.blocks_.clear();
  out.built_ = built_;
  out.blocks_.resize(blocks_.size());
  std::size_t numbers = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Subset::Block& block = out.blocks_[b];
    block.dense.clear();
    block.begin.clear();
    block.slot.clear();
    block.value.clear();
    block.place.clear();
    block.first = numbers;
    block.width = padded_single(out.begin_[b + 1] - out.begin_[b]);
    numbers += block.width;
  }
  out.x_.assign(numbers, 0.0f);
  out.product_.resize(numbers);
  parallel.for_each(blocks_.size(), [&](std::size_t b) {
    const std::span<const std::uint32_t> some(out.order_.data() + out.begin_[b],
                                              out.begin_[b + 1] - out.begin_[b]);
    if (some.empty()) return;
    const Block& from = blocks_[b];
    Subset::Block& to = out.blocks_[b];
    const auto slot_of = [&](std::uint32_t i) { return place_[rows[i]].at - from.first; };
    if (from.begin.empty()) {
      to.dense.assign(some.size() * to.width, 0.0f);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const double* row = from.dense.data() + slot_of(some[i]) * padded(from.size);
        for (std::size_t j = 0; j < some.size(); ++j)
          to.dense[i * to.width + j] = static_cast<float>(row[slot_of(some[j])]);
      }
      return;
    }
    constexpr auto kOutside = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> local(from.size, kOutside);
    for (std::size_t i = 0; i < some.size(); ++i) local[slot_of(some[i])] = static_cast<std::uint32_t>(i);
    to.begin.assign(1, 0);
    for (const std::uint32_t i : some) {
      const std::size_t row = slot_of(i);
      for (std::size_t e = from.begin[row]; e < from.begin[row + 1]; ++e) {
        if (local[from.slot[e]] == kOutside) continue;
        to.slot.push_back(local[from.slot[e]]);
        to.value.push_back(static_cast<float>(from.value[e]));
      }
      to.begin.push_back(to.slot.size());
    }
  });
  out.numbers_ = 0.0;
  out.task_begin_.assign(1, 0);
  double in_task = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Subset::Block& block = out.blocks_[b];
    in_task += static_cast<double>(block.dense.size() + block.slot.size());
    if (in_task < kTaskNumbers && b + 1 < blocks_.size()) continue;
    out.task_begin_.push_back(b + 1);
    out.numbers_ += in_task;
    in_task = 0.0;
  }
}

void BlockMetric::Subset::multiply(std::span<const double> x, std::span<double> out,
                                   const Parallel& parallel) {
  const SingleKernels& kernels = single_kernels();
  const auto places = [&](std::size_t b) {
    return std::span<const std::uint32_t>(order_.data() + begin_[b], begin_[b + 1] - begin_[b]);
  };
  for_each_of(parallel, numbers_, task_begin_.size() - 1, [&](std::size_t task) {
    for (std::size_t b = task_begin_[task]; b < task_begin_[task + 1]; ++b) {
      const std::span<const std::uint32_t> some = places(b);
      if (some.empty()) continue;
      const Block& block = blocks_[b];
      float* from = x_.data() + block.first;
      float* product = product_.data() + block.first;
      for (std::size_t i = 0; i < some.size(); ++i) from[i] = static_cast<float>(x[some[i]]);
      if (block.begin.empty())
        kernels.rows_times(block.dense.data(), block.width, some.size(), from, product);
      else
        for (std::size_t i = 0; i < some.size(); ++i) {
          float sum = 0.0f;
          for (std::size_t e = block.begin[i]; e < block.begin[i + 1]; ++e)
            sum += block.value[e] * from[block.slot[e]];
          product[i] = sum;
        }
      for (std::size_t i = 0; i < some.size(); ++i)
        out[some[i]] = static_cast<double>(product[i]) + excess_[some[i]] * x[some[i]];
    }
  });
  for (const std::uint32_t i : places(blocks_.size())) out[i] = excess_[i] * x[i];
}

void BlockMetric::take_inverses(const Parallel& parallel, Subset& out) const {
  parallel.for_each(out.blocks_.size(), [&](std::size_t b) {
    Subset::Block& to = out.blocks_[b];
    const Block& from = blocks_[b];
    const std::size_t n = out.begin_[b + 1] - out.begin_[b];
    if (!to.place.empty() || n > kMostInverted) return;
    std::vector<std::uint32_t> slots(n);
    for (std::size_t i = 0; i < n; ++i)
      slots[i] = static_cast<std::uint32_t>(place_[out.rows_[out.order_[out.begin_[b] + i]]].at - from.first);
    const auto find = [&] {
      std::size_t found = 0, at = 0;
      to.place.assign(n, kNoBlock);
      for (std::size_t i = 0; i < n; ++i) {
        while (at < to.inverted.size() && to.inverted[at] < slots[i]) ++at;
        if (at == to.inverted.size() || to.inverted[at] != slots[i]) continue;
        to.place[i] = static_cast<std::uint32_t>(at);
        ++found;
      }
      return found;
    };
    const double others = kNearlyTheSame * static_cast<double>(n);
    if (const std::size_t found = find();
        static_cast<double>(n - found) <= others && static_cast<double>(to.inverted.size() - found) <= others)
      return;
    const auto order = static_cast<Eigen::Index>(n);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(order, order);
    std::vector<std::uint32_t> local(from.begin.empty() ? 0 : from.size, kNoBlock);
    for (std::size_t i = 0; i < n && !local.empty(); ++i) local[slots[i]] = static_cast<std::uint32_t>(i);
    for (std::size_t i = 0; i < n; ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      if (from.begin.empty()) {
        const double* row = from.dense.data() + slots[i] * padded(from.size);
        for (std::size_t j = 0; j < n; ++j) matrix(static_cast<Eigen::Index>(j), column) = row[slots[j]];
      } else {
        for (std::size_t e = from.begin[slots[i]]; e < from.begin[slots[i] + std::size_t{1}]; ++e)
          if (local[from.slot[e]] != kNoBlock)
            matrix(static_cast<Eigen::Index>(local[from.slot[e]]), column) = from.value[e];
      }
      matrix(column, column) += out.excess_[out.order_[out.begin_[b] + i]];
    }
    const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
    to.inverted.clear();
    if (factor.info() == Eigen::Success) {
      const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(order, order));
      const std::size_t width = padded_single(n);
      to.inverted = slots;
      to.inverse.assign(n * width, 0.0f);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          to.inverse[i * width + j] =
              static_cast<float>(inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    }
    find();
  });
}

void BlockMetric::Subset::precondition(std::span<const double> x, double factor, std::span<double> out,
                                       const Parallel& parallel) {
  const SingleKernels& kernels = single_kernels();
  for_each_of(parallel, numbers_, task_begin_.size() - 1, [&](std::size_t task) {
    AlignedVector<float> from, product;
    for (std::size_t b = task_begin_[task]; b < task_begin_[task + 1]; ++b) {
      const Block& block = blocks_[b];
      if (block.place.empty() || block.inverted.empty()) continue;
      const std::uint32_t* some = order_.data() + begin_[b];
      const std::size_t width = padded_single(block.inverted.size());
      from.assign(width, 0.0f);
      product.resize(width);
      for (std::size_t i = 0; i < block.place.size(); ++i)
        if (block.place[i] != kNoBlock) from[block.place[i]] = static_cast<float>(x[some[i]]);
      kernels.rows_times(block.inverse.data(), width, block.inverted.size(), from.data(), product.data());
      for (std::size_t i = 0; i < block.place.size(); ++i)
        if (block.place[i] != kNoBlock) out[some[i]] = factor * static_cast<double>(product[block.place[i]]);
    }
  });
}

}  // namespace proxbench
