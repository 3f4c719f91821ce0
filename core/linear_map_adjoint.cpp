/// The adjoint of the linear map: from residuals to full gradients.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "core/linear_map.h"

namespace proxbench {

namespace {

/// If there are few nonzeros, features are cut into about kFeatureChunks chunks of at least
/// kFewestChunkNonzeros each.
constexpr std::uint64_t kFewestChunkNonzeros = 1u << 10, kFeatureChunks = 128;
/// Tasks per thread in the full gradient, each of several chunks of features. With few tasks, all rows of R
/// are read from memory only a few times. With enough tasks, the threads end together. Sums are formed by
/// chunk, so the number of tasks does not change them.
constexpr std::size_t kTasksPerThread = 8;
/// Gradients that a task computes at once: their number of doubles, and the fewest features.
constexpr std::size_t kGradientsAtOnce = 1u << 15, kFewestFeaturesAtOnce = 128;
/// The rows of R in a window, which should fit into the second-level cache.
constexpr std::size_t kRowsInCache = 2048;
/// A feature with many entries is hardly ever quiet (without_quiet()). It is tested only if its number of
/// entries, times the mean peak, is at most this many times the bound.
constexpr double kWorthTesting = 8.0;
/// More than the relative rounding of a column's sum.
constexpr double kRoundingOfSums = 1e-8;

std::vector<Index> keep_all(std::span<const Index> features) {
  return {features.begin(), features.end()};
}

}  // namespace

void LinearMap::restrict_to(std::vector<Index> features) {
  active_features_ = std::move(features);
  std::uint64_t nonzeros = 0;
  for (const Index j : active_features_) nonzeros += x_.whole_column_size(j);
  const std::uint64_t chunk_nonzeros =
      std::clamp(nonzeros / kFeatureChunks, kFewestChunkNonzeros, kChunkNonzeros);
  feature_chunk_begin_ = cut_evenly(active_features_.size(), chunk_nonzeros, [&](std::size_t f) {
    return x_.whole_column_size(active_features_[f]) + 1;
  });
}

/// Stores R by position: as rows_[p][k], padded to kPad outputs, or as the short rows of the oracle's layout.
void LinearMap::fill_rows(const Residual& residual) const {
  if (!residual.one_each()) return collapsed_->compact_rows(residual, compact_rows_, parallel_);
  const std::size_t width = padded(outputs_);
  rows_.resize(static_cast<std::size_t>(x_.positions()) * width);
  const Chunks chunks{x_.positions(), kRowsPerTask};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    residual.get_rows(chunks.begin(chunk), chunks.end(chunk) - chunks.begin(chunk),
                      rows_.data() + chunks.begin(chunk) * width);
  });
}

/// For j = features[f], adds sum_p x_pj * rows[p * width + k] to out[f * width + k]. If `squares` is true,
/// x_pj^2 replaces x_pj. All features process one window of rows before the next one, so that these rows stay
/// in the cache. A window ends for each feature at the end of a piece, so windows do not change sums.
void LinearMap::add_rows(const double* rows, std::span<const Index> features, std::size_t width, bool squares,
                         double* out) const {
  struct Left {
    std::size_t f;
    ColumnBlock entries;
  };
  const KernelTable& kernels = kernels_in_use();
  std::vector<double> squared;
  std::vector<Left> left;
  for (std::size_t b = 0; b < x_.blocks(); ++b) {
    const double* const first = rows + x_.block_begin(b) * width;
    const auto add = [&](std::size_t f, ColumnBlock entries) {
      if (squares) entries = with_squares(entries, squared);
      kernels.add_block_rows(first, entries, out + f * width, width);
    };
    left.clear();
    for (std::size_t f = 0; f < features.size(); ++f) {
      const ColumnBlock entries = x_.column_block(features[f], b);
      if (entries.size <= kPieceEntries)
        add(f, entries);
      else
        left.push_back({f, entries});
    }
    for (std::size_t end = kRowsInCache; !left.empty(); end += kRowsInCache)
      std::erase_if(left, [&](Left& of) {
        ColumnBlock& all = of.entries;
        std::size_t n = 0;
        while (n < all.size && all.offset[n] < end) n += kPieceEntries;
        n = std::min(n, all.size);
        if (n > 0) add(of.f, {all.offset, all.value, n});
        all = {all.offset + n, all.value == nullptr ? nullptr : all.value + n, all.size - n};
        return all.size == 0;
      });
  }
}

