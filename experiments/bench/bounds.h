#pragma once
/// Measures the hardware limits of kernels, compiled once for each instruction set.

#include <cstddef>

namespace proxbench {

struct Bounds {
  /// Does `steps` rounds of independent multiply-adds on registers and sets `flops`. The result only prevents
  /// the compiler from removing them.
  double (*multiply_adds)(std::size_t steps, double start, double* flops);
  /// Sums n numbers, n a multiple of 64, as fast as memory or a cache delivers them.
  double (*read)(const double* x, std::size_t n);
};

/// Returns the functions for the instruction set in use; see core/kernels/instruction_set.h.
const Bounds& bounds();

}  // namespace proxbench
