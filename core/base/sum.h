#pragma once
/// The one way in which sums over positions or instances are made: by chunks that do not depend on the number of
/// threads, added up over a fixed binary tree. So any number of threads gives the same bits, and whoever shares
/// chunks out among processes has this one place to know.

#include <cstddef>
#include <functional>

#include "core/base/parallel.h"

namespace proxbench {

/// out[i] = sum over chunks of part[i], 0 <= i < width; add(chunk, part) adds to zeros. Takes chunks * width
/// numbers of memory.
void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add);

/// The same for one number: the sum of part(chunk).
double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part);

}  // namespace proxbench
