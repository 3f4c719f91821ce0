/// The dense Hessian of an objective's smooth part on a set of coordinates.
#include <algorithm>
#include <numeric>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "core/objective.h"

namespace proxbench {

namespace {

/// kCovariancesAtOnce: numbers in the covariance matrices of one batch of instances. They stay in the cache
/// until they are added. kHessianRows: rows of the Hessian to which one task adds them.
constexpr std::size_t kCovariancesAtOnce = std::size_t{1} << 21, kHessianRows = 32;
/// Independent positions whose active coordinates are listed in one batch, and those listed by one task.
constexpr std::size_t kPositionsAtOnce = 4096, kPositionsPerTask = 64;
/// The leaves of the summation tree form this many parts. A Hessian is summed in the order of instances
/// within a part, and then over the parts. The number is small, because a process that shares the instances
/// stores one matrix for each of its parts.
constexpr std::uint32_t kHessianParts = 4;
/// Numbers of each matrix that the processes exchange at once.
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 20;

/// The instances of this process that belong to one part of the sum.
struct HessianPart {
  std::size_t first, end;  ///< instances
  /// Whether other processes have instances of this part before these (goes_on) or after these (hands_on).
  bool goes_on = false, hands_on = false;
};

std::vector<HessianPart> hessian_parts(const Objective& objective) {
  const SumLeaves& leaves = objective.x().leaves();
  const auto begin = objective.structure().begin();
  const auto part_of = [](std::uint32_t number) {
    return number / static_cast<std::uint32_t>(kSumLeaves / kHessianParts);
  };
  std::vector<HessianPart> out;
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    const auto end =
        static_cast<std::size_t>(std::ranges::lower_bound(begin, leaves.begin[l + 1]) - begin.begin());
    if (l == 0 || part_of(leaves.number[l]) != part_of(leaves.number[l - 1]))
      out.push_back({out.empty() ? 0 : out.back().end, end});
    out.back().end = end;
  }
  const Processes* const processes = objective.parallel().processes();
  if (processes == nullptr) return out;
  const std::vector<double> first = processes->gather(part_of(leaves.number.front())),
                            last = processes->gather(part_of(leaves.number.back()));
  const auto rank = static_cast<std::size_t>(processes->rank());
  out.front().goes_on = rank > 0 && last[rank - 1] == first[rank];
  out.back().hands_on = rank + 1 < first.size() && first[rank + 1] == last[rank];
  return out;
}

}  // namespace

/// The coordinates of a set that are active in one instance: the local features, and for each slot the index
/// of its coordinate in the set.
struct Objective::LocalCoordinates {
  LocalFeatures features;
  std::vector<std::uint32_t> of_slot;
  std::vector<std::uint32_t> ascending;  ///< the slots in ascending order of their coordinates
  HalfMatrix covariances;
};

/// A coordinate that is active at a position: its row in the Hessian, and its feature's value times p and
/// times 1 - p, where p is the probability of its output.
struct Objective::ActiveCoordinate {
  std::uint32_t row;
  Index output;
  double mean, rest;
};

