#include "core/dual.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/monitor.h"
#include "solvers/test_problems.h"

namespace proxbench {
namespace {

/// The dual value at w, F at w beside it.
std::pair<double, double> dual_and_primal(Objective& objective, const SparseVector& w) {
  const Certificate c = certify(objective, w);
  return {c.dual, c.objective};
}

SparseVector random_weights(Coord d, double size, Random& random) {
  SparseVector w;
  for (Coord c = 0; c < d; ++c)
    if (random.uniform() < 0.3) w.push_back(c, size * random.normal());
  return w;
}

TEST(DualBound, LiesBelowEveryObjective) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    Random random(5);
    double highest_dual = -1e300, lowest_primal = 1e300;
    for (const double size : {0.0, 0.01, 0.1, 0.3, 1.0, 5.0, 50.0}) {
      const auto [dual, primal] =
          dual_and_primal(objective, random_weights(objective.dimension(), size, random));
      highest_dual = std::max(highest_dual, dual);
      lowest_primal = std::min(lowest_primal, primal);
    }
    EXPECT_LE(highest_dual, lowest_primal) << spec.name;
  }
}

}  // namespace
}  // namespace proxbench
