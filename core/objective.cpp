#include "core/objective.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/error.h"
#include "core/kernel_table.h"
#include "core/work.h"

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
/// Numbers in the covariance matrices of the instances that are worked on at once, and rows of the Hessian
/// that a task adds them to.
constexpr std::size_t kCovariancesAtOnce = std::size_t{1} << 25, kHessianRows = 64;
/// Cost of looking at one entry of a row of X.
constexpr double kEntryCost = 1.0;
/// Coordinates are told apart in single precision where making such rows (kPad of their numbers take so many
/// multiply-adds of kPad doubles) and gathering the gradients of the support take at most kMostBeside of a
/// full gradient's work; what is near lambda, too, at most kMostNear.
constexpr double kShortenCost = 8.0, kMostBeside = 0.2, kMostNear = 0.5;

/// Merges the coordinates of `more` into those of `out`; none is in both.
void add_coordinates(const Objective::Selection& more, Objective::Selection& out) {
  Objective::Selection merged = out;
  const std::size_t size = out.index.size() + more.index.size();
  merged.index.resize(size);
  merged.weight.resize(size);
  merged.gradient.resize(size);
  for (std::size_t a = 0, b = 0, i = 0; i < size; ++i) {
    const bool old = b == more.index.size() || (a < out.index.size() && out.index[a] < more.index[b]);
    const Objective::Selection& from = old ? out : more;
    const std::size_t at = old ? a++ : b++;
    merged.index[i] = from.index[at];
    merged.weight[i] = from.weight[at];
    merged.gradient[i] = from.gradient[at];
  }
  out = std::move(merged);
}

}  // namespace

Objective::Objective(const DesignMatrix& x, const Oracle& oracle, double lambda, double mu,
                     const Parallel& parallel)
    : x_(x),
      oracle_(oracle),
      lambda_(lambda),
      mu_(mu),
      parallel_(parallel),
      outputs_(oracle.outputs()),
      unary_(static_cast<Coord>(x.features()) * oracle.outputs()) {
  if (!(lambda > 0.0) || !std::isfinite(lambda))
    throw Error::usage("lambda = " + std::to_string(lambda) + ": violated constraint lambda > 0");
  if (!(mu >= 0.0) || !std::isfinite(mu))
    throw Error::usage("mu = " + std::to_string(mu) + ": violated constraint mu >= 0");
  if (x.positions() != oracle.positions())
    throw Error("design matrix of " + std::to_string(x.positions()) + " positions, oracle of " +
                std::to_string(oracle.positions()));

  active_features_.resize(x.features());
  std::iota(active_features_.begin(), active_features_.end(), Index{0});
  cut_features();
}

