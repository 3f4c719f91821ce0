#include "core/monitor/monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/solver.h"
#include "core/wrapped_oracle.h"
#include "oracles/chain/chain.h"

namespace proxbench {
namespace {

/// Two labels that feature 1 distinguishes. The test set repeats the training set with one unknown label.
struct Problem {
  Problem() {
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->outputs = {"a", "b"};
    vocabulary->features = {"bias", "x"};
    for (Dataset* set : {&train, &test}) {
      set->vocabulary = vocabulary;
      DesignMatrix::Builder builder;
      for (Index p = 0; p < 10; ++p) {
        builder.add(0, 1.0);
        if (p % 2 == 1) builder.add(1, 1.0);
        builder.end_position();
        set->gold.push_back(p % 2);
        if (p % 5 == 4) set->begin.push_back(p + 1);
      }
      set->x = std::move(builder).build(2);
    }
    test.gold[3] = kUnknownOutput;
    oracle = std::make_unique<ChainOracle>(train);
    test_oracle = std::make_unique<ChainOracle>(test);
    objective = std::make_unique<Objective>(train.x, *oracle, Penalty{0.5, 0.0}, Parallel());
    evaluator = std::make_unique<Objective>(train.x, *oracle, Penalty{0.5, 0.0}, Parallel());
  }
  Dataset train, test;
  std::unique_ptr<ChainOracle> oracle, test_oracle;
  std::unique_ptr<Objective> objective, evaluator;
};

/// The share of positions that are right.
const MetricInfo kShareRight{.name = "right",
                             .help = "",
                             .paper = "",
                             .measure = [](const Dataset& data, std::span<const Index> prediction) {
                               double right = 0.0;
                               for (std::size_t p = 0; p < prediction.size(); ++p)
                                 right += prediction[p] == data.gold[p];
                               return right / static_cast<double>(prediction.size());
                             }};

/// The share of sequences that are right as a whole.
const MetricInfo kShareWhole{.name = "whole",
                             .help = "",
                             .paper = "",
                             .measure = [](const Dataset& data, std::span<const Index> prediction) {
                               double right = 0.0;
                               for (std::size_t i = 0; i < data.instances(); ++i)
                                 right += std::equal(prediction.begin() + data.begin[i],
                                                     prediction.begin() + data.begin[i + 1],
                                                     data.gold.begin() + data.begin[i]);
                               return right / static_cast<double>(data.instances());
                             }};

/// l at w.
double loss_at(Problem& problem, const SparseVector& w) {
  return certify(*problem.evaluator, w).loss;
}

/// A clock that moves only when the test moves it, and an oracle whose inference takes time on it.
struct FakeTime {
  explicit FakeTime(double inference) : cost(inference) {}
  std::function<double()> clock() {
    return [this] { return now; };
  }
  double now = 100.0, cost, decode_cost = 0.0;  ///< seconds
  std::int64_t inferences = 0;
};
class SlowOracle final : public WrappedOracle {
 public:
  SlowOracle(const Oracle& inner, FakeTime& time) : WrappedOracle(inner), time_(time) {}
  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    time_.now += time_.cost;
    ++time_.inferences;
    return WrappedOracle::infer(at, residual, parallel);
  }
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    time_.now += time_.decode_cost;
    WrappedOracle::decode(scores, decoding, outputs, parallel);
  }

 private:
  FakeTime& time_;
};

/// These w tell the labels apart: coordinate (feature 1, label b) = 4, (feature 0, label b) = -2.
SparseVector good_weights() {
  SparseVector w;
  w.push_back(1, -2.0);
  w.push_back(3, 4.0);
  return w;
}

TEST(Monitor, ComputesItsSamplesFromTheIterate) {
  Problem problem;
  const EvaluationSet test(problem.test, *problem.test_oracle, Parallel(), {&kShareRight, &kShareWhole});
  Monitor monitor(*problem.evaluator, *problem.objective, {.sample_kkt = true}, &test);
  const SparseVector w = good_weights();
  monitor.start(SparseVector{});
  EXPECT_TRUE(monitor.step(w));
  ASSERT_EQ(monitor.trace().size(), 2u);
  const Sample& start = monitor.trace()[0];
  EXPECT_EQ(start.seconds, 0.0);
  EXPECT_NEAR(start.objective, 10 * std::log(2.0), 1e-12);
  const Sample& sample = monitor.trace()[1];
  // Without transitions each position is a logistic regression with margin -2 or 2.
  const double loss = 10 * std::log1p(std::exp(-2.0));
  EXPECT_NEAR(sample.loss, loss, 1e-12);
  EXPECT_NEAR(sample.objective, loss + 0.5 * 6.0, 1e-12);
  EXPECT_EQ(sample.nnz, 2u);
  EXPECT_EQ(sample.working_set, 2u);
  EXPECT_EQ(sample.iteration, 1);
  EXPECT_NEAR(sample.test_accuracy, 0.9, 1e-12) << "the unknown label counts as a miss";
  EXPECT_EQ(sample.test_metrics, (std::map<std::string, double>{{"whole", 0.5}})) << "of two sequences";
  EXPECT_NEAR(sample.kkt, certify(*problem.evaluator, w).kkt, 1e-12);
  EXPECT_EQ(sample.passes, 0.0) << "the monitor's own inference is not the solver's";
  EXPECT_EQ(sample.updates, 1.0) << "nobody counted: an iteration is one";
}

