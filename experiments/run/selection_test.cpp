#include "experiments/run/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/config/penalty_path.h"
#include "experiments/metrics/metrics.h"
#include "solvers/shared/test_problems.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::ProblemSpec;

const SelectionMeasure kAccuracy = &trace_metric(), kLoss = nullptr;

const ProblemSpec kSpec{.name = "chain", .sequences = 24, .bias = true, .seed = 3};

RunParameters settings_of() {
  RunParameters settings;
  settings.solver = "prox-newton";
  settings.tol = 1e-7;
  settings.seed = 5;
  return settings;
}

LoadedData load(Dataset test = {}) {
  return LoadedData(DataPair{test::Problem(kSpec).data(), std::move(test), "chain"}, Parallel(1));
}

std::vector<Penalty> grid(const LoadedData& data) {
  return RunPenalty{{kNaN, 0.0}, PenaltyPath{{1.0, true}, {0.05, true}, 6}}.penalties(lambda_max(data, {}));
}

TEST(Folds, PartitionTheInstances) {
  for (const std::int64_t folds : {2, 3, 7, 10}) {
    std::vector<Index> all;
    std::size_t smallest = 100, largest = 0;
    for (const std::vector<Index>& fold : draw_folds(10, folds, 4)) {
      EXPECT_TRUE(std::is_sorted(fold.begin(), fold.end()));
      smallest = std::min(smallest, fold.size());
      largest = std::max(largest, fold.size());
      all.insert(all.end(), fold.begin(), fold.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_LE(largest - smallest, 1u);
  }
  EXPECT_EQ(draw_folds(10, 3, 4), draw_folds(10, 3, 4));
  EXPECT_NE(draw_folds(10, 3, 4), draw_folds(10, 3, 5));
  for (const std::int64_t folds : {-1, 0, 1, 11}) EXPECT_THROW(draw_folds(10, folds, 4), Error);
}

TEST(HeldOutShare, IsRoundedAndNeitherNoneNorAll) {
  EXPECT_EQ(draw_held_out(10, 0.26, 1).size(), 3u);
  EXPECT_EQ(draw_held_out(10, 0.26, 1), draw_held_out(10, 0.26, 1));
  for (const double share : {0.0, 0.04, 0.96, 1.0}) EXPECT_THROW(draw_held_out(10, share, 1), Error);
}

TEST(SelectInstances, KeepsTheirPositionsAndNames) {
  Dataset all = test::Problem(kSpec).data();
  all.unknown_gold = {{all.begin[5], "unseen"}, {all.begin[3], "elsewhere"}};
  const Dataset some = select_instances(all, std::vector<Index>{2, 5});
  ASSERT_EQ(some.instances(), 2u);
  EXPECT_EQ(some.vocabulary, all.vocabulary);
  EXPECT_EQ(some.x.features(), all.x.features());
  Index at = 0;
  for (const Index i : {2u, 5u})
    for (Index p = all.begin[i]; p < all.begin[i + 1]; ++p, ++at) {
      EXPECT_EQ(some.gold[at], all.gold[p]);
      EXPECT_TRUE(std::ranges::equal(some.x.row(at), all.x.row(p)));
    }
  EXPECT_EQ(some.positions(), at);
  EXPECT_EQ(some.unknown_gold, (std::map<Index, std::string>{{some.begin[1], "unseen"}}));
}

/// The likelihood of a set equals that of the objective, and the accuracy equals that of the test set.
TEST(HeldOut, MeasuresWhatObjectiveAndTestSetDo) {
  const test::Problem problem(kSpec);
  const LoadedData data = load();
  RunParameters settings = settings_of();
  settings.penalty = {1.0, 0.0};
  const SparseVector w = train(data, settings).w;
  Objective objective = problem.objective(Parallel(1));
  const HeldOut loss(problem.data(), "chain", Parallel(1), kLoss);
  EXPECT_NEAR(loss.measure(w).value,
              certify(objective, w).loss / static_cast<double>(problem.data().positions()), 1e-12);
  const HeldOut accuracy(problem.data(), "chain", Parallel(1), kAccuracy);
  Sample measured;
  EvaluationSet(problem.data(), problem.oracle(), Parallel(1), {&trace_metric()}).measure(w, measured);
  EXPECT_NEAR(accuracy.measure(w).value, measured.test_accuracy, 1e-12);
  EXPECT_GT(accuracy.measure(w).standard_error, 0.0);
}

TEST(HeldOut, MeasuresTheHingeLossOfTheObjective) {
  for (const Cost cost : {Cost::kHamming, Cost::kHammingMean})
    for (const auto tree : {test::ProblemSpec::Tree::kNone, test::ProblemSpec::Tree::kNested}) {
      test::ProblemSpec spec = kSpec;
      spec.tree = tree;
      spec.loss = {Loss::Kind::kHinge, cost};
      const test::Problem problem(spec);
      Objective objective = problem.objective(Parallel(1));
      SparseVector w;
      Random random(1);
      for (Coord c = 0; c < objective.dimension(); ++c)
        if (random.uniform() < 0.5) w.push_back(c, random.normal());
      const bool chain = tree == test::ProblemSpec::Tree::kNone;
      const HeldOut held_out(problem.data(), chain ? "chain" : "tree", Parallel(2), kLoss, spec.loss);
      const double sum = certify(objective, w).loss;
      EXPECT_NEAR(held_out.measure(w).value, sum / static_cast<double>(problem.data().positions()),
                  1e-12 * sum);
      EXPECT_GT(held_out.measure(w).standard_error, 0.0);
    }
}

TEST(HeldOut, LeavesOutInstancesWithoutALikelihood) {
  Dataset data = test::Problem(kSpec).data();
  data.gold[data.begin[3]] = kUnknownOutput;
  EXPECT_EQ(HeldOut(data, "chain", Parallel(1), kLoss).skipped(), 1u);
  EXPECT_EQ(HeldOut(data, "chain", Parallel(1), kAccuracy).skipped(), 0u);
  std::fill(data.gold.begin(), data.gold.end(), kUnknownOutput);
  EXPECT_THROW(HeldOut(data, "chain", Parallel(1), kLoss), Error);
}

TEST(Choice, IsTheBestMeanAndTheLargestLambdaWithinOneError) {
  const auto points = [](std::initializer_list<double> means) {
    std::vector<SelectionPoint> out;
    for (const double mean : means) out.push_back({.mean = mean, .standard_error = 0.05});
    return out;
  };
  const auto accuracy = points({0.5, 0.86, 0.9, 0.9, 0.7});
  EXPECT_EQ(best_point(accuracy, kAccuracy), 2u);
  EXPECT_EQ(one_standard_error_point(accuracy, kAccuracy), 1u);
  const auto loss = points({0.5, 0.23, 0.2, 0.2, 0.3});
  EXPECT_EQ(best_point(loss, kLoss), 2u);
  EXPECT_EQ(one_standard_error_point(loss, kLoss), 1u);
  std::vector<SelectionPoint> unknown = accuracy;
  for (SelectionPoint& point : unknown) point.standard_error = std::nan("");
  EXPECT_EQ(one_standard_error_point(unknown, kAccuracy), 2u);
}

/// Cross-validation by hand: trains the model of each fold separately for each penalty.
void expect_solves_of_each_fold(const std::vector<Penalty>& penalties) {
  const LoadedData data = load();
  const RunParameters settings = settings_of();
  for (const SelectionMeasure measure : {kAccuracy, kLoss}) {
    const ModelSelection selection =
        select_model(data, settings, {penalties}, {.folds = 3, .measure = measure});
    ASSERT_EQ(selection.points.size(), penalties.size());
    EXPECT_EQ(selection.held_out_instances, data.train().instances());
    const std::vector<std::vector<Index>> folds = draw_folds(data.train().instances(), 3, settings.seed);
    for (std::size_t k = 0; k < penalties.size(); ++k) {
      std::vector<double> values;
      for (const std::vector<Index>& fold : folds) {
        std::vector<Index> rest;
        for (Index i = 0; i < data.train().instances(); ++i)
          if (std::find(fold.begin(), fold.end(), i) == fold.end()) rest.push_back(i);
        const LoadedData part(DataPair{select_instances(data.train(), rest), {}, "chain"}, Parallel(1));
        RunParameters single = settings;
        single.penalty = penalties[k];
        const HeldOut held_out(select_instances(data.train(), fold), "chain", Parallel(1), measure);
        values.push_back(held_out.measure(train(part, single).w).value);
      }
      const double mean = (values[0] + values[1] + values[2]) / 3.0;
      double squares = 0.0;
      for (const double value : values) squares += (value - mean) * (value - mean);
      EXPECT_NEAR(selection.points[k].mean, mean, 1e-5);
      EXPECT_NEAR(selection.points[k].standard_error, std::sqrt(squares / 6.0), 1e-5);
    }
    EXPECT_EQ(selection.chosen, selection.best);
    // The model is the optimum of the chosen lambda on all instances.
    RunParameters single = settings;
    single.penalty = penalties[selection.chosen];
    const RunOutcome whole = train(data, single);
    EXPECT_EQ(selection.refit.points.size(), selection.chosen + 1);
    EXPECT_NEAR(selection.refit.points.back().certificate.objective, whole.certificate.objective,
                1e-6 * whole.certificate.objective);
  }
}

TEST(SelectModel, AgreesWithSolvesOfEachFoldAndLambda) {
  expect_solves_of_each_fold(grid(load()));
}

TEST(SelectModel, AgreesWithSolvesOfEachFoldAndMuWithoutL1) {
  expect_solves_of_each_fold({{0.0, 30.0}, {0.0, 3.0}, {0.0, 0.3}});
}

TEST(SelectModel, StatesTheOtherMetricsOfWhatIsHeldOut) {
  const ModelSelection selection = select_model(load(), settings_of(), {{{1.0, 0.0}}}, {.folds = 3});
  const std::map<std::string, double>& others = selection.points.front().others;
  ASSERT_EQ(others.count("structure-accuracy"), 1u);
  EXPECT_EQ(others.count(trace_metric().name), 0u) << "that is the mean";
  EXPECT_LT(others.at("structure-accuracy"), selection.points.front().mean)
      << "a structure has several positions";
}

TEST(SelectModel, ChoosesByAnyMetricThatApplies) {
  const SelectionMeasure structures = &metric_registry().find("structure-accuracy");
  const LoadedData data = load();
  const std::vector<Penalty> lambdas = grid(data);
  const ModelSelection by_structure =
      select_model(data, settings_of(), {lambdas}, {.folds = 3, .measure = structures});
  const ModelSelection by_position = select_model(data, settings_of(), {lambdas}, {.folds = 3});
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    EXPECT_EQ(by_structure.points[k].mean, by_position.points[k].others.at("structure-accuracy"));
    EXPECT_EQ(by_structure.points[k].others.at("accuracy"), by_position.points[k].mean);
    EXPECT_LE(by_structure.points[k].mean, by_structure.points[by_structure.best].mean);
  }
  EXPECT_THROW(select_model(data, settings_of(), {lambdas},
                            {.folds = 3, .measure = &metric_registry().find("ranking-f1")}),
               Error)
      << "of candidates alone";
  EXPECT_THROW(select_model(data, settings_of(), {lambdas},
                            {.held_out = 0.25, .measure = structures, .one_standard_error = true}),
               Error)
      << "one set has no standard error of it";
}

TEST(SelectModel, TakesHeldOutInstancesOrTheTestSet) {
  Dataset test = test::Problem({.name = "test", .sequences = 10, .bias = true, .seed = 4}).data();
  const LoadedData data = load(test);
  const std::vector<Penalty> lambdas = grid(data);
  const ModelSelection by_share = select_model(data, settings_of(), {lambdas}, {.held_out = 0.25});
  EXPECT_EQ(by_share.held_out_instances, 6u);
  const ModelSelection by_test = select_model(data, settings_of(), {lambdas}, {.one_standard_error = true});
  EXPECT_EQ(by_test.held_out_instances, 10u);
  EXPECT_EQ(by_test.chosen, by_test.one_standard_error);
  EXPECT_LE(by_test.chosen, by_test.best);
}

TEST(SelectModel, StatesWhatDoesNotFit) {
  const LoadedData data = load();
  const std::vector<Penalty> lambdas = grid(data);
  EXPECT_THROW(select_model(data, settings_of(), {lambdas}, {}), Error);
  EXPECT_THROW(select_model(data, settings_of(), {lambdas}, {.folds = 25}), Error);
}

TEST(SelectModel, SeveralPathsGiveWhatEachGivesAlone) {
  const LoadedData data = load();
  PenaltyPaths paths;
  for (const double mu : {1.0, 0.1})
    paths.push_back(RunPenalty{{kNaN, mu}, PenaltyPath{{2.0}, {0.2}, 4}}.penalties(0.0));
  const ModelSelection both = select_model(data, settings_of(), paths, {.folds = 3});
  ASSERT_EQ(both.points.size(), 8u);
  std::vector<ModelSelection> alone;
  for (std::size_t p = 0; p < 2; ++p) {
    alone.push_back(select_model(data, settings_of(), {paths[p]}, {.folds = 3}));
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(both.points[4 * p + k].mu, paths[p][k].mu);
      EXPECT_EQ(both.points[4 * p + k].mean, alone[p].points[k].mean);
    }
  }
  const std::size_t better = alone[1].points[alone[1].best].mean > alone[0].points[alone[0].best].mean;
  EXPECT_EQ(both.begin, 4 * better);
  EXPECT_EQ(both.end, 4 * better + 4);
  EXPECT_EQ(both.best, both.begin + alone[better].best);
  EXPECT_EQ(both.one_standard_error, both.begin + alone[better].one_standard_error);
  EXPECT_EQ(both.refit.certificate.objective, alone[better].refit.certificate.objective);
  EXPECT_EQ(both.refit.parameters.penalty.mu, paths[better].front().mu);
}

