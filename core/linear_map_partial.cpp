/// The adjoint of the linear map at some coordinates: from residuals to partial gradients.

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/grouping.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "core/linear_map.h"

namespace proxbench {

namespace {

/// Cost of one gathered element, in units of one multiply-add of kPad numbers on a row. The choice between
/// gathering from columns and summing rows changes only speed.
constexpr double kGatherCost = 1.2;
/// Cost of copying one number of the residual from columns to rows, in the same units. It includes reading
/// the rows from memory afterwards.
constexpr double kTurnCost = 6.0;

/// The coordinates [begin, end) of a set belong to one feature.
struct OneFeature {
  Index feature;
  std::size_t begin, end;
  /// Multiply-adds of kPad numbers that each entry saves if whole rows of R are read in place of single
  /// columns. Above 0 for a feature with many outputs in the set.
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

/// Adds sum_p x_pj * column[p] to out[f], j = features[f]. If `squares` is true, x_pj^2 replaces x_pj.
void LinearMap::add_columns(const double* column, std::span<const Index> features, bool squares,
                            double* out) const {
  ColumnBlock blocks[kCoordinatesPerTask];
  std::vector<double> squared[kCoordinatesPerTask];
  for (std::size_t first = 0; first < features.size(); first += kCoordinatesPerTask) {
    const std::size_t n = std::min(kCoordinatesPerTask, features.size() - first);
    for (std::size_t b = 0; b < x_.blocks(); ++b) {
      for (std::size_t f = 0; f < n; ++f) {
        blocks[f] = x_.column_block(features[first + f], b);
        if (squares) blocks[f] = with_squares(blocks[f], squared[f]);
      }
      kernels_in_use().gather(column + x_.block_begin(b), blocks, n, out + first);
    }
  }
}

/// The adjoint at coordinate c, whose output shares a column with others.
double LinearMap::shared_output(const Residual& residual, Coord c) const {
  const auto feature = feature_of(c), output = output_of(c);
  double sum = 0.0, piece = 0.0;
  std::size_t entries = 0;
  x_.for_each_in_column(feature, [&](std::size_t p, double value) {
    double r = residual.share[output] * residual.find(output)[p];
    if (residual.gold)
      for (const Index k : structure_.gold_outputs(static_cast<Index>(p))) r -= k == output ? 1.0 : 0.0;
    piece += value * r;
    if (++entries % kPieceEntries == 0) sum += std::exchange(piece, 0.0);
  });
  return sum + piece;
}

void LinearMap::partial_adjoint(const Residual& residual, std::span<const Coord> set, std::span<double> out,
                                bool squares) const {
  const PhaseTimer timer(profile_, Phase::kPartialGradient, [&] { return partial_work(set); });
  const std::size_t unary = count_unary(set);
  parallel_.count_sum(unary);
  // Copying the residual to rows reads every column of every position once. If outputs collapse, a row would
  // be expanded over all outputs, which never pays off for a few of them. Both methods give the same bits.
  double saved = 0.0;
  for_each_feature_in(set.first(unary), outputs_, [&](const OneFeature& group) {
    saved += std::max(group.gain(padded(residual.columns)), 0.0) *
             static_cast<double>(x_.column_size(group.feature));
  });
  const bool rows = residual.one_each() && saved > kTurnCost * static_cast<double>(x_.positions()) *
                                                       static_cast<double>(residual.columns);
  if (rows) fill_rows(residual);
  add_partial(residual, set.first(unary), rows, squares, out.data());
  add_processes(parallel_, out.first(unary));
  for (std::size_t i = unary; i < set.size(); ++i) out[i] = residual.extra[set[i] - unary_];
}

/// out[i] = this process's part of the adjoint at set[i], for unary weights only. If `rows` is true, rows_
/// holds the residual.
void LinearMap::add_partial(const Residual& residual, std::span<const Coord> set, bool rows, bool squares,
                            double* out) const {
  const std::size_t width = padded(residual.columns);
  auto column_of = [&](Coord c) -> std::size_t { return residual.column_index(output_of(c)); };

  std::vector<OneFeature> whole;
  std::vector<char> in_rows(set.size(), 0);
  if (rows)
    for_each_feature_in(set, outputs_, [&](const OneFeature& group) {
      if (!(group.gain(width) > 0.0)) return;
      whole.push_back(group);
      std::fill(&in_rows[group.begin], &in_rows[group.begin] + (group.end - group.begin), 1);
    });
  if (!whole.empty()) {
    const std::vector<Index> chunk_begin = cut_evenly(
        whole.size(), kChunkNonzeros, [&](std::size_t g) { return x_.column_size(whole[g].feature) + 1; });
    parallel_.for_each(chunk_begin.size() - 1, [&](std::size_t chunk) {
      const std::size_t first = chunk_begin[chunk], count = chunk_begin[chunk + 1] - first;
      std::vector<Index> features(count);
      for (std::size_t g = 0; g < count; ++g) features[g] = whole[first + g].feature;
      AlignedVector<double> sums(count * width);
      add_rows(rows_.data(), features, width, squares, sums.data());
      for (std::size_t g = 0; g < count; ++g)
        for (std::size_t i = whole[first + g].begin; i < whole[first + g].end; ++i)
          out[i] = sums[g * width + column_of(set[i])];
    });
  }

  // The other coordinates are grouped by column, so that a column of the residual is read for all coordinates
  // that need it. Coordinates of outputs that share a column come last.
  const std::size_t columns = residual.columns;
  const Grouping by_column(set.size(), columns + 2, [&](std::size_t i) {
    if (in_rows[i] != 0) return columns + 1;
    return residual.owns(output_of(set[i])) ? column_of(set[i]) : columns;
  });
  struct Task {
    std::size_t column;
    std::span<const std::size_t> coordinates;
  };
  std::vector<Task> tasks;
  for (std::size_t k = 0; k <= columns; ++k)
    for (auto left = by_column.of(k); !left.empty(); left = left.subspan(tasks.back().coordinates.size()))
      tasks.push_back({k, left.first(std::min(kCoordinatesPerTask, left.size()))});
  parallel_.for_each(tasks.size(), [&](std::size_t t) {
    const auto& [column, coordinates] = tasks[t];
    if (column == columns) {
      for (const std::size_t i : coordinates) out[i] = shared_output(residual, set[i]);
      return;
    }
    Index features[kCoordinatesPerTask];
    double sums[kCoordinatesPerTask] = {};
    for (std::size_t i = 0; i < coordinates.size(); ++i) features[i] = feature_of(set[coordinates[i]]);
    add_columns(residual.column(column), {features, coordinates.size()}, squares, sums);
    for (std::size_t i = 0; i < coordinates.size(); ++i) out[coordinates[i]] = sums[i];
  });
}

double LinearMap::whole_entries_under(std::span<const Coord> index) const {
  double entries = 0.0;
  for (const Coord c : index.first(count_unary(index)))
    entries += static_cast<double>(x_.whole_column_size(feature_of(c)));
  return entries;
}

}  // namespace proxbench