/// Adds up the gradients of at most kPad features from compact_rows_, in the oracle's basis. Once expand()
/// has turned the basis into outputs, out[k * kPad + f] is the gradient of output k of features[f]. `out` has
/// basis() * kPad numbers, which must be zeros.
void LinearMap::add_collapsed_rows(std::span<const Index> features, double* out) const {
  // The sums of a piece, all zero except the listed slots. The sums are kept between calls, so that zeros are
  // made only once. A piece may continue in the next block.
  static thread_local std::vector<double> piece;
  static thread_local std::vector<Index> touched;
  piece.resize(std::max(piece.size(), collapsed_->basis()));
  for (std::size_t f = 0; f < features.size(); ++f) {
    std::size_t seen = 0;
    const auto end_piece = [&] {
      for (const Index slot : touched) out[slot * kPad + f] += std::exchange(piece[slot], 0.0);
      touched.clear();
    };
    x_.for_each_in_column(features[f], [&](std::size_t p, double x) {
      const std::span row(compact_rows_.entry.data() + compact_rows_.begin[p],
                          compact_rows_.entry.data() + compact_rows_.begin[p + 1]);
      if (seen < kPieceEntries) {  // the first piece is added to zeros
        for (const CompactRows::Entry& entry : row) out[entry.slot * kPad + f] += x * entry.value;
      } else {
        for (const CompactRows::Entry& entry : row) {
          if (piece[entry.slot] == 0.0) touched.push_back(entry.slot);
          piece[entry.slot] += x * entry.value;
        }
      }
      if (++seen % kPieceEntries == 0) end_piece();
    });
    end_piece();
  }
}

void LinearMap::sum_rows(const double* rows, std::size_t width, bool squares, const RowSum& visit) const {
  parallel_.count_sum(active_features_.size() * width);
  for_each_feature(
      width, keep_all,
      [&](std::span<const Index> features, double* out) { add_rows(rows, features, width, squares, out); },
      [&](std::size_t, Index j, const double* g) { visit(j, g); });
}

void LinearMap::for_each_gradient(const Residual& residual, double bound, const Wanted& wanted,
                                  const Visit& visit) const {
  const KernelTable& kernels = kernels_in_use();
  if (outputs_ == 1 && residual.one_each()) {
    // With one output, all numbers of a row but one would be padding.
    parallel_.count_sum(active_features_.size());
    for_each_feature(
        1, keep_all,
        [&](std::span<const Index> features, double* out) {
          add_columns(residual.column(0), features, false, out);
        },
        [&](std::size_t chunk, Index j, const double* g) {
          if (wanted(j) || !(std::abs(*g) <= bound)) visit(chunk, j, g, 1);
        });
    return;
  }
  fill_rows(residual);
  parallel_.count_sum(active_features_.size() * outputs_);
  if (!residual.one_each()) return for_each_collapsed_gradient(bound, wanted, visit);
  const std::size_t width = padded(outputs_);
  // Processes would have to add up the sums of peaks, too.
  const bool drops = x_.binary() && bound > 0.0 && parallel_.processes() == nullptr;
  const double mean_peak = drops ? fill_peaks(width) : 0.0;
  for_each_feature(
      width,
      [&](std::span<const Index> features) {
        return drops ? without_quiet(features, mean_peak, bound, wanted) : keep_all(features);
      },
      [&](std::span<const Index> features, double* out) {
        add_rows(rows_.data(), features, width, false, out);
      },
      [&](std::size_t chunk, Index j, const double* g) {
        if (wanted(j) || !kernels.all_within(g, outputs_, bound)) visit(chunk, j, g, 1);
      });
}

/// Stores the largest |entry| of each row of rows_, or NaN if one of them is not finite. Returns their mean.
double LinearMap::fill_peaks(std::size_t width) const {
  peaks_.resize(x_.positions());
  const Chunks chunks{x_.positions(), kRowsPerTask};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p) {
      double peak = 0.0, zero = 0.0;
      for (std::size_t k = 0; k < width; ++k) {
        const double r = rows_[p * width + k];
        peak = std::max(peak, std::abs(r));
        zero += 0.0 * r;
      }
      peaks_[p] = peak + zero;
    }
  });
  double sum = 0.0;
  for (const double peak : peaks_) sum += peak;
  return sum / static_cast<double>(x_.positions());
}

