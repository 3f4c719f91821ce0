#pragma once
/// The loops over cliques in SDCA's line search. They are compiled once for each instruction set. The length
/// of an array is a multiple of kPad.

#include <cstddef>

#include "core/kernels/instruction_set.h"

namespace proxbench {

struct BeliefKernels {
  /// Let p = exp(log_p) and q = exp(log_q). Writes p and q - p. Sums p*(log_p - log_q), which is KL(p||q),
  /// and q*(log_q - log_p).
  struct Divergences {
    double forward, backward;
  };
  Divergences (*compare)(const double* log_p, const double* log_q, std::size_t n, double* p,
                         double* difference);
  /// Let m = p + gamma*difference. Writes log m. Sums m*(log m - log_q), which is KL(m||q), then
  /// difference*(log m - log_q), and difference^2/m.
  struct Derivatives {
    double divergence, first, second;
  };
  Derivatives (*mix)(const double* p, const double* difference, const double* log_q, double gamma,
                     std::size_t n, double* log_m);
};

/// The kernels of the instruction set in use (core/kernels/instruction_set.h).
const BeliefKernels& belief_kernels();

}  // namespace proxbench