TEST(Monitor, StatesTheUpdatesThatTheSolverCounts) {
  Problem problem;
  Monitor monitor(*problem.evaluator, *problem.objective, {.sampling_budget = kInfinity});
  monitor.start(SparseVector{});
  for (int i = 1; i <= 3; ++i) {
    problem.objective->counts().add_updates(1.0);
    monitor.step(good_weights());
  }
  ASSERT_EQ(monitor.trace().size(), 4u);
  EXPECT_EQ(monitor.trace().front().updates, 0.0);
  EXPECT_EQ(monitor.trace().back().updates, 1.5) << "three steps on one of two instances each";
}

TEST(Monitor, AsksForTheIterateOnlyWhereASampleIsDueAndOffTheClock) {
  Problem problem;
  FakeTime time(0.0);
  Monitor monitor(
      *problem.evaluator, *problem.objective,
      {.sample_growth = 1e9, .dense_samples = 2, .sampling_budget = kInfinity, .clock = time.clock()});
  monitor.start(SparseVector{});
  int made = 0;
  for (int i = 1; i <= 20; ++i) {
    time.now += i == 1 ? 0.04 : 4e-5;  // later steps add less than a tenth
    monitor.step(
        [&] {
          time.now += 50.0;
          ++made;
          return good_weights();
        },
        kNaN, 3);
  }
  EXPECT_EQ(made, 2);
  EXPECT_NEAR(monitor.seconds(), 0.04 + 19 * 4e-5, 1e-9)
      << "without the time in which the iterates were made";
  EXPECT_EQ(monitor.trace().size(), 3u);
  EXPECT_EQ(monitor.trace().back().nnz, 2u);
  EXPECT_EQ(monitor.trace().back().working_set, 3u);
}

TEST(Monitor, ItsOwnWorkIsOffTheClock) {
  Problem problem;
  Monitor monitor(*problem.evaluator, *problem.objective, {.sampling_budget = kInfinity});
  std::vector<double> clock;
  monitor.on_sample = [&](const Sample&) {
    clock.push_back(monitor.seconds());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(monitor.seconds(), clock.back()) << "the clock stands still while a sample is taken";
    EXPECT_EQ(monitor.seconds(), monitor.trace().back().seconds);
  };
  monitor.start(SparseVector{});
  for (int i = 1; i <= 5; ++i) monitor.step(good_weights());
  ASSERT_EQ(clock.size(), 6u);
  EXPECT_EQ(clock[0], 0.0);
  for (std::size_t i = 1; i < clock.size(); ++i) EXPECT_GT(clock[i], clock[i - 1]);
}

