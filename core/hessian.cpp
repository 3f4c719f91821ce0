#include "core/hessian.h"

#include <algorithm>
#include <numeric>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

namespace {

/// kCovariancesAtOnce: numbers in the covariance matrices of one batch of instances. They stay in the cache
/// until they are added. kHessianRows: rows of the Hessian to which one task adds them.
constexpr std::size_t kCovariancesAtOnce = std::size_t{1} << 21, kHessianRows = 32;
/// The numbers of independent positions whose active coordinates are listed in one batch, and by one task.
constexpr std::size_t kPositionsAtOnce = 4096, kPositionsPerTask = 64;

/// The coordinates of a set that are active in one instance: the local features, and for each slot the index
/// of its coordinate in the set.
struct LocalCoordinates {
  LocalFeatures features;
  std::vector<std::uint32_t> of_slot;
  std::vector<std::uint32_t> ascending;  ///< the slots in ascending order of their coordinates
  HalfMatrix covariances;
};

/// A coordinate that is active at a position: its row in the Hessian, and its feature's value times p and
/// times 1 - p, where p is the probability of its output.
struct ActiveCoordinate {
  std::uint32_t row;
  Index output;
  double mean, rest;
};

/// Adds what this process's positions contribute to a matrix M. The Hessian is M + M^T. Positions must be
/// independent: Cov(a, b) = x_a x_b p (1 - p) if a and b have the same output, else -x_a p_a x_b p_b. In
/// `set`, the coordinates of feature j stand at [of_feature[j], of_feature[j + 1]).
void add_positions(const Objective& objective, const Residual& residual, std::span<const Coord> set,
                   std::span<const std::uint32_t> of_feature, double* matrix, std::size_t stride,
                   const StopToken& stop) {
  const LinearMap& map = objective.map();
  const auto activate = [&](Index p, std::vector<ActiveCoordinate>& on) {
    on.clear();
    const Index gold = objective.oracle().gold_outputs(p)[0];
    map.x().for_each_entry(p, [&](Index j, double value) {
      for (std::uint32_t i = of_feature[j]; i < of_feature[j + std::size_t{1}]; ++i) {
        const auto output = map.output_of(set[i]);
        const double r = residual.column(output)[p];  // p, or p - 1 for the gold output
        const double mean = output == gold ? 1.0 + r : r, rest = output == gold ? -r : 1.0 - r;
        on.push_back({i, output, value * mean, value * rest});
      }
    });
  };
  const Chunks rows{set.size(), kHessianRows};
  const std::size_t end = map.x().positions();
  std::vector<std::vector<ActiveCoordinate>> active(std::min(kPositionsAtOnce, end));
  for (std::size_t first = 0; first < end && !stop.requested(); first += kPositionsAtOnce) {
    const std::size_t count = std::min(kPositionsAtOnce, end - first);
    const Chunks positions{count, kPositionsPerTask};
    objective.parallel().for_each(positions.count(), [&](std::size_t task) {
      for (std::size_t p = positions.begin(task); p < positions.end(task); ++p)
        activate(static_cast<Index>(first + p), active[p]);
    });
    objective.parallel().for_each(rows.count(), [&](std::size_t task) {
      for (const std::vector<ActiveCoordinate>& on : std::span(active).first(count)) {
        auto a = std::ranges::lower_bound(on, rows.begin(task), {}, &ActiveCoordinate::row);
        for (; a != on.end() && a->row < rows.end(task); ++a) {
          double* const to = matrix + a->row * stride;
          for (auto b = on.begin(); b != a; ++b)
            to[b->row] += a->mean * (b->output == a->output ? b->rest : -b->mean);
          to[a->row] += 0.5 * a->mean * a->rest;
        }
      }
    });
  }
}

}  // namespace

bool side_by_side(const Objective& objective) {
  const Oracle& oracle = objective.oracle();
  return oracle.sum() != nullptr && oracle.collapsed() == nullptr && oracle.extra_weights() == 0 &&
         oracle.positions() == oracle.instances();
}

bool has_hessian(const Objective& objective) {
  return side_by_side(objective) || objective.oracle().covariance() != nullptr;
}

