#include "experiments/run/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/config/penalty_path.h"
#include "solvers/shared/test_problems.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::ProblemSpec;

std::unique_ptr<LoadedData> load(const ProblemSpec& spec, int threads = 1) {
  const test::Problem problem(spec);
  return std::make_unique<LoadedData>(DataPair{problem.data(), {}, problem.oracle_name()}, Parallel(threads));
}

RunParameters settings_for(const ProblemSpec& spec, const std::string& solver = "prox-newton",
                           double tol = 1e-8) {
  RunParameters settings;
  settings.solver = solver;
  settings.penalty.mu = spec.mu;
  settings.tol = tol;
  return settings;
}

std::vector<double> geometric(const LoadedData& data, double ratio, int count) {
  return PenaltyPath{{1.0, true}, {ratio, true}, count}.values(lambda_max(data, {}));
}

RunOutcome path_over_lambda(const LoadedData& data, const RunParameters& settings,
                            const std::vector<double>& lambdas, const RunHooks& hooks = {}) {
  std::vector<Penalty> penalties;
  for (const double lambda : lambdas) penalties.push_back({lambda, settings.penalty.mu});
  return train_path(data, settings, penalties, hooks);
}

ProblemSpec chain_spec() {
  return {.name = "chain", .sequences = 30, .bias = true, .seed = 3};
}
ProblemSpec tree_spec() {
  return {.name = "tree", .labels = 14, .sequences = 60, .seed = 24, .tree = ProblemSpec::Tree::kNested};
}

TEST(LambdaMax, IsWhereTheFirstWeightEnters) {
  for (const ProblemSpec& spec : {chain_spec(), tree_spec()}) {
    SCOPED_TRACE(spec.name);
    const auto data = load(spec);
    const double max = lambda_max(*data, {});
    ASSERT_GT(max, 0.0);
    for (const auto& [factor, zero] : {std::pair{1.0, true}, {1.5, true}, {0.999, false}}) {
      RunParameters settings = settings_for(spec);
      settings.penalty.lambda = factor * max;
      EXPECT_EQ(train(*data, settings).w.nnz() == 0, zero) << factor;
    }
  }
}

/// Checks that the first-order conditions and the value of every point equal those of a single solve.
void expect_same_optima(const ProblemSpec& spec, const std::string& solver, double tol) {
  SCOPED_TRACE(spec.name + " " + solver);
  const auto data = load(spec);
  const std::vector<double> lambdas = geometric(*data, 0.02, 12);
  std::vector<SparseVector> models;
  RunHooks hooks;
  hooks.on_point = [&](const PathPoint&, const SparseVector& w) { models.push_back(w); };
  const RunOutcome path = path_over_lambda(*data, settings_for(spec, solver, tol), lambdas, hooks);
  EXPECT_EQ(path.status, Status::kConverged);
  ASSERT_EQ(path.points.size(), lambdas.size());
  ASSERT_EQ(models.size(), lambdas.size());
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    SCOPED_TRACE(lambdas[k]);
    const PathPoint& point = path.points[k];
    EXPECT_EQ(point.lambda, lambdas[k]);
    Objective whole = data->objective({lambdas[k], spec.mu});
    const Certificate own = certify(whole, models[k]);
    EXPECT_LE(own.kkt, point.kkt_target * (1.0 + 1e-6));
    EXPECT_NEAR(own.kkt, point.certificate.kkt, 1e-10);
    EXPECT_NEAR(own.objective, point.certificate.objective, 1e-11 * own.objective);
    EXPECT_NEAR(own.dual, point.certificate.dual, 1e-9 * own.objective);
    EXPECT_EQ(own.nnz, point.certificate.nnz);
    RunParameters settings = settings_for(spec, "prox-newton", 1e-9);
    settings.penalty.lambda = lambdas[k];
    const double single = train(*data, settings).certificate.objective;
    EXPECT_NEAR(point.certificate.objective, single, 1e-6 * single);
  }
  EXPECT_EQ(models.back().index, path.w.index);
}