TEST(Monitor, StatesWithinAnIterationThatTimeIsUp) {
  Problem problem;
  FakeTime time(0.0);
  Monitor monitor(*problem.evaluator, *problem.objective,
                  {.time_limit = 5.0, .sampling_budget = kInfinity, .clock = time.clock()});
  monitor.on_sample = [&](const Sample&) { time.now += 100.0; };  // this time is off the clock
  monitor.start(SparseVector{});
  time.now += 2.0;
  EXPECT_TRUE(monitor.step(good_weights()));
  time.now += 2.9;
  EXPECT_FALSE(monitor.out_of_time());
  time.now += 0.1;
  const StopToken token = monitor.stop_token();
  std::vector<std::thread> threads;
  std::atomic<int> told = 0;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { told += token.requested(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(told, 4);
  EXPECT_EQ(monitor.stop_status(), Status::kTimeLimit);
  EXPECT_EQ(monitor.trace().size(), 2u) << "no sample";
  time.now -= 3.0;
  EXPECT_TRUE(monitor.out_of_time()) << "once true, always true";
  EXPECT_FALSE(monitor.step(good_weights()));
  EXPECT_EQ(monitor.stop_status(), Status::kTimeLimit);
}

TEST(Monitor, StatesWithinAnIterationThatItWasInterrupted) {
  Problem problem;
  std::atomic<bool> interrupt = false;
  Monitor monitor(*problem.evaluator, *problem.objective, {.interrupt = &interrupt});
  monitor.start(SparseVector{});
  EXPECT_FALSE(monitor.out_of_time());
  interrupt = true;
  EXPECT_TRUE(monitor.out_of_time());
  interrupt = false;
  EXPECT_TRUE(monitor.out_of_time());
  EXPECT_EQ(monitor.stop_status(), Status::kInterrupted);
  EXPECT_FALSE(monitor.step(good_weights()));
  EXPECT_EQ(monitor.stop_status(), Status::kInterrupted);
}

TEST(Monitor, StopsForEachReason) {
  Problem problem;
  {
    Monitor monitor(*problem.evaluator, *problem.objective, {.max_iterations = 2});
    monitor.start(SparseVector{});
    EXPECT_TRUE(monitor.step(good_weights()));
    EXPECT_FALSE(monitor.step(good_weights()));
    EXPECT_EQ(monitor.stop_status(), Status::kMaxIterations);
  }
  {
    Monitor monitor(*problem.evaluator, *problem.objective, {.time_limit = 0.0});
    monitor.start(SparseVector{});
    EXPECT_FALSE(monitor.step(good_weights()));
    EXPECT_EQ(monitor.stop_status(), Status::kTimeLimit);
  }
  {
    std::atomic<bool> interrupt = true;
    Monitor monitor(*problem.evaluator, *problem.objective, {.interrupt = &interrupt});
    monitor.start(SparseVector{});
    EXPECT_FALSE(monitor.step(good_weights()));
    EXPECT_EQ(monitor.stop_status(), Status::kInterrupted);
  }
}

TEST(Monitor, SamplesSparselyAndAlwaysTheLast) {
  Problem problem;
  FakeTime time(0.0);
  Monitor monitor(
      *problem.evaluator, *problem.objective,
      {.sample_growth = 1000.0, .dense_samples = 2, .sampling_budget = kInfinity, .clock = time.clock()});
  monitor.start(SparseVector{});
  for (int i = 1; i <= 50; ++i) {
    time.now += i == 1 ? 0.04 : 4e-5;  // later steps add less than a tenth
    monitor.step(good_weights());
  }
  monitor.finish(good_weights());
  monitor.finish(good_weights());
  std::vector<std::int64_t> sampled;
  for (const Sample& sample : monitor.trace()) sampled.push_back(sample.iteration);
  EXPECT_EQ(sampled, (std::vector<std::int64_t>{0, 1, 2, 50})) << "the last one not twice";
}

/// A run with iterations of 0.1 s each, with or without losses given.
struct BudgetRun {
  std::vector<Sample> trace;
  double seconds, sampling_seconds;
  Audits audits;
  std::int64_t full_samples;
};
/// `start_cost` is the additional cost of an inference until the run has started.
BudgetRun run_on_a_budget(double budget, double cost, int iterations, bool gives_losses,
                          bool sample_kkt = false, double decode_cost = 0.0, double start_cost = 0.0) {
  Problem problem;
  const double loss = gives_losses ? loss_at(problem, good_weights()) : kNaN;
  FakeTime time(cost);
  time.decode_cost = decode_cost;
  const SlowOracle slow(*problem.oracle, time), slow_test(*problem.test_oracle, time);
  Objective evaluator(problem.train.x, slow, {0.5, 0.0}, Parallel());
  MonitorOptions options{
      .sample_growth = 0.0, .sample_kkt = sample_kkt, .sampling_budget = budget, .stalls = false};
  options.clock = time.clock();
  const EvaluationSet test(problem.test, slow_test, Parallel(), {&kShareRight});
  Monitor monitor(evaluator, *problem.objective, options, &test);
  time.cost = cost + start_cost;
  monitor.start(SparseVector{});
  time.cost = cost;
  for (int i = 1; i <= iterations; ++i) {
    time.now += 0.1;
    EXPECT_TRUE(monitor.step(good_weights(), loss));
  }
  monitor.finish(good_weights());
  EXPECT_NEAR(monitor.seconds(), 0.1 * iterations, 1e-9) << "samples are off the clock";
  return {monitor.trace(), monitor.seconds(), monitor.sampling_seconds(), monitor.audits(), time.inferences};
}

TEST(Sampling, StaysWithinItsBudgetAndUsesIt) {
  for (const double budget : {0.02, 0.1}) {
    for (const bool gives_losses : {true, false}) {
      SCOPED_TRACE(testing::Message() << "budget " << budget << (gives_losses ? " with losses" : ""));
      const BudgetRun r = run_on_a_budget(budget, 0.03, 2000, gives_losses);
      EXPECT_LE(r.sampling_seconds, budget * r.seconds + 1e-9);
      EXPECT_GE(r.sampling_seconds, 0.7 * budget * r.seconds);
      EXPECT_NEAR(r.sampling_seconds, 0.03 * static_cast<double>(r.full_samples), 1e-9);
      EXPECT_FALSE(std::isnan(r.trace.front().test_accuracy));
      EXPECT_FALSE(std::isnan(r.trace.back().test_accuracy));
      EXPECT_EQ(r.trace.back().iteration, 2000);
      double last_full = 0.0;
      for (const Sample& sample : r.trace) {
        if (gives_losses || sample.iteration == 0 || sample.iteration == 2000) continue;
        EXPECT_GE(sample.seconds - last_full, std::min(0.03 / budget, 0.1 * last_full - 0.5) - 1e-9)
            << "spread out, or asked for by the tenth";
        last_full = sample.seconds;
      }
      if (gives_losses) {
        EXPECT_GE(r.trace.size(), 2001u) << "light samples where no full one fits";
        EXPECT_EQ(r.audits.count, r.full_samples - 1) << "all but the start";
      } else {
        EXPECT_EQ(static_cast<std::int64_t>(r.trace.size()), r.full_samples) << "no value is made up";
        EXPECT_EQ(r.audits.count, 0);
      }
      for (const Sample& sample : r.trace)
        if (sample.iteration > 0) {
          EXPECT_EQ(sample.objective, r.trace.back().objective);
        }
    }
  }
}

TEST(Sampling, LightSamplesHaveTheAccuracyThatHalfOfTheBudgetPays) {
  // A full sample is so expensive that only the mandatory samples are full.
  const BudgetRun r = run_on_a_budget(0.02, 1.0, 1000, true, false, 0.01);
  EXPECT_EQ(r.full_samples, 3) << "the ends, and one that shows what a sample costs";
  double last = 0.0;
  std::int64_t count = 0, close = 0;
  for (const Sample& sample : r.trace) {
    if (std::isnan(sample.test_accuracy) || sample.iteration == 0 || sample.iteration == 1000) continue;
    close += sample.seconds - last < std::min(0.01 / (0.5 * 0.02), 0.25 * last - 0.2) - 1e-9;
    last = sample.seconds;
    ++count;
  }
  EXPECT_LE(close, 1) << "spread out or asked for by the quarter, but for the full sample's";
  EXPECT_GE(count, 50);  // in a run of 100 s
  EXPECT_LE(0.01 * static_cast<double>(count), 0.5 * 0.02 * r.seconds);
}

TEST(Sampling, WithoutABudgetOnlyTheEndsAreFull) {
  const BudgetRun r = run_on_a_budget(0.0, 0.03, 50, true);
  EXPECT_EQ(r.full_samples, 2);
  ASSERT_EQ(r.trace.size(), 52u);
  EXPECT_EQ(r.trace[50].iteration, 50) << "the last iterate's light sample";
  EXPECT_EQ(r.trace[51].iteration, 50) << "and its full one";
  EXPECT_EQ(r.audits.count, 1) << "the last iterate";
}

/// The largest growth of the clock between two successive moments, as a share of the earlier one, over all
/// steps that are longer than one iteration.
double largest_growth(const std::vector<double>& moments, double iteration) {
  double largest = 0.0;
  for (std::size_t i = 1; i < moments.size(); ++i)
    if (const double grown = moments[i] - moments[i - 1]; grown > iteration * (1.0 + 1e-9))
      largest = std::max(largest, grown / moments[i - 1]);
  return largest;
}

TEST(Sampling, TheClockGrowsByATenthBetweenSamplesAndByAQuarterBetweenAccuracies) {
  for (const double budget : {0.0, 0.01, 0.1})
    for (const double cost : {0.01, 7.0})
      for (const bool gives_losses : {true, false}) {
        SCOPED_TRACE(testing::Message()
                     << "budget " << budget << ", cost " << cost << (gives_losses ? " with losses" : ""));
        const BudgetRun r = run_on_a_budget(budget, cost, 2000, gives_losses, false, 0.5 * cost);
        std::vector<double> samples, accuracies;
        for (const Sample& sample : r.trace) {
          samples.push_back(sample.seconds);
          if (!std::isnan(sample.test_accuracy)) accuracies.push_back(sample.seconds);
        }
        EXPECT_LE(largest_growth(samples, 0.1), 0.1 + 1e-9);
        EXPECT_LE(largest_growth(accuracies, 0.1), 0.25 + 1e-9);
        if (cost > 1.0 && gives_losses) {
          EXPECT_LE(accuracies.size(), 35u) << "no more than 8 and one a quarter";
          EXPECT_EQ(r.full_samples, 2) << "light ones do";
        }
      }
}

TEST(Sampling, IterationsOfOtherLengthsKeepTheTenthWhereTheNextIsAtMostFourTimesAsLong) {
  Problem problem;
  FakeTime time(0.0);
  Monitor monitor(*problem.evaluator, *problem.objective,
                  {.sample_growth = 1e9, .sampling_budget = 0.0, .stalls = false, .clock = time.clock()});
  monitor.start(SparseVector{});
  double longest = 0.0;
  for (int i = 1; i <= 2000; ++i) {
    const double seconds = i % 3 == 0 ? 0.1 : 0.025;
    time.now += seconds;
    longest = std::max(longest, seconds);
    monitor.step(good_weights());
  }
  std::vector<double> samples;
  for (const Sample& sample : monitor.trace()) samples.push_back(sample.seconds);
  EXPECT_LE(largest_growth(samples, longest), 0.1 + 1e-9);
  EXPECT_LE(samples.size(), 150u) << "and no more of them than that takes";
}

TEST(Sampling, TheEstimateKnowsNothingOfWhatCameBeforeTheStart) {
  for (const bool gives_losses : {true, false}) {
    const BudgetRun cold = run_on_a_budget(0.1, 0.03, 300, gives_losses, false, 0.0, 50.0);
    const BudgetRun warm = run_on_a_budget(0.1, 0.03, 300, gives_losses);
    EXPECT_GE(cold.full_samples, warm.full_samples - 6) << "those of the first seconds";
    EXPECT_GE(cold.sampling_seconds, 50.0) << "what it took is said";
  }
}

TEST(Sampling, AnInfiniteBudgetOrKktMakesEverySampleFull) {
  for (const bool gives_losses : {true, false}) {
    EXPECT_EQ(run_on_a_budget(kInfinity, 5.0, 50, gives_losses).full_samples, 51);
    const BudgetRun kkt = run_on_a_budget(0.0, 5.0, 50, gives_losses, true);
    EXPECT_EQ(kkt.full_samples, 51);
    for (const Sample& sample : kkt.trace) EXPECT_FALSE(std::isnan(sample.kkt));
  }
}

TEST(Sampling, LightSamplesHaveThePenaltyOfTheIterate) {
  Problem problem;
  Objective elastic(problem.train.x, *problem.oracle, {0.5, 0.3}, Parallel());
  Monitor monitor(elastic, *problem.objective, {.sampling_budget = 0.0});
  monitor.start(SparseVector{});
  for (int i = 1; i <= 2; ++i) monitor.step(good_weights(), loss_at(problem, good_weights()), 7);
  EXPECT_EQ(monitor.audits().count, 0) << "both are light";
  const Sample& sample = monitor.trace().back();
  EXPECT_NEAR(sample.objective, 10 * std::log1p(std::exp(-2.0)) + 0.5 * 6.0 + 0.15 * 20.0, 1e-12);
  EXPECT_NEAR(sample.loss, 10 * std::log1p(std::exp(-2.0)), 1e-12);
  EXPECT_EQ(sample.nnz, 2u);
  EXPECT_EQ(sample.working_set, 7u);
  EXPECT_TRUE(std::isnan(sample.test_accuracy));
  EXPECT_TRUE(std::isnan(sample.kkt));
}

TEST(Audit, ABoundAboveAnFThatWasSeenIsAnError) {
  struct TooHigh final : DualPoint {
    double bound = 0.0;
    double value(const Objective&) const override { return bound; }
  };
  Problem problem;
  const auto point = std::make_shared<TooHigh>();
  const double at_zero = 10.0 * std::log(2.0);  // F at w = 0
  for (const bool above : {false, true}) {
    Monitor monitor(*problem.evaluator, *problem.objective, {});
    monitor.start({});
    monitor.watch(point);
    point->bound = above ? at_zero * (1.0 + 1e-9) : at_zero;
    std::string error;
    try {
      monitor.step(SparseVector{{0}, {0.1}});
      monitor.finish(SparseVector{{0}, {0.1}});
    } catch (const Error& caught) {
      error = caught.what();
    }
    EXPECT_EQ(error.find("from the solver's dual point, is above F = 6.93") != std::string::npos, above)
        << error;
  }
}

TEST(Audit, CatchesASolverWhoseLossIsNotThatOfItsIterate) {
  Problem problem;
  const double loss = loss_at(problem, good_weights());
  for (const double lie : {loss * (1 + 1e-6), 0.0}) {
    for (const bool at_the_end : {false, true}) {
      Monitor monitor(*problem.evaluator, *problem.objective,
                      {.sampling_budget = at_the_end ? 0.0 : kInfinity});
      monitor.start(SparseVector{});
      try {
        if (at_the_end) monitor.step(good_weights(), loss);
        monitor.step(good_weights(), lie);
        EXPECT_TRUE(at_the_end);
        monitor.finish(good_weights());
        ADD_FAILURE() << "the lie went through";
      } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(at_the_end ? "iteration 2: the solver gave the loss "
                                       : "iteration 1: the solver gave the loss "),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("expected a difference of at most "), std::string::npos) << text;
      }
    }
  }
}

