/// The adjoint of the linear map over some coordinates: from residuals to partial gradients.

#include <algorithm>
#include <vector>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "core/linear_map.h"

namespace proxbench {

namespace {

/// Cost of one gathered element, in units of one kPad-wide multiply-add on a row (it was measured as 1.6 on
/// Zen 4, as 0.8 on a Xeon of 2023; the choice between the two ways changes speed only).
constexpr double kGatherCost = 1.2;
/// Of turning one number of the residual from columns into rows for a few features, whose rows then come from
/// memory, in the same units (measured on that Xeon: with 1, partial gradients of 1,000 coordinates took
/// twice as long as by gathering alone).
constexpr double kTurnCost = 6.0;

/// The coordinates [begin, end) of a set are of one feature.
struct OneFeature {
  Index feature;
  std::size_t begin, end;
  /// What taking its whole row saves, in multiply-adds of kPad numbers an entry: a feature with many outputs
  /// in the set is cheaper so; the others gather from the residual's columns.
  double gain(std::size_t width) const {
    return kGatherCost * static_cast<double>(end - begin) - static_cast<double>(width / kPad);
  }
};

template <class Visit>
void for_each_feature_in(std::span<const Coord> set, Index outputs, const Visit& visit) {
  for (std::size_t i = 0; i < set.size();) {
    const Index j = static_cast<Index>(set[i] / outputs);
    std::size_t end = i + 1;
    while (end < set.size() && set[end] / outputs == j) ++end;
    visit(OneFeature{j, i, end});
    i = end;
  }
}

}  // namespace

/// sum_p x_pj [output k is in p's gold structure].
double LinearMap::gold_count(Index feature, Index output, const Grid& grid) const {
  double sum = 0.0;
  for (std::size_t b = 0; b < x_.blocks(); ++b) {
    const auto block = x_.column_block(feature, b);
    const Index first = static_cast<Index>(b * x_.block_positions());
    for (std::size_t i = 0; i < block.size; ++i)
      for (const Index k : structure_.gold_outputs(first + block.offset[i]))
        if (k == output) sum += grid.round(block.value == nullptr ? 1.0 : block.value[i]);
  }
  return sum;
}

void LinearMap::partial_adjoint(const Residual& residual, std::span<const Coord> set,
                                std::span<double> out) const {
  const PhaseTimer timer(profile_, Phase::kPartialGradient, [&] { return partial_work(set); });
  const std::size_t unary =
      static_cast<std::size_t>(std::lower_bound(set.begin(), set.end(), unary_) - set.begin());
  std::fill(out.begin(), out.end(), 0.0);
  parallel_.count_exact(unary);
  // Turning the residual into rows touches every column of every position once. Where outputs collapse, a row
  // is expanded over all outputs, which never pays for some of them.
  double saved = 0.0;
  for_each_feature_in(set.first(unary), outputs_, [&](const OneFeature& group) {
    saved += std::max(group.gain(padded(residual.columns)), 0.0) *
             static_cast<double>(x_.column_size(group.feature));
  });
  const bool rows = residual.one_each() && saved > kTurnCost * static_cast<double>(x_.positions()) *
                                                       static_cast<double>(residual.columns);
  const Grid grid = grid_of(residual);
  if (rows) fill_rows(residual, grid);
  add_partial(residual, grid, set.first(unary), rows, out.first(unary));
  add_exact(parallel_, out.first(unary));

  if (!residual.one_each()) {
    std::vector<double> gold(residual.gold ? unary : 0);
    const auto shared_column = [&](std::size_t i) {
      return !residual.owns(static_cast<Index>(set[i] % outputs_));
    };
    const Chunks chunks{gold.size(), 256};
    parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
        if (shared_column(i))
          gold[i] =
              gold_count(static_cast<Index>(set[i] / outputs_), static_cast<Index>(set[i] % outputs_), grid);
    });
    add_exact(parallel_, gold);
    for (std::size_t i = 0; i < unary; ++i) {
      if (!shared_column(i)) continue;
      out[i] *= residual.share[set[i] % outputs_];
      if (residual.gold) out[i] -= gold[i];
    }
  }
  for (std::size_t i = unary; i < set.size(); ++i) out[i] = residual.extra[set[i] - unary_];
}

/// out[i] += the adjoint at set[i] over this process's positions, unary weights alone; `rows`: rows_ holds
/// the residual.
void LinearMap::add_partial(const Residual& residual, const Grid& grid, std::span<const Coord> set, bool rows,
                            std::span<double> out) const {
  const std::size_t width = padded(residual.columns);
  auto column_of = [&](Coord c) -> std::size_t {
    return residual.column_index(static_cast<Index>(c % outputs_));
  };

  std::vector<OneFeature> groups, whole;
  for_each_feature_in(set, outputs_, [&](const OneFeature& group) {
    (rows && group.gain(width) > 0.0 ? whole : groups).push_back(group);
  });
  if (!whole.empty()) {
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
      const auto for_each_coordinate = [&](const auto& visit) {
        for (std::size_t g = 0; g < count; ++g)
          for (std::size_t i = whole[first + g].begin; i < whole[first + g].end; ++i)
            visit(gradient[g * width + column_of(set[i])], out[i]);
      };
      for_each_coordinate([](double& in_row, double in_set) { in_row = in_set; });
      gradient_rows(features, grid, width, gradient.data());
      for_each_coordinate([](double in_row, double& in_set) { in_set = in_row; });
    });
  }

  // The rest by column, so that a column of the residual is read by all coordinates that need it.
  std::vector<std::size_t> begin(residual.columns + std::size_t{1}, 0);
  for (const OneFeature& g : groups)
    for (std::size_t i = g.begin; i < g.end; ++i) ++begin[column_of(set[i]) + 1];
  for (Index k = 0; k < residual.columns; ++k) begin[k + 1] += begin[k];
  std::vector<std::size_t> order(begin.back()), next(begin.begin(), begin.end() - 1);
  for (const OneFeature& g : groups)
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
    double sum[kCoordinatesPerTask];
    for (std::size_t i = 0; i < n; ++i) sum[i] = out[order[first + i]];
    for (std::size_t b = 0; b < x_.blocks(); ++b) {
      for (std::size_t i = 0; i < n; ++i)
        entries[i] = x_.column_block(static_cast<Index>(set[order[first + i]] / outputs_), b);
      kernels.gather(column + b * x_.block_positions(), entries, n, grid.shift(), sum);
    }
    for (std::size_t i = 0; i < n; ++i) out[order[first + i]] = sum[i];
  });
}

double LinearMap::gather_work(std::span<const Coord> coordinates) const {
  double entries = 0.0;
  for (const Coord c : coordinates)
    if (c < unary_) entries += static_cast<double>(x_.whole_column_size(static_cast<Index>(c / outputs_)));
  return kGatherCost * entries;
}

}  // namespace proxbench