void Objective::cut_features() {
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

void Objective::restrict_to(std::vector<Coord> candidates) {
  candidates_ = std::move(candidates);
  active_features_.clear();
  for (const Coord c : *candidates_) {
    if (c >= unary_) break;
    const Index j = static_cast<Index>(c / outputs_);
    if (active_features_.empty() || active_features_.back() != j) active_features_.push_back(j);
  }
  cut_features();
}

Scores Objective::make_scores() const {
  if (oracle_.collapses()) return Scores::collapsed(outputs_, x_.positions(), oracle_.extra_weights());
  return Scores(outputs_, x_.positions(), oracle_.extra_weights());
}

void Objective::scores(std::span<const Coord> index, std::span<const double> value, Scores& out) const {
  const PhaseTimer timer(profile_, Phase::kScores, [&] { return scores_work(*this, index); });
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

void Objective::advance(Scores& base, double alpha, const Scores& direction) const {
  const PhaseTimer timer(profile_, Phase::kScores, [&] { return advance_work(*this, direction); });
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

double Objective::infer(const ScorePoint& at, Residual* residual) {
  const PhaseTimer timer(profile_, Phase::kInference,
                         [&] { return inference_work(*this, at, residual, x_.positions()); });
  passes_ += 1.0;
  return oracle_.infer(at, residual, parallel_);
}

double Objective::infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual) {
  const PhaseTimer timer(profile_, Phase::kInference, [&] {
    std::size_t positions = 0;
    for (const Index i : instances) positions += oracle_.begin()[i + std::size_t{1}] - oracle_.begin()[i];
    return inference_work(*this, at, residual, positions);
  });
  passes_ += static_cast<double>(instances.size()) / static_cast<double>(this->instances());
  return oracle_.infer_some(instances, at, residual, parallel_);
}

double Objective::inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const {
  std::vector<double> part(outputs_, 0.0);
  parallel_.for_each(outputs_, [&](std::size_t task) {
    const Index k = static_cast<Index>(task);
    const double *plus = s.find(k), *base = t.base.find(k),
                 *direction = t.direction != nullptr ? t.direction->find(k) : nullptr;
    if (plus == nullptr && base == nullptr && direction == nullptr) return;
    const double a_share = a.owns(k) ? 1.0 : a.share[k], b_share = b.owns(k) ? 1.0 : b.share[k];
    // An own column has the gold structure in it, a shared one has not.
    const double gold = static_cast<double>(b.owns(k)) - static_cast<double>(a.owns(k));
    const double *a_column = a.find(k), *b_column = b.find(k);
    double sum = 0.0;
    for (Index p = 0; p < x_.positions(); ++p) {
      double score = plus == nullptr ? 0.0 : plus[p];
      if (base != nullptr) score -= base[p];
      if (direction != nullptr) score -= t.alpha * direction[p];
      double difference = a_share * a_column[p] - b_share * b_column[p];
      if (gold != 0.0)
        for (const Index on : oracle_.gold_outputs(p))
          if (on == k) difference -= gold;
      sum += difference * score;
    }
    part[k] = sum;
  });
  double sum = 0.0;
  for (const double x : part) sum += x;
  for (std::size_t e = 0; e < a.extra.size(); ++e) {
    double score = s.extra[e] - t.base.extra[e];
    if (t.direction != nullptr) score -= t.alpha * t.direction->extra[e];
    sum += (a.extra[e] - b.extra[e]) * score;
  }
  return sum;
}

/// R by position: rows_[p][k], padded to kPad outputs, or in the oracle's short rows.
void Objective::fill_rows(const Residual& residual) const {
  if (!residual.one_each()) return oracle_.compact_rows(residual, compact_rows_, parallel_);
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
void Objective::gradient_rows(std::span<const Index> features, std::size_t width, double* gradient) const {
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
void Objective::gradient_rows_collapsed(std::span<const Index> features, std::span<double> gradient) const {
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
  oracle_.expand(gradient.data());
}

/// sum_p x_pj [output k is in p's gold structure].
double Objective::gold_count(Index feature, Index output) const {
  double sum = 0.0;
  for (std::size_t b = 0; b < x_.blocks(); ++b) {
    const auto block = x_.column_block(feature, b);
    const Index first = static_cast<Index>(b * x_.block_positions());
    for (std::size_t i = 0; i < block.size; ++i)
      for (const Index k : oracle_.gold_outputs(first + block.offset[i]))
        if (k == output) sum += block.value == nullptr ? 1.0 : block.value[i];
  }
  return sum;
}

void Objective::partial_gradient(const Residual& residual, std::span<const Coord> set,
                                 std::span<const double> w, std::span<double> out) const {
  const PhaseTimer timer(profile_, Phase::kPartialGradient,
                         [&] { return partial_gradient_work(*this, set); });
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
  // Turning the residual into rows touches every column of every position once. Where the oracle collapses(),
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
        if (!residual.owns(k))
          out[i] = residual.share[k] * out[i] - gold_count(static_cast<Index>(set[i] / outputs_), k);
      }
    });
  }
  for (std::size_t i = unary; i < set.size(); ++i) out[i] = residual.extra[set[i] - unary_];
  if (mu_ > 0)
    for (std::size_t i = 0; i < set.size(); ++i) out[i] += mu_ * w[i];
}

