#pragma once
/// An iterate at w = 0 with a working set, for tests of models.

#include "solvers/shared/proximal/iterate.h"
#include "solvers/shared/test_problems.h"

namespace proxbench::proximal {

struct IterateAtZero {
  /// The working set has the coordinates with |g_j| > `from`; all, if `from` is negative.
  explicit IterateAtZero(const test::Problem& problem, double from = -1.0) : objective(problem.objective()) {
    at.open({}, nullptr);
    Objective::Selection chosen;
    at.select({}, from, nullptr, chosen);
    largest = chosen.kkt_max;
    at.take(chosen);
  }

  Objective objective;
  Buffers buffers;
  Iterate at{objective, buffers, {}};
  double largest;  ///< kkt
};

}  // namespace proxbench::proximal
