#include "solvers/prox_newton/pair_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solvers/shared/test_problems.h"
#include "solvers/solvers.h"

namespace proxbench::prox_newton {
namespace {

/// Some consecutive steps, with the residuals and gradients before and after each.
struct Steps {
  explicit Steps(const test::Problem& problem, std::size_t count, int threads = 1)
      : objective(problem.objective(Parallel(threads))) {
    Random random(5);
    for (Coord c = 0; c < objective.dimension(); ++c) all.push_back(c);
    SparseVector w;
    for (std::size_t i = 0; i <= count; ++i) {
      std::vector<double> d(all.size(), 0.0);
      if (i > 0)
        for (double& x : d)
          if (random.uniform() < 0.4) x = 0.3 * random.normal();
      std::vector<double> next(all.size());
      for (std::size_t c = 0; c < next.size(); ++c) next[c] = d[c] + (i > 0 ? weights.back()[c] : 0.0);
      weights.push_back(next);
      step.push_back(d);
      Scores scores = objective.make_scores();
      residual.push_back(objective.make_residual());
      objective.scores(all, next, scores);
      objective.infer({scores}, &residual.back());
      gradient.emplace_back(all.size());
      // The gradient of l only: the caller adds the mu term.
      objective.partial_gradient(residual.back(), all, std::vector<double>(all.size(), 0.0), gradient.back());
    }
  }
  void push(PairHistory& history, std::size_t capacity, std::size_t i) const {
    history.push(capacity, all, step[i], residual[i - 1], residual[i], objective.parallel());
  }

  Objective objective;
  std::vector<Coord> all;
  std::vector<std::vector<double>> weights, step, gradient;  ///< step[i] leads to weights[i]
  std::vector<Residual> residual;
};

TEST(PairHistory, HasTheChangesOfTheGradientOnAnyCoordinates) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Problem problem(spec);
    const Steps steps(problem, 3);
    if (PairHistory::capacity(steps.objective, 1) == 0) continue;
    SCOPED_TRACE(spec.name);
    PairHistory history;
    for (std::size_t i = 1; i <= 3; ++i) steps.push(history, 5, i);
    std::vector<Coord> index;
    for (std::size_t c = 0; c < steps.all.size(); c += c % 5 == 3 ? 1 : 2) index.push_back(steps.all[c]);
    index.push_back(steps.all.back());
    index.erase(std::unique(index.begin(), index.end()), index.end());
    const auto changes = history.gradient_changes(steps.objective, index);
    ASSERT_EQ(changes.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<double> step = history.step(i, index);
      for (std::size_t c = 0; c < index.size(); ++c) {
        const double change = steps.gradient[i + 1][index[c]] - steps.gradient[i][index[c]];
        EXPECT_NEAR(changes[i][c], change, 1e-5 * (1.0 + std::abs(change)));
        EXPECT_EQ(step[c], steps.step[i + 1][index[c]]);
      }
    }
  }
}

TEST(PairHistory, IsTheSameForAnyNumberOfThreads) {
  test::ProblemSpec spec = test::large_spec();
  spec.sequences /= 3;
  const test::Problem problem(spec);
  std::vector<std::vector<std::vector<double>>> changes;
  for (const int threads : {1, 3}) {
    const Steps steps(problem, 2, threads);
    PairHistory history;
    for (std::size_t i = 1; i <= 2; ++i) steps.push(history, 2, i);
    changes.push_back(history.gradient_changes(steps.objective, steps.all));
  }
  EXPECT_EQ(changes[0], changes[1]);
}

TEST(PairHistory, ForgetsTheOldestStepsAndThoseNotKept) {
  const test::Problem problem(test::problem_specs().front());
  const Steps steps(problem, 5);
  PairHistory history;
  for (std::size_t i = 1; i <= 5; ++i) steps.push(history, 4, i);
  ASSERT_EQ(history.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(history.step(i, steps.all), steps.step[i + 2]);
  history.keep(std::vector<std::size_t>{1, 3});
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history.step(0, steps.all), steps.step[3]);
  EXPECT_EQ(history.step(1, steps.all), steps.step[5]);
  const auto changes = history.gradient_changes(steps.objective, steps.all);
  for (std::size_t c = 0; c < steps.all.size(); ++c) {
    const double change = steps.gradient[3][c] - steps.gradient[2][c];
    EXPECT_NEAR(changes[0][c], change, 1e-5 * (1.0 + std::abs(change)));
  }
}

TEST(PairHistory, ForgetsTheStepsOfOlderSolves) {
  const test::Problem problem(test::problem_specs().front());
  const Steps steps(problem, 5);
  PairHistory history;
  steps.push(history, 5, 1);
  steps.push(history, 5, 2);
  history.next_solve(2);
  steps.push(history, 5, 3);
  history.next_solve(2);
  EXPECT_EQ(history.size(), 3u);
  history.next_solve(2);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history.step(0, steps.all), steps.step[3]);
  history.next_solve(1);
  EXPECT_EQ(history.size(), 0u);
}

TEST(PairHistory, IsOnlyWhereResidualsHaveAColumnForEachOutput) {
  bool some = false, none = false;
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Problem problem(spec);
    const Objective objective = problem.objective();
    const std::size_t capacity = PairHistory::capacity(objective, 7);
    EXPECT_EQ(capacity, objective.map().collapses() ? 0u : 7u) << spec.name;
    some = some || capacity > 0;
    none = none || capacity == 0;
  }
  EXPECT_TRUE(some);
  EXPECT_TRUE(none);
}

}  // namespace
}  // namespace proxbench::prox_newton
