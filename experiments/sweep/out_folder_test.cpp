#include "experiments/sweep/out_folder.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

TEST(OutLock, EachProblemHasItsOwn) {
  const TestFolder out;
  const OutLock plan(out.path()), first(out.path(), 0.0, OutLock::problem("words-lambda1"));
  EXPECT_THROW(OutLock(out.path(), 0.0, OutLock::problem("words-lambda1")), Error);
  EXPECT_THROW(OutLock again(out.path()), Error);
  EXPECT_TRUE(OutLock(out.path(), OutLock::problem("words-lambda2")).try_take());
  EXPECT_FALSE(OutLock(out.path(), OutLock::kAllProblems).try_take());
}

TEST(OutLock, WhoHasAllProblemsHasEach) {
  const TestFolder out;
  OutLock all(out.path(), 0.0, OutLock::kAllProblems);
  OutLock one(out.path(), OutLock::problem("words-lambda1"));
  EXPECT_FALSE(one.try_take());
  EXPECT_TRUE(OutLock(out.path(), OutLock::kPlan).try_take());
  all.release();
  EXPECT_TRUE(one.try_take());
}

TEST(OutFolder, OnlyTheRunsOfAProblemAreRecovered) {
  const TestFolder out;
  out.write("runs/.a.17.new/manifest.json", "complete");
  out.write("runs/.b.17.new/trace.csv", "half");
  out.write("runs/.c.17.new/trace.csv", "another task's");
  recover_runs(out.path(), {"a", "b"});
  EXPECT_EQ(read_text(out / "runs/a/manifest.json"), "complete");
  EXPECT_FALSE(std::filesystem::exists(out / "runs/.b.17.new"));
  EXPECT_EQ(unfinished_runs(out.path()), std::set<std::string>{"c"});
}

}  // namespace
}  // namespace proxbench