TEST(Audit, AllowsForRoundingAndStatesHowMuch) {
  Problem problem;
  const double loss = loss_at(problem, good_weights());
  Monitor monitor(*problem.evaluator, *problem.objective, {.sampling_budget = kInfinity});
  monitor.start(SparseVector{});
  monitor.step(good_weights(), loss);
  EXPECT_EQ(monitor.audits().largest, 0.0);
  monitor.step(good_weights(), loss * (1 + 1e-12));
  monitor.step(good_weights(), loss);
  for (const double none : {kNaN, kInfinity, -kInfinity}) monitor.step(good_weights(), none);
  monitor.finish(good_weights());
  EXPECT_EQ(monitor.audits().count, 3) << "what is not finite is not given";
  EXPECT_NEAR(monitor.audits().largest, 1e-12, 1e-15);
}

TEST(Target, IsLookedAtInEveryIterationWhereTheLossIsGiven) {
  Problem problem;
  const SparseVector start, good = good_weights();
  const double good_objective = certify(*problem.evaluator, good).objective;
  FakeTime time(0.0);
  Monitor monitor(*problem.evaluator, *problem.objective,
                  {.sample_growth = 1e300,
                   .dense_samples = 0,
                   .sampling_budget = 0.0,
                   .objective_target = good_objective + 1e-9,
                   .clock = time.clock()});
  monitor.start(start);
  for (int i = 1; i <= 7; ++i) {
    time.now += i == 1 ? 0.04 : 4e-5;  // later steps add less than a tenth
    EXPECT_TRUE(monitor.step(start, loss_at(problem, start)));
  }
  EXPECT_EQ(monitor.trace().size(), 2u) << "the start and the first iteration";
  EXPECT_FALSE(monitor.step(good, loss_at(problem, good)));
  EXPECT_EQ(monitor.stop_status(), Status::kTargetReached);
  EXPECT_EQ(monitor.trace().back().iteration, 8) << "the sample that shows it";
  EXPECT_LE(monitor.trace().back().objective, good_objective + 1e-9);
}

