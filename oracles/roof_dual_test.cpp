/// Compares the relaxation with its definition: with all half-integral points, which contain an optimum of
/// the local polytope of binary variables (Boros, Hammer 2002), and by duality with enumeration.

#include "oracles/roof_dual.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"

namespace proxbench {
namespace {

PairwiseProblem random_problem(Index n, double density, double scale, Random& random) {
  PairwiseProblem out;
  for (Index k = 0; k < n; ++k) out.unary.push_back(0.7 * random.normal());
  for (Index a = 0; a < n; ++a)
    for (Index b = a + 1; b < n; ++b)
      if (random.uniform() < density) out.pairs.push_back({a, b, scale * random.normal()});
  return out;
}

double value_at(const PairwiseProblem& problem, const std::vector<double>& x) {
  double value = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) value += problem.unary[k] * x[k];
  for (const auto& pair : problem.pairs) value += pair.weight * pair_value(pair.weight, x[pair.a], x[pair.b]);
  return value;
}

/// The largest value over all points of the grid with `steps` steps per variable.
double best_on_grid(const PairwiseProblem& problem, int steps) {
  const std::size_t n = problem.unary.size();
  std::vector<double> x(n, 0.0);
  double best = 0.0;
  for (std::size_t code = 0, all = static_cast<std::size_t>(std::pow(steps + 1, n)); code < all; ++code) {
    std::size_t rest = code;
    for (double& value : x) {
      value = static_cast<double>(rest % (static_cast<std::size_t>(steps) + 1)) / steps;
      rest /= static_cast<std::size_t>(steps) + 1;
    }
    best = std::max(best, value_at(problem, x));
  }
  return best;
}

TEST(RoofDual, IsTheOptimumOfTheRelaxation) {
  Random random(1);
  int fractional = 0;
  for (int repeat = 0; repeat < 600; ++repeat) {
    const auto n = static_cast<Index>(1 + random.below(6));
    const PairwiseProblem problem =
        random_problem(n, std::sqrt(random.uniform()), 6.0 * random.uniform(), random);
    std::vector<double> x;
    const double value = solve_relaxation(problem, x);
    EXPECT_NEAR(value, value_at(problem, x), 1e-12);
    EXPECT_NEAR(value, best_on_grid(problem, 2), 1e-9);
    EXPECT_GE(value + 1e-9, best_on_grid(problem, 4)) << "no point of a finer grid is better";
    bool halves = false;
    for (const double v : x) {
      EXPECT_TRUE(v == 0.0 || v == 0.5 || v == 1.0);
      halves = halves || v == 0.5;
    }
    fractional += halves;
    const double integral = best_on_grid(problem, 1);
    EXPECT_GE(value + 1e-9, integral);
    if (!halves) {
      EXPECT_NEAR(value, integral, 1e-9) << "what is integral is the best structure";
    }
    round_halves(problem, x);
    EXPECT_LE(value_at(problem, x), integral + 1e-9);
    for (const double v : x) EXPECT_TRUE(v == 0.0 || v == 1.0);
  }
  EXPECT_GT(fractional, 10);
}

TEST(RoofDual, WeightsThatAttractGiveABestStructure) {
  Random random(2);
  for (int repeat = 0; repeat < 100; ++repeat) {
    PairwiseProblem problem = random_problem(8, 0.5, 1.0, random);
    for (auto& pair : problem.pairs) pair.weight = std::abs(pair.weight);
    for (double& u : problem.unary) u -= 1.0;
    std::vector<double> x;
    EXPECT_NEAR(solve_relaxation(problem, x), best_on_grid(problem, 1), 1e-9);
  }
}

}  // namespace
}  // namespace proxbench