/// Sets `out` to the sum of all parts. add(first, end, matrix) adds the instances [first, end) of a part.
template <class Add>
void Objective::sum_parts(std::size_t n, std::size_t stride, double* out, const StopToken& stop,
                          const Add& add) const {
  const std::size_t size = n == 0 ? 0 : (n - 1) * stride + n;
  const std::vector<HessianPart> parts = hessian_parts(*this);
  const Processes* const processes = parallel().processes();
  for (std::size_t i = 0; i < n; ++i) std::fill_n(out + i * stride, n, 0.0);
  if (processes == nullptr) {
    std::vector<double> matrix;
    for (std::size_t i = 0; i < parts.size() && !stop.requested(); ++i) {
      if (i == 0) {
        add(parts[i].first, parts[i].end, out);
        continue;
      }
      matrix.assign(size, 0.0);
      add(parts[i].first, parts[i].end, matrix.data());
      const Chunks rows{n, kHessianRows};
      parallel().for_each(rows.count(), [&](std::size_t task) {
        for (std::size_t r = rows.begin(task); r < rows.end(task); ++r)
          kernels_in_use().add_scaled(out + r * stride, 1.0, matrix.data() + r * stride, n);
      });
    }
    return;
  }
  // The part that the next process waits for comes first. The part for which this process waits comes last.
  std::vector<std::vector<double>> matrices(parts.size());
  const auto make = [&](std::size_t i) {
    matrices[i].assign(size, 0.0);
    const std::span<double> matrix(matrices[i]);
    if (parts[i].goes_on) processes->receive(processes->rank() - 1, std::as_writable_bytes(matrix));
    add(parts[i].first, parts[i].end, matrix.data());
    if (!parts[i].hands_on) return;
    processes->send(processes->rank() + 1, std::as_bytes(matrix));
    matrices[i].clear();
  };
  for (std::size_t i = parts.size(); i-- > 0;) make(i);
  std::erase_if(matrices, [](const std::vector<double>& matrix) { return matrix.empty(); });

  const std::vector<double> kept = processes->gather(static_cast<double>(matrices.size()));
  const auto all = static_cast<std::size_t>(std::accumulate(kept.begin(), kept.end(), 0.0));
  const Chunks pieces{size, kNumbersAtOnce};
  for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
    const std::size_t first = pieces.begin(piece), numbers = pieces.end(piece) - first;
    std::vector<double> own, values(all * numbers);
    for (const std::vector<double>& matrix : matrices)
      own.insert(own.end(), matrix.begin() + static_cast<std::ptrdiff_t>(first),
                 matrix.begin() + static_cast<std::ptrdiff_t>(first + numbers));
    std::vector<std::size_t> sizes;
    for (const double count : kept) sizes.push_back(static_cast<std::size_t>(count) * numbers);
    processes->gather(own, sizes, values);
    for (std::size_t i = 0; i < all; ++i)
      kernels_in_use().add_scaled(out + first, 1.0, values.data() + i * numbers, numbers);
  }
}