TEST(Target, IsLookedAtInSamplesWhereNoLossIsGiven) {
  Problem problem;
  const double target = certify(*problem.evaluator, good_weights()).objective;
  FakeTime time(1.0);
  const SlowOracle slow(*problem.oracle, time);
  Objective evaluator(problem.train.x, slow, {0.5, 0.0}, Parallel());
  Monitor monitor(evaluator, *problem.objective,
                  {.dense_samples = 0,
                   .sampling_budget = 0.0,
                   .objective_target = target,
                   .stalls = false,
                   .clock = time.clock()});
  monitor.start(SparseVector{});
  time.now += 1000.0;
  EXPECT_TRUE(monitor.step(SparseVector{}));
  int i = 2;
  for (; i < 200; ++i) {
    time.now += 1.0;
    if (!monitor.step(good_weights())) break;
  }
  EXPECT_EQ(i, 98) << "where the clock shows 1097 s, and four more would be past a tenth";
  EXPECT_EQ(monitor.stop_status(), Status::kTargetReached);
}

/// Counts passes of the solver.
void make_passes(Problem& problem, double passes) {
  problem.objective->counts().add_searches(passes * static_cast<double>(problem.objective->instances()));
}

TEST(GapTarget, StopsARunByTheBestBoundSeen) {
  Problem problem;
  const SparseVector start, good = good_weights();
  const Certificate there = certify(*problem.evaluator, good), at_start = certify(*problem.evaluator, start);
  ASSERT_GT(there.dual, at_start.dual);
  ASSERT_GT(at_start.objective - there.dual, there.gap());
  Monitor monitor(*problem.evaluator, *problem.objective,
                  {.sampling_budget = 0.0, .gap_target = there.relative_gap() * (1 + 1e-12)});
  monitor.start(start);
  EXPECT_TRUE(std::isnan(monitor.trace().back().gap)) << "no bound is known yet";
  EXPECT_TRUE(monitor.step(start));
  EXPECT_NEAR(monitor.trace().back().gap, at_start.gap(), 1e-12);
  EXPECT_NEAR(monitor.trace().back().kkt, at_start.kkt, 1e-12);
  make_passes(problem, 10.0);
  EXPECT_FALSE(monitor.step(good));
  EXPECT_EQ(monitor.stop_status(), Status::kGapReached);
  EXPECT_NEAR(monitor.trace().back().gap, there.gap(), 1e-12);
  make_passes(problem, 100.0);
  EXPECT_TRUE(monitor.step(start)) << "F counts at the iterate itself";
  EXPECT_NEAR(monitor.trace().back().gap, at_start.objective - there.dual, 1e-12) << "the bound is kept";
  EXPECT_EQ(monitor.lower_bound(), there.dual);
  monitor.finish(start);
  EXPECT_NEAR(monitor.trace().back().gap, at_start.objective - there.dual, 1e-12)
      << "also without a gradient";
}

