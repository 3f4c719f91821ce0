#include "core/linear_map.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

namespace {

/// Rows of scores formed at a time before they are turned into columns.
constexpr std::size_t kRowsAtOnce = 64;
/// Rows of the residual that a task forms.
constexpr std::size_t kRowsPerTask = 512;
/// Nonzeros of X in a chunk of features: many chunks where there are many nonzeros.
constexpr std::uint64_t kChunkNonzeros = 1u << 18, kFewestChunkNonzeros = 1u << 10, kFeatureChunks = 128;
/// Chunks of features that a thread takes together in the full gradient: few, so that all rows of R are read
/// from memory a few times, and enough that threads end together. Sums keep to chunks whatever their number.
constexpr std::size_t kTasksPerThread = 8;
/// Gradients that are formed at once there, in doubles and in features.
constexpr std::size_t kGradientsAtOnce = 1u << 15, kFewestFeaturesAtOnce = 128;
/// Coordinates of one output in a task of the partial gradient.
constexpr std::size_t kCoordinatesPerTask = 64;
/// Cost of one gathered and of one scattered element, in units of one kPad-wide multiply-add on a row (a
/// gathered one was measured as 1.6 on Zen 4, as 0.8 on a Xeon of 2023; the choice between the two ways
/// changes speed only, beyond rounding).
constexpr double kGatherCost = 1.2, kScatterCost = 1.6;
/// Of turning one number of the residual from columns into rows for a few features, whose rows then come from
/// memory, in the same units (measured on that Xeon: with 1, partial gradients of 1,000 coordinates took
/// twice as long as by gathering alone).
constexpr double kTurnCost = 6.0;
/// Cost of looking at one entry of a row of X.
constexpr double kEntryCost = 1.0;

constexpr double kScoreBytes = sizeof(double), kOffsetBytes = sizeof(std::uint16_t);

double cells(const OutputColumns& columns, std::size_t positions) {
  return static_cast<double>(columns.columns) * static_cast<double>(positions);
}

}  // namespace

LinearMap::LinearMap(const DesignMatrix& x, const Oracle& oracle, const Parallel& parallel)
    : x_(x),
      structure_(oracle),
      collapsed_(oracle.collapsed()),
      parallel_(parallel),
      outputs_(oracle.outputs()),
      extra_weights_(oracle.extra_weights()),
      unary_(static_cast<Coord>(x.features()) * oracle.outputs()) {
  if (x.positions() != oracle.positions())
    throw Error("design matrix of " + std::to_string(x.positions()) + " positions, oracle of " +
                std::to_string(oracle.positions()));
  active_features_.resize(x.features());
  std::iota(active_features_.begin(), active_features_.end(), Index{0});
  cut_features();
}

void LinearMap::restrict_to(std::vector<Index> features) {
  active_features_ = std::move(features);
  cut_features();
}

void LinearMap::cut_features() {
  std::uint64_t nonzeros = 0;
  for (const Index j : active_features_) nonzeros += x_.column_size(j);
  const std::uint64_t chunk_nonzeros =
      std::clamp(nonzeros / kFeatureChunks, kFewestChunkNonzeros, kChunkNonzeros);
  feature_chunk_begin_.assign(1, 0);
  std::uint64_t filled = 0;
  for (std::size_t f = 0; f < active_features_.size(); ++f) {
    filled += x_.column_size(active_features_[f]) + 1;
    if (filled >= chunk_nonzeros || f + 1 == active_features_.size()) {
      feature_chunk_begin_.push_back(static_cast<Index>(f + 1));
      filled = 0;
    }
  }
}

Scores LinearMap::make_scores() const {
  if (collapsed_ != nullptr) return Scores::collapsed(outputs_, x_.positions(), extra_weights_);
  return Scores(outputs_, x_.positions(), extra_weights_);
}

