#include "experiments/run/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "core/data/reduction.h"
#include "experiments/base/test_folder.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Documents on a two-level tree, or sequences. The frequencies of features differ widely.
DataPair make_data(const std::string& oracle, std::uint64_t seed) {
  Random random(seed);
  DataPair out;
  out.oracle = oracle;
  const bool tree = oracle == "tree";
  auto vocabulary = std::make_shared<Vocabulary>();
  constexpr Index kFeatures = 40, kDistinct = 30;  // the others are copies of the first ones
  const Index outputs = tree ? 9 : 4;
  for (Index j = 0; j < kFeatures; ++j) vocabulary->features.push_back(fmt::format("f{}", j));
  for (Index k = 0; k < outputs; ++k) vocabulary->outputs.push_back(fmt::format("y{}", k));
  constexpr Index kNone = Hierarchy::kNone;
  const auto hierarchy =
      std::make_shared<const Hierarchy>(std::vector<Index>{kNone, 0, 1, 1, 1, 0, 5, 5, kNone});
  const std::vector<Index> labels =
      tree ? std::vector<Index>{2, 3, 4, 6, 7, 8} : std::vector<Index>{0, 1, 2, 3};
  const auto fill = [&](Dataset& data, Index positions) {
    DesignMatrix::Builder builder;
    for (Index p = 0; p < positions; ++p) {
      const std::size_t label = random.below(labels.size());
      for (Index j = 0; j < kDistinct; ++j) {
        if (!(random.uniform() < (j % labels.size() == label ? 0.9 : 0.3) / (1.0 + 0.5 * j))) continue;
        const double value = random.uniform() + 0.1;
        builder.add(j, value);
        if (j + kDistinct < kFeatures) builder.add(j + kDistinct, value);
      }
      builder.end_position();
      data.gold.push_back(labels[label]);
      if (tree || p + 1 == positions || random.uniform() < 0.3) data.begin.push_back(p + 1);
    }
    data.x = std::move(builder).build(kFeatures);
    data.vocabulary = vocabulary;
    if (tree) data.hierarchy = hierarchy;
  };
  fill(out.train, 120);
  fill(out.test, 60);
  return out;
}

class Dropping : public testing::TestWithParam<std::string> {};

TEST_P(Dropping, FeaturesThatCannotEnterAndCopiesChangesNoOptimum) {
  int problems_with_dropped = 0, problems_with_copies = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const double lambda : {0.5, 2.0, 4.0}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " lambda " << lambda);
      const LoadedData data(make_data(GetParam(), seed), Parallel(1));
      RunParameters settings;
      settings.solver = "prox-newton";
      settings.penalty.lambda = lambda;
      settings.tol = 1e-9;
      const RunOutcome dropped = train(data, settings);
      settings.drop_features = false;
      const RunOutcome all = train(data, settings);
      EXPECT_EQ(all.kkt_at_zero, dropped.kkt_at_zero);
      EXPECT_NEAR(dropped.certificate.objective, all.certificate.objective, 1e-8 * all.certificate.objective);

      // The smaller problem has the same certificate and accuracy as the whole one.
      Objective whole = data.objective({lambda, 0.0});
      const Certificate certificate = certify(whole, dropped.w);
      EXPECT_NEAR(certificate.objective, dropped.certificate.objective, 1e-12 * certificate.objective);
      EXPECT_NEAR(certificate.kkt, dropped.certificate.kkt, 1e-11);
      EXPECT_EQ(dropped.summary()["test_accuracy"], dropped.trace.back().test_accuracy);

      const std::vector<Index> kept = needed_features(data.train().x, {lambda, 0.0}),
                               can_enter = needed_features(data.train().x, {lambda, 1.0});  // and copies
      const std::set<Index> entered(can_enter.begin(), can_enter.end());
      problems_with_dropped += can_enter.size() < data.train().x.features();
      problems_with_copies += kept.size() < can_enter.size();
      EXPECT_EQ(dropped.summary()["features_kept"], kept.size());
      for (const Coord c : all.w.index)
        if (c < data.train().x.features() * Coord{data.train().outputs()}) {
          EXPECT_TRUE(entered.contains(static_cast<Index>(c / data.train().outputs())))
              << "a dropped feature is on at the optimum";
        }
    }
  EXPECT_GE(problems_with_dropped, 12);
  EXPECT_GE(problems_with_copies, 12);
}

INSTANTIATE_TEST_SUITE_P(Oracles, Dropping, testing::Values("chain", "tree"));

RunParameters settings_of(const std::string& solver) {
  RunParameters settings;
  settings.solver = solver;
  settings.penalty.lambda = 0.5;
  settings.max_iterations = 40;
  return settings;
}

std::int64_t samples_with_accuracy(const RunOutcome& outcome) {
  return std::count_if(outcome.trace.begin(), outcome.trace.end(),
                       [](const Sample& sample) { return !std::isnan(sample.test_accuracy); });
}

