#include "experiments/run/trainer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/random.h"
#include "core/data/reduction.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Documents on a two-level tree, or sequences, whose features are on with very different frequency.
DataPair make_data(const std::string& oracle, std::uint64_t seed) {
  Random random(seed);
  DataPair out;
  out.oracle = oracle;
  const bool tree = oracle == "tree";
  auto vocabulary = std::make_shared<Vocabulary>();
  constexpr Index kFeatures = 40;
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
      for (Index j = 0; j < kFeatures; ++j)
        if (random.uniform() < (j % labels.size() == label ? 0.9 : 0.3) / (1.0 + 0.5 * j))
          builder.add(j, random.uniform() + 0.1);
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

TEST_P(Dropping, FeaturesThatCannotEnterChangesNoOptimum) {
  int problems_with_dropped = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const double lambda : {0.5, 2.0, 4.0}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " lambda " << lambda);
      const LoadedData data(make_data(GetParam(), seed), Parallel(1));
      RunParameters settings;
      settings.solver = "prox-qn";
      settings.lambda = lambda;
      settings.tol = 1e-9;
      const RunOutcome dropped = train(data, settings);
      settings.drop_features = false;
      const RunOutcome all = train(data, settings);
      EXPECT_EQ(all.kkt_at_zero, dropped.kkt_at_zero);
      EXPECT_NEAR(dropped.certificate.objective, all.certificate.objective, 1e-8 * all.certificate.objective);

      // The certificate of the smaller problem is that of the whole one, and so is the accuracy.
      Objective whole = data.objective(lambda, 0.0);
      const Certificate certificate = certify(whole, dropped.w);
      EXPECT_NEAR(certificate.objective, dropped.certificate.objective, 1e-12 * certificate.objective);
      EXPECT_NEAR(certificate.kkt, dropped.certificate.kkt, 1e-11);
      EXPECT_EQ(dropped.summary()["test_accuracy"], dropped.trace.back().test_accuracy);

      const std::vector<Index> kept = features_that_can_enter(data.train().x, lambda);
      const std::set<Index> entered(kept.begin(), kept.end());
      problems_with_dropped += kept.size() < data.train().x.features();
      EXPECT_EQ(dropped.summary()["features_kept"], kept.size());
      for (const Coord c : all.w.index)
        if (c < data.train().x.features() * Coord{data.train().outputs()}) {
          EXPECT_TRUE(entered.contains(static_cast<Index>(c / data.train().outputs())))
              << "a dropped feature is on at the optimum";
        }
    }
  EXPECT_GE(problems_with_dropped, 12);
}

INSTANTIATE_TEST_SUITE_P(Oracles, Dropping, testing::Values("chain", "tree"));

RunParameters settings_of(const std::string& solver) {
  RunParameters settings;
  settings.solver = solver;
  settings.lambda = 0.5;
  settings.max_iterations = 40;
  return settings;
}

std::int64_t samples_with_accuracy(const RunOutcome& outcome) {
  return std::count_if(outcome.trace.begin(), outcome.trace.end(),
                       [](const Sample& sample) { return !std::isnan(sample.test_accuracy); });
}

TEST(Train, TellsWhatSamplingCostAndWhatItsAuditsFound) {
  const LoadedData data(make_data("chain", 1), Parallel(1));
  RunParameters settings = settings_of("owl-qn");
  settings.sampling_budget = 0.0;
  const RunOutcome light = train(data, settings);
  EXPECT_EQ(samples_with_accuracy(light), 2) << "the start and the end";
  EXPECT_EQ(light.summary()["audits"], 1);
  EXPECT_LE(light.summary()["audit_max_difference"].get<double>(), 1e-12);
  EXPECT_GT(light.summary()["sampling_seconds"].get<double>(), 0.0);

  settings.sampling_budget = std::numeric_limits<double>::infinity();
  const RunOutcome full = train(data, settings);
  EXPECT_EQ(samples_with_accuracy(full), static_cast<std::int64_t>(full.trace.size()));
  EXPECT_EQ(full.summary()["audits"], full.trace.size() - 1);
  EXPECT_EQ(full.w.index, light.w.index);
  EXPECT_EQ(full.w.value, light.w.value);

  // A solver that gives no loss has nothing to audit.
  const RunOutcome sgd = train(data, settings_of("sgd"));
  EXPECT_EQ(sgd.summary()["audits"], 0);
  EXPECT_TRUE(sgd.summary()["audit_max_difference"].is_null());
}

TEST(Train, StopsAtTheTarget) {
  const LoadedData data(make_data("tree", 1), Parallel(1));
  RunParameters settings = settings_of("prox-qn");
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
    RunParameters settings = settings_of("prox-qn");
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

TEST(Train, WarmsUpForAsLongAsAskedOffTheClock) {
  const LoadedData data(make_data("chain", 1), Parallel(1));
  RunParameters settings = settings_of("prox-qn");
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
  EXPECT_EQ(train(data, settings, {.on_sample = {}, .interrupt = &interrupt}).status, Status::kInterrupted);
}

}  // namespace
}  // namespace proxbench
