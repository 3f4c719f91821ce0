#include "experiments/sweep/slurm/slurm_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// A folder of results with an array of two tasks: the first makes runs a and b, the second only f*.
class SlurmJobs : public testing::Test {
 protected:
  SlurmJobs() {
    folder.write("runs/.lock", "");
    write_array("jobs-1",
                R"([{"problem": "p", "solver": "", "key": "1", "force": false, "runs": ["a", "b"]},
                              {"problem": "q", "solver": "", "key": "2", "force": false, "runs": ["reference q"]}])");
  }
  void write_array(const std::string& name, const std::string& tasks) {
    folder.write("slurm/" + name + "/jobs.json", tasks);
  }
  void store(const std::string& run, const std::string& status, const std::string& job_name) {
    proxbench::Run made;
    made.set_status(status);
    made.provenance.slurm["name"] = job_name;
    folder.write("runs/" + run + "/log.txt", "");
    write_record(folder / ("runs/" + run) / kManifestFile, made);
  }
  static QueuedTask queued(int index, const std::string& state, const std::string& reason = "None") {
    return {"jobs-1", 7, index, state, reason, state == "RUNNING" ? "node1" : ""};
  }
  std::map<std::string, RunState> open(const std::optional<std::vector<QueuedTask>>& queue) const {
    SubmittedJobs jobs{read_arrays(folder.path()), queue ? "" : "no answer"};
    note_queue(jobs.tasks, queue.value_or(std::vector<QueuedTask>()));
    return open_runs(folder.path(), jobs);
  }

  TestFolder folder;
};

TEST_F(SlurmJobs, WhatWaitsHasSlurmsReason) {
  const auto found = open({{queued(0, "PENDING", "Resources"), queued(1, "CONFIGURING")}});
  EXPECT_EQ(found.at("a").state, "queued");
  EXPECT_EQ(found.at("a").reason, "Resources");
  EXPECT_EQ(found.at("a").job, "7_0");
  EXPECT_EQ(found.at("reference q").state, "queued");
}

TEST_F(SlurmJobs, OfATaskThatRunsOneRunIsBeingMade) {
  folder.write("runs/.a.17.new/trace.csv", "");
  const auto found = open({{queued(0, "RUNNING"), queued(1, "RUNNING")}});
  EXPECT_EQ(found.at("a").state, "running");
  EXPECT_EQ(found.at("a").node, "node1");
  EXPECT_EQ(found.at("b").state, "queued");
  EXPECT_THAT(found.at("b").reason, HasSubstr("turn"));
  EXPECT_EQ(found.at("reference q").state, "running");
}

TEST_F(SlurmJobs, WhatTheJobHasStoredIsNotOpen) {
  store("a", "converged", "jobs-1");
  store("b", "failed", "jobs-0");  // by an earlier job
  const auto found = open({{queued(0, "RUNNING")}});
  EXPECT_FALSE(found.contains("a"));
  EXPECT_EQ(found.at("b").state, "queued");
  EXPECT_FALSE(found.contains("reference q")) << "it has left the queue";
}

TEST_F(SlurmJobs, AStoppedRunOfATaskThatWaitsAgainIsOpen) {
  store("a", "interrupted", "jobs-1");
  EXPECT_EQ(open({{queued(0, "PENDING", "BeginTime")}}).at("a").state, "queued");
  EXPECT_FALSE(open({{queued(0, "CANCELLED")}}).contains("a")) << "its manifest tells what became of it";
}

TEST_F(SlurmJobs, WhatLeftTheQueueWithoutAResultFailed) {
  const auto before = open({{queued(0, "CANCELLED"), queued(1, "FAILED", "NonZeroExitCode")}});
  EXPECT_EQ(before.at("a").state, "failed");
  EXPECT_THAT(before.at("a").reason, HasSubstr("ended before it began"));
  EXPECT_THAT(before.at("reference q").reason, HasSubstr("Slurm says FAILED (NonZeroExitCode)"));
  folder.write("slurm/jobs-1/0.log", "");
  EXPECT_THAT(
      open({{queued(0, "NODE_FAIL")}}).at("a").reason,
      HasSubstr(
          "ended without a result: killed, stopped by Slurm, or its node failed; Slurm says NODE_FAIL"));
  EXPECT_THAT(open(std::vector<QueuedTask>{}).at("a").reason, HasSubstr("no longer in the queue"));
  // Slurm reports the end before files from another machine are visible here.
  EXPECT_TRUE(open({{queued(0, "COMPLETED")}}).at("a").live());
}

TEST_F(SlurmJobs, WithoutAQueueStoredRunsCount) {
  store("a", "converged", "jobs-1");
  folder.write("runs/.b.17.new/trace.csv", "");
  const auto found = open(std::nullopt);
  EXPECT_FALSE(found.contains("a"));
  EXPECT_EQ(found.at("b").state, "running");
  EXPECT_EQ(found.at("reference q").state, "queued");
}

TEST_F(SlurmJobs, TheNewestTaskOfARunCounts) {
  store("a", "failed", "jobs-1");
  write_array("jobs-2", R"([{"problem": "p", "solver": "", "key": "1", "force": false, "runs": ["a"]}])");
  const auto found = open({{{"jobs-2", 8, 0, "PENDING", "Priority", ""}}});
  EXPECT_EQ(found.at("a").job, "8_0");
  EXPECT_EQ(found.at("b").state, "failed");
}

TEST_F(SlurmJobs, AMalformedArrayIsNamed) {
  folder.write("slurm/jobs-1/jobs.json", R"({"force": false})");
  try {
    read_arrays(folder.path());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("slurm/jobs-1/jobs.json"));
  }
}

}  // namespace
}  // namespace proxbench