bool hessian(const Objective& objective, const Scores& scores, std::span<const Coord> set, double* out,
             std::size_t stride, const StopToken& stop) {
  const LinearMap& map = objective.map();
  const Oracle& oracle = objective.oracle();
  const Parallel& parallel = objective.parallel();
  const CovarianceOracle* const covariance = oracle.covariance();
  constexpr auto kNoSlot = static_cast<std::uint32_t>(-1);
  const std::size_t n = set.size();
  const auto unary = static_cast<std::uint32_t>(map.count_unary(set));
  // The coordinates of the set that belong to feature j are [of_feature[j], of_feature[j+1]).
  std::vector<std::uint32_t> of_feature(map.x().features() + std::size_t{1}, 0);
  for (std::uint32_t i = 0; i < unary; ++i) ++of_feature[set[i] / objective.outputs() + 1];
  for (Index j = 0; j < map.x().features(); ++j) of_feature[j + std::size_t{1}] += of_feature[j];
  const Chunks rows{n, kHessianRows};
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
      local.features.extra.push_back(set[i] - objective.unary_weights());
    }
    local.features.begin.assign(1, 0);
    for (Index p = oracle.begin()[instance]; p < oracle.begin()[instance + 1]; ++p) {
      map.x().for_each_entry(p, [&](Index j, double value) {
        for (std::uint32_t i = of_feature[j]; i < of_feature[j + std::size_t{1}]; ++i)
          local.features.entry.push_back({slot(i), map.output_of(set[i]), value});
      });
      local.features.begin.push_back(local.features.entry.size());
    }
    local.features.slots = local.of_slot.size();
    for (const std::uint32_t i : local.of_slot) slot_of[i] = kNoSlot;
  };

  std::vector<LocalCoordinates> batch;
  // Adds the covariances of this process's instances.
  const auto add_instances = [&] {
    const std::size_t end = oracle.instances();
    for (std::size_t instance = 0; instance < end && !stop.requested();) {
      const std::size_t first = instance;
      std::size_t numbers = 0, taken = 0;
      for (; instance < end && numbers < kCovariancesAtOnce; ++instance, ++taken) {
        if (taken == batch.size()) batch.emplace_back();
        take(instance, batch[taken]);
        numbers += batch[taken].features.slots * padded(batch[taken].features.slots);
      }
      parallel.for_each(taken, [&](std::size_t b) {
        if (stop.requested()) return;
        LocalCoordinates& local = batch[b];
        covariance->covariances(scores, first + b, local.features, local.covariances);
        local.ascending.resize(local.of_slot.size());
        std::iota(local.ascending.begin(), local.ascending.end(), 0u);
        std::ranges::sort(local.ascending, [&](std::uint32_t a, std::uint32_t c) {
          return local.of_slot[a] < local.of_slot[c];
        });
      });
      if (stop.requested()) return;  // some instances may be missing
      parallel.for_each(rows.count(), [&](std::size_t from_last) {
        const std::size_t task =
            rows.count() - 1 - from_last;  // extra weights take longest: they are active in every instance
        for (const LocalCoordinates& local : std::span(batch).first(taken)) {
          auto at = std::ranges::lower_bound(
              local.ascending, rows.begin(task),
              [&](std::uint32_t slot, std::size_t row) { return local.of_slot[slot] < row; });
          for (; at != local.ascending.end() && local.of_slot[*at] < rows.end(task); ++at) {
            const double* from = local.covariances.value.data() + *at * local.covariances.stride;
            const std::size_t extent = std::min(local.covariances.extent[*at], local.of_slot.size());
            double* to = out + local.of_slot[*at] * stride;
            const std::size_t extras = std::min(extent, n - unary);  // adjacent in both matrices
            kernels_in_use().add_scaled(to + unary, 1.0, from, extras);
            for (std::size_t j = extras; j < extent; ++j) to[local.of_slot[j]] += from[j];
          }
        }
      });
    }
  };
  parallel.count_sum(n * n);
  for (std::size_t i = 0; i < n; ++i) std::fill_n(out + i * stride, n, 0.0);
  if (side_by_side(objective)) {
    Residual residual = objective.make_residual();
    oracle.sum()->infer({scores}, &residual, parallel);
    add_positions(objective, residual, set, of_feature, out, stride, stop);
  } else {
    add_instances();
  }
  if (n > 0) add_processes(parallel, {out, (n - 1) * stride + n});
  if (stop.requested()) return false;
  // H = M + M^T. Reads a square block and its mirror image at a time.
  parallel.for_each(rows.count(), [&](std::size_t task) {
    if (stop.requested()) return;
    for (std::size_t before = 0; before <= task; ++before)
      for (std::size_t i = rows.begin(task); i < rows.end(task); ++i)
        for (std::size_t j = rows.begin(before); j < std::min(rows.end(before), i + 1); ++j)
          out[i * stride + j] = out[j * stride + i] = out[i * stride + j] + out[j * stride + i];
  });
  for (std::size_t i = 0; i < n; ++i) out[i * stride + i] += objective.mu();
  return !stop.requested();
}

}  // namespace proxbench
