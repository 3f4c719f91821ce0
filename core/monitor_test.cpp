#include "core/monitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "core/random.h"
#include "oracles/chain.h"

namespace proxbench {
namespace {

/// Two labels, told apart by feature 1; the test set repeats the training set with one unknown label.
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
    objective = std::make_unique<Objective>(train.x, *oracle, 0.5, 0.0, Parallel());
    evaluator = std::make_unique<Objective>(train.x, *oracle, 0.5, 0.0, Parallel());
  }
  Dataset train, test;
  std::unique_ptr<ChainOracle> oracle, test_oracle;
  std::unique_ptr<Objective> objective, evaluator;
};

/// w tells the labels apart: coordinate (feature 1, label b) = 4, (feature 0, label b) = -2.
SparseVector good_weights() {
  SparseVector w;
  w.push_back(1, -2.0);
  w.push_back(3, 4.0);
  return w;
}

TEST(Monitor, ComputesItsSamplesFromTheIterate) {
  Problem problem;
  const TestSet test(problem.test, *problem.test_oracle, Parallel());
  Monitor monitor(*problem.evaluator, *problem.objective, {.sample_kkt = true}, &test);
  const SparseVector w = good_weights();
  monitor.start(SparseVector{});
  EXPECT_TRUE(monitor.step(1, w, 2));
  ASSERT_EQ(monitor.trace().size(), 2u);
  const Sample& start = monitor.trace()[0];
  EXPECT_EQ(start.seconds, 0.0);
  EXPECT_NEAR(start.objective, 10 * std::log(2.0), 1e-12);
  const Sample& sample = monitor.trace()[1];
  // Without transitions each position is a logistic regression: margin -2 or 2.
  const double loss = 10 * std::log1p(std::exp(-2.0));
  EXPECT_NEAR(sample.loss, loss, 1e-12);
  EXPECT_NEAR(sample.objective, loss + 0.5 * 6.0, 1e-12);
  EXPECT_EQ(sample.nnz, 2u);
  EXPECT_EQ(sample.working_set, 2u);
  EXPECT_EQ(sample.iteration, 1);
  EXPECT_NEAR(sample.test_accuracy, 0.9, 1e-12) << "the unknown label counts as a miss";
  EXPECT_NEAR(sample.kkt, certify(*problem.evaluator, w).kkt, 1e-12);
  EXPECT_EQ(sample.passes, 0.0) << "the monitor's own inference is not the solver's";
}

TEST(Monitor, TakesDenseIteratesToo) {
  Problem problem;
  Monitor monitor(*problem.evaluator, *problem.objective, {});
  const std::vector<double> w = {0, -2.0, 0, 4.0, 0, 0, 0, 0};
  monitor.start(SparseVector{});
  monitor.step(1, w);
  EXPECT_EQ(monitor.trace().back().nnz, 2u);
  EXPECT_EQ(monitor.trace().back().working_set, w.size());
}

TEST(Monitor, AsksForTheIterateOnlyWhereASampleIsDueAndOffTheClock) {
  Problem problem;
  Monitor monitor(*problem.evaluator, *problem.objective, {.sample_growth = 1e9, .dense_samples = 2});
  monitor.start(SparseVector{});
  int made = 0;
  for (int i = 1; i <= 20; ++i)
    monitor.step(
        i,
        [&] {
          const double before = monitor.seconds();
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          EXPECT_EQ(monitor.seconds(), before);
          ++made;
          return good_weights();
        },
        3);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(monitor.trace().size(), 3u);
  EXPECT_EQ(monitor.trace().back().nnz, 2u);
  EXPECT_EQ(monitor.trace().back().working_set, 3u);
}

TEST(Monitor, ItsOwnWorkIsOffTheClock) {
  Problem problem;
  Monitor monitor(*problem.evaluator, *problem.objective, {});
  std::vector<double> clock;
  monitor.on_sample = [&](const Sample&) {
    clock.push_back(monitor.seconds());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(monitor.seconds(), clock.back()) << "the clock stands still while a sample is taken";
    EXPECT_EQ(monitor.seconds(), monitor.trace().back().seconds);
  };
  monitor.start(SparseVector{});
  for (int i = 1; i <= 5; ++i) monitor.step(i, good_weights(), 2);
  ASSERT_EQ(clock.size(), 6u);
  EXPECT_EQ(clock[0], 0.0);
  for (std::size_t i = 1; i < clock.size(); ++i) EXPECT_GT(clock[i], clock[i - 1]);
}

TEST(Monitor, StopsForEachReason) {
  Problem problem;
  {
    Monitor monitor(*problem.evaluator, *problem.objective, {.max_iterations = 2});
    monitor.start(SparseVector{});
    EXPECT_TRUE(monitor.step(1, good_weights(), 2));
    EXPECT_FALSE(monitor.step(2, good_weights(), 2));
    EXPECT_EQ(monitor.stop_status(), Status::kMaxIterations);
  }
  {
    Monitor monitor(*problem.evaluator, *problem.objective, {.time_limit = 0.0});
    monitor.start(SparseVector{});
    EXPECT_FALSE(monitor.step(1, good_weights(), 2));
    EXPECT_EQ(monitor.stop_status(), Status::kTimeLimit);
  }
  {
    std::atomic<bool> interrupt = true;
    Monitor monitor(*problem.evaluator, *problem.objective, {});
    monitor.interrupt = &interrupt;
    monitor.start(SparseVector{});
    EXPECT_FALSE(monitor.step(1, good_weights(), 2));
    EXPECT_EQ(monitor.stop_status(), Status::kInterrupted);
  }
}

TEST(Monitor, SamplesSparselyAndAlwaysTheLast) {
  Problem problem;
  // After two iterations only when the clock has grown a thousandfold.
  Monitor monitor(*problem.evaluator, *problem.objective, {.sample_growth = 1000.0, .dense_samples = 2});
  monitor.start(SparseVector{});
  for (int i = 1; i <= 50; ++i) monitor.step(i, good_weights(), 2);
  monitor.finish(50, good_weights(), 2);
  EXPECT_LT(monitor.trace().size(), 10u);
  EXPECT_EQ(monitor.trace().back().iteration, 50);
  monitor.finish(50, good_weights(), 2);
  EXPECT_EQ(monitor.trace()[monitor.trace().size() - 2].iteration != 50, true) << "not sampled twice";
}

TEST(Status, HasTheNamesOfTheDesign) {
  EXPECT_STREQ(status_name(Status::kConverged), "converged");
  EXPECT_STREQ(status_name(Status::kMaxIterations), "max-iterations");
  EXPECT_STREQ(status_name(Status::kTimeLimit), "time-limit");
  EXPECT_STREQ(status_name(Status::kInterrupted), "interrupted");
  EXPECT_STREQ(status_name(Status::kStalled), "stalled");
  EXPECT_STREQ(status_name(Status::kDiverged), "diverged");
}

}  // namespace
}  // namespace proxbench
