#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/results/tables/summary_table.h"

namespace proxbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::StartsWith;

/// A run with f* = 100 whose objective is 110, 101 and 100.5 after 1, 4 and 9 passes of a second each. It
/// also has a sample shortly before each.
proxbench::Run run_of(const std::string& label) {
  proxbench::Run run;
  run.parameters.dataset = "lists";
  run.parameters.label = label;
  run.parameters.lambda = 2.0;
  run.set_status("converged");
  run.timing.comparable = true;
  run.best.objective = 100.0;
  for (const auto& [objective, passes] :
       {std::pair(110.0, 1.0), std::pair(110.0, 3.75), std::pair(101.0, 4.0), std::pair(101.0, 8.5),
        std::pair(100.5, 9.0)}) {
    Sample sample;
    sample.objective = objective;
    sample.passes = sample.seconds = passes;
    run.trace.push_back(sample);
  }
  return run;
}

TextTable costs_of(const std::vector<proxbench::Run>& runs, const std::vector<double>& targets) {
  return cost_tables(runs, {.targets = targets}).tables.at(0);
}

TEST(CostTable, TellsPassesSecondsAndHowTheyAreShared) {
  std::vector<proxbench::Run> runs{run_of("owl-qn"), run_of("lbfgs-b")};
  for (const auto& [phase, seconds] : {std::pair("scores", 2.0), std::pair("inference", 4.0),
                                       std::pair("full gradient", 1.5), std::pair("solver", 2.5)})
    runs[0].result.phases.push_back({.phase = phase, .seconds = seconds});
  runs[1].timing.comparable = false;
  const TextTable table = costs_of(runs, {1e-2, 1e-4});
  EXPECT_THAT(table.head, ElementsAre("solver", "passes to 0.01", "s to 0.01", "passes to 0.0001",
                                      "s to 0.0001", "function %", "status"));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0], ElementsAre("owl-qn", "4.0", "4.00", "-", "-", "75.0", "converged"));
  EXPECT_THAT(table.rows[1], ElementsAre("lbfgs-b", "4.0", "n/c", "-", "n/c", "-", "converged"))
      << "timings that are not comparable are not told";
  EXPECT_THAT(table.footnotes, Contains("No solver reached 0.0001."));
  const TableSet set = cost_tables(runs, {.targets = {1e-2}});
  EXPECT_EQ(set.records[0]["passes_to_0.01"]["median"], 4.0);
  EXPECT_EQ(set.records[0]["passes_to_0.01_from"]["median"], 3.75);
  EXPECT_EQ(set.records[0]["function_share"]["median"], 0.75);
  EXPECT_EQ(set.records[0]["solver_share"]["median"], 0.25);
}

TEST(CostTable, APageHasTheLastThreeTargetsAndTheRecordsHaveAll) {
  const TableSet set = cost_tables({run_of("sgd")}, {.targets = {0.2, 1e-1, 1e-2, 6e-3}});
  EXPECT_THAT(set.tables[0].head, testing::SizeIs(9));
  EXPECT_EQ(set.tables[0].head[1], "passes to 0.1");
  EXPECT_EQ(set.records[0]["passes_to_0.2"]["median"], 1.0);
}

TEST(CostTable, ACostBetweenTwoDistantSamplesIsARange) {
  proxbench::Run run = run_of("sgd");
  run.trace.erase(run.trace.begin() + 1);
  const TextTable table = costs_of({run}, {1e-2, 6e-3});
  EXPECT_THAT(table.rows[0], ElementsAre("sgd", "1.0-4.0", "1.00-4.00", "9.0", "9.00", "-", "converged"));
  EXPECT_THAT(table.footnotes, Contains(StartsWith("A-B: the target was reached between")));
}

TEST(CostTable, ATargetBelowWhatIsProvenOfTheReferenceIsNoNumber) {
  proxbench::Run run = run_of("sgd");
  run.best.relative_gap = 8e-3;
  const TextTable table = costs_of({run}, {1e-2, 6e-3});
  EXPECT_THAT(table.rows[0], ElementsAre("sgd", "4.0", "4.00", "?", "?", "-", "converged"));
  EXPECT_THAT(table.footnotes,
              Contains("?: f* is proven to a relative accuracy of 8.0e-03 only, and no target "
                       "below that can be told."));
}

TEST(CostTable, AFailedRunReachesNothing) {
  std::vector<proxbench::Run> runs{run_of("owl-qn")};
  runs[0].set_status("failed");
  EXPECT_THAT(costs_of(runs, {1e-2}).rows[0], ElementsAre("owl-qn", "-", "-", "-", "1 of 1 failed"));
}

}  // namespace
}  // namespace proxbench
