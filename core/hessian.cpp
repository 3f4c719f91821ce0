/// The dense Hessian of an objective's smooth part on a set of coordinates, and a rough diagonal.
#include <algorithm>
#include <numeric>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "core/objective.h"

namespace proxbench {

namespace {

/// Numbers in the covariance matrices of the instances that are worked on at once, so few that they stay in
/// the cache until they are added; and rows of the Hessian that a task adds them to.
constexpr std::size_t kCovariancesAtOnce = std::size_t{1} << 21, kHessianRows = 32;
/// Positions, and features, in a task of the rough diagonal.
constexpr std::size_t kDiagonalPositions = 512, kDiagonalFeatures = 64;

}  // namespace

/// What of a set is on in one instance: its features, and which coordinate of the set each slot is.
struct Objective::LocalCoordinates {
  LocalFeatures features;
  std::vector<std::uint32_t> of_slot;
  std::vector<std::uint32_t> ascending;  ///< slots by coordinate
  HalfMatrix covariances;
  std::vector<double> scratch;  ///< values of a row
};

bool Objective::hessian(const Scores& scores, std::span<const Coord> set, double* out, std::size_t stride,
                        const StopToken& stop) const {
  const CovarianceOracle* const covariance = oracle_.covariance();
  constexpr auto kNoSlot = static_cast<std::uint32_t>(-1);
  const std::size_t n = set.size();
  const auto unary =
      static_cast<std::uint32_t>(std::lower_bound(set.begin(), set.end(), unary_weights()) - set.begin());
  // The set's coordinates of feature j: [of_feature[j], of_feature[j+1]).
  std::vector<std::uint32_t> of_feature(map_.x().features() + std::size_t{1}, 0);
  for (std::uint32_t i = 0; i < unary; ++i) ++of_feature[set[i] / outputs() + 1];
  for (Index j = 0; j < map_.x().features(); ++j) of_feature[j + std::size_t{1}] += of_feature[j];
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
      local.features.extra.push_back(set[i] - unary_weights());
    }
    local.features.begin.assign(1, 0);
    for (Index p = oracle_.begin()[instance]; p < oracle_.begin()[instance + 1]; ++p) {
      const auto row = map_.x().row(p);
      const auto values = map_.x().row_values(p, local.scratch);
      for (std::size_t e = 0; e < row.size(); ++e)
        for (std::uint32_t i = of_feature[row[e]]; i < of_feature[row[e] + std::size_t{1}]; ++i)
          local.features.entry.push_back(
              {slot(i), static_cast<Index>(set[i] % outputs()), values.empty() ? 1.0 : values[e]});
      local.features.begin.push_back(local.features.entry.size());
    }
    local.features.slots = local.of_slot.size();
    for (const std::uint32_t i : local.of_slot) slot_of[i] = kNoSlot;
  };

  const Grid grid(map_.covariance_bound());
  const Chunks rows{n, kHessianRows};
  for (std::size_t i = 0; i < n && !stop.requested(); ++i) std::fill_n(out + i * stride, n, 0.0);
  std::vector<LocalCoordinates> batch;
  const auto add_instances = [&] {
    for (std::size_t instance = 0; instance < oracle_.instances() && !stop.requested();) {
      const std::size_t first = instance;
      std::size_t numbers = 0, taken = 0;
      for (; instance < oracle_.instances() && numbers < kCovariancesAtOnce; ++instance, ++taken) {
        if (taken == batch.size()) batch.emplace_back();
        take(instance, batch[taken]);
        numbers += batch[taken].features.slots * padded(batch[taken].features.slots);
      }
      parallel().for_each(taken, [&](std::size_t b) {
        if (stop.requested()) return;
        LocalCoordinates& local = batch[b];
        covariance->covariances(scores, first + b, local.features, local.covariances);
        for (std::size_t i = 0; i < local.of_slot.size(); ++i)
          kernels_in_use().round(local.covariances.value.data() + i * local.covariances.stride, grid.shift(),
                                 local.covariances.extent[i]);
        local.ascending.resize(local.of_slot.size());
        std::iota(local.ascending.begin(), local.ascending.end(), 0u);
        std::sort(local.ascending.begin(), local.ascending.end(),
                  [&](std::uint32_t a, std::uint32_t c) { return local.of_slot[a] < local.of_slot[c]; });
      });
      if (stop.requested()) return;  // some may be missing
      parallel().for_each(rows.count(), [&](std::size_t from_last) {
        const std::size_t task =
            rows.count() - 1 - from_last;  // extra weights, on in every instance, take longest
        for (const LocalCoordinates& local : std::span(batch).first(taken)) {
          auto at = std::lower_bound(
              local.ascending.begin(), local.ascending.end(), rows.begin(task),
              [&](std::uint32_t slot, std::size_t row) { return local.of_slot[slot] < row; });
          for (; at != local.ascending.end() && local.of_slot[*at] < rows.end(task); ++at) {
            const double* from = local.covariances.value.data() + *at * local.covariances.stride;
            const std::size_t extent = std::min(local.covariances.extent[*at], local.of_slot.size());
            double* to = out + local.of_slot[*at] * stride;
            const std::size_t extras = std::min(extent, n - unary);  // side by side
            kernels_in_use().add_scaled(to + unary, 1.0, from, extras);
            for (std::size_t j = extras; j < extent; ++j) to[local.of_slot[j]] += from[j];
          }
        }
      });
    }
  };
  parallel().count_exact(n * n);
  add_instances();
  add_exact(parallel(), std::span(out, n == 0 ? 0 : (n - 1) * stride + n));
  if (stop.requested()) return false;
  // H = M + M^T, a square of both at a time.
  parallel().for_each(rows.count(), [&](std::size_t task) {
    if (stop.requested()) return;
    for (std::size_t before = 0; before <= task; ++before)
      for (std::size_t i = rows.begin(task); i < rows.end(task); ++i)
        for (std::size_t j = rows.begin(before); j < std::min(rows.end(before), i + 1); ++j)
          out[i * stride + j] = out[j * stride + i] = out[i * stride + j] + out[j * stride + i];
  });
  for (std::size_t i = 0; i < n; ++i) out[i * stride + i] += mu();
  return !stop.requested();
}