void LinearMap::apply(std::span<const Coord> index, std::span<const double> value, Scores& out) const {
  const PhaseTimer timer(profile_, Phase::kScores, [&] { return apply_work(index); });
  const std::size_t unary =
      static_cast<std::size_t>(std::lower_bound(index.begin(), index.end(), unary_) - index.begin());
  std::fill(out.extra.begin(), out.extra.end(), 0.0);
  for (std::size_t i = unary; i < index.size(); ++i) out.extra[index[i] - unary_] = value[i];

  if (!out.one_each()) {
    out.column_of.assign(outputs_, Scores::kNoColumn);
    for (std::size_t i = 0; i < unary; ++i) out.column_of[index[i] % outputs_] = 0;
    Index columns = 0;
    for (Index& column : out.column_of)
      if (column != Scores::kNoColumn) column = columns++;
    out.resize_columns(columns);
  }
  auto column_of = [&](Coord c) -> std::size_t { return out.column_index(static_cast<Index>(c % outputs_)); };

  const KernelTable& kernels = kernels_in_use();
  // Two ways: scatter each weight down its feature's column, or gather the rows of W at each position.
  const std::size_t width = padded(out.columns);
  double scatter_cost = 0.0, row_cost = kEntryCost * static_cast<double>(x_.nonzeros());
  std::size_t active_features = 0;
  Index last = 0;
  for (std::size_t i = 0; i < unary; ++i) {
    const Index j = static_cast<Index>(index[i] / outputs_);
    const double entries = static_cast<double>(x_.column_size(j));
    scatter_cost += kScatterCost * entries;
    if (i == 0 || j != last) {
      row_cost += entries * static_cast<double>(width / kPad);
      ++active_features;
    }
    last = j;
  }

  if (scatter_cost <= row_cost) {
    // Coordinates by column, then feature.
    std::vector<std::size_t> begin(out.columns + std::size_t{1}, 0);
    for (std::size_t i = 0; i < unary; ++i) ++begin[column_of(index[i]) + 1];
    for (Index k = 0; k < out.columns; ++k) begin[k + 1] += begin[k];
    std::vector<std::size_t> order(unary), next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < unary; ++i) order[next[column_of(index[i])]++] = i;
    const std::size_t blocks = x_.blocks();
    parallel_.for_each(out.columns * blocks, [&](std::size_t task) {
      const std::size_t k = task / blocks, b = task % blocks;
      double* column = out.values.data() + k * out.stride;
      const std::size_t first = b * x_.block_positions();
      std::fill(column + first, column + (b + 1 == blocks ? out.stride : first + x_.block_positions()), 0.0);
      ColumnBlock entries[kCoordinatesPerTask];
      double weight[kCoordinatesPerTask];
      for (std::size_t o = begin[k]; o < begin[k + 1]; o += kCoordinatesPerTask) {
        const std::size_t n = std::min(kCoordinatesPerTask, begin[k + 1] - o);
        for (std::size_t i = 0; i < n; ++i) {
          entries[i] = x_.column_block(static_cast<Index>(index[order[o + i]] / outputs_), b);
          weight[i] = value[order[o + i]];
        }
        kernels.scatter(column + first, entries, weight, n);
      }
    });
    return;
  }

  constexpr Index kNone = static_cast<Index>(-1);
  std::vector<Index> slot(x_.features(), kNone);
  AlignedVector<double> table(active_features * width, 0.0);
  Index slots = 0;
  for (std::size_t i = 0; i < unary; ++i) {
    const Index j = static_cast<Index>(index[i] / outputs_);
    if (slot[j] == kNone) slot[j] = slots++;
    table[slot[j] * width + column_of(index[i])] = value[i];
  }
  const Chunks chunks{x_.positions(), kRowsAtOnce * 8};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    AlignedVector<double> rows(kRowsAtOnce * width);
    std::vector<Index> found;
    std::vector<double> found_value;
    for (std::size_t begin = chunks.begin(chunk); begin < chunks.end(chunk); begin += kRowsAtOnce) {
      const std::size_t n = std::min(kRowsAtOnce, chunks.end(chunk) - begin);
      std::fill(rows.begin(), rows.end(), 0.0);
      for (std::size_t p = 0; p < n; ++p) {
        const auto row = x_.row(static_cast<Index>(begin + p));
        const auto values = x_.row_values(static_cast<Index>(begin + p));
        found.resize(row.size());
        std::size_t count = 0;
        if (values.empty()) {
          for (const Index j : row) {
            found[count] = slot[j];
            count += slot[j] != kNone;
          }
        } else {
          found_value.resize(row.size());
          for (std::size_t i = 0; i < row.size(); ++i) {
            found[count] = slot[row[i]];
            found_value[count] = values[i];
            count += slot[row[i]] != kNone;
          }
        }
        kernels.add_rows(table.data(), found.data(), values.empty() ? nullptr : found_value.data(), count,
                         rows.data() + p * width, width);
      }
      kernels.rows_to_columns(rows.data(), width, out.columns, begin, n, out.values.data(), out.stride);
    }
  });
}

