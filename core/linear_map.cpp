#include "core/linear_map.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/grouping.h"
#include "core/data/typical_value.h"
#include "core/kernels/kernel_table.h"
#include "core/penalty.h"

namespace proxbench {

namespace {

/// Scores are advanced, and their norms computed, in these pieces. If only some outputs have columns, a piece
/// is a column.
Chunks norm_chunks(const Scores& scores) {
  constexpr std::size_t kScoresAtOnce = 1u << 15;
  return {scores.one_each() ? scores.values.size() : scores.columns * scores.stride,
          scores.one_each() ? kScoresAtOnce : std::max<std::size_t>(scores.stride, 1)};
}

/// Costs of scattering one element and of reading one entry of a row of X, in units of one multiply-add of
/// kPad numbers on a row. apply() uses them to choose between its two methods. The choice changes only speed.
constexpr double kScatterCost = 1.6, kEntryCost = 1.0;

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
    throw Error("design matrix of ", x.positions(), " positions, oracle of ", oracle.positions());
  const auto outputs = static_cast<double>(outputs_);
  parallel_.keep_small(static_cast<double>(x.nonzeros()) * outputs +
                       static_cast<double>(x.positions()) * (outputs + static_cast<double>(extra_weights_)));
  typical_value_ = proxbench::typical_value(x, parallel);
  instance_chunks_ = proxbench::instance_chunks(oracle.begin());
  std::vector<Index> all(x.features());
  std::iota(all.begin(), all.end(), Index{0});
  restrict_to(std::move(all));
}

Scores LinearMap::make_scores() const {
  if (collapsed_ != nullptr) return Scores::collapsed(outputs_, x_.positions(), extra_weights_);
  return Scores(outputs_, x_.positions(), extra_weights_);
}

void LinearMap::apply(std::span<const Coord> index, std::span<const double> value, Scores& out) const {
  const PhaseTimer timer(profile_, Phase::kScores, [&] { return apply_work(index); });
  const std::size_t unary = count_unary(index);
  out.norm = out.advanced = 0.0;
  std::ranges::fill(out.extra, 0.0);
  for (std::size_t i = unary; i < index.size(); ++i) out.extra[index[i] - unary_] = value[i];

  if (!out.one_each()) {
    out.column_of.assign(outputs_, Scores::kNoColumn);
    for (std::size_t i = 0; i < unary; ++i) out.column_of[index[i] % outputs_] = 0;
    Index columns = 0;
    for (Index& column : out.column_of)
      if (column != Scores::kNoColumn) column = columns++;
    out.resize_columns(columns);
  }
  auto column_of = [&](Coord c) -> std::size_t { return out.column_index(output_of(c)); };

  const KernelTable& kernels = kernels_in_use();
  // There are two ways: scatter each weight down the column of its feature, or gather rows of W at each
  // position.
  const std::size_t width = padded(out.columns);
  double scatter_cost = 0.0, row_cost = kEntryCost * static_cast<double>(x_.nonzeros());
  std::size_t active_features = 0;
  Index last = 0;
  for (std::size_t i = 0; i < unary; ++i) {
    const Index j = feature_of(index[i]);
    const double entries = static_cast<double>(x_.column_size(j));
    scatter_cost += kScatterCost * entries;
    if (i == 0 || j != last) {
      row_cost += entries * static_cast<double>(width / kPad);
      ++active_features;
    }
    last = j;
  }

  if (scatter_cost <= row_cost) {
    // Groups the coordinates by column. Within a column they are in the order of features.
    const Grouping by_column(unary, out.columns, [&](std::size_t i) { return column_of(index[i]); });
    const std::size_t blocks = x_.blocks();
    parallel_.for_each(out.columns * blocks, [&](std::size_t task) {
      const std::size_t k = task / blocks, b = task % blocks;
      double* column = out.values.data() + k * out.stride;
      const std::size_t first = x_.block_begin(b);
      std::fill(column + first, column + (b + 1 == blocks ? out.stride : x_.block_begin(b + 1)), 0.0);
      ColumnBlock entries[kCoordinatesPerTask];
      double weight[kCoordinatesPerTask];
      const std::span<const std::size_t> order = by_column.of(k);
      for (std::size_t o = 0; o < order.size(); o += kCoordinatesPerTask) {
        const std::size_t n = std::min(kCoordinatesPerTask, order.size() - o);
        for (std::size_t i = 0; i < n; ++i) {
          entries[i] = x_.column_block(feature_of(index[order[o + i]]), b);
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
    const Index j = feature_of(index[i]);
    if (slot[j] == kNone) slot[j] = slots++;
    table[slot[j] * width + column_of(index[i])] = value[i];
  }
  const Chunks chunks{x_.positions(), kRowsAtOnce * 8};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    AlignedVector<double> rows(kRowsAtOnce * width);
    std::vector<Index> found;
    std::vector<double> found_value, scratch;
    for (std::size_t begin = chunks.begin(chunk); begin < chunks.end(chunk); begin += kRowsAtOnce) {
      const std::size_t n = std::min(kRowsAtOnce, chunks.end(chunk) - begin);
      std::ranges::fill(rows, 0.0);
      for (std::size_t p = 0; p < n; ++p) {
        const auto row = x_.row(static_cast<Index>(begin + p));
        const auto values = x_.row_values(static_cast<Index>(begin + p), scratch);
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
      out.set_rows(begin, n, rows.data());
    }
  });
}

void LinearMap::advance(Scores& base, double alpha, const Scores& direction) const {
  const PhaseTimer timer(profile_, Phase::kScores, [&] { return advance_work(direction); });
  const KernelTable& kernels = kernels_in_use();
  const double before = base.advanced == 0.0 ? norm(base) : base.norm;
  std::vector<std::pair<Index, Index>> columns;  // columns of base and direction
  if (!base.one_each())
    for (Index k = 0; k < outputs_; ++k)
      if (direction.column_of[k] != Scores::kNoColumn)
        columns.emplace_back(base.add_column(k), direction.column_of[k]);
  const Chunks chunks = norm_chunks(base);
  std::vector<std::size_t> from(chunks.count(), Scores::kNoColumn);
  for (const auto& [to, source] : columns) from[to] = source;
  std::vector<double> squares(chunks.count());
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    const std::size_t first = chunks.begin(chunk), n = chunks.end(chunk) - first;
    double* const to = base.values.data() + first;
    if (base.one_each())
      kernels.add_scaled(to, alpha, direction.values.data() + first, n);
    else if (from[chunk] != Scores::kNoColumn)
      kernels.add_scaled(to, alpha, direction.column(from[chunk]), n);
    squares[chunk] = kernels.dot(to, to, n);  // while it is in the cache
  });
  for (std::size_t i = 0; i < base.extra.size(); ++i) base.extra[i] += alpha * direction.extra[i];
  base.norm = norm_of(std::accumulate(squares.begin(), squares.end(), 0.0), base.extra);
  base.advanced += before + base.norm;
}

double LinearMap::norm(const Scores& scores) const {
  const Chunks chunks = norm_chunks(scores);
  std::vector<double> squares(chunks.count());
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    const double* const values = scores.values.data() + chunks.begin(chunk);
    squares[chunk] = kernels_in_use().dot(values, values, chunks.end(chunk) - chunks.begin(chunk));
  });
  return norm_of(std::accumulate(squares.begin(), squares.end(), 0.0), scores.extra);
}