TEST(SelectModel, CountsTheModelsThatAreFarFromConverged) {
  const LoadedData data = load();
  RunParameters few = settings_of();
  few.max_iterations = 1;
  few.tol = 1e-9;
  const ModelSelection selection = select_model(
      data, few, {RunPenalty{{kNaN, 0.0}, PenaltyPath{{0.02}, {0.001}, 3}}.penalties(0.0)}, {.folds = 3});
  EXPECT_EQ(selection.points[0].unsolved, 3u);
  EXPECT_TRUE(is_unsolved(selection.refit.points.back()));
  for (const SelectionPoint& point : select_model(data, settings_of(), {grid(data)}, {.folds = 3}).points)
    EXPECT_EQ(point.unsolved, 0u);
}

TEST(SelectModel, ChoosesNothingWhenItIsInterrupted) {
  const LoadedData data = load();
  const std::atomic<bool> interrupt = true;
  Progress hooks;
  hooks.stop = &interrupt;
  const ModelSelection stopped = select_model(data, settings_of(), {grid(data)}, {.folds = 2}, hooks);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.points.size(), 1u) << "w = 0 is optimal at lambda_max, which no solve has to find out";
  EXPECT_TRUE(std::filesystem::remove(stopped.kept_in));
}

}  // namespace
}  // namespace proxbench
