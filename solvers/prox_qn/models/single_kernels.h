#pragma once
/// Products of matrices in single precision, for models that are exact in none of their digits anyway.
/// Compiled once for each instruction set.

#include <cstddef>

#include "core/kernels/instruction_set.h"
#include "core/base/parallel.h"
#include "core/base/types.h"

namespace proxbench {

/// Rows of `width` floats, a multiple of kSinglePad, aligned as AlignedVector is.
struct SingleKernels {
  /// out[r] = rows[r] . x, r < count.
  void (*rows_times)(const float* rows, std::size_t width, std::size_t count, const float* x, float* out);
  /// sum[0..width) += sum_r x_r * rows[r][0..width), r < count.
  void (*combine_rows)(const float* rows, std::size_t width, std::size_t count, const float* x, float* sum);
};

/// For the instruction set in use; see core/kernels/instruction_set.h.
const SingleKernels& single_kernels();
/// For one that is supported.
const SingleKernels& single_kernels_for(InstructionSet set);

/// Calls body(chunk) once for each chunk: on all threads where as many `numbers` are worked on as waking them
/// pays for.
template <class Body>
void for_each_of(const Parallel& parallel, double numbers, std::size_t chunks, const Body& body) {
  constexpr double kWorthThreads = 8e4;
  if (numbers >= kWorthThreads)
    parallel.for_each(chunks, body);
  else
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) body(chunk);
}

}  // namespace proxbench
