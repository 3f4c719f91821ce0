#include "experiments/bench/perf_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PerfBudget budget() {
  return {{{{"compiler", "GCC 12.2.0"}}, {{"chain", 1000}, {"tree", 500}}}, 0.02};
}

PerfVerdict verdict(std::uint64_t counted) {
  PerfCounts counts = budget().counts;
  counts.instructions["chain"] = counted;
  return judge(budget(), counts).rows[0].verdict;
}

TEST(PerfBudget, AllowsTheToleranceBothWays) {
  EXPECT_EQ(verdict(1000), PerfVerdict::kWithin);
  EXPECT_EQ(verdict(1020), PerfVerdict::kWithin);
  EXPECT_EQ(verdict(1021), PerfVerdict::kOver);
  EXPECT_EQ(verdict(980), PerfVerdict::kWithin);
  EXPECT_EQ(verdict(979), PerfVerdict::kUnder);
}

TEST(PerfBudget, OnlyMoreInstructionsAndKernelsWithoutBudgetOrCountFail) {
  PerfCounts counts = budget().counts;
  EXPECT_FALSE(judge(budget(), counts).failed());
  counts.instructions["chain"] = 1;
  EXPECT_FALSE(judge(budget(), counts).failed());
  counts.instructions["chain"] = 2000;
  EXPECT_TRUE(judge(budget(), counts).failed());

  counts = budget().counts;
  counts.instructions["new"] = 1;
  EXPECT_TRUE(judge(budget(), counts).failed());
  counts = budget().counts;
  counts.instructions.erase("tree");
  EXPECT_TRUE(judge(budget(), counts).failed());
}

TEST(PerfBudget, NothingFailsWithAnotherCompiler) {
  PerfCounts counts = budget().counts;
  counts.made_with["compiler"] = "GCC 13.1.0";
  counts.instructions["chain"] = 2000;
  const PerfJudgement judgement = judge(budget(), counts);
  EXPECT_FALSE(judgement.failed());
  EXPECT_EQ(judgement.rows[0].verdict, PerfVerdict::kOver);
  EXPECT_THAT(judgement.differences, ElementsAre("compiler: found GCC 13.1.0, the budget has GCC 12.2.0"));
  EXPECT_THAT(judgement_text(judgement, 0.02, {}), HasSubstr("not judged"));
}

TEST(PerfBudget, TheTableShowsChangesAndTimes) {
  PerfCounts counts = budget().counts;
  counts.instructions["chain"] = 1100;
  const std::string text = judgement_text(judge(budget(), counts), 0.02, {{"chain", 1.5}});
  EXPECT_THAT(text, testing::ContainsRegex("chain +1000 +1100 \\+10\\.00 % +1\\.500  OVER"));
  EXPECT_THAT(text, testing::ContainsRegex("tree +500 +500 +\\+0\\.00 % +within"));
}

TEST(PerfBudget, IsReadAsItWasWritten) {
  const TestFolder folder;
  folder.write("budget.json", perf_budget_text(budget()));
  const PerfBudget again = read_perf_budget(folder / "budget.json");
  EXPECT_EQ(perf_budget_text(again), perf_budget_text(budget()));
  folder.write("counts.tsv", "chain\t1000\ntree\t500\n");
  EXPECT_EQ(read_perf_counts(folder / "counts.tsv"), budget().counts.instructions);
}

TEST(PerfBudget, MalformedFilesAreErrors) {
  const TestFolder folder;
  folder.write("budget.json", "{}");
  EXPECT_THROW(read_perf_budget(folder / "budget.json"), Error);
  EXPECT_THROW(read_perf_budget(folder / "none.json"), Error);
  for (const char* line : {"chain", "chain\t", "chain\t-1", "chain\t1.5"}) {
    folder.write("counts.tsv", line);
    EXPECT_THROW(read_perf_counts(folder / "counts.tsv"), Error) << line;
  }
}

}  // namespace
}  // namespace proxbench