void LinearMap::advance(Scores& base, double alpha, const Scores& direction) const {
  const PhaseTimer timer(profile_, Phase::kScores, [&] { return advance_work(direction); });
  const KernelTable& kernels = kernels_in_use();
  if (base.one_each()) {
    const Chunks chunks{base.values.size(), 1u << 15};
    parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
      const std::size_t first = chunks.begin(chunk);
      kernels.add_scaled(base.values.data() + first, alpha, direction.values.data() + first,
                         chunks.end(chunk) - first);
    });
  } else {
    std::vector<std::pair<Index, Index>> columns;  // of base and direction
    for (Index k = 0; k < outputs_; ++k)
      if (direction.column_of[k] != Scores::kNoColumn)
        columns.emplace_back(base.add_column(k), direction.column_of[k]);
    parallel_.for_each(columns.size(), [&](std::size_t c) {
      kernels.add_scaled(base.column(columns[c].first), alpha, direction.column(columns[c].second),
                         base.stride);
    });
  }
  for (std::size_t i = 0; i < base.extra.size(); ++i) base.extra[i] += alpha * direction.extra[i];
}

double LinearMap::inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const {
  const Chunks chunks{x_.positions(), kRowsPerTask};
  double sum = sum_chunks(parallel_, chunks.count(), [&](std::size_t chunk) {
    double part = 0.0;
    for (Index k = 0; k < outputs_; ++k) {
      const double *plus = s.find(k), *base = t.base.find(k),
                   *direction = t.direction != nullptr ? t.direction->find(k) : nullptr;
      if (plus == nullptr && base == nullptr && direction == nullptr) continue;
      const double a_share = a.owns(k) ? 1.0 : a.share[k], b_share = b.owns(k) ? 1.0 : b.share[k];
      // An own column has the gold structure in it, a shared one has not.
      const double gold = static_cast<double>(b.owns(k)) - static_cast<double>(a.owns(k));
      const double *a_column = a.find(k), *b_column = b.find(k);
      for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p) {
        double score = plus == nullptr ? 0.0 : plus[p];
        if (base != nullptr) score -= base[p];
        if (direction != nullptr) score -= t.alpha * direction[p];
        double difference = a_share * a_column[p] - b_share * b_column[p];
        if (gold != 0.0)
          for (const Index on : structure_.gold_outputs(static_cast<Index>(p)))
            if (on == k) difference -= gold;
        part += difference * score;
      }
    }
    return part;
  });
  for (std::size_t e = 0; e < a.extra.size(); ++e) {
    double score = s.extra[e] - t.base.extra[e];
    if (t.direction != nullptr) score -= t.alpha * t.direction->extra[e];
    sum += (a.extra[e] - b.extra[e]) * score;
  }
  return sum;
}

/// R by position: rows_[p][k], padded to kPad outputs, or in the layout's short rows.
void LinearMap::fill_rows(const Residual& residual) const {
  if (!residual.one_each()) return collapsed_->compact_rows(residual, compact_rows_, parallel_);
  const std::size_t width = padded(outputs_);
  rows_.resize(static_cast<std::size_t>(x_.positions()) * width);
  const Chunks chunks{x_.positions(), kRowsPerTask};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    kernels_in_use().columns_to_rows(residual.values.data(), residual.stride, outputs_, chunks.begin(chunk),
                                     chunks.end(chunk) - chunks.begin(chunk),
                                     rows_.data() + chunks.begin(chunk) * width, width);
  });
}

/// gradient[f][0..width) += that of features[f], f < features.size(): reads rows_ a block of positions at a
/// time.
void LinearMap::gradient_rows(std::span<const Index> features, std::size_t width, double* gradient) const {
  const KernelTable& kernels = kernels_in_use();
  for (std::size_t b = 0; b < x_.blocks(); ++b) {
    const double* rows = rows_.data() + b * x_.block_positions() * width;
    for (std::size_t f = 0; f < features.size(); ++f) {
      kernels.add_block_rows(rows, x_.column_block(features[f], b), gradient + f * width, width);
    }
  }
}

