#pragma once
/// The options of prox-newton.

#include <cstddef>
#include <cstdint>

#include "core/quasi_newton/line_search.h"

namespace proxbench::prox_newton {

/// Rows or coordinates per task.
inline constexpr std::size_t kTask = 64;
/// Second derivatives are raised by this share of their mean, or of their own value, so that every coordinate
/// has curvature.
inline constexpr double kRidge = 1e-3;

/// The cost of an exponential, in multiply-adds.
inline constexpr double kExponential = 40.0;

struct Settings {
  std::size_t memory;  ///< L-BFGS pairs kept
  std::int64_t max_inner;
  double inner_tol;
  double epoch_factor;
  bool newton;  ///< whether the exact Hessian may be used
  std::int64_t max_stagnant;
  ArmijoOptions line_search;
};

}  // namespace proxbench::prox_newton
