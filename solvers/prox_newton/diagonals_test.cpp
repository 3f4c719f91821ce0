#include "solvers/prox_newton/diagonals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "solvers/prox_newton/test_point.h"

namespace proxbench::prox_newton {
namespace {

/// For all shapes of problems: the counts depend on the data but not on w.
TEST(Diagonals, Counts) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Problem problem(spec);
    const Point point(problem);
    const Objective& objective = point.objective;
    const std::vector<Coord>& index = point.w.index;
    const std::vector<double> gold = objective.oracle().gold_extra(Parallel());
    double unary = 0.0;
    for (Index p = 0; p < objective.map().x().positions(); ++p)
      unary += static_cast<double>(objective.oracle().gold_outputs(p).size());
    const double extra = std::accumulate(gold.begin(), gold.end(), 0.0) / static_cast<double>(gold.size()),
                 share = unary / static_cast<double>(objective.map().x().positions() * objective.outputs());
    const std::vector<double> found = counts_diagonal(objective, index);
    for (std::size_t j = 0; j < index.size(); ++j) {
      double squares = 0.0;
      if (index[j] < objective.unary_weights())
        for (Index p = 0; p < objective.map().x().positions(); ++p)
          squares += std::pow(point.value(p, index[j] / objective.outputs()), 2);
      const double expected = index[j] < objective.unary_weights() ? squares * share : extra;
      EXPECT_NEAR(found[j], expected, 1e-12 * expected) << spec.name << ", " << j;
    }
  }
}

/// Large weights make most marginals 0 or 1 up to rounding. All coordinates at once, and few of them, take
/// different ways.
TEST(Diagonals, SecondDerivatives) {
  for (const test::ProblemSpec& spec : test::problem_specs())
    for (const double size : {0.4, 20.0}) {
      SCOPED_TRACE(spec.name);
      const test::Problem problem(spec);
      const Point point(problem, size);
      const std::vector<Coord>& index = point.w.index;
      const std::vector<double> all = hessian_diagonal(point.objective, point.residual, index);
      for (std::size_t j = 0; j < index.size(); ++j) {
        const Coord c = index[j];
        const double alone = hessian_diagonal(point.objective, point.residual, {{c}})[0];
        EXPECT_NEAR(all[j], alone, 1e-12 * alone);
        if (c < point.objective.unary_weights()) {
          EXPECT_NEAR(all[j], point.entry(c, c), 1e-9 * point.entry(c, c) + 1e-12);
        } else {
          EXPECT_GE(all[j], 0.0);
        }
      }
    }
}

TEST(Diagonals, TheRidgeIsAShareOfTheMean) {
  EXPECT_DOUBLE_EQ(ridge_of(std::vector{1.0, 0.0, 5.0}), 2e-3);
  EXPECT_EQ(ridge_of({}), 0.0);
}

}  // namespace
}  // namespace proxbench::prox_newton
