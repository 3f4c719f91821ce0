#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/data/reduction.h"
#include "core/known_start.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::expect_certified_optimum;
using test::HookedOracle;
using test::kkt_at_zero;
using test::l2_specs;
using test::optimum;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;

/// Every choice leads to the same optimum.
TEST(ProxNewton, MeetsTheSameOptimumWithEveryChoice) {
  const std::vector<std::map<std::string, std::string>> choices = {{{"inner_tol", "0"}},
                                                                   {{"memory", "5"}},
                                                                   {{"max_inner", "1"}},
                                                                   {{"epoch_factor", "0.5"}},
                                                                   {{"newton", "never"}}};
  for (const ProblemSpec& spec : test::problem_specs()) {
    if (spec.collinear) continue;  // slow in the last digits with every choice
    const Problem problem(spec);
    const Outcome standard = run("prox-newton", problem, {.tol = 1e-8});
    for (const auto& options : choices) {
      const Outcome other =
          run("prox-newton", problem, {.tol = 1e-6, .monitor = {.max_iterations = 2000}, .options = options});
      EXPECT_NEAR(other.certificate.objective, standard.certificate.objective,
                  1e-7 * standard.certificate.objective)
          << spec.name << " with " << options.begin()->first << " = " << options.begin()->second;
    }
  }
}

/// With both penalties, features with equal columns have equal weights at the optimum, whatever the start.
TEST(ProxNewton, GivesCopiesOfAFeatureEqualWeights) {
  const Problem problem({.name = "rare features",
                         .labels = 3,
                         .features = 80,
                         .sequences = 12,
                         .longest = 2,
                         .density = 0.12,
                         .lambda = 0.05,
                         .mu = 0.2,
                         .seed = 12});
  const DesignMatrix& x = problem.data().x;
  std::vector<Index> features(x.features());
  std::iota(features.begin(), features.end(), Index{0});
  const std::vector<std::size_t> first = first_copies(x, features);
  SparseVector start;
  for (Coord c = 0; c < Coord{3} * x.features(); c += 2) start.push_back(c, c % 4 == 0 ? 1.0 : -2.0);
  const Outcome other = run("owl-qn", problem, {.tol = 1e-9});
  for (const char* const solver : {"prox-newton", "prox-qn"})
    for (const SparseVector& from : {SparseVector{}, start}) {
      const Outcome outcome = run(solver, problem, {.tol = 1e-9, .start = from});
      EXPECT_EQ(outcome.result.status, Status::kConverged);
      EXPECT_LE(outcome.certificate.kkt, outcome.kkt_target * (1 + 1e-6));
      EXPECT_NEAR(outcome.certificate.objective, other.certificate.objective,
                  1e-9 * other.certificate.objective);
      EXPECT_GE(outcome.certificate.objective, other.lower_bound);
      std::vector<double> w(problem.objective().dimension(), 0.0);
      for (std::size_t i = 0; i < outcome.result.w.nnz(); ++i)
        w[outcome.result.w.index[i]] = outcome.result.w.value[i];
      std::size_t shared = 0;
      for (std::size_t j = 0; j < first.size(); ++j)
        for (std::size_t k = 0; k < 3; ++k) {
          EXPECT_EQ(w[3 * j + k], w[3 * first[j] + k]) << solver << ", " << j << ", " << k;
          if (first[j] != j && w[3 * j + k] != 0.0) ++shared;
        }
      EXPECT_GT(shared, 5u);
    }
}

