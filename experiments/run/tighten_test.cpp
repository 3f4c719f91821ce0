#include "experiments/run/tighten.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/run/training.h"
#include "solvers/shared/test_problems.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

DataPair pair_of(const test::Problem& problem) {
  DataPair out;
  out.train = problem.data();
  out.oracle = problem.oracle_name();
  return out;
}

RunParameters settings_of(const test::ProblemSpec& spec, double tol) {
  RunParameters settings;
  settings.solver = "prox-newton";
  settings.penalty.lambda = spec.lambda;
  settings.penalty.mu = spec.mu;
  settings.tol = tol;
  settings.tighten = 1e-7;
  return settings;
}

/// Chains, one of them with features that are never on, and trees.
std::vector<test::ProblemSpec> specs() {
  std::vector<test::ProblemSpec> all = test::problem_specs();
  return {all[0], all[6], all[11], all[13], all[15]};
}

TEST(Tighten, ProvesMoreOfAModelThanItsOwnGradientDoes) {
  for (const test::ProblemSpec& spec : specs()) {
    const test::Problem problem(spec);
    const LoadedData data(pair_of(problem), Parallel());
    const RunOutcome near = train(data, settings_of(spec, 1e-3));
    const double optimum = train(data, settings_of(spec, 1e-10)).certificate.objective;
    const RunOutcome better = tighten(data, near.w, settings_of(spec, 1e-3));
    EXPECT_EQ(better.status, Status::kGapReached) << spec.name;
    EXPECT_LE(better.certificate.relative_gap(), 1e-7) << spec.name;
    EXPECT_LE(better.certificate.dual, optimum * (1 + 1e-12)) << spec.name;
    EXPECT_GT(better.certificate.dual, near.certificate.dual) << spec.name;
    // The rest of the model's gap is its distance from the optimum.
    EXPECT_NEAR(near.certificate.objective - better.certificate.dual, near.certificate.objective - optimum,
                2e-7 * optimum)
        << spec.name;
    Objective objective = data.objective({spec.lambda, spec.mu});
    EXPECT_NEAR(certify(objective, better.w).objective, better.certificate.objective, 1e-9 * optimum)
        << "in the coordinates of all features";
  }
}

TEST(Tighten, TakesAModelWithWeightsThatCannotBeInAnOptimum) {
  const test::ProblemSpec spec = test::problem_specs()[6];  // features that are never on
  const test::Problem problem(spec);
  const LoadedData data(pair_of(problem), Parallel());
  ASSERT_FALSE(data.reduced(Penalty{spec.lambda, spec.mu}).all);
  SparseVector w;
  for (Coord c = 0; c < problem.objective().dimension(); ++c) w.push_back(c, 0.5);
  const RunOutcome better = tighten(data, w, settings_of(spec, 1e-3));
  EXPECT_EQ(better.status, Status::kGapReached);
}

TEST(Tighten, AnOutcomeTakesTheBetterBoundAndPoint) {
  for (const test::ProblemSpec& spec : specs()) {
    const test::Problem problem(spec);
    const LoadedData data(pair_of(problem), Parallel());
    const RunOutcome before = train(data, settings_of(spec, 1e-1));
    RunOutcome after = before;
    tighten(data, settings_of(spec, 1e-1), after);
    EXPECT_LE(after.certificate.relative_gap(), 1e-7) << spec.name;
    EXPECT_LE(after.certificate.objective, before.certificate.objective) << spec.name;
    EXPECT_EQ(after.summary()["relative_gap"], after.certificate.relative_gap()) << spec.name;
    EXPECT_EQ(after.summary()["objective"], after.certificate.objective) << spec.name;
    EXPECT_EQ(after.summary()["tighten"]["status"], "gap-reached") << spec.name;
    EXPECT_EQ(after.summary()["status"], "converged") << "of the run itself";
    EXPECT_GT(after.summary()["tighten"]["iterations"], 0) << spec.name;

    RunOutcome again = after;
    tighten(data, settings_of(spec, 1e-1), again);
    EXPECT_EQ(again.summary()["tighten"]["iterations"], 0) << "there is nothing left to do";
    EXPECT_EQ(again.certificate.dual, after.certificate.dual);
  }
}

TEST(Tighten, StopsWhenInterrupted) {
  const test::ProblemSpec spec = test::problem_specs()[0];
  const test::Problem problem(spec);
  const LoadedData data(pair_of(problem), Parallel());
  const std::atomic<bool> interrupt{true};
  const RunOutcome found = tighten(data, SparseVector(), settings_of(spec, 1e-3), &interrupt);
  EXPECT_EQ(found.status, Status::kInterrupted);
  EXPECT_TRUE(std::isfinite(found.certificate.dual)) << "still a bound";
}

}  // namespace
}  // namespace proxbench