TEST(Train, StatesWhatSamplingCostAndWhatItsAuditsFound) {
  const LoadedData data(make_data("chain", 1), Parallel(1));
  RunParameters settings = settings_of("owl-qn");
  settings.sampling_budget = 0.0;
  const RunOutcome light = train(data, settings);
  EXPECT_EQ(light.summary()["audits"], 1) << "the end";
  EXPECT_LE(light.summary()["audit_max_difference"].get<double>(), 1e-12);
  EXPECT_GT(light.summary()["sampling_seconds"].get<double>(), 0.0);

  settings.sampling_budget = std::numeric_limits<double>::infinity();
  const RunOutcome full = train(data, settings);
  EXPECT_EQ(samples_with_accuracy(full), static_cast<std::int64_t>(full.trace.size()));
  EXPECT_EQ(full.summary()["audits"], full.trace.size() - 1);
  EXPECT_EQ(full.w.index, light.w.index);
  EXPECT_EQ(full.w.value, light.w.value);

  // A solver that passes no loss leaves nothing to audit.
  const RunOutcome sgd = train(data, settings_of("sgd"));
  EXPECT_EQ(sgd.summary()["audits"], 0);
  EXPECT_TRUE(sgd.summary()["audit_max_difference"].is_null());
}

TEST(Train, StopsAtTheTarget) {
  const LoadedData data(make_data("tree", 1), Parallel(1));
  RunParameters settings = settings_of("prox-newton");
  const double best = train(data, settings).certificate.objective;
  settings.objective_target = 1.05 * best;
  const RunOutcome outcome = train(data, settings);
  EXPECT_EQ(outcome.status, Status::kTargetReached);
  EXPECT_EQ(outcome.summary()["status"], "target-reached");
  EXPECT_LE(outcome.certificate.objective, 1.05 * best);
  EXPECT_GT(outcome.certificate.objective, 1.0001 * best) << "not long after";
}

TEST(Train, StopsAtTheGapAndKeepsTheBestBound) {
  for (const char* oracle : {"chain", "tree"}) {
    const LoadedData data(make_data(oracle, 1), Parallel(1));
    RunParameters settings = settings_of("prox-newton");
    const double best = train(data, settings).certificate.objective;
    settings.tol = 0.0;
    settings.max_iterations = 0;
    settings.gap_target = 1e-3;
    const RunOutcome outcome = train(data, settings);
    EXPECT_EQ(outcome.summary()["status"], "gap-reached");
    EXPECT_LE(outcome.certificate.relative_gap(), 1e-3);
    EXPECT_EQ(outcome.summary()["relative_gap"], outcome.certificate.relative_gap());
    EXPECT_EQ(outcome.summary()["gap"], outcome.certificate.objective - outcome.certificate.dual);
    EXPECT_LE(outcome.certificate.dual, best);
    EXPECT_LE(outcome.certificate.objective - best, 1e-3 * outcome.certificate.objective) << "as is proven";
    EXPECT_GT(outcome.summary()["gap_seconds"], 0.0);
    EXPECT_EQ(outcome.summary()["gap_target"], 1e-3);
    EXPECT_FALSE(std::isnan(outcome.trace.back().gap));
    EXPECT_FALSE(std::isnan(outcome.trace.back().test_accuracy));
  }
}

TEST(Train, SaysThatAGapIsReachedOnlyWhereOneWasAskedFor) {
  for (const char* oracle : {"chain", "tree"})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const LoadedData data(make_data(oracle, seed), Parallel(1));
      RunParameters settings;
      settings.solver = "newton-cg";
      settings.penalty.lambda = 0.0;
      settings.penalty.mu = 1.0;
      settings.tol = 0.0;
      const RunOutcome outcome = train(data, settings);
      EXPECT_LE(outcome.certificate.relative_gap(), 1e-12) << "nothing that a gap could add";
      EXPECT_EQ(outcome.status, Status::kStalled) << oracle << " " << seed;
    }
}

/// By strong convexity, F - min F <= ||grad F||^2 / (2 mu). With alpha_i = p_i, this is the duality gap.
TEST(Train, ProvesAGapWithL2AloneByEverySolver) {
  for (const char* oracle : {"chain", "tree"})
    for (const SolverInfo& solver : solver_registry().items()) {
      SCOPED_TRACE(std::string(oracle) + " " + solver.name);
      const LoadedData data(make_data(oracle, 1), Parallel(1));
      RunParameters settings;
      settings.solver = solver.name;
      settings.penalty.lambda = 0.0;
      settings.penalty.mu = 1.0;
      settings.tol = 0.0;
      settings.gap_target = solver.exact ? 1e-6 : 1e-2;
      const Options options(solver.options);
      const OracleInfo& info = oracle_registry().find(oracle);
      if (!unmet_needs(solver, {0.0, 1.0}, Loss::Kind::kLog, info).empty()) continue;
      const RunOutcome outcome = train(data, settings);
      EXPECT_EQ(outcome.status, Status::kGapReached);
      EXPECT_LE(outcome.certificate.relative_gap(), settings.gap_target);
      const Sample& last = outcome.trace.back();
      EXPECT_LE(last.gap, settings.gap_target * last.objective);

      Objective objective = data.objective({0.0, 1.0});
      std::vector<double> w(objective.dimension(), 0.0), gradient(w.size());
      for (std::size_t i = 0; i < outcome.w.nnz(); ++i) w[outcome.w.index[i]] = outcome.w.value[i];
      Scores scores = objective.make_scores();
      Residual residual = objective.make_residual();
      objective.scores(outcome.w, scores);
      objective.infer({scores}, &residual);
      objective.gradient(residual, w, gradient);
      const double squares = std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0);
      EXPECT_LE(outcome.certificate.gap(), 0.5 * squares + 1e-9 * outcome.certificate.objective);
    }
}