/// Once the iterations have cost as much as two Hessians, Newton's method takes over. It reaches the last
/// digits within a few steps.
TEST(ProxNewton, EndsWithNewtonsMethodWhereItPays) {
  for (const double mu : {0.0, 0.01}) {
    const Problem problem({.name = "long sequences",
                           .labels = 6,
                           .features = 20,
                           .sequences = 15,
                           .longest = 20,
                           .density = 0.15,
                           .lambda = 0.02,
                           .mu = mu,
                           .seed = 5});
    const Outcome with = run("prox-newton", problem, {.tol = 1e-13});
    const Outcome without = run("prox-newton", problem, {.tol = 1e-13, .options = {{"newton", "never"}}});
    EXPECT_GT(with.result.notes.at("hessians"), 0.0);
    EXPECT_EQ(without.result.notes.count("hessians"), 0u);
    EXPECT_LT(with.iterations, without.iterations);
    EXPECT_EQ(with.result.status, Status::kConverged);
    EXPECT_LE(with.certificate.kkt, with.kkt_target * (1 + 1e-6));
    EXPECT_NEAR(with.certificate.objective, without.certificate.objective,
                1e-12 * with.certificate.objective);
    EXPECT_LT(with.certificate.relative_gap(), 1e-10);
  }
}

/// Follows a path with one object, or with a new one for each lambda. Both find the same optima, and the
/// pairs of the previous lambda save iterations.
TEST(ProxNewton, TakesItsPairsAlongASequence) {
  ProblemSpec spec = test::large_spec();
  spec.sequences /= 2;
  for (const double mu : {0.0, 0.1}) {
    spec.mu = mu;
    const double at_zero = kkt_at_zero(Problem(spec)) + spec.lambda;
    const SolverInfo& info = solver_registry().find("prox-newton");
    ASSERT_TRUE(info.continues);
    Options options(info.options);
    options.set("newton", "never");  // Newton's method needs no pairs
    std::int64_t iterations[2] = {};
    for (const bool in_sequence : {false, true}) {
      std::unique_ptr<Solver> solver;
      SparseVector w;
      for (int k = 1; k <= 15; ++k) {
        spec.lambda = at_zero * std::pow(0.9, k);
        const Problem problem(spec);
        Objective objective = problem.objective(), evaluator = problem.objective();
        Monitor monitor(evaluator, objective, {});
        if (solver == nullptr || !in_sequence) solver = info.make(options);
        SolveResult r = solver->solve({objective, monitor, w, 1e-7, at_zero, 7, in_sequence});
        ASSERT_EQ(r.status, Status::kConverged);
        EXPECT_LE(certify(evaluator, r.w).kkt, 1e-7 * at_zero * (1.0 + 1e-6));
        iterations[in_sequence ? 1 : 0] += monitor.iterations();
        w = std::move(r.w);
      }
    }
    EXPECT_LT(iterations[1], iterations[0]);
  }
}

/// A known state of the start saves an inference. The state that the solver leaves is the one at its result.
TEST(ProxNewton, TakesTheStateOfTheStartAndLeavesThatOfTheResult) {
  for (const ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    const Problem problem(spec);
    const SolverInfo& info = solver_registry().find("prox-newton");
    const SparseVector start = run("prox-newton", problem, {.tol = 0.1}).result.w;
    {
      SCOPED_TRACE(spec.name);
      SolveResult result[2];
      std::int64_t iterations[2];
      double passes[2];
      for (const bool knows : {false, true}) {
        Options options(info.options);
        Objective objective = problem.objective(), evaluator = problem.objective();
        Monitor monitor(evaluator, objective, {});
        SmoothState state = evaluator.make_state();
        evaluator.scores(start, state.scores);
        state.loss = evaluator.infer({state.scores}, &state.residual);
        Objective::Selection selection;
        evaluator.select_gradient(state.residual, start, 0.5 * evaluator.lambda(), selection);
        KnownStart known{.state = state, .selection = selection, .complete_above = 0.5 * evaluator.lambda()};
        result[knows] = info.make(options)->solve(
            {objective, monitor, start, 1e-4, kkt_at_zero(problem), 7, false, knows ? &known : nullptr});
        iterations[knows] = monitor.iterations();
        passes[knows] = objective.counts().passes();
        EXPECT_EQ(known.at_result, knows);
        if (!knows) continue;
        Scores scores = evaluator.make_scores();
        evaluator.scores(result[1].w, scores);
        EXPECT_NEAR(state.loss, evaluator.infer({scores}, nullptr), 1e-10 * state.loss);
        EXPECT_NEAR(evaluator.infer({state.scores}, nullptr), state.loss, 1e-10 * state.loss);
        evaluator.select_gradient(state.residual, result[1].w, evaluator.lambda(), selection);
        EXPECT_LE(selection.kkt_max, 1e-4 * kkt_at_zero(problem) * (1.0 + 1e-6));
      }
      EXPECT_EQ(result[0].status, Status::kConverged);
      EXPECT_EQ(result[1].status, Status::kConverged);
      if (iterations[0] == iterations[1]) {
        EXPECT_EQ(passes[0], passes[1] + 1.0);
      }
      EXPECT_EQ(result[0].w.index, result[1].w.index);
    }
  }
}