TEST(Path, HasTheOptimaOfSolvesByThemselves) {
  for (const ProblemSpec& spec : test::problem_specs()) expect_same_optima(spec, "prox-newton", 1e-7);
}

TEST(Path, GoesWithOtherSolvers) {
  for (const char* solver : {"owl-qn", "prox-gd-acc", "bcd"}) {
    expect_same_optima(chain_spec(), solver, 1e-5);
    expect_same_optima(tree_spec(), solver, 1e-5);
  }
}

TEST(Path, HasLargerWeightsAndSmallerLossesAtSmallerLambdas) {
  for (const ProblemSpec& spec : {chain_spec(), tree_spec()}) {
    const auto data = load(spec);
    const RunOutcome path = path_over_lambda(*data, settings_for(spec), geometric(*data, 0.01, 20));
    ASSERT_EQ(path.points.size(), 20u);
    EXPECT_EQ(path.points.front().certificate.nnz, 0u);
    EXPECT_EQ(path.points.front().rounds, 0);
    for (std::size_t k = 1; k < path.points.size(); ++k) {
      const PathPoint &now = path.points[k], &before = path.points[k - 1];
      EXPECT_GE(now.certificate.l1, before.certificate.l1 - 1e-6);
      EXPECT_LE(now.certificate.loss, before.certificate.loss + 1e-6);
      EXPECT_LE(now.certificate.objective, before.certificate.objective + 1e-6);
      EXPECT_GE(now.seconds, before.seconds);
      EXPECT_GE(now.passes, before.passes);
      EXPECT_LT(now.certificate.relative_gap(), 1e-4);
      EXPECT_LE(before.candidates, data->objective({1.0, 0.0}).dimension());
    }
  }
}

/// Documents of two classes that a - b separates, with the features a and 3*(a + b). The second feature alone
/// says nothing about the class. Once the first has a weight, the gradient of the second grows three times as
/// fast as lambda falls, which the strong rule excludes.
std::unique_ptr<LoadedData> load_suppressor(std::uint64_t seed) {
  constexpr Index kDocuments = 1500;
  Random random(seed);
  Dataset data;
  DesignMatrix::Builder builder;
  for (Index i = 0; i < kDocuments; ++i) {
    const double a = random.normal(), b = random.normal();
    builder.add(0, a);
    builder.add(1, 3.0 * (a + b));
    builder.end_position();
    data.gold.push_back(a - b + random.normal() > 0.0 ? 1 : 0);
    data.begin.push_back(i + 1);
  }
  data.x = std::move(builder).build(2);
  data.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"a", "3a+3b"}, {"no", "yes"}});
  return std::make_unique<LoadedData>(DataPair{std::move(data), {}, "tree"}, Parallel(1));
}

TEST(Path, RepairsWhatTheStrongRuleLeavesOutWrongly) {
  std::uint64_t violations = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto data = load_suppressor(seed);
    const RunParameters settings = settings_for({});
    const RunOutcome path = path_over_lambda(*data, settings, geometric(*data, 0.1, 30));
    for (const PathPoint& point : path.points) {
      violations += point.violations;
      EXPECT_GE(point.rounds, point.violations > 0 ? 2 : 0);
      EXPECT_LE(point.certificate.kkt, point.kkt_target * (1.0 + 1e-6));
    }
  }
  EXPECT_GT(violations, 0u);  // otherwise this test tests nothing
}

TEST(Path, IsTheSameForAnyNumberOfThreads) {
  for (ProblemSpec spec : {test::large_spec(), test::large_tree_spec()}) {
    spec.sequences /= 3;
    std::vector<RunOutcome> paths;
    for (const int threads : {1, 3}) {
      const auto data = load(spec, threads);
      paths.push_back(
          path_over_lambda(*data, settings_for(spec, "prox-newton", 1e-4), geometric(*data, 0.3, 5)));
    }
    EXPECT_EQ(paths[0].w.index, paths[1].w.index);
    EXPECT_EQ(paths[0].w.value, paths[1].w.value);
    for (std::size_t k = 0; k < paths[0].points.size(); ++k) {
      EXPECT_EQ(paths[0].points[k].certificate.objective, paths[1].points[k].certificate.objective);
      EXPECT_EQ(paths[0].points[k].candidates, paths[1].points[k].candidates);
    }
  }
}

