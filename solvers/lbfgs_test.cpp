#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "solvers/shared/strong_wolfe.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using dense::LineValue;
using dense::strong_wolfe;
using dense::WolfeOptions;
using dense::WolfeResult;
using test::Outcome;
using test::Problem;
using test::problem_for;
using test::run;

/// Functions on a line that cause several kinds of trouble, from More and Thuente (1994) section 5 and
/// others.
struct Line {
  const char* name;
  LineValue (*phi)(double);
};

const Line kLines[] = {
    {"quadratic",
     [](double a) {
       return LineValue{(a - 3.0) * (a - 3.0), 2.0 * (a - 3.0)};
     }},
    {"far minimum",
     [](double a) {
       return LineValue{(a - 1e4) * (a - 1e4), 2.0 * (a - 1e4)};
     }},
    {"exponential wall",
     [](double a) {
       return LineValue{std::exp(20 * a) - 40 * a, 20 * std::exp(20 * a) - 40};
     }},
    {"flat, then steep",  // (5.1) with beta = 2
     [](double a) {
       return LineValue{-a / (a * a + 2), (a * a - 2) / ((a * a + 2) * (a * a + 2))};
     }},
    {"two minima",
     [](double a) {
       return LineValue{std::cos(3 * a) - a, -3 * std::sin(3 * a) - 1};
     }},
    {"no value beyond 1",
     [](double a) {
       return LineValue{-std::log(1 - a) - 3 * a, 1 / (1 - a) - 3};
     }},
};

TEST(StrongWolfe, EndsWhereBothConditionsHold) {
  for (const Line& line : kLines)
    for (const double first : {1e-3, 0.1, 1.0, 30.0})
      for (const double curvature : {0.9, 0.1}) {
        SCOPED_TRACE(testing::Message() << line.name << " from " << first << ", c2 " << curvature);
        const WolfeOptions options{.curvature = curvature};
        double last = 0.0;
        const LineValue start = line.phi(0.0);
        const WolfeResult found = strong_wolfe(start, first, options, [&](double a) {
          last = a;
          return line.phi(a);
        });
        ASSERT_TRUE(found.accepted);
        EXPECT_EQ(found.alpha, last) << "the trial that was made last";
        const LineValue end = line.phi(found.alpha);
        EXPECT_LE(end.value, start.value + 1e-4 * found.alpha * start.slope + 1e-12);
        EXPECT_LE(std::abs(end.slope), curvature * std::abs(start.slope));
      }
}

TEST(StrongWolfe, TakesOneTrialWhereTheFirstIsGood) {
  const WolfeResult found = strong_wolfe(kLines[0].phi(0.0), 2.9, {}, kLines[0].phi);
  EXPECT_EQ(found.trials, 1);
  EXPECT_EQ(found.alpha, 2.9);
}

TEST(StrongWolfe, EndsWithoutAStepWhereNoTrialHasAValue) {
  const WolfeResult found = strong_wolfe({1.0, -1.0}, 1.0, {.max_trials = 7}, [](double) {
    return LineValue{std::nan(""), std::nan("")};
  });
  EXPECT_FALSE(found.accepted);
  EXPECT_EQ(found.trials, 7);
}

TEST(Lbfgs, EveryStepHasTheStrongWolfeConditions) {
  // Uses only F and gradients at the iterates: one more iteration shows the step of the search.
  const Problem problem = problem_for("lbfgs", test::problem_specs()[1]);
  Objective objective = problem.objective();
  const std::size_t d = objective.dimension();
  const auto at = [&](const SparseVector& w, std::vector<double>& dense, std::vector<double>& g) {
    dense.assign(d, 0.0);
    for (std::size_t i = 0; i < w.nnz(); ++i) dense[w.index[i]] = w.value[i];
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(w, scores);
    const double f = objective.infer({scores}, &residual) + objective.penalty().l2(w.value);
    g.resize(d);
    objective.gradient(residual, dense, g);
    return f;
  };
  std::vector<double> w, g, w_next, g_next;
  double f = at({}, w, g);
  for (std::int64_t iterations = 1; iterations <= 12; ++iterations) {
    const Outcome r = run("lbfgs", problem, {.tol = 1e-12, .monitor = {.max_iterations = iterations}});
    const double f_next = at(r.result.w, w_next, g_next);
    double slope = 0.0, slope_next = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      slope += g[i] * (w_next[i] - w[i]);
      slope_next += g_next[i] * (w_next[i] - w[i]);
    }
    EXPECT_LT(slope, 0.0);
    EXPECT_LE(f_next, f + 1e-4 * slope + 1e-13 * f);
    EXPECT_LE(std::abs(slope_next), 0.9 * std::abs(slope) * (1 + 1e-9));
    w = w_next;
    g = g_next;
    f = f_next;
  }
}

TEST(Lbfgs, TakesFewerIterationsWithMorePairs) {
  const Problem problem(
      {.name = "weak penalty", .features = 30, .sequences = 60, .lambda = 0.0, .mu = 0.01, .seed = 21});
  const auto iterations = [&](const std::string& memory) {
    const Outcome r = run("lbfgs", problem, {.options = {{"memory", memory}}});
    EXPECT_EQ(r.result.status, Status::kConverged);
    return r.iterations;
  };
  EXPECT_LT(iterations("40"), iterations("1"));
}

}  // namespace
}  // namespace proxbench