TEST(GapTarget, WorkThatIsNotCountedAsPassesBringsABound) {
  for (const double work : {0.0, 10.0}) {
    Problem problem;
    const SparseVector start, good = good_weights();
    const Certificate there = certify(*problem.evaluator, good),
                      at_start = certify(*problem.evaluator, start);
    Monitor monitor(*problem.evaluator, *problem.objective, {.sampling_budget = 0.0, .gap_target = 1e-30});
    monitor.start(start);
    make_passes(problem, 1.0);
    ASSERT_TRUE(monitor.step(start));
    ASSERT_NEAR(monitor.lower_bound(), at_start.dual, 1e-12);
    monitor.add_work(work);
    EXPECT_TRUE(monitor.step(good));
    EXPECT_NEAR(monitor.lower_bound(), work > 0.0 ? there.dual : at_start.dual, 1e-12) << work;
  }
}

/// The iterations after which a run of 60 iterations looks for bounds, and the whole run's monitor.
std::vector<std::int64_t> looks(double iteration_seconds, double cost, bool sample_kkt) {
  Problem problem;
  FakeTime time(cost);
  const SlowOracle slow(*problem.oracle, time);
  Objective evaluator(problem.train.x, slow, {0.5, 0.0}, Parallel());
  MonitorOptions options{.sample_kkt = sample_kkt, .gap_target = 1e-30, .stalls = false};
  options.clock = time.clock();
  Monitor monitor(evaluator, *problem.objective, options);
  monitor.start(SparseVector{});
  for (int i = 1; i <= 60; ++i) {
    time.now += iteration_seconds * (i % 7 == 0 ? 30.0 : 1.0);
    make_passes(problem, 1.0);
    EXPECT_TRUE(monitor.step(good_weights()));
  }
  std::vector<std::int64_t> at;
  for (const Sample& sample : monitor.trace())
    if (!std::isnan(sample.kkt)) at.push_back(sample.iteration);
  return at;
}

TEST(GapTarget, BoundsAreLookedForAtTheSameIterationsWhateverTheClockShows) {
  const std::vector<std::int64_t> expected{1, 3, 7, 13, 21, 31, 43, 57};
  EXPECT_EQ(looks(0.1, 0.03, false), expected);
  EXPECT_EQ(looks(3.0, 100.0, false), expected);
  EXPECT_EQ(looks(0.0, 0.0, false), expected) << "on a clock that stands still";
  EXPECT_GT(looks(0.1, 0.03, true).size(), expected.size()) << "sample_kkt adds bounds of its own";
}

TEST(GapTarget, LooksOffTheClockAndOutsideTheBudget) {
  Problem problem;
  for (const bool gives_losses : {true, false}) {
    FakeTime time(0.03);
    const SlowOracle slow(*problem.oracle, time);
    Objective evaluator(problem.train.x, slow, {0.5, 0.0}, Parallel());
    MonitorOptions options{.sample_growth = 0.0, .gap_target = 1e-30, .stalls = false};
    options.clock = time.clock();
    Monitor monitor(evaluator, *problem.objective, options);
    monitor.start(SparseVector{});
    int looked = 0;
    double looking = 0.0;
    for (int i = 1; i <= 60; ++i) {
      time.now += 5.0;
      make_passes(problem, 1.0);
      ASSERT_TRUE(monitor.step(good_weights(), gives_losses ? loss_at(problem, good_weights()) : kNaN));
      looked += monitor.gap_seconds() > looking;
      looking = monitor.gap_seconds();
    }
    monitor.finish(good_weights());
    EXPECT_GE(looked, 2);
    EXPECT_NEAR(monitor.seconds(), 300.0, 1e-9);
    if (!gives_losses) {
      EXPECT_NEAR(looking, 0.03 * looked, 1e-9);
    }
    EXPECT_LE(looking, 0.03 * 2 * looked + 1e-9) << "one inference for the iterate, and one for a mean";
    EXPECT_NEAR(monitor.gap_seconds() + monitor.sampling_seconds(),
                0.03 * static_cast<double>(time.inferences), 1e-9);
  }
}