/// Writes these weights as a model file.
std::string write_model(const TestFolder& folder, const LoadedData& data, const SparseVector& w) {
  const Options no_options{OptionTable{}};
  RunParameters settings;
  settings.solver = "any";
  return folder.write("start.tsv", model_of(data, "text", no_options, settings, w));
}

TEST(Train, EverySolverStartsFromTheModelThatItIsGiven) {
  const TestFolder folder;
  for (const char* oracle : {"chain", "tree"}) {
    const LoadedData data(make_data(oracle, 1), Parallel(1));
    RunParameters settings = settings_of("prox-newton");
    settings.format = "text";
    settings.penalty.lambda = 3.0;
    settings.penalty.mu = 0.5;
    const RunOutcome near = train(data, settings);
    ASSERT_LT(*near.features_kept, data.train().x.features());
    settings.start = write_model(folder, data, near.w);
    for (const SolverInfo& solver : solver_registry().items()) {
      SCOPED_TRACE(std::string(oracle) + " " + solver.name);
      settings.solver = solver.name;
      if (!unmet_needs(solver, settings.penalty, Loss::Kind::kLog, oracle_registry().find(oracle)).empty())
        continue;
      if (!solver.starts_anywhere) {
        EXPECT_THROW(train(data, settings), Error);
        continue;
      }
      const RunOutcome outcome = train(data, settings);
      EXPECT_NEAR(outcome.trace.front().objective, near.certificate.objective,
                  1e-12 * near.certificate.objective);
      EXPECT_EQ(outcome.trace.front().nnz, near.w.nnz());
      EXPECT_EQ(outcome.kkt_at_zero, near.kkt_at_zero) << "not that of the start";
      EXPECT_EQ(outcome.features_kept, near.features_kept);
    }
  }
}

TEST(Train, KeepsTheWeightsThatItStartsFromAlsoOfFeaturesThatCannotEnter) {
  const TestFolder folder;
  const LoadedData data(make_data("chain", 1), Parallel(1));
  RunParameters settings = settings_of("prox-newton");
  settings.format = "text";
  settings.penalty.lambda = 0.1;
  const RunOutcome many = train(data, settings);
  settings.penalty.lambda = 3.0;
  const RunOutcome cold = train(data, settings);
  settings.start = write_model(folder, data, many.w);
  const RunOutcome warm = train(data, settings);
  Objective objective = data.objective({3.0, 0.0});
  EXPECT_NEAR(warm.trace.front().objective, certify(objective, many.w).objective, 1e-9);
  EXPECT_GT(*warm.features_kept, *cold.features_kept);
  EXPECT_EQ(warm.status, Status::kConverged);
  EXPECT_NEAR(warm.certificate.objective, cold.certificate.objective, 1e-5 * cold.certificate.objective);
}

TEST(Train, ASolverWithAStartOfItsOwnRefusesAModel) {
  const SolverInfo dual{
      .name = "dual", .help = "", .paper = "", .options = {}, .make = {}, .starts_anywhere = false};
  EXPECT_EQ(unmet_start(dual, ""), "");
  EXPECT_EQ(unmet_start(dual, "m.tsv"),
            "solver 'dual' has a start of its own: found the model m.tsv to start from, expected none");
  EXPECT_EQ(unmet_start(solver_registry().find("sgd"), "m.tsv"), "");
}

TEST(Train, WarmsUpForAsLongAsAskedOffTheClock) {
  const LoadedData data(make_data("chain", 1), Parallel(1));
  RunParameters settings = settings_of("prox-newton");
  const RunOutcome cold = train(data, settings);
  EXPECT_EQ(cold.warm_up_seconds, 0.0);
  EXPECT_EQ(cold.summary()["warm_up_seconds"], 0.0);
  EXPECT_GT(cold.setup_seconds, 0.0);
  EXPECT_EQ(cold.summary()["setup_seconds"], cold.setup_seconds);

  settings.warm_up = 0.002;
  const RunOutcome warm = train(data, settings);
  EXPECT_GE(warm.warm_up_seconds, settings.warm_up);
  EXPECT_EQ(warm.summary()["warm_up_seconds"], warm.warm_up_seconds);
  EXPECT_EQ(warm.summary()["passes"], cold.summary()["passes"]) << "the solver's passes alone";
  EXPECT_EQ(warm.w.value, cold.w.value);

  const std::atomic<bool> interrupt{true};
  settings.warm_up = 1e6;
  EXPECT_EQ(train(data, settings, {.on_sample = {}, .stop = &interrupt}).status, Status::kInterrupted);
}

}  // namespace
}  // namespace proxbench
