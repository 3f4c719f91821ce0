#pragma once
/// Products of a row and a matrix in the (max, +) algebra, which are the steps of Viterbi. They are compiled
/// once for each instruction set.

#include <cstddef>

#include "core/base/types.h"

namespace proxbench {

struct MaxPlusKernels {
  /// out[k] = max over j < n of row[j] + matrix[j*width + k] for k < width. `width` is a multiple of kPad; n
  /// >= 1.
  void (*row_times_matrix)(const double* row, std::size_t n, const double* matrix, std::size_t width,
                           double* out);
};

/// The kernels of the instruction set in use.
const MaxPlusKernels& max_plus_kernels();

}  // namespace proxbench