template <class Wanted, class Row>
void Objective::for_each_gradient_row(const Residual& residual, double bound, const Wanted& wanted,
                                      const Row& row) const {
  fill_rows(residual);
  const KernelTable& kernels = kernels_in_use();
  if (!residual.one_each()) {
    parallel_.for_each(feature_chunks(), [&](std::size_t chunk) {
      const std::span<const Index> all =
          std::span(active_features_)
              .subspan(feature_chunk_begin_[chunk],
                       feature_chunk_begin_[chunk + 1] - feature_chunk_begin_[chunk]);
      AlignedVector<double> gradient(oracle_.basis() * kPad);
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

template <class Gradients, class Row>
void Objective::for_each_feature(std::size_t width, const Gradients& gradients, const Row& row) const {
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
double Objective::row_work() const {
  return static_cast<double>(x_.nonzeros()) * static_cast<double>(padded(outputs_) / kPad);
}
double Objective::gather_work(std::span<const Coord> coordinates) const {
  double entries = 0.0;
  for (const Coord c : coordinates)
    if (c < unary_) entries += static_cast<double>(x_.column_size(static_cast<Index>(c / outputs_)));
  return kGatherCost * entries;
}

/// Returns the sums of absolute values by output.
std::vector<double> Objective::fill_single_rows(const Residual& residual) const {
  const std::size_t width = padded(outputs_), single_width = padded_single(outputs_);
  single_rows_.resize(static_cast<std::size_t>(x_.positions()) * single_width);
  const Chunks chunks{x_.positions(), kRowsPerTask};
  std::vector<double> sizes(chunks.count() * width, 0.0);
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    AlignedVector<double> rows(kRowsAtOnce * width);
    for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); p += kRowsAtOnce) {
      const std::size_t n = std::min(kRowsAtOnce, chunks.end(chunk) - p);
      kernels_in_use().columns_to_rows(residual.values.data(), residual.stride, outputs_, p, n, rows.data(),
                                       width);
      kernels_in_use().shorten_rows(rows.data(), width, n, single_rows_.data() + p * single_width,
                                    single_width, sizes.data() + chunk * width);
    }
  });
  std::vector<double> sum(outputs_, 0.0);
  for (std::size_t chunk = 0; chunk < chunks.count(); ++chunk)
    for (Index k = 0; k < outputs_; ++k) sum[k] += sizes[chunk * width + k];
  return sum;
}

/// Finds, in about half the time of a full gradient, the coordinates that may have |g| > `quiet`, all of w's
/// among them: `near`, ascending. `rough` has those others with |g| > `rough_threshold`, nearly. False where
/// that cannot be done, or where exact gradients of those near and rows in single precision cost too much
/// beside.
///
/// Proof: rounding a number of R to single precision takes it at most u = 2^-24 of its size away, and a sum
/// of n of these in single precision is off by at most n*u/(1 - n*u) of the sum of their sizes, n <= the
/// feature's largest block; what is added in double precision is nothing beside that. So |g| and what is
/// found differ by less than 1.01 * (n + 1) * u times the sum over all positions of |R|'s column, n*u <
/// 1/100.
bool Objective::few_near(const Residual& residual, const SparseVector& w, double quiet,
                         double rough_threshold, std::vector<Coord>& near, Selection& rough) const {
  constexpr double kUnit = 0x1p-24;
  if (candidates_ || !residual.one_each() || !x_.binary() || w.nnz() == 0) return false;
  const double vectors = static_cast<double>(x_.positions()) * static_cast<double>(padded(outputs_) / kPad);
  if (gather_work(w.index) + kShortenCost * vectors > kMostBeside * row_work()) return false;
  static_assert(1.01 * kUnit * static_cast<double>(DesignMatrix::kLargestBlock + 1) < 0.01);
  const std::vector<double> sizes = fill_single_rows(residual);
  double largest = 0.0;
  for (const double size : sizes) {
    if (!std::isfinite(size)) return false;
    largest = std::max(largest, size);
  }
  const auto off = [](std::size_t entries) { return 1.01 * kUnit * static_cast<double>(entries + 1); };
  if (quiet < 2.0 * off(x_.block_positions()) * largest) return false;
  const KernelTable& kernels = kernels_in_use();
  const std::size_t width = padded_single(outputs_);
  struct Found {
    std::vector<Coord> near;
    Selection rough;
  };
  std::vector<Found> found(feature_chunks());
  for_each_feature(
      width,
      [&](std::span<const Index> features, double* gradient) {
        for (std::size_t b = 0; b < x_.blocks(); ++b)
          for (std::size_t f = 0; f < features.size(); ++f)
            kernels.add_single_rows(single_rows_.data() + b * x_.block_positions() * width,
                                    x_.column_block(features[f], b), gradient + f * width, width);
      },
      [&](std::size_t chunk, Index j, const double* g) {
        const Coord base = static_cast<Coord>(j) * outputs_;
        auto weight = std::lower_bound(w.index.begin(), w.index.end(), base);
        const bool weighted = weight != w.index.end() && *weight < base + outputs_;
        std::size_t entries = 0;
        for (std::size_t b = 0; b < x_.blocks(); ++b) entries = std::max(entries, x_.column_block(j, b).size);
        const double share = off(entries);
        if (!weighted && kernels.all_within(g, outputs_, std::min(quiet - share * largest, rough_threshold)))
          return;
        for (Index k = 0; k < outputs_; ++k) {
          const Coord c = base + k;
          const bool has_weight = weight != w.index.end() && *weight == c;
          if (has_weight) ++weight;
          const double size = std::abs(g[k]);
          if (has_weight || !(size <= quiet - share * sizes[k])) {
            found[chunk].near.push_back(c);
          } else if (size > rough_threshold) {
            found[chunk].rough.index.push_back(c);
            found[chunk].rough.weight.push_back(0.0);
            found[chunk].rough.gradient.push_back(g[k]);
          }
        }
      });
  for (const Found& f : found) {
    near.insert(near.end(), f.near.begin(), f.near.end());
    rough.index.insert(rough.index.end(), f.rough.index.begin(), f.rough.index.end());
    rough.weight.insert(rough.weight.end(), f.rough.weight.begin(), f.rough.weight.end());
    rough.gradient.insert(rough.gradient.end(), f.rough.gradient.begin(), f.rough.gradient.end());
  }
  if (gather_work(near) > kMostNear * row_work()) return false;
  for (Coord c = unary_; c < dimension(); ++c) near.push_back(c);
  return true;
}

void Objective::gradient(const Residual& residual, std::span<const double> w, std::span<double> out) const {
  if (candidates_) {
    std::vector<double> weight, g(candidates_->size());
    for (const Coord c : *candidates_) weight.push_back(w[c]);
    partial_gradient(residual, *candidates_, weight, g);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t i = 0; i < g.size(); ++i) out[(*candidates_)[i]] = g[i];
    return;
  }
  const PhaseTimer timer(profile_, Phase::kFullGradient, [&] { return full_gradient_work(*this, residual); });
  for_each_gradient_row(
      residual, 0.0, [](Index) { return true; },
      [&](std::size_t, Index j, const double* g, std::size_t step) {
        const std::size_t base = static_cast<std::size_t>(j) * outputs_;
        for (Index k = 0; k < outputs_; ++k) out[base + k] = g[k * step] + mu_ * w[base + k];
      });
  for (std::size_t e = 0; e < residual.extra.size(); ++e)
    out[unary_ + e] = residual.extra[e] + mu_ * w[unary_ + e];
}