/// `squares` is the sum over the scores of this process.
double LinearMap::norm_of(double squares, std::span<const double> extra) const {
  return std::sqrt(add_processes(parallel_, squares) +
                   static_cast<double>(x_.whole_positions()) * squared_norm(extra));
}

double LinearMap::inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const {
  const auto begin = structure_.begin();
  double sum = sum_chunks(parallel_, instance_chunks_.size() - 1, [&](std::size_t chunk) {
    const std::size_t first = begin[instance_chunks_[chunk]], last = begin[instance_chunks_[chunk + 1]];
    double part = 0.0;
    for (Index k = 0; k < outputs_; ++k) {
      const double *plus = s.find(k), *base = t.base.find(k),
                   *direction = t.direction != nullptr ? t.direction->find(k) : nullptr;
      if (plus == nullptr && base == nullptr && direction == nullptr) continue;
      const double a_share = a.owns(k) ? 1.0 : a.share[k], b_share = b.owns(k) ? 1.0 : b.share[k];
      // The column of an output that owns it includes -gold. A shared column does not.
      const double gold = static_cast<double>(b.owns(k)) - static_cast<double>(a.owns(k));
      const double *a_column = a.find(k), *b_column = b.find(k);
      for (std::size_t p = first; p < last; ++p) {
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

double LinearMap::entry_bytes() const {
  return kOffsetBytes + (x_.binary() ? 0.0 : sizeof(double));
}

double LinearMap::entries_under(std::span<const Coord> index) const {
  double entries = 0.0;
  for (const Coord c : index)
    if (c < unary_) entries += static_cast<double>(x_.column_size(feature_of(c)));
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