TEST(ProxNewton, GivesTheSameBitsForAnyThreads) {
  for (const ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    const Problem problem(spec);
    const Outcome one = run("prox-newton", problem, {});
    const Outcome three = run("prox-newton", problem, {.parallel = Parallel(3)});
    const Outcome tbb = run("prox-newton", problem, {.parallel = Parallel(2, Backend::kTBB)});
    EXPECT_EQ(one.result.w.value, three.result.w.value) << spec.name;
    EXPECT_EQ(one.result.w.value, tbb.result.w.value) << spec.name;
  }
}

/// The clock passes the limit at the first instance of the first Hessian.
TEST(ProxNewton, GivesUpAHessianAtTheTimeLimit) {
  const Problem problem({.name = "long sequences",
                         .labels = 6,
                         .features = 20,
                         .sequences = 15,
                         .longest = 20,
                         .density = 0.15,
                         .lambda = 0.05,
                         .seed = 5});
  const Parallel parallel(2);
  const HookedOracle oracle(problem.oracle(), [](int, double value) { return value; });
  MonitorOptions monitor{.time_limit = 60.0, .dense_samples = 10000};
  monitor.clock = [&] { return oracle.covariances_calls > 0 ? 1000.0 : 0.0; };
  const Outcome cut = run("prox-newton", problem,
                          {.tol = 1e-13, .parallel = parallel, .monitor = monitor, .oracle = &oracle});
  EXPECT_EQ(cut.result.status, Status::kTimeLimit) << status_name(cut.result.status);
  EXPECT_GE(oracle.covariances_calls, 1);
  EXPECT_LE(oracle.covariances_calls, parallel.threads()) << "those that had begun";
  EXPECT_EQ(cut.result.notes.count("hessians"), 0u);
  // The last iterate equals that of a run that ends there.
  const Outcome there = run("prox-newton", problem,
                            {.tol = 1e-13,
                             .parallel = parallel,
                             .monitor = {.max_iterations = cut.iterations, .dense_samples = 10000}});
  ASSERT_GT(cut.iterations, 0);
  EXPECT_EQ(there.result.status, Status::kMaxIterations);
  EXPECT_EQ(cut.result.w.index, there.result.w.index);
  EXPECT_EQ(cut.result.w.value, there.result.w.value);
  EXPECT_EQ(cut.trace.back().working_set, there.trace.back().working_set);
  EXPECT_EQ(cut.certificate.objective, there.certificate.objective);
}

TEST(ProxNewton, EveryChoiceReachesACertifiedOptimumWithAnL2Penalty) {
  const std::vector<std::map<std::string, std::string>> choices = {{{"newton", "never"}}, {{"memory", "5"}}};
  for (const ProblemSpec& spec : l2_specs())
    for (const auto& options : choices) {
      SCOPED_TRACE(spec.name + ", lambda = " + std::to_string(spec.lambda) + ", " + options.begin()->first);
      const Problem problem(spec);
      expect_certified_optimum(problem, run("prox-newton", problem, {.tol = 1e-8, .options = options}));
    }
}

}  // namespace
}  // namespace proxbench
