#include "experiments/results/tables/cost_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/files.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::ElementsAre;

/// A run on f* = 100 whose objective is 110, 101 and 100.5 after 1, 4 and 9 passes, a second each; it is
/// known shortly before, too.
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

TEST(CostTable, TellsPassesSecondsAndHowTheyAreShared) {
  std::vector<proxbench::Run> runs{run_of("owl-qn"), run_of("lbfgs-b")};
  for (const auto& [phase, seconds] : {std::pair("scores", 2.0), std::pair("inference", 4.0),
                                       std::pair("full gradient", 1.5), std::pair("solver", 2.5)})
    runs[0].result.phases.push_back({.phase = phase, .seconds = seconds});
  runs[1].timing.comparable = false;
  const TextTable table = cost_table(runs, {1e-2, 1e-4});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0], ElementsAre("lists, lambda = 2", "owl-qn", "4.0", "4.00", "-", "-", "75.0",
                                         "25.0", "converged"));
  EXPECT_THAT(table.rows[1],
              ElementsAre("lists, lambda = 2", "lbfgs-b", "4.0", "-", "-", "-", "-", "-", "converged"))
      << "timings that are not comparable are not told";

  const TestFolder folder;
  ASSERT_EQ(write_cost_table(runs, {1e-2}, folder / "tables").size(), 3u);
  EXPECT_EQ(read_file(folder / "tables/costs.csv", "a table"),
            "data,solver,target,passes_from,passes,seconds_from,seconds,function_share,status\n"
            "\"lists, lambda = 2\",owl-qn,0.01,3.75,4,3.75,4,0.75,converged\n"
            "\"lists, lambda = 2\",lbfgs-b,0.01,3.75,4,,,,converged\n");
}

TEST(CostTable, ACostBetweenTwoDistantSamplesIsARange) {
  proxbench::Run run = run_of("sgd");
  run.trace.erase(run.trace.begin() + 1);
  const TextTable table = cost_table({run}, {1e-2, 6e-3});
  EXPECT_THAT(table.rows[0], ElementsAre("lists, lambda = 2", "sgd", "1.0-4.0", "1.00-4.00", "9.0", "9.00",
                                         "-", "-", "converged"));
  EXPECT_THAT(table.footnotes, ElementsAre(testing::StartsWith("A-B: the target was reached between")));
}

TEST(CostTable, ATargetBelowWhatIsProvenOfTheReferenceIsNoNumber) {
  proxbench::Run run = run_of("sgd");
  run.best.relative_gap = 8e-3;
  const TextTable table = cost_table({run}, {1e-2, 6e-3});
  EXPECT_THAT(table.rows[0],
              ElementsAre("lists, lambda = 2", "sgd", "4.0", "4.00", "?", "?", "-", "-", "converged"));
  EXPECT_THAT(table.footnotes, ElementsAre("?: f* is proven to a relative accuracy of 8.0e-03 only, and no "
                                           "target below that can be told."));
}

TEST(CostTable, AFailedRunReachesNothing) {
  std::vector<proxbench::Run> runs{run_of("owl-qn")};
  runs[0].set_status("failed");
  EXPECT_THAT(cost_table(runs, {1e-2}).rows[0],
              ElementsAre("lists, lambda = 2", "owl-qn", "-", "-", "-", "-", "failed"));
}

}  // namespace
}  // namespace proxbench
