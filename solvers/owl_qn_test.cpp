#include <gtest/gtest.h>

#include <cmath>

#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::run;

TEST(OwlQn, SkipsUpdatesBelowTheCurvatureFloor) {
  // No pair reaches this floor, so the memory stays empty. Every step is then along the pseudo-gradient,
  // which is slow.
  const Problem problem({.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21});
  const Outcome all = run("owl-qn", problem);
  const Outcome none = run("owl-qn", problem, {.options = {{"omega", "0.999999"}}});
  EXPECT_GT(none.iterations, 2 * all.iterations);
}

TEST(OwlQn, StopsWhereTheChangeOfFAveragedOverFiveIterationsIsSmall) {
  // With and without an l1 penalty. lbfgs-b has the same rule.
  for (const double lambda : {0.5, 0.0})
    for (const char* solver : {"owl-qn", "lbfgs-b"})
      for (const double bound : {1e-2, 1e-4}) {
        const Problem problem({.name = "bias", .bias = true, .lambda = lambda, .mu = 0.1, .seed = 12});
        const Outcome r = run(solver, problem,
                              {.tol = 0.0,
                               .monitor = {.max_iterations = 1000, .dense_samples = 1000000},
                               .options = {{"change", std::to_string(bound)}}});
        EXPECT_EQ(r.result.status, Status::kSmallChange) << solver << ": " << status_name(r.result.status);
        const auto change = [&](std::size_t k) {
          const double before = r.trace[k - 5].objective, now = r.trace[k].objective;
          return (before - now) / 5 / now;
        };
        const auto last = static_cast<std::size_t>(r.iterations);
        ASSERT_GE(last, 5u);
        ASSERT_EQ(r.trace.size(), last + 1);
        EXPECT_LT(change(last), bound) << solver;
        for (std::size_t k = 5; k < last; ++k) EXPECT_GE(change(k), bound) << solver << ", iteration " << k;
      }
}

/// Starts from w = 0 with an empty memory, so p = v. The first alpha is alpha0, or 1/||v|| if alpha0 is 0. It
/// is halved until the condition of section 3.2 holds.
void expect_one_iteration_of_the_paper(double alpha0, const char* first_step) {
  const Problem problem(test::problem_specs()[1]);
  Objective objective = problem.objective();
  const std::size_t d = objective.dimension();
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(SparseVector{}, scores);
  const double f0 = objective.infer({scores}, &residual);
  std::vector<double> w(d, 0.0), g(d), v(d), x(d);
  objective.gradient(residual, w, g);
  double norm = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    v[i] =
        std::abs(g[i]) > objective.lambda() ? -std::copysign(std::abs(g[i]) - objective.lambda(), g[i]) : 0.0;
    norm += v[i] * v[i];
  }
  norm = std::sqrt(norm);
  double alpha = alpha0 > 0.0 ? alpha0 : 1.0 / norm;
  while (true) {
    double predicted = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      x[i] = alpha * v[i];
      predicted += v[i] * x[i];
    }
    if (certify(objective, SparseVector::from_dense(x)).objective <= f0 - 1e-4 * predicted) break;
    alpha *= 0.5;
  }
  const Outcome r =
      run("owl-qn", problem, {.monitor = {.max_iterations = 1}, .options = {{"first_step", first_step}}});
  const SparseVector expected = SparseVector::from_dense(x);
  EXPECT_EQ(r.result.w.index, expected.index);
  ASSERT_EQ(r.result.w.nnz(), expected.nnz());
  for (std::size_t i = 0; i < expected.nnz(); ++i) EXPECT_NEAR(r.result.w.value[i], expected.value[i], 1e-14);
}

TEST(OwlQn, OneIterationFollowsThePaper) {
  expect_one_iteration_of_the_paper(0.0, "inverse-norm");
  expect_one_iteration_of_the_paper(1.0, "unit");
}

}  // namespace
}  // namespace proxbench