TEST(GapTarget, ASampleThatTheClockChoseDoesNotEndTheRun) {
  for (const bool sample_kkt : {false, true}) {
    Problem problem;
    FakeTime time(0.0);
    const SparseVector start, good = good_weights();
    const double objective = certify(*problem.evaluator, good).objective,
                 bound = certify(*problem.evaluator, start).dual;
    MonitorOptions options{.sample_kkt = sample_kkt,
                           .sampling_budget = 0.0,
                           .gap_target = (1.0 + 1e-9) * (objective - bound) / objective,
                           .stalls = false};
    options.clock = time.clock();
    Monitor monitor(*problem.evaluator, *problem.objective, options);
    monitor.start(start);
    for (int i = 1; i <= 11; ++i) {
      time.now += 1.0;
      make_passes(problem, 1.0);
      ASSERT_TRUE(monitor.step(start));
    }
    time.now += 100.0;
    EXPECT_TRUE(monitor.step(good));
    EXPECT_EQ(monitor.trace().back().iteration, 12) << "the clock demands a sample";
    int i = 13;
    for (; i < 100 && monitor.step(good); ++i) make_passes(problem, 1.0);
    EXPECT_EQ(i, 15) << "after the 13th pass, where counts demand a bound";
    EXPECT_EQ(monitor.stop_status(), Status::kGapReached);
  }
}

TEST(GapTarget, TheMeanOfIteratesThatSwingProvesMoreThanTheyDo) {
  Problem problem;
  const SparseVector middle = good_weights();
  SparseVector ends[] = {middle, middle};
  ends[0].value[0] += 1.0;
  ends[1].value[0] -= 1.0;
  double losses[2], best = 0.0;
  for (int e = 0; e < 2; ++e) {
    losses[e] = loss_at(problem, ends[e]);
    best = std::max(best, certify(*problem.evaluator, ends[e]).dual);
  }
  const double of_mean = certify(*problem.evaluator, middle).dual;
  ASSERT_GT(of_mean, 1.05 * best);
  for (const bool given : {true, false}) {
    Monitor monitor(*problem.evaluator, *problem.objective, {.gap_target = 1e-30, .stalls = false});
    monitor.start(ends[1]);
    for (int i = 1; i <= 40; ++i) {
      make_passes(problem, 1.0);
      ASSERT_TRUE(monitor.step(ends[i % 2], given ? losses[i % 2] : kNaN));
    }
    if (given)
      EXPECT_NEAR(monitor.lower_bound(), of_mean, 1e-9 * of_mean);
    else
      EXPECT_EQ(monitor.lower_bound(), best) << "F of the iterates is unknown";
  }
}

TEST(MeanIterate, AddsIteratesCoordinateByCoordinate) {
  MeanIterate mean;
  SparseVector a, b;
  a.push_back(1, 2.0);
  a.push_back(5, -4.0);
  b.push_back(0, 8.0);
  b.push_back(5, 4.0);
  b.push_back(7, 1.0);
  for (const SparseVector* w : {&a, &b, &a, &b}) mean.add(*w, 1.0);
  EXPECT_TRUE(mean.useful());
  EXPECT_EQ(mean.mean().index, (std::vector<Coord>{0, 1, 7})) << "5 cancels";
  EXPECT_EQ(mean.mean().value, (std::vector<double>{4.0, 1.0, 0.5}));
  mean.clear();
  EXPECT_FALSE(mean.useful());
}

TEST(MeanIterate, ServesOnlyWhereFFallsSlowly) {
  const auto useful = [](const std::vector<double>& objectives) {
    MeanIterate mean;
    for (const double objective : objectives) mean.add(SparseVector{}, objective);
    return mean.useful();
  };
  EXPECT_FALSE(useful({4.0, 3.9, 3.8})) << "too few";
  EXPECT_TRUE(useful({4.0, 3.9, 3.8, 3.7}));
  EXPECT_TRUE(useful({4.0, 3.0, 2.5, 2.25}));
  EXPECT_FALSE(useful({4.0, 3.0, 2.9, 2.89}));
  EXPECT_TRUE(useful({4.0, 4.0, 4.0, 4.0, 4.0}));
}

TEST(GapTarget, WithoutOneNoBoundIsLookedFor) {
  const BudgetRun r = run_on_a_budget(0.1, 0.03, 100, true);
  for (const Sample& sample : r.trace) {
    EXPECT_TRUE(std::isnan(sample.kkt));
    EXPECT_TRUE(std::isnan(sample.gap));
  }
  for (const Sample& sample : run_on_a_budget(0.0, 0.03, 100, true, true).trace)
    EXPECT_GE(sample.gap, 0.0) << "sample_kkt has the gradient that it takes";
}

TEST(Monitor, RefusesOptionsAndSolversThatMakeNoSense) {
  Problem problem;
  const auto make = [&](const MonitorOptions& options) {
    Monitor monitor(*problem.evaluator, *problem.objective, options);
  };
  EXPECT_THROW(make({.sampling_budget = -0.01}), Error);
  EXPECT_THROW(make({.sampling_budget = std::nan("")}), Error);
  EXPECT_THROW(make({.objective_target = std::nan("")}), Error);
  EXPECT_THROW(make({.gap_target = -1e-6}), Error);
  EXPECT_THROW(make({.gap_target = std::nan("")}), Error);
  Monitor monitor(*problem.evaluator, *problem.objective, {});
  EXPECT_THROW(monitor.step(good_weights()), Error) << "start() was forgotten";
  EXPECT_THROW(monitor.finish(good_weights()), Error);
}

/// A solver that never asks whether to stop. Its iterations take `seconds` each, and `long_one` takes longer
/// and longer until it is stopped.
class Deaf final : public Solver {
 public:
  Deaf(FakeTime& time, double seconds, std::int64_t long_one)
      : time_(time), seconds_(seconds), long_one_(long_one) {}
  SolveResult solve(const SolveProblem& problem) override {
    SparseVector w = problem.start;
    problem.monitor.start(w);
    for (std::int64_t i = 1;; ++i) {
      SparseVector next;
      next.push_back(1, static_cast<double>(i));
      problem.objective.parallel().for_each(1000, [&](std::size_t) {
        time_.now += i == long_one_ ? 1.0 : 1e-3 * seconds_;
        ++pieces;
      });
      w = next;
      if (!problem.monitor.step(w)) return {problem.monitor.stop_status(), w};
    }
  }
  int pieces = 0;