template <class Visit>
void Objective::for_each_candidate(Coord begin, Coord end, const Visit& visit) const {
  if (!candidates_) {
    for (Coord c = begin; c < end; ++c) visit(c);
    return;
  }
  auto c = std::lower_bound(candidates_->begin(), candidates_->end(), begin);
  for (; c != candidates_->end() && *c < end; ++c) visit(*c);
}

/// Takes coordinate c with gradient g of l and weight w into `selection`.
void Objective::record(Coord c, double w, double g, double threshold, Selection& selection) const {
  const double excess = std::max(std::abs(g) - lambda_, 0.0);
  selection.gradient_max = std::max(selection.gradient_max, std::abs(g));
  selection.excess_squares += excess * excess;
  g += mu_ * w;
  const double m = std::abs(minimum_norm_subgradient(w, g, lambda_));
  selection.kkt_max = std::max(selection.kkt_max, m);
  selection.kkt_l1 += m;
  if (w != 0.0 || std::abs(g) > threshold) {
    selection.index.push_back(c);
    selection.weight.push_back(w);
    selection.gradient.push_back(g);
  }
}

void Objective::select_gradient(const Selection& known, double complete_above, double threshold,
                                Selection& out) const {
  out = Selection{};
  // What is not there is not above.
  out.gradient_max = std::min(complete_above, known.gradient_max);
  auto candidate = candidates_ ? candidates_->begin() : std::vector<Coord>::const_iterator{};
  for (std::size_t i = 0; i < known.index.size(); ++i) {
    if (candidates_) {
      candidate = std::lower_bound(candidate, candidates_->end(), known.index[i]);
      if (candidate == candidates_->end()) break;
      if (*candidate != known.index[i]) continue;
    }
    record(known.index[i], known.weight[i], known.gradient[i] - mu_ * known.weight[i], threshold, out);
  }
  if (!std::isfinite(out.kkt_l1)) out.kkt_max = out.kkt_l1;  // a maximum would hide a NaN
}