void Objective::rough_diagonal(const Residual& residual, std::span<double> out) const {
  const KernelTable& kernels = kernels_in_use();
  const DesignMatrix& x = map_.x();
  const std::size_t width = padded(outputs());
  AlignedVector<double> rows(x.positions() * width, 0.0);
  const Grid grid(map_.square_bound());
  const Chunks positions{x.positions(), kDiagonalPositions};
  parallel().for_each(positions.count(), [&](std::size_t chunk) {
    const std::size_t first = positions.begin(chunk), end = positions.end(chunk);
    for (Index k = 0; k < outputs(); ++k) {
      const double share = residual.owns(k) ? 1.0 : residual.share[k], *column = residual.find(k);
      for (std::size_t p = first; p < end; ++p) rows[p * width + k] = share * column[p];
    }
    for (std::size_t p = first; p < end; ++p) {
      for (const Index k : oracle_.gold_outputs(static_cast<Index>(p)))
        if (residual.owns(k)) rows[p * width + k] += 1.0;
      for (Index k = 0; k < outputs(); ++k) {
        double& m = rows[p * width + k];
        m = std::max(m * (1.0 - m), 0.0);
      }
    }
    if (x.binary()) kernels.round(rows.data() + first * width, grid.shift(), (end - first) * width);
  });
  const Chunks features{x.features(), kDiagonalFeatures};
  std::fill(out.begin(), out.end(), 0.0);
  parallel().for_each(features.count(), [&](std::size_t chunk) {
    AlignedVector<double> sum(width);
    std::vector<double> squares;
    for (std::size_t j = features.begin(chunk); j < features.end(chunk); ++j) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t b = 0; b < x.blocks(); ++b) {
        ColumnBlock block = x.column_block(static_cast<Index>(j), b);
        if (block.value != nullptr) {
          squares.resize(block.size);
          for (std::size_t i = 0; i < block.size; ++i) squares[i] = block.value[i] * block.value[i];
          block.value = squares.data();
        }
        kernels.add_block_rows(rows.data() + b * x.block_positions() * width, block, grid.shift(), sum.data(),
                               width);
      }
      std::copy_n(sum.begin(), outputs(), out.begin() + static_cast<std::ptrdiff_t>(j * outputs()));
    }
  });
  add_exact(parallel(), out);
  for (double& h : out) h += mu();
  const std::vector<double> gold = oracle_.gold_extra(parallel());
  for (std::size_t e = 0; e < gold.size(); ++e)
    out[unary_weights() + e] = std::max(residual.extra[e] + gold[e], 0.0) + mu();
}

}  // namespace proxbench