 private:
  FakeTime& time_;
  double seconds_;
  std::int64_t long_one_;
};

TEST(Stops, ASolverThatNeverAsksIsStoppedWithinAnIterationAndReturnsTheLastWholeIterate) {
  for (const bool interrupts : {false, true}) {
    Problem problem;
    FakeTime time(0.0);
    std::atomic<bool> interrupt = false;
    Monitor monitor(*problem.evaluator, *problem.objective,
                    {.time_limit = interrupts ? kInfinity : 5.5, .interrupt = &interrupt, .clock = [&] {
                       if (interrupts && time.now >= 105.5) interrupt = true;
                       return time.now;
                     }});
    Deaf solver(time, 1.0, 5);
    const SolveResult r = solve_within_limits(solver, {*problem.objective, monitor, {}, 1e-6, 1.0, 1});
    EXPECT_EQ(r.status, interrupts ? Status::kInterrupted : Status::kTimeLimit);
    EXPECT_EQ(monitor.iterations(), 4);
    ASSERT_EQ(r.w.nnz(), 1u);
    EXPECT_EQ(r.w.value[0], 4.0) << "the last whole iterate";
    EXPECT_LE(time.now, 105.5 + Monitor::kPatience + 8.0) << "within a few pieces of the work";
    interrupt = false;
    monitor.finish(r.w);
    EXPECT_EQ(monitor.trace().back().iteration, 4);
  }
}

TEST(Stops, BeforeTheFirstIterationTheResultIsTheStart) {
  Problem problem;
  FakeTime time(0.0);
  Monitor monitor(*problem.evaluator, *problem.objective, {.time_limit = 2.0, .clock = time.clock()});
  Deaf solver(time, 1.0, 1);
  const SolveResult r =
      solve_within_limits(solver, {*problem.objective, monitor, good_weights(), 1e-6, 1.0, 1});
  EXPECT_EQ(r.status, Status::kTimeLimit);
  EXPECT_EQ(monitor.iterations(), 0);
  EXPECT_EQ(r.w.value, good_weights().value);
}

TEST(Stops, AnEvaluationEndsSoonAfterAnInterruptAndLeavesNoSample) {
  Problem problem;
  FakeTime time(0.5);
  const SlowOracle slow(*problem.oracle, time);
  Objective evaluator(problem.train.x, slow, {0.5, 0.0}, Parallel());
  std::atomic<bool> interrupt = false;
  Monitor monitor(evaluator, *problem.objective, {.interrupt = &interrupt, .clock = time.clock()});
  monitor.start(SparseVector{});
  time.now += 1.0;
  ASSERT_TRUE(monitor.step(good_weights()));
  const std::size_t samples = monitor.trace().size();
  interrupt = true;
  time.now += 1.0;
  EXPECT_FALSE(monitor.step(good_weights()));
  EXPECT_EQ(monitor.stop_status(), Status::kInterrupted);
  time.now += 60.0;  // as if the sample of the end took a minute
  EXPECT_THROW(
      {
        const StopScope scope = monitor.evaluation("the result was certified");
        for (int i = 0; i < 8; ++i) stop_point();
      },
      Stopped);
  EXPECT_LE(monitor.trace().size(), samples + 1);
}

TEST(Stall, ARunWhoseIterationsChangeNothingEndsAtACountOfIterations) {
  for (const double seconds : {0.0, 0.001, 100.0}) {
    Problem problem;
    FakeTime time(0.0);
    Monitor monitor(*problem.evaluator, *problem.objective, {.clock = time.clock()});
    monitor.start(SparseVector{});
    int i = 1;
    for (; i < 1000 && monitor.step(good_weights()); ++i) time.now += seconds;
    EXPECT_EQ(i, 128);
    EXPECT_EQ(monitor.stop_status(), Status::kStalled);
  }
}

TEST(Stall, AGapThatRoundingHidesEndsTheRun) {
  Problem problem;
  SparseVector far = good_weights();  // F is nearly 0 there, and mostly rounding
  for (double& x : far.value) x *= 20.0;
  Objective evaluator(problem.train.x, *problem.oracle, {0.0, 1e-18}, Parallel());
  Monitor monitor(evaluator, *problem.objective, {.gap_target = 1e-6});
  monitor.start(SparseVector{});
  EXPECT_FALSE(monitor.step(far));
  EXPECT_EQ(monitor.stop_status(), Status::kStalled);
}

TEST(Status, HasTheNamesOfTheDesign) {
  EXPECT_STREQ(status_name(Status::kConverged), "converged");
  EXPECT_STREQ(status_name(Status::kTargetReached), "target-reached");
  EXPECT_STREQ(status_name(Status::kGapReached), "gap-reached");
  EXPECT_STREQ(status_name(Status::kMaxIterations), "max-iterations");
  EXPECT_STREQ(status_name(Status::kTimeLimit), "time-limit");
  EXPECT_STREQ(status_name(Status::kInterrupted), "interrupted");
  EXPECT_STREQ(status_name(Status::kStalled), "stalled");
  EXPECT_STREQ(status_name(Status::kDiverged), "diverged");
}

}  // namespace
}  // namespace proxbench
