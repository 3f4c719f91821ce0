#include "experiments/results/tables/path_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// A path of two points, 20 and 10, which took 4 s and 40 passes.
proxbench::Run made_up() {
  proxbench::Run path;
  path.parameters.dataset = "d";
  path.parameters.label = "fast";
  path.parameters.path = "path(20, 10, 2)";
  path.provenance.machine = "here";
  path.set_status("converged");
  path.result.points_asked = 2;
  path.result.rounds = 3;
  for (const double lambda : {20.0, 10.0}) {
    PathPoint& point = path.points.emplace_back();
    point.number = path.points.size();
    point.lambda = lambda;
    point.kkt_target = 2.0;
    point.certificate.kkt = 1.0;
    point.seconds = 40.0 / lambda;
    point.passes = 400.0 / lambda;
  }
  return path;
}

/// A run that solves only the last lambda: 2 s, 10 passes.
proxbench::Run single() {
  proxbench::Run run = made_up();
  run.parameters.path.clear();
  run.points.clear();
  run.parameters.lambda = 10.0;
  run.result.seconds = 2.0;
  run.result.passes = 10.0;
  return run;
}

TEST(PathCost, IsComparedWithTheSolveOfTheLastLambda) {
  const PathCost cost = path_cost(made_up(), {single()});
  EXPECT_EQ(cost.seconds, 4.0);
  EXPECT_EQ(cost.seconds_ratio(), 2.0);
  EXPECT_EQ(cost.passes_ratio(), 4.0);
}

TEST(PathCost, IsComparedWithNothingElse) {
  const auto has_ratio = [](const proxbench::Run& path, const proxbench::Run& run) {
    return !std::isnan(path_cost(path, {run}).passes_ratio());
  };
  ASSERT_TRUE(has_ratio(made_up(), single()));
  proxbench::Run other = single();
  other.parameters.lambda = 11.0;
  EXPECT_FALSE(has_ratio(made_up(), other));
  other = single();
  other.provenance.machine = "there";
  EXPECT_FALSE(has_ratio(made_up(), other));
  other = single();
  other.set_status("crashed(SIGSEGV)");
  EXPECT_FALSE(has_ratio(made_up(), other));
  other = single();
  other.parameters.repetition = 2;
  EXPECT_FALSE(has_ratio(made_up(), other));
  proxbench::Run cut = made_up();
  cut.result.points_asked = 3;
  EXPECT_FALSE(has_ratio(cut, single())) << "it did not come to its last lambda";
  other = single();
  other.timing.comparable = false;
  EXPECT_TRUE(std::isnan(path_cost(made_up(), {other}).seconds_ratio()));
  EXPECT_EQ(path_cost(made_up(), {other}).passes_ratio(), 4.0);
}

TEST(PathTables, HaveTheCostsAndThePointsOfEach) {
  proxbench::Run none = made_up(), not_comparable = made_up();
  none.set_status("failed");
  none.points.clear();
  not_comparable.timing.comparable = false;
  const std::vector<TextTable> tables = path_tables({made_up(), none, not_comparable}, {single()}).tables;
  ASSERT_THAT(tables, SizeIs(3)) << "one has no points";
  EXPECT_THAT(tables[0].rows[0], ElementsAre("d, lambda = path(20, 10, 2)", "fast", "1", "converged", "2",
                                             "4.00", "2.00", "40", "4.00"));
  EXPECT_THAT(tables[0].rows[1],
              ElementsAre("d, lambda = path(20, 10, 2)", "fast", "1", "failed", "0", "-", "-", "-", "-"));
  EXPECT_THAT(tables[0].rows[2], ElementsAre("d, lambda = path(20, 10, 2)", "fast", "1", "converged", "2",
                                             "-", "-", "40", "4.00"));
  EXPECT_THAT(tables[1].rows, SizeIs(2));
  EXPECT_EQ(tables[1].rows[1][0], "10");
  EXPECT_EQ(tables[1].rows[1][4], "0.5") << "kkt / target";
  for (const TextTable& table : tables) EXPECT_THAT(table.head, SizeIs(9)) << "they fit a page";
  EXPECT_TRUE(path_tables({}, {single()}).tables.empty());
}

TEST(PathTables, QuoteTheGridInCsv) {
  EXPECT_THAT(path_tables({made_up()}, {}).text("csv"), HasSubstr("\nd,\"path(20, 10, 2)\",fast,1,2,10,"));
}

TEST(TakePaths, LeavesTheOthers) {
  std::vector<proxbench::Run> runs = {made_up(), single(), made_up()};
  const std::vector<proxbench::Run> paths = take_paths(runs);
  EXPECT_THAT(runs, SizeIs(1));
  ASSERT_THAT(paths, SizeIs(2));
  EXPECT_THAT(paths[1].points, SizeIs(2));
  require_paths(paths, "out");
  EXPECT_THROW(require_paths({}, "out"), Error);
}

}  // namespace
}  // namespace proxbench
