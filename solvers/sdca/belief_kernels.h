#pragma once
/// The loops over cliques of SDCA's line search, compiled once for each instruction set. Arrays have a
/// multiple of kPad numbers.

#include <cstddef>

#include "core/kernels/instruction_set.h"

namespace proxbench {

struct BeliefKernels {
  /// Of p = exp(log_p) and q = exp(log_q): writes p and q - p; sums p*(log_p - log_q), which is KL(p||q), and
  /// q*(log_q - log_p).
  struct Divergences {
    double forward, backward;
  };
  Divergences (*compare)(const double* log_p, const double* log_q, std::size_t n, double* p,
                         double* difference);
  /// Of m = p + gamma*difference: writes log m; sums m*(log m - log_q), which is KL(m||q), difference*(log m
  /// - log_q) and difference^2/m.
  struct Derivatives {
    double divergence, first, second;
  };
  Derivatives (*mix)(const double* p, const double* difference, const double* log_q, double gamma,
                     std::size_t n, double* log_m);
};

/// For the instruction set in use; see core/kernels/instruction_set.h.
const BeliefKernels& belief_kernels();

}  // namespace proxbench