TEST(Path, KeepsThePointsThatAreDoneWhenItIsInterrupted) {
  const auto data = load(chain_spec());
  std::atomic<bool> interrupt = false;
  RunHooks hooks;
  hooks.stop = &interrupt;
  std::size_t points = 0;
  hooks.on_point = [&](const PathPoint&, const SparseVector&) { interrupt = ++points == 4; };
  const RunOutcome path =
      path_over_lambda(*data, settings_for(chain_spec()), geometric(*data, 0.05, 10), hooks);
  EXPECT_EQ(path.status, Status::kInterrupted);
  EXPECT_EQ(path.points.size(), 4u);
  EXPECT_EQ(path.summary()["points"], 4);
  EXPECT_EQ(path.summary()["points_asked"], 10);
  EXPECT_EQ(path.w.nnz(), path.points.back().certificate.nnz);
}

TEST(Path, StatesWhatItsSolverNotes) {
  const auto data = load(chain_spec());
  const RunOutcome path =
      path_over_lambda(*data, settings_for(chain_spec(), "prox-qn"), geometric(*data, 0.05, 3));
  ASSERT_TRUE(path.notes.contains("inner_passes"));
  EXPECT_GT(path.notes.at("inner_passes"), 0.0);
  EXPECT_EQ(path.summary()["notes"]["inner_passes"], path.notes.at("inner_passes"));
}

TEST(Path, EndsAtItsTimeLimit) {
  const auto data = load(chain_spec());
  RunParameters settings = settings_for(chain_spec());
  settings.time_limit = 1e-9;
  const RunOutcome path = path_over_lambda(*data, settings, geometric(*data, 0.05, 10));
  EXPECT_EQ(path.status, Status::kTimeLimit);
  EXPECT_LT(path.points.size(), 10u);
}

TEST(Path, EndsEachPointAtItsGap) {
  for (const ProblemSpec& spec : {chain_spec(), tree_spec()}) {
    SCOPED_TRACE(spec.name);
    const auto data = load(spec);
    RunParameters settings = settings_for(spec, "prox-newton", 0.0);
    settings.gap_target = 1e-3;
    const std::vector<double> lambdas = geometric(*data, 0.05, 8);
    const RunOutcome path = path_over_lambda(*data, settings, lambdas);
    EXPECT_EQ(path.status, Status::kGapReached);
    ASSERT_EQ(path.points.size(), lambdas.size());
    for (const PathPoint& point : path.points) {
      EXPECT_LE(point.certificate.relative_gap(), 1e-3 * (1.0 + 1e-9));
      RunParameters optimum = settings_for(spec);
      optimum.penalty.lambda = point.lambda;
      EXPECT_LE(point.certificate.dual, train(*data, optimum).certificate.objective * (1.0 + 1e-12));
    }
    EXPECT_EQ(path.summary()["dual"], path.points.back().certificate.dual);
    EXPECT_EQ(path.summary()["gap_target"], 1e-3);
    EXPECT_GT(path.summary()["gap_seconds"], 0.0);
    EXPECT_TRUE(std::any_of(path.trace.begin(), path.trace.end(),
                            [](const Sample& sample) { return std::isfinite(sample.gap); }));
  }
}

TEST(Path, CertifiesNothingWithoutPoints) {
  const auto data = load(chain_spec());
  const std::atomic<bool> interrupt = true;
  RunHooks hooks;
  hooks.stop = &interrupt;
  const RunOutcome path =
      path_over_lambda(*data, settings_for(chain_spec()), geometric(*data, 0.5, 3), hooks);
  // w = 0 is the optimum of the first point, so no solve is needed.
  ASSERT_EQ(path.points.size(), 1u);
  const std::vector<double> lambdas{0.5 * lambda_max(*data, {})};
  const RunOutcome none = path_over_lambda(*data, settings_for(chain_spec()), lambdas, hooks);
  ASSERT_TRUE(none.points.empty());
  for (const char* key : {"objective", "kkt", "dual", "gap", "relative_gap"})
    EXPECT_TRUE(none.summary()[key].is_null()) << key;
}