/// Returns the features that are wanted or may have a gradient above `bound`, for a binary X and after
/// fill_peaks(). The others are quiet: |sum_p x_pj r_pk| is at most the sum of peaks over the entries of
/// feature j. Most features are rare, so most are quiet once the model is nearly certain at most positions.
std::vector<Index> LinearMap::without_quiet(std::span<const Index> features, double mean_peak, double bound,
                                            const Wanted& wanted) const {
  std::vector<Index> tested;
  for (const Index j : features)
    if (static_cast<double>(x_.column_size(j)) * mean_peak <= kWorthTesting * bound) tested.push_back(j);
  std::vector<double> most(tested.size(), 0.0);
  add_columns(peaks_.data(), tested, false, most.data());
  std::vector<Index> kept;
  std::size_t t = 0;
  for (const Index j : features) {
    const bool quiet = t < tested.size() && tested[t] == j && most[t++] <= (1.0 - kRoundingOfSums) * bound;
    if (!quiet || wanted(j)) kept.push_back(j);
  }
  return kept;
}

/// Implements for_each_gradient() on compact_rows_.
void LinearMap::for_each_collapsed_gradient(double bound, const Wanted& wanted, const Visit& visit) const {
  const std::size_t width = collapsed_->basis() * kPad;
  const auto groups_of = [&](std::size_t chunk) {
    return Chunks{features_of(chunk, chunk + 1).size(), kPad};
  };
  const auto group = [&](std::size_t chunk, std::size_t g) {
    const Chunks groups = groups_of(chunk);
    return features_of(chunk, chunk + 1).subspan(groups.begin(g), groups.end(g) - groups.begin(g));
  };
  const auto visit_group = [&](std::size_t chunk, std::span<const Index> features, double* gradient) {
    collapsed_->expand(gradient);
    const unsigned outside = kernels_in_use().lanes_outside(gradient, outputs_, bound);
    for (std::size_t f = 0; f < features.size(); ++f)
      if ((outside >> f & 1u) != 0 || wanted(features[f])) visit(chunk, features[f], gradient + f, kPad);
  };
  if (parallel_.processes() != nullptr)
    return for_each_shared_chunk([&](std::size_t chunk) { return groups_of(chunk).count() * width; },
                                 [&](std::size_t chunk, double* out) {
                                   for (std::size_t g = 0; g < groups_of(chunk).count(); ++g)
                                     add_collapsed_rows(group(chunk, g), out + g * width);
                                 },
                                 [&](std::size_t chunk, double* sums) {
                                   for (std::size_t g = 0; g < groups_of(chunk).count(); ++g)
                                     visit_group(chunk, group(chunk, g), sums + g * width);
                                 });
  parallel_.for_each(feature_chunks(), [&](std::size_t chunk) {
    AlignedVector<double> gradient(width);
    for (std::size_t g = 0; g < groups_of(chunk).count(); ++g) {
      std::ranges::fill(gradient, 0.0);
      add_collapsed_rows(group(chunk, g), gradient.data());
      visit_group(chunk, group(chunk, g), gradient.data());
    }
  });
}

/// Calls visit(chunk, sums) for this process's own_chunks(). fill(chunk, zeros) must add size(chunk) numbers.
/// sums[0..size(chunk)) are their sums over all processes. All processes fill all chunks, one piece at a
/// time.
template <class Size, class Fill, class OfChunk>
void LinearMap::for_each_shared_chunk(const Size& size, const Fill& fill, const OfChunk& visit) const {
  struct Task {
    std::size_t chunk, process, offset;  ///< within the numbers of `process`
  };
  const Processes& processes = *parallel_.processes();
  const auto count = static_cast<std::size_t>(processes.count()),
             self = static_cast<std::size_t>(processes.rank());
  std::vector<std::size_t> next, sizes(count), begin(count);
  for (std::size_t r = 0; r < count; ++r) next.push_back(own_chunks(r).first);
  AlignedVector<double> all, own;
  for (;;) {
    std::vector<Task> tasks;
    std::size_t total = 0, own_begin = 0, own_tasks = 0;
    for (std::size_t r = 0; r < count; ++r) {
      sizes[r] = 0;
      begin[r] = total;
      if (r == self) own_begin = tasks.size();
      for (; next[r] < own_chunks(r).second; ++next[r]) {
        const std::size_t more = size(next[r]);
        if (sizes[r] > 0 && sizes[r] + more > kGradientsInPiece / count) break;
        tasks.push_back({next[r], r, sizes[r]});
        sizes[r] += more;
      }
      total += sizes[r];
      if (r == self) own_tasks = tasks.size() - own_begin;
    }
    if (tasks.empty()) return;
    all.assign(total, 0.0);
    parallel_.for_each(tasks.size(), [&](std::size_t t) {
      fill(tasks[t].chunk, all.data() + begin[tasks[t].process] + tasks[t].offset);
    });
    own.resize(sizes[self]);
    processes.add_to_owners(all, sizes, own);
    parallel_.for_each(own_tasks, [&](std::size_t t) {
      const Task& task = tasks[own_begin + t];
      visit(task.chunk, own.data() + task.offset);
    });
  }
}