/// The gradients of at most kPad features from compact_rows_: that of output k of the f-th in
/// gradient[k*kPad + f]; gradient.size() == basis()*kPad.
void LinearMap::gradient_rows_collapsed(std::span<const Index> features, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t f = 0; f < features.size(); ++f)
    for (std::size_t b = 0; b < x_.blocks(); ++b) {
      const auto block = x_.column_block(features[f], b);
      const std::uint64_t* begin = compact_rows_.begin.data() + b * x_.block_positions();
      for (std::size_t i = 0; i < block.size; ++i) {
        const double x = block.value == nullptr ? 1.0 : block.value[i];
        const CompactRows::Entry* entries = compact_rows_.entry.data();
        for (std::uint64_t e = begin[block.offset[i]]; e < begin[block.offset[i] + std::size_t{1}]; ++e)
          gradient[entries[e].slot * kPad + f] += x * entries[e].value;
      }
    }
  collapsed_->expand(gradient.data());
}

/// sum_p x_pj [output k is in p's gold structure].
double LinearMap::gold_count(Index feature, Index output) const {
  double sum = 0.0;
  for (std::size_t b = 0; b < x_.blocks(); ++b) {
    const auto block = x_.column_block(feature, b);
    const Index first = static_cast<Index>(b * x_.block_positions());
    for (std::size_t i = 0; i < block.size; ++i)
      for (const Index k : structure_.gold_outputs(first + block.offset[i]))
        if (k == output) sum += block.value == nullptr ? 1.0 : block.value[i];
  }
  return sum;
}

void LinearMap::partial_adjoint(const Residual& residual, std::span<const Coord> set,
                                 std::span<double> out) const {
  const PhaseTimer timer(profile_, Phase::kPartialGradient,
                         [&] { return partial_work(set); });
  const std::size_t unary =
      static_cast<std::size_t>(std::lower_bound(set.begin(), set.end(), unary_) - set.begin());
  const std::size_t width = padded(residual.columns);
  auto column_of = [&](Coord c) -> std::size_t {
    return residual.column_index(static_cast<Index>(c % outputs_));
  };

  // A feature with many outputs in the set is cheaper as a whole row; the others gather from the residual's
  // columns.
  struct Group {
    Index feature;
    std::size_t begin, end;  // within set
  };
  std::vector<Group> groups, whole;
  double saved = 0.0;
  for (std::size_t i = 0; i < unary;) {
    const Index j = static_cast<Index>(set[i] / outputs_);
    std::size_t end = i + 1;
    while (end < unary && set[end] / outputs_ == j) ++end;
    const double gain = kGatherCost * static_cast<double>(end - i) - static_cast<double>(width / kPad);
    if (gain > 0) {
      whole.push_back({j, i, end});
      saved += gain * static_cast<double>(x_.column_size(j));
    }
    groups.push_back({j, i, end});
    i = end;
  }
  // Turning the residual into rows touches every column of every position once. Where outputs collapse,
  // a row is expanded over all outputs, which never pays for some of them.
  const bool use_rows = residual.one_each() && saved > kTurnCost * static_cast<double>(x_.positions()) *
                                                           static_cast<double>(residual.columns);
  if (use_rows) {
    std::erase_if(groups, [&](const Group& g) {
      return kGatherCost * static_cast<double>(g.end - g.begin) > static_cast<double>(width / kPad);
    });
    fill_rows(residual);
    std::vector<std::size_t> chunk_begin{0};
    std::uint64_t filled = 0;
    for (std::size_t g = 0; g < whole.size(); ++g) {
      filled += x_.column_size(whole[g].feature) + 1;
      if (filled >= kChunkNonzeros || g + 1 == whole.size()) {
        chunk_begin.push_back(g + 1);
        filled = 0;
      }
    }
    parallel_.for_each(chunk_begin.size() - 1, [&](std::size_t chunk) {
      const std::size_t first = chunk_begin[chunk], count = chunk_begin[chunk + 1] - first;
      std::vector<Index> features(count);
      for (std::size_t g = 0; g < count; ++g) features[g] = whole[first + g].feature;
      AlignedVector<double> gradient(count * width);
      gradient_rows(features, width, gradient.data());
      for (std::size_t g = 0; g < count; ++g)
        for (std::size_t i = whole[first + g].begin; i < whole[first + g].end; ++i)
          out[i] = gradient[g * width + column_of(set[i])];
    });
  }

  // The rest by column, so that a column of the residual is read by all coordinates that need it.
  std::vector<std::size_t> begin(residual.columns + std::size_t{1}, 0);
  for (const Group& g : groups)
    for (std::size_t i = g.begin; i < g.end; ++i) ++begin[column_of(set[i]) + 1];
  for (Index k = 0; k < residual.columns; ++k) begin[k + 1] += begin[k];
  std::vector<std::size_t> order(begin.back()), next(begin.begin(), begin.end() - 1);
  for (const Group& g : groups)
    for (std::size_t i = g.begin; i < g.end; ++i) order[next[column_of(set[i])]++] = i;
  struct Task {
    Index column;
    std::size_t begin, end;
  };
  std::vector<Task> tasks;
  for (Index k = 0; k < residual.columns; ++k)
    for (std::size_t b = begin[k]; b < begin[k + 1]; b += kCoordinatesPerTask)
      tasks.push_back({k, b, std::min(b + kCoordinatesPerTask, begin[k + 1])});
  const KernelTable& kernels = kernels_in_use();
  parallel_.for_each(tasks.size(), [&](std::size_t t) {
    const double* column = residual.column(tasks[t].column);
    const std::size_t first = tasks[t].begin, n = tasks[t].end - first;
    ColumnBlock entries[kCoordinatesPerTask];
    double sum[kCoordinatesPerTask] = {};
    for (std::size_t b = 0; b < x_.blocks(); ++b) {
      for (std::size_t i = 0; i < n; ++i)
        entries[i] = x_.column_block(static_cast<Index>(set[order[first + i]] / outputs_), b);
      kernels.gather(column + b * x_.block_positions(), entries, n, sum);
    }
    for (std::size_t i = 0; i < n; ++i) out[order[first + i]] = sum[i];
  });

  if (!residual.one_each()) {
    const Chunks chunks{unary, 256};
    parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
        const Index k = static_cast<Index>(set[i] % outputs_);
        if (residual.owns(k)) continue;
        out[i] *= residual.share[k];
        if (residual.gold) out[i] -= gold_count(static_cast<Index>(set[i] / outputs_), k);
      }
    });
  }
  for (std::size_t i = unary; i < set.size(); ++i) out[i] = residual.extra[set[i] - unary_];
}