TEST(Path, HasItsTraceOnOneClock) {
  const auto data = load(chain_spec());
  const RunOutcome path = path_over_lambda(*data, settings_for(chain_spec()), geometric(*data, 0.05, 6));
  ASSERT_FALSE(path.trace.empty());
  for (std::size_t i = 1; i < path.trace.size(); ++i) {
    EXPECT_GE(path.trace[i].seconds, path.trace[i - 1].seconds);
    EXPECT_GE(path.trace[i].iteration, path.trace[i - 1].iteration);
    EXPECT_GE(path.trace[i].passes, path.trace[i - 1].passes);
  }
  EXPECT_LE(path.trace.back().seconds, path.points.back().seconds);
  EXPECT_EQ(path.trace.back().iteration, path.points.back().iterations);
}

TEST(Path, IsZeroAboveLambdaMax) {
  const auto data = load(chain_spec());
  const double max = lambda_max(*data, {});
  const std::vector<double> lambdas{3.0 * max, 2.0 * max, max};
  const RunOutcome path = path_over_lambda(*data, settings_for(chain_spec()), lambdas);
  ASSERT_EQ(path.points.size(), 3u);
  EXPECT_EQ(path.summary()["iterations"], 0);
  EXPECT_EQ(path.w.nnz(), 0u);
}

TEST(Path, OverMuEveryPointIsTheOptimumOfItsPenalty) {
  for (const ProblemSpec& spec : {chain_spec(), tree_spec()})
    for (const double lambda : {0.0, 0.5})
      for (const char* solver : {"prox-newton", "owl-qn"}) {
        SCOPED_TRACE(spec.name + " " + solver + ", lambda = " + std::to_string(lambda));
        const auto data = load(spec);
        const std::vector<Penalty> penalties =
            RunPenalty{{lambda, kNaN}, PenaltyPath{{10.0}, {0.05}, 8}}.penalties(0.0);
        std::vector<SparseVector> models;
        RunHooks hooks;
        hooks.on_point = [&](const PathPoint&, const SparseVector& w) { models.push_back(w); };
        // Without l1, owl-qn sees a decrease of F through its rounding down to about 1e-8.
        const RunOutcome path = train_path(*data, settings_for(spec, solver, 1e-7), penalties, hooks);
        EXPECT_EQ(path.status, Status::kConverged);
        ASSERT_EQ(path.points.size(), penalties.size());
        for (std::size_t k = 0; k < penalties.size(); ++k) {
          const PathPoint& point = path.points[k];
          EXPECT_EQ((Penalty{point.lambda, point.mu}), penalties[k]);
          Objective whole = data->objective({lambda, penalties[k].mu});
          const Certificate own = certify(whole, models[k]);
          EXPECT_NEAR(point.certificate.objective, own.objective, 1e-12 * own.objective);
          EXPECT_NEAR(point.certificate.kkt, own.kkt, 1e-9);
          EXPECT_LE(own.kkt, point.kkt_target * (1 + 1e-6));
          EXPECT_LE(own.relative_gap(), 1e-9);
          EXPECT_LE(point.certificate.gap(), own.gap() + 1e-9 * own.objective);
          EXPECT_EQ(point.candidates, whole.dimension()) << "no rule";
        }
      }
}

TEST(Path, RefusesASolverThatCannot) {
  const auto data = load(chain_spec());
  RunParameters settings = settings_for(chain_spec(), "liblbfgs-owlqn");
  settings.penalty.lambda = 0.0;
  settings.penalty.mu = 1.0;
  const std::vector<Penalty> penalties{{0.0, 2.0}, {0.0, 1.0}};
  EXPECT_THROW(train(*data, settings), Error);
  EXPECT_THROW(train_path(*data, settings, penalties), Error);
}

}  // namespace
}  // namespace proxbench