void Objective::select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                                double rough_threshold, Selection& out) const {
  const PhaseTimer timer(profile_, Phase::kFullGradient, [&] { return full_gradient_work(*this, residual); });
  std::vector<Selection> parts(feature_chunks() + 1);
  // Position within w of the first weight at or after a coordinate; coordinates come in ascending order.
  auto start_of = [&](Coord c) {
    return static_cast<std::size_t>(std::lower_bound(w.index.begin(), w.index.end(), c) - w.index.begin());
  };
  // Most coordinates are zero and stay so: the largest gradient is all that they may have a part in.
  const double quiet = std::min(rough_threshold, lambda_);
  auto visit = [&](Selection& part, std::size_t& cursor, Coord c, double g) {
    const double size = std::abs(g);
    const bool weighted = cursor < w.nnz() && w.index[cursor] == c;
    if (size <= quiet && !weighted) {
      if (size > part.gradient_max) part.gradient_max = size;
    } else {
      record(c, weighted ? w.value[cursor++] : 0.0, g, rough_threshold, part);
    }
  };
  auto has_weights = [&](Index j) {
    const std::size_t cursor = start_of(static_cast<Coord>(j) * outputs_);
    return cursor < w.nnz() && w.index[cursor] < static_cast<Coord>(j + std::size_t{1}) * outputs_;
  };
  std::vector<Coord> near;
  Selection rough;
  const bool by_coordinate = candidates_ && residual.one_each();
  if (by_coordinate || few_near(residual, w, std::min(threshold, lambda_), rough_threshold, near, rough)) {
    const std::vector<Coord>& some = by_coordinate ? *candidates_ : near;
    const std::vector<double> zero(some.size(), 0.0);  // mu*w is added by record()
    std::vector<double> g(some.size());
    partial_gradient(residual, some, zero, g);
    std::size_t cursor = 0;
    for (std::size_t i = 0; i < g.size(); ++i) visit(parts.back(), cursor, some[i], g[i]);
  } else {
    for_each_gradient_row(
        residual, quiet, has_weights, [&](std::size_t chunk, Index j, const double* g, std::size_t step) {
          const Coord base = static_cast<Coord>(j) * outputs_;
          std::size_t cursor = start_of(base);
          for_each_candidate(base, base + outputs_,
                             [&](Coord c) { visit(parts[chunk], cursor, c, g[(c - base) * step]); });
        });
    std::size_t cursor = start_of(unary_);
    for_each_candidate(unary_, dimension(),
                       [&](Coord c) { visit(parts.back(), cursor, c, residual.extra[c - unary_]); });
  }

  out = Selection{};
  for (const Selection& part : parts) {
    out.kkt_max = std::max(out.kkt_max, part.kkt_max);
    out.kkt_l1 += part.kkt_l1;
    out.gradient_max = std::max(out.gradient_max, part.gradient_max);
    out.excess_squares += part.excess_squares;
    out.index.insert(out.index.end(), part.index.begin(), part.index.end());
    out.weight.insert(out.weight.end(), part.weight.begin(), part.weight.end());
    out.gradient.insert(out.gradient.end(), part.gradient.begin(), part.gradient.end());
  }
  if (!rough.index.empty()) add_coordinates(rough, out);
  if (!std::isfinite(out.kkt_l1)) out.kkt_max = out.kkt_l1;  // a maximum would hide a NaN
}

double Objective::l1(std::span<const double> w) const {
  double sum = 0.0;
  for (const double x : w) sum += std::abs(x);
  return lambda_ * sum;
}

double Objective::l2(std::span<const double> w) const {
  if (mu_ == 0.0) return 0.0;
  double sum = 0.0;
  for (const double x : w) sum += x * x;
  return 0.5 * mu_ * sum;
}

/// What of a set is on in one instance: its features, and which coordinate of the set each slot is.
struct Objective::LocalCoordinates {
  LocalFeatures features;
  std::vector<std::uint32_t> of_slot;
  std::vector<std::uint32_t> ascending;  ///< slots by coordinate
  HalfMatrix covariances;
};

