#include "core/base/sum.h"

#include <algorithm>

#include "core/base/types.h"

namespace proxbench {

namespace {

/// Numbers of each part that a task adds up: all parts of them fit into a first-level cache.
constexpr std::size_t kNumbersPerTask = 64;

}  // namespace

void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add) {
  if (chunks == 0) {
    std::fill_n(out, width, 0.0);
    return;
  }
  // Pages that stay this thread's for the next call; moved out, because a part may be a sum itself.
  static thread_local AlignedVector<double> pages;
  AlignedVector<double> parts = std::move(pages);
  const std::size_t stride = padded(width);
  parts.resize(chunks * stride);
  double* const all = parts.data();
  parallel.for_each(chunks, [&](std::size_t chunk) {
    std::fill_n(all + chunk * stride, width, 0.0);
    add(chunk, all + chunk * stride);
  });
  // Part 0 takes part 1, part 2 takes part 3, ...; then part 0 takes part 2, part 4 takes part 6, ...
  const Chunks numbers{width, kNumbersPerTask};
  parallel.for_each(numbers.count(), [&](std::size_t task) {
    const std::size_t first = numbers.begin(task), last = numbers.end(task);
    for (std::size_t apart = 1; apart < chunks; apart *= 2)
      for (std::size_t chunk = 0; chunk + apart < chunks; chunk += 2 * apart) {
        double* const to = all + chunk * stride;
        const double* const from = all + (chunk + apart) * stride;
        for (std::size_t i = first; i < last; ++i) to[i] += from[i];
      }
    std::copy(all + first, all + last, out + first);
  });
  pages = std::move(parts);
}

double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part) {
  double sum = 0.0;
  sum_chunks(parallel, chunks, 1, &sum, [&](std::size_t chunk, double* out) { *out = part(chunk); });
  return sum;
}

}  // namespace proxbench