void LinearMap::for_each_row(const Residual& residual, double bound, const Wanted& wanted,
                             const Row& row) const {
  fill_rows(residual);
  const KernelTable& kernels = kernels_in_use();
  if (!residual.one_each()) {
    parallel_.for_each(feature_chunks(), [&](std::size_t chunk) {
      const std::span<const Index> all =
          std::span(active_features_)
              .subspan(feature_chunk_begin_[chunk],
                       feature_chunk_begin_[chunk + 1] - feature_chunk_begin_[chunk]);
      AlignedVector<double> gradient(collapsed_->basis() * kPad);
      for (std::size_t first = 0; first < all.size(); first += kPad) {
        const auto features = all.subspan(first, std::min(kPad, all.size() - first));
        gradient_rows_collapsed(features, gradient);
        const unsigned outside = kernels.lanes_outside(gradient.data(), outputs_, bound);
        for (std::size_t f = 0; f < features.size(); ++f)
          if ((outside >> f & 1u) != 0 || wanted(features[f]))
            row(chunk, features[f], gradient.data() + f, kPad);
      }
    });
    return;
  }
  for_each_feature(
      padded(outputs_),
      [&](std::span<const Index> features, double* gradient) {
        gradient_rows(features, padded(outputs_), gradient);
      },
      [&](std::size_t chunk, Index j, const double* g) {
        if (wanted(j) || !kernels.all_within(g, outputs_, bound)) row(chunk, j, g, std::size_t{1});
      });
}

