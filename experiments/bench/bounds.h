#pragma once
/// What bounds kernels, compiled once for each instruction set.

#include <cstddef>

namespace proxbench {

struct Bounds {
  /// `steps` rounds of independent multiply-adds on registers; sets `flops`. The result only keeps them from
  /// being left out.
  double (*multiply_adds)(std::size_t steps, double start, double* flops);
  /// Sum of n numbers, n a multiple of 64: as fast as memory or a cache gives them.
  double (*read)(const double* x, std::size_t n);
};

/// For the instruction set in use; see core/kernels/instruction_set.h.
const Bounds& bounds();

}  // namespace proxbench