bool Objective::hessian(const Scores& scores, std::span<const Coord> set, double* out, std::size_t stride,
                        const StopToken& stop) const {
  constexpr auto kNoSlot = static_cast<std::uint32_t>(-1);
  const std::size_t n = set.size();
  const auto unary =
      static_cast<std::uint32_t>(std::lower_bound(set.begin(), set.end(), unary_) - set.begin());
  // The set's coordinates of feature j: [of_feature[j], of_feature[j+1]).
  std::vector<std::uint32_t> of_feature(x_.features() + std::size_t{1}, 0);
  for (std::uint32_t i = 0; i < unary; ++i) ++of_feature[set[i] / outputs_ + 1];
  for (Index j = 0; j < x_.features(); ++j) of_feature[j + std::size_t{1}] += of_feature[j];
  std::vector<std::uint32_t> slot_of(n, kNoSlot);

  const auto take = [&](std::size_t instance, LocalCoordinates& local) {
    local.of_slot.clear();
    local.features.extra.clear();
    local.features.entry.clear();
    const auto slot = [&](std::uint32_t i) {
      if (slot_of[i] == kNoSlot) {
        slot_of[i] = static_cast<std::uint32_t>(local.of_slot.size());
        local.of_slot.push_back(i);
      }
      return slot_of[i];
    };
    for (std::uint32_t i = unary; i < n; ++i) {
      slot(i);
      local.features.extra.push_back(set[i] - unary_);
    }
    local.features.begin.assign(1, 0);
    for (Index p = oracle_.begin()[instance]; p < oracle_.begin()[instance + 1]; ++p) {
      const auto row = x_.row(p);
      const auto values = x_.row_values(p);
      for (std::size_t e = 0; e < row.size(); ++e)
        for (std::uint32_t i = of_feature[row[e]]; i < of_feature[row[e] + std::size_t{1}]; ++i)
          local.features.entry.push_back(
              {slot(i), static_cast<Index>(set[i] % outputs_), values.empty() ? 1.0 : values[e]});
      local.features.begin.push_back(local.features.entry.size());
    }
    local.features.slots = local.of_slot.size();
    for (const std::uint32_t i : local.of_slot) slot_of[i] = kNoSlot;
  };

  const Chunks rows{n, kHessianRows};
  for (std::size_t i = 0; i < n && !stop.requested(); ++i) std::fill_n(out + i * stride, n, 0.0);
  std::vector<LocalCoordinates> batch;
  for (std::size_t instance = 0; instance < instances() && !stop.requested();) {
    const std::size_t first = instance;
    std::size_t numbers = 0, taken = 0;
    for (; instance < instances() && numbers < kCovariancesAtOnce; ++instance, ++taken) {
      if (taken == batch.size()) batch.emplace_back();
      take(instance, batch[taken]);
      numbers += batch[taken].features.slots * padded(batch[taken].features.slots);
    }
    parallel_.for_each(taken, [&](std::size_t b) {
      if (stop.requested()) return;
      LocalCoordinates& local = batch[b];
      oracle_.covariances(scores, first + b, local.features, local.covariances);
      local.ascending.resize(local.of_slot.size());
      std::iota(local.ascending.begin(), local.ascending.end(), 0u);
      std::sort(local.ascending.begin(), local.ascending.end(),
                [&](std::uint32_t a, std::uint32_t c) { return local.of_slot[a] < local.of_slot[c]; });
    });
    if (stop.requested()) return false;  // some may be missing
    // Instance by instance, whoever adds them.
    parallel_.for_each(rows.count(), [&](std::size_t task) {
      for (const LocalCoordinates& local : std::span(batch).first(taken)) {
        auto at =
            std::lower_bound(local.ascending.begin(), local.ascending.end(), rows.begin(task),
                             [&](std::uint32_t slot, std::size_t row) { return local.of_slot[slot] < row; });
        for (; at != local.ascending.end() && local.of_slot[*at] < rows.end(task); ++at) {
          const double* from = local.covariances.value.data() + *at * local.covariances.stride;
          const std::size_t extent = std::min(local.covariances.extent[*at], local.of_slot.size());
          double* to = out + local.of_slot[*at] * stride;
          for (std::size_t j = 0; j < extent; ++j) to[local.of_slot[j]] += from[j];
        }
      }
    });
  }
  // H = M + M^T, a square of both at a time.
  parallel_.for_each(rows.count(), [&](std::size_t task) {
    if (stop.requested()) return;
    for (std::size_t before = 0; before <= task; ++before)
      for (std::size_t i = rows.begin(task); i < rows.end(task); ++i)
        for (std::size_t j = rows.begin(before); j < std::min(rows.end(before), i + 1); ++j)
          out[i * stride + j] = out[j * stride + i] = out[i * stride + j] + out[j * stride + i];
  });
  for (std::size_t i = 0; i < n; ++i) out[i * stride + i] += mu_;
  return !stop.requested();
}

}  // namespace proxbench