std::pair<std::size_t, std::size_t> LinearMap::own_chunks() const {
  return own_chunks(
      parallel_.processes() == nullptr ? 0 : static_cast<std::size_t>(parallel_.processes()->rank()));
}
std::pair<std::size_t, std::size_t> LinearMap::own_chunks(std::size_t process) const {
  const Processes* const processes = parallel_.processes();
  if (processes == nullptr) return {0, feature_chunks()};
  const auto count = static_cast<std::size_t>(processes->count());
  return {feature_chunks() * process / count, feature_chunks() * (process + 1) / count};
}

void LinearMap::share(std::span<double> out, std::size_t numbers) const {
  const Processes* const processes = parallel_.processes();
  if (processes == nullptr) return;
  const auto visited = [&](std::size_t process) {
    const auto [begin, end] = own_chunks(process);
    return features_of(begin, end);
  };
  std::vector<std::size_t> sizes;
  for (std::size_t r = 0; r < static_cast<std::size_t>(processes->count()); ++r)
    sizes.push_back(visited(r).size() * numbers);
  std::vector<double> own, all(active_features_.size() * numbers);
  for (const Index j : visited(static_cast<std::size_t>(processes->rank())))
    own.insert(own.end(), &out[j * numbers], &out[j * numbers] + numbers);
  processes->gather(own, sizes, all);
  for (std::size_t f = 0; f < active_features_.size(); ++f)
    std::copy_n(&all[f * numbers], numbers, &out[active_features_[f] * numbers]);
}

std::size_t LinearMap::chunk_of(Index feature) const {
  const auto place = std::ranges::lower_bound(active_features_, feature) - active_features_.begin();
  return static_cast<std::size_t>(std::ranges::upper_bound(feature_chunk_begin_, static_cast<Index>(place)) -
                                  feature_chunk_begin_.begin()) -
         1;
}

std::span<const Index> LinearMap::features_of(std::size_t begin, std::size_t end) const {
  return std::span(active_features_)
      .subspan(feature_chunk_begin_[begin], feature_chunk_begin_[end] - feature_chunk_begin_[begin]);
}

template <class Keep, class Gradients, class OfFeature>
void LinearMap::for_each_feature(std::size_t width, const Keep& keep, const Gradients& gradients,
                                 const OfFeature& visit) const {
  if (parallel_.processes() != nullptr)
    return for_each_shared_chunk(
        [&](std::size_t chunk) { return features_of(chunk, chunk + 1).size() * width; },
        [&](std::size_t chunk, double* out) { gradients(features_of(chunk, chunk + 1), out); },
        [&](std::size_t chunk, const double* g) {
          for (const Index j : features_of(chunk, chunk + 1)) {
            visit(chunk, j, g);
            g += width;
          }
        });
  // Computes the gradients of few features at a time. So memory depends on the number of outputs, but not on
  // the number of features.
  const std::size_t at_once = std::max(kFewestFeaturesAtOnce, kGradientsAtOnce / width);
  const std::size_t tasks = kTasksPerThread * static_cast<std::size_t>(parallel_.threads());
  const Chunks chunks{feature_chunks(), std::max<std::size_t>(feature_chunks() / tasks, 1)};
  parallel_.for_each(chunks.count(), [&](std::size_t task) {
    std::size_t chunk = chunks.begin(task);
    const std::vector<Index> kept = keep(features_of(chunk, chunks.end(task)));
    AlignedVector<double> gradient;
    for (std::size_t first = 0; first < kept.size(); first += at_once) {
      const auto features = std::span(kept).subspan(first, std::min(at_once, kept.size() - first));
      gradient.assign(features.size() * width, 0.0);
      gradients(features, gradient.data());
      for (std::size_t f = 0; f < features.size(); ++f) {
        while (features[f] > active_features_[feature_chunk_begin_[chunk + 1] - 1]) ++chunk;
        visit(chunk, features[f], gradient.data() + f * width);
      }
    }
  });
}

}  // namespace proxbench