template <class Gradients, class Visit>
void LinearMap::for_each_feature(std::size_t width, const Gradients& gradients, const Visit& row) const {
  // So many features at a time that memory follows K and not the number of features.
  const std::size_t at_once = std::max(kFewestFeaturesAtOnce, kGradientsAtOnce / width);
  const std::size_t tasks = kTasksPerThread * static_cast<std::size_t>(parallel_.threads());
  const Chunks chunks{feature_chunks(), std::max<std::size_t>(feature_chunks() / tasks, 1)};
  parallel_.for_each(chunks.count(), [&](std::size_t task) {
    std::size_t chunk = chunks.begin(task);
    const std::size_t end = feature_chunk_begin_[chunks.end(task)];
    AlignedVector<double> gradient;
    for (std::size_t first = feature_chunk_begin_[chunk]; first < end; first += at_once) {
      const auto features = std::span(active_features_).subspan(first, std::min(at_once, end - first));
      gradient.assign(features.size() * width, 0.0);
      gradients(features, gradient.data());
      for (std::size_t f = 0; f < features.size(); ++f) {
        while (first + f >= feature_chunk_begin_[chunk + 1]) ++chunk;
        row(chunk, features[f], gradient.data() + f * width);
      }
    }
  });
}

/// Work of a full gradient, and of gathering that of some coordinates, in multiply-adds of kPad numbers.
double LinearMap::row_work() const {
  return static_cast<double>(x_.nonzeros()) * static_cast<double>(padded(outputs_) / kPad);
}
double LinearMap::gather_work(std::span<const Coord> coordinates) const {
  return kGatherCost * entries_under(coordinates);
}

/// Returns the sums of absolute values by output.
std::vector<double> LinearMap::fill_single_rows(const Residual& residual) const {
  const std::size_t width = padded(outputs_), single_width = padded_single(outputs_);
  single_rows_.resize(static_cast<std::size_t>(x_.positions()) * single_width);
  const Chunks chunks{x_.positions(), kRowsPerTask};
  std::vector<double> sizes(width);
  sum_chunks(parallel_, chunks.count(), width, sizes.data(), [&](std::size_t chunk, double* part) {
    AlignedVector<double> rows(kRowsAtOnce * width);
    for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); p += kRowsAtOnce) {
      const std::size_t n = std::min(kRowsAtOnce, chunks.end(chunk) - p);
      kernels_in_use().columns_to_rows(residual.values.data(), residual.stride, outputs_, p, n, rows.data(),
                                       width);
      kernels_in_use().shorten_rows(rows.data(), width, n, single_rows_.data() + p * single_width,
                                    single_width, part);
    }
  });
  sizes.resize(outputs_);
  return sizes;
}

void LinearMap::for_each_single_row(const SingleRow& row) const {
  const KernelTable& kernels = kernels_in_use();
  const std::size_t width = padded_single(outputs_);
  for_each_feature(
      width,
      [&](std::span<const Index> features, double* gradient) {
        for (std::size_t b = 0; b < x_.blocks(); ++b)
          for (std::size_t f = 0; f < features.size(); ++f)
            kernels.add_single_rows(single_rows_.data() + b * x_.block_positions() * width,
                                    x_.column_block(features[f], b), gradient + f * width, width);
      },
      row);
}

double LinearMap::entry_bytes() const {
  return kOffsetBytes + (x_.binary() ? 0.0 : sizeof(double));
}

double LinearMap::entries_under(std::span<const Coord> index) const {
  double entries = 0.0;
  for (const Coord c : index)
    if (c < unary_) entries += static_cast<double>(x_.column_size(static_cast<Index>(c / outputs_)));
  return entries;
}

Work LinearMap::apply_work(std::span<const Coord> index) const {
  const double entries = entries_under(index);
  return {2.0 * entries, (entry_bytes() + 2.0 * kScoreBytes) * entries};
}

Work LinearMap::advance_work(const Scores& direction) const {
  const double scores = cells(direction, x_.positions());
  return {2.0 * scores, 3.0 * kScoreBytes * scores};
}

Work LinearMap::partial_work(std::span<const Coord> set) const {
  const double entries = entries_under(set);
  return {2.0 * entries, (entry_bytes() + kScoreBytes) * entries};
}

Work LinearMap::full_work(const Residual& residual) const {
  const double nonzeros = static_cast<double>(x_.nonzeros());
  const double meetings = nonzeros * static_cast<double>(residual.columns);
  return {(x_.binary() ? 1.0 : 2.0) * meetings, entry_bytes() * nonzeros + kScoreBytes * meetings};
}

}  // namespace proxbench
