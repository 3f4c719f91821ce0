#pragma once
/// The loops of stochastic gradient descent over a row of weights. They are compiled once for each
/// instruction set.

#include <cstddef>

namespace proxbench {

struct SgdKernels {
  /// Cumulative penalty (Tsuruoka et al. 2009, figure 2): moves each of `width` weights towards 0 by the
  /// difference between the total penalty u and the penalty that the weight has `received`.
  void (*charge)(double u, double* weight, double* received, std::size_t width);
  /// weight -= eta * (gradient + l2 * weight), then charges the penalty. Returns false if all weights are 0
  /// afterwards.
  bool (*step_and_charge)(double eta, double l2, double u, const double* gradient, double* weight,
                          double* received, std::size_t width);
};

/// The kernels of the instruction set in use.
const SgdKernels& sgd_kernels();

}  // namespace proxbench