/// Adds what the positions [begin, end) contribute to a matrix M. The Hessian is M + M^T. Positions must be
/// independent: Cov(a, b) = x_a x_b p (1 - p) if a and b have the same output, else -x_a p_a x_b p_b. In
/// `set`, the coordinates of feature j stand at [of_feature[j], of_feature[j + 1]).
void Objective::add_positions(const Residual& residual, std::span<const Coord> set,
                              std::span<const std::uint32_t> of_feature, std::size_t begin, std::size_t end,
                              double* matrix, std::size_t stride, const StopToken& stop) const {
  const auto activate = [&](Index p, std::vector<ActiveCoordinate>& on) {
    on.clear();
    const Index gold = oracle_.gold_outputs(p)[0];
    map_.x().for_each_entry(p, [&](Index j, double value) {
      for (std::uint32_t i = of_feature[j]; i < of_feature[j + std::size_t{1}]; ++i) {
        const auto output = map_.output_of(set[i]);
        const double r = residual.column(output)[p];  // p, or p - 1 for the gold output
        const double mean = output == gold ? 1.0 + r : r, rest = output == gold ? -r : 1.0 - r;
        on.push_back({i, output, value * mean, value * rest});
      }
    });
  };
  const Chunks rows{set.size(), kHessianRows};
  std::vector<std::vector<ActiveCoordinate>> active(std::min(kPositionsAtOnce, end - begin));
  for (std::size_t first = begin; first < end && !stop.requested(); first += kPositionsAtOnce) {
    const std::size_t count = std::min(kPositionsAtOnce, end - first);
    const Chunks positions{count, kPositionsPerTask};
    parallel().for_each(positions.count(), [&](std::size_t task) {
      for (std::size_t p = positions.begin(task); p < positions.end(task); ++p)
        activate(static_cast<Index>(first + p), active[p]);
    });
    parallel().for_each(rows.count(), [&](std::size_t task) {
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

bool Objective::hessian(const Scores& scores, std::span<const Coord> set, double* out, std::size_t stride,
                        const StopToken& stop) const {
  const CovarianceOracle* const covariance = oracle_.covariance();
  constexpr auto kNoSlot = static_cast<std::uint32_t>(-1);
  const std::size_t n = set.size();
  const auto unary = static_cast<std::uint32_t>(map_.count_unary(set));
  // The coordinates of the set that belong to feature j are [of_feature[j], of_feature[j+1]).
  std::vector<std::uint32_t> of_feature(map_.x().features() + std::size_t{1}, 0);
  for (std::uint32_t i = 0; i < unary; ++i) ++of_feature[set[i] / outputs() + 1];
  for (Index j = 0; j < map_.x().features(); ++j) of_feature[j + std::size_t{1}] += of_feature[j];
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
      local.features.extra.push_back(set[i] - unary_weights());
    }
    local.features.begin.assign(1, 0);
    for (Index p = oracle_.begin()[instance]; p < oracle_.begin()[instance + 1]; ++p) {
      map_.x().for_each_entry(p, [&](Index j, double value) {
        for (std::uint32_t i = of_feature[j]; i < of_feature[j + std::size_t{1}]; ++i)
          local.features.entry.push_back({slot(i), map_.output_of(set[i]), value});
      });
      local.features.begin.push_back(local.features.entry.size());
    }
    local.features.slots = local.of_slot.size();
    for (const std::uint32_t i : local.of_slot) slot_of[i] = kNoSlot;
  };

  std::vector<LocalCoordinates> batch;
  // Adds the covariances of the instances [first, end) to a matrix.
  const auto add_instances = [&](std::size_t first_instance, std::size_t end, double* matrix) {
    for (std::size_t instance = first_instance; instance < end && !stop.requested();) {
      const std::size_t first = instance;
      std::size_t numbers = 0, taken = 0;
      for (; instance < end && numbers < kCovariancesAtOnce; ++instance, ++taken) {
        if (taken == batch.size()) batch.emplace_back();
        take(instance, batch[taken]);
        numbers += batch[taken].features.slots * padded(batch[taken].features.slots);
      }
      parallel().for_each(taken, [&](std::size_t b) {
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
      parallel().for_each(rows.count(), [&](std::size_t from_last) {
        const std::size_t task =
            rows.count() - 1 - from_last;  // extra weights take longest: they are active in every instance
        for (const LocalCoordinates& local : std::span(batch).first(taken)) {
          auto at = std::ranges::lower_bound(
              local.ascending, rows.begin(task),
              [&](std::uint32_t slot, std::size_t row) { return local.of_slot[slot] < row; });
          for (; at != local.ascending.end() && local.of_slot[*at] < rows.end(task); ++at) {
            const double* from = local.covariances.value.data() + *at * local.covariances.stride;
            const std::size_t extent = std::min(local.covariances.extent[*at], local.of_slot.size());
            double* to = matrix + local.of_slot[*at] * stride;
            const std::size_t extras = std::min(extent, n - unary);  // adjacent in both matrices
            kernels_in_use().add_scaled(to + unary, 1.0, from, extras);
            for (std::size_t j = extras; j < extent; ++j) to[local.of_slot[j]] += from[j];
          }
        }
      });
    }
  };
  parallel().count_sum(n * n);
  if (covariance != nullptr) {
    sum_parts(n, stride, out, stop, add_instances);
  } else {
    Residual residual = make_residual();
    oracle_.sum()->infer({scores}, &residual, parallel());
    sum_parts(n, stride, out, stop, [&](std::size_t begin, std::size_t end, double* matrix) {
      add_positions(residual, set, of_feature, begin, end, matrix, stride, stop);
    });
  }
  if (stop.requested()) return false;
  // H = M + M^T. Reads a square block and its mirror image at a time.
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

}  // namespace proxbench
