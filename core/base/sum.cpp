#include "core/base/sum.h"

#include <algorithm>
#include <numeric>

#include "core/base/stop_token.h"

namespace proxbench {

namespace {

/// Numbers of each part that one task adds up. This many numbers of all parts fit into a first-level cache.
constexpr std::size_t kNumbersPerTask = 64;

}  // namespace

std::vector<Index> instance_chunks(std::span<const Index> begin) {
  return cut_evenly(begin.size() - 1, kChunkPositions,
                    [&](std::size_t i) { return begin[i + 1] - begin[i]; });
}

void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add) {
  parallel.count_sum(width);
  // Each thread keeps this memory for its next call. It is moved out of `pages`, because add() may itself
  // call sum_chunks().
  static thread_local AlignedVector<double> pages;
  AlignedVector<double> parts = std::move(pages);
  const std::size_t stride = padded(width);
  parts.resize(chunks * stride);
  double* const all = parts.data();
  parallel.for_each(chunks, [&](std::size_t chunk) {
    std::fill_n(all + chunk * stride, width, 0.0);
    add(chunk, all + chunk * stride);
  });
  const Chunks numbers{width, kNumbersPerTask};
  parallel.for_each(numbers.count(), [&](std::size_t task) {
    CompensatedSum sums[kNumbersPerTask];
    const std::size_t first = numbers.begin(task), count = numbers.end(task) - first;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      for (std::size_t i = 0; i < count; ++i) sums[i].add(all[chunk * stride + first + i]);
    for (std::size_t i = 0; i < count; ++i) out[first + i] = sums[i].value();
  });
  pages = std::move(parts);
  add_processes(parallel, {out, width});
}

double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part) {
  double sum = 0.0;
  sum_chunks(parallel, chunks, 1, &sum, [&](std::size_t chunk, double* out) { *out = part(chunk); });
  return sum;
}

void add_processes(const Parallel& parallel, std::span<double> numbers) {
  const Processes* const processes = parallel.processes();
  if (processes == nullptr) return;
  const StopScope* const scope = StopScope::current();
  if (agree(processes, processes->first() && scope != nullptr && scope->requested())) {
    if (scope == nullptr) throw Stopped("interrupted");
    scope->stop();
  }
  processes->add(numbers);
}

double add_processes(const Parallel& parallel, double own) {
  add_processes(parallel, std::span(&own, 1));
  return own;
}

double whole_max(const Parallel& parallel, double own) {
  double largest = own;
  for (const double theirs : whole_list(parallel, {own}))
    if (!(theirs <= largest) && !std::isnan(largest)) largest = theirs;
  return largest;
}

std::size_t whole_count(const Parallel& parallel, std::size_t own) {
  return static_cast<std::size_t>(add_processes(parallel, static_cast<double>(own)));
}

std::size_t count_before(const Parallel& parallel, std::size_t own) {
  if (parallel.processes() == nullptr) return 0;
  const std::vector<double> counts = whole_list(parallel, {static_cast<double>(own)});
  return static_cast<std::size_t>(
      std::accumulate(counts.begin(), counts.begin() + parallel.processes()->rank(), 0.0));
}

std::vector<double> whole_list(const Parallel& parallel, std::vector<double> own) {
  return parallel.processes() == nullptr ? own : parallel.processes()->gather_all(own);
}

}  // namespace proxbench
