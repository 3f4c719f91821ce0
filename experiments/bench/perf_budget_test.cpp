#include "experiments/bench/perf_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::HasSubstr;
using testing::Not;

PerfCounts budget() {
  return {{{"compiler", "GCC 12.2.0"}}, {{"chain", 1000}, {"tree", 500}}};
}

PerfJudgement judgement_of_chain(std::int64_t counted) {
  PerfCounts counts = budget();
  counts.instructions["chain"] = counted;
  return judge(budget(), counts);
}

TEST(PerfBudget, AllowsTheToleranceBothWays) {
  for (const std::int64_t counted : {1000, 1020, 980}) {
    EXPECT_THAT(judgement_of_chain(counted).text, Not(HasSubstr("OVER")));
    EXPECT_THAT(judgement_of_chain(counted).text, Not(HasSubstr("under")));
  }
  EXPECT_THAT(judgement_of_chain(1021).text, HasSubstr("OVER"));
  EXPECT_THAT(judgement_of_chain(979).text, HasSubstr("under"));
}

TEST(PerfBudget, OnlyMoreInstructionsAndKernelsWithoutBudgetOrCountFail) {
  EXPECT_FALSE(judgement_of_chain(1000).failed);
  EXPECT_FALSE(judgement_of_chain(1).failed);
  EXPECT_TRUE(judgement_of_chain(2000).failed);
  PerfCounts counts = budget();
  counts.instructions["new"] = 1;
  EXPECT_TRUE(judge(budget(), counts).failed);
  counts = budget();
  counts.instructions.erase("tree");
  EXPECT_TRUE(judge(budget(), counts).failed);
}

TEST(PerfBudget, NothingFailsWithAnotherCompiler) {
  PerfCounts counts = budget();
  counts.made_with["compiler"] = "GCC 13.1.0";
  counts.instructions["chain"] = 2000;
  const PerfJudgement judgement = judge(budget(), counts);
  EXPECT_FALSE(judgement.failed);
  EXPECT_THAT(judgement.text, HasSubstr("OVER"));
  EXPECT_THAT(judgement.text,
              HasSubstr("not judged, since the counts cannot be compared: compiler: found GCC "
                        "13.1.0, the budget has GCC 12.2.0"));
}

TEST(PerfBudget, TheTableShowsChanges) {
  PerfCounts counts = budget();
  counts.instructions["chain"] = 1100;
  const std::string text = judge(budget(), counts).text;
  EXPECT_THAT(text, testing::ContainsRegex("chain +1000 +1100 \\+10\\.00 %  OVER"));
  EXPECT_THAT(text, testing::ContainsRegex("tree +500 +500 +\\+0\\.00 % +within"));
}

TEST(PerfBudget, IsReadAsItWasWritten) {
  const TestFolder folder;
  write_json(folder / "budget.json", budget());
  const PerfCounts again = read_perf_budget(folder / "budget.json");
  EXPECT_EQ(again.made_with, budget().made_with);
  EXPECT_EQ(again.instructions, budget().instructions);
}

TEST(PerfBudget, MalformedFilesAreErrors) {
  const TestFolder folder;
  folder.write("budget.json", "{}");
  EXPECT_THROW(read_perf_budget(folder / "budget.json"), Error);
  EXPECT_THROW(read_perf_budget(folder / "none.json"), Error);
}

}  // namespace
}  // namespace proxbench
