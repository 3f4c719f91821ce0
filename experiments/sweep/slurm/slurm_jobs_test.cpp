#include "experiments/sweep/slurm/slurm_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// A folder of results with one array of three runs, job 7, that waits for a reference.
class SlurmJobs : public testing::Test {
 protected:
  SlurmJobs() {
    folder.write("slurm/000001/batch.json",
                 R"({"job_name": "first", "job": 6, "problems": true, "waits_for": "",
                     "tasks": [{"name": "reference", "key": "r"}]})");
    folder.write("slurm/000002/batch.json",
                 R"({"job_name": "second", "job": 7, "problems": false, "waits_for": "reference",
                     "tasks": [{"name": "a", "key": "1"}, {"name": "b", "key": "2"}, {"name": "c", "key": "3"}]})");
  }
  static QueuedTask queued(int index, const std::string& state, const std::string& reason = "None") {
    return {"second", 7, index, state, reason, state == "RUNNING" ? "node1" : ""};
  }
  void begin(const std::string& index) {
    folder.write("slurm/000002/" + index + ".begin.json", R"({"node": "node1"})");
  }
  void end(const std::string& index, bool failed, const std::string& status, const std::string& reason = "") {
    folder.write("slurm/000002/" + index + ".end.json",
                 nlohmann::json{{"failed", failed}, {"status", status}, {"reason", reason}}.dump());
  }
  std::map<std::string, TaskStatus> states(const Queue& queue) const {
    return task_states(read_batches(folder.path()), queue);
  }

  TestFolder folder;
};

TEST_F(SlurmJobs, TheQueueSaysWhatWaitsAndRuns) {
  begin("1");
  const auto found =
      states({{queued(0, "PENDING", "Resources"), queued(1, "RUNNING"), queued(2, "CONFIGURING")}});
  EXPECT_EQ(found.at("a").state, TaskState::kQueued);
  EXPECT_EQ(found.at("a").reason, "Resources");
  EXPECT_EQ(found.at("a").job, "7_0");
  EXPECT_EQ(found.at("b").state, TaskState::kRunning);
  EXPECT_EQ(found.at("b").node, "node1");
  EXPECT_EQ(found.at("c").state, TaskState::kQueued);
}

TEST_F(SlurmJobs, ItsOwnEndCountsMoreThanTheQueue) {
  begin("0");
  begin("1");
  end("0", false, "converged");
  end("1", true, "crashed(SIGSEGV)", "it fell");
  const auto found = states({{queued(0, "RUNNING"), queued(1, "COMPLETING")}});
  EXPECT_EQ(found.at("a").state, TaskState::kDone);
  EXPECT_EQ(found.at("b").state, TaskState::kFailed);
  EXPECT_EQ(found.at("b").reason, "it fell");
}

TEST_F(SlurmJobs, AStoppedTaskThatWaitsAgainIsQueued) {
  begin("0");
  end("0", true, "interrupted", "stopped");
  EXPECT_EQ(states({{queued(0, "PENDING", "BeginTime")}}).at("a").state, TaskState::kQueued);
  // Slurm has started it, and it has not come to write its begin.
  EXPECT_EQ(states({{queued(0, "RUNNING")}}).at("a").state, TaskState::kRunning);
  EXPECT_EQ(states(std::vector<QueuedTask>{}).at("a").state, TaskState::kFailed);
}

TEST_F(SlurmJobs, WhatLeftTheQueueWithoutAnEndFailed) {
  begin("0");
  folder.write("slurm/000001/0.end.json", R"({"failed": false, "status": "done", "reason": ""})");
  const auto gone = states(std::vector<QueuedTask>{});
  EXPECT_EQ(gone.at("a").state, TaskState::kFailed);
  EXPECT_THAT(gone.at("a").reason, HasSubstr("ended without a result"));
  EXPECT_THAT(gone.at("b").reason, HasSubstr("ended before it began"));
  EXPECT_THAT(states({{queued(0, "NODE_FAIL")}}).at("a").reason, HasSubstr("Slurm says NODE_FAIL"));
  // Slurm knows of the end before the files of another machine are seen here.
  EXPECT_EQ(states({{queued(0, "COMPLETED")}}).at("a").state, TaskState::kRunning);
}

TEST_F(SlurmJobs, WithoutAQueueTheFilesCount) {
  begin("0");
  begin("1");
  end("1", false, "converged");
  const auto found = states(std::nullopt);
  EXPECT_EQ(found.at("a").state, TaskState::kRunning);
  EXPECT_EQ(found.at("b").state, TaskState::kDone);
  EXPECT_EQ(found.at("c").state, TaskState::kQueued);
}

TEST_F(SlurmJobs, WhatWaitedForAFailureHasItsReason) {
  folder.write("slurm/000001/0.end.json", R"({"failed": true, "status": "failed", "reason": "no memory"})");
  const auto found = states({{queued(0, "CANCELLED", "DependencyNeverSatisfied")}});
  EXPECT_EQ(found.at("a").reason, "reference failed: no memory");
}

TEST_F(SlurmJobs, TheNewestTaskOfARunCounts) {
  end("0", true, "failed", "old");
  folder.write("slurm/000003/batch.json",
               R"({"job_name": "third", "job": 8, "problems": false, "waits_for": "",
                                              "tasks": [{"name": "a", "key": "9"}]})");
  const auto found = states({{{"third", 8, 0, "RUNNING", "None", "node2"}}});
  EXPECT_EQ(found.at("a").state, TaskState::kRunning);
  EXPECT_EQ(found.at("a").key, "9");
}

TEST_F(SlurmJobs, ACompleteRunTakesItsPlaceWhenItsTaskDied) {
  folder.write("runs/b/manifest.json", "old");
  folder.write("slurm/000002/1.work/manifest.json", "new");
  folder.write("slurm/000002/2.work/trace.csv", "half");
  folder.write("slurm/.000003/batch.json", "unfinished");
  recover_tasks(folder.path());
  EXPECT_EQ(read_text(folder / "runs/b/manifest.json"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "runs/c"));
  EXPECT_FALSE(std::filesystem::exists(folder / "slurm/.000003"));
}

TEST_F(SlurmJobs, AMalformedBatchIsNamed) {
  folder.write("slurm/000002/batch.json", R"({"job": 7})");
  try {
    read_batches(folder.path());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("slurm/000002/batch.json"));
  }
}

}  // namespace
}  // namespace proxbench
