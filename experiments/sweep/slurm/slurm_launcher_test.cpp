/// Sweeps through commands that imitate Slurm's, whether or not Slurm is installed. scripts/test-slurm uses
/// the real ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "experiments/base/test_command_line.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Runs the tasks of a job one after the other in the background. Each job waits for the one before it.
const char* const kSbatch = R"sh(#!/bin/sh
echo "$*" >>"$BIN/submitted"
number=$(wc -l <"$BIN/submitted")
for argument; do
  case $argument in
    --array=*) last=${argument#--array=0-} ;;
    --job-name=*) name=${argument#--job-name=} ;;
  esac
done
for index in $(seq 0 "${last:-0}"); do echo "$name|$number|$index|PENDING|Priority|"; done >"$BIN/queue-$number"
(
  while [ "$number" -gt 1 ] && [ -e "$BIN/queue-$((number - 1))" ]; do sleep 0.05; done
  export SLURM_JOB_ID=$number SLURM_JOB_NAME=$name SLURM_ARRAY_JOB_ID=$number SLURMD_NODENAME=node1
  for index in $(seq 0 "${last:-0}"); do SLURM_ARRAY_TASK_ID=$index sh "$argument"; done
  rm "$BIN/queue-$number"
) >/dev/null 2>&1 &
echo "$number"
)sh";

const char* const kSqueue = "#!/bin/sh\ncat \"$BIN\"/queue-* 2>/dev/null || true\n";

class FakeSlurm : public CommandLine {
 protected:
  FakeSlurm() {
    command("sbatch", kSbatch);
    command("sinfo",
            "#!/bin/sh\ncase $* in *partition=mian*) ;; *partition=short*) echo 'short|2:00|4|1000' ;; "
            "*) echo 'main*|1-00:00:00|4|1000' ;; esac\n");
    command("squeue", kSqueue);
    command("scancel", "#!/bin/sh\n");
  }
  void command(const std::string& name, const std::string& text) const {
    fs::permissions(folder.write("bin/" + name, text), fs::perms::owner_all);
  }
  Result slurm(const std::string& more = "", const std::string& path = "$PWD/bin:$PATH") const {
    return run("run tiny.ini --out out --launcher slurm --set experiment.warm_up=0 " + more,
               "BIN=$PWD/bin PATH=\"" + path + "\"");
  }
  bool left_behind() const { return fs::exists(folder / "out/slurm") && !fs::is_empty(folder / "out/slurm"); }
};

TEST_F(FakeSlurm, ASweepOfJobsStoresWhatALocalOneStores) {
  ASSERT_EQ(run("run tiny.ini --out local --quiet --set experiment.warm_up=0").status, 0);
  const Result result = slurm("--wait --slurm time=20");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("[4/4] "));
  EXPECT_THAT(result.out, HasSubstr("Results: out"));
  for (const char* name : {"words-lambda0.5-gd-rep1", "words-lambda1-prox-newton-rep1"}) {
    const std::string there = std::string("/runs/") + name;
    EXPECT_EQ(read_text(folder / ("out" + there + "/model.tsv")),
              read_text(folder / ("local" + there + "/model.tsv")));
    nlohmann::json mine = read_json("out" + there + "/manifest.json"),
                   other = read_json("local" + there + "/manifest.json");
    EXPECT_EQ(mine["key"], other["key"]);
    EXPECT_EQ(mine["objective"], other["objective"]);
    EXPECT_EQ(mine["provenance"]["slurm"]["node"], "node1");
    EXPECT_EQ(mine["timing"]["comparable"], true);
  }
  const std::string submitted = read_text(folder / "bin/submitted");
  // One array of two problems. It asks for whole nodes, since figures have a time axis.
  EXPECT_EQ(std::count(submitted.begin(), submitted.end(), '\n'), 1) << submitted;
  EXPECT_THAT(submitted, AllOf(HasSubstr("--exclusive"), HasSubstr("--time=20"), HasSubstr("--array=0-1"),
                               HasSubstr("--cpus-per-task=1")));
  EXPECT_EQ(run("status out", "BIN=$PWD/bin PATH=\"$PWD/bin:$PATH\"").out,
            "0 queued, 0 running, 4 done, 0 failed\n");
}

TEST_F(FakeSlurm, AnArrayThatTheClusterFindsTooLongIsSubmittedInParts) {
  command("sbatch",
          "#!/bin/sh\ncase $* in *--array=0-0*) exec \"$BIN/sbatch-of-one\" \"$@\" ;; esac\n"
          "echo 'sbatch: error: Batch job submission failed: Invalid job array specification' >&2\n"
          "exit 1\n");
  command("sbatch-of-one", kSbatch);
  ASSERT_EQ(slurm("--wait").status, 0);
  const std::string submitted = read_text(folder / "bin/submitted");
  EXPECT_EQ(std::count(submitted.begin(), submitted.end(), '\n'), 2) << submitted;
}

TEST_F(FakeSlurm, SplitBySolverReferencesComeFirst) {
  ASSERT_EQ(run("run tiny.ini --out local --quiet --set experiment.warm_up=0").status, 0);
  const Result result = slurm("--wait --slurm split=solver --set experiment.lambda=1");
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream submitted(read_text(folder / "bin/submitted"));
  std::string references, solvers;
  std::getline(submitted, references);
  std::getline(submitted, solvers);
  EXPECT_THAT(references, AllOf(HasSubstr("--array=0-0"), testing::Not(HasSubstr("--dependency"))));
  EXPECT_THAT(solvers, AllOf(HasSubstr("--array=0-1"), HasSubstr("--dependency=afterany:1_0")));
  for (const char* name : {"words-lambda1-gd-rep1", "words-lambda1-prox-newton-rep1"}) {
    const std::string there = std::string("/runs/") + name + "/manifest.json";
    for (const char* part : {"run", "reference"})
      EXPECT_EQ(read_json("out" + there)[part], read_json("local" + there)[part]);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "out/references"), fs::directory_iterator()), 1);
}

TEST_F(FakeSlurm, ATaskWithoutTimeForAllLeavesTheRestToTheNextSweep) {
  folder.write("tiny.ini", R"([experiment]
name = slow
lambda = 1
threads = 1
tol = 0
reference_tol = 0.5
order = grid
kill_grace = 52
[data]
format = synthetic-ocr
features = pixels
words = 300
test_words = 0
[solver.prox-gd]
[solver.owl-qn]
)");
  // All but 8 s of the time are for kill_grace, and for starting a job and storing its runs.
  const Result result = slurm("--wait --slurm time=2");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(read_json("out/runs/synthetic-ocr-lambda1-prox-gd-rep1/manifest.json")["status"], "time-limit");
  EXPECT_FALSE(fs::exists(folder / "out/runs/synthetic-ocr-lambda1-owl-qn-rep1"));
  EXPECT_THAT(result.err, HasSubstr("synthetic-ocr-lambda1-owl-qn-rep1: failed: ended without a result"));
  EXPECT_THAT(run("status out", "BIN=$PWD/bin PATH=\"$PWD/bin:$PATH\"").out,
              HasSubstr("1 runs are left: the job is out of time"));
}

TEST_F(FakeSlurm, ATaskStaysAwayFromAnotherConfig) {
  command("sbatch", "#!/bin/sh\necho 1\n");
  ASSERT_EQ(slurm().status, 0);  // accepted, then lost from the queue
  const std::string config = read_text(folder / "out/config.ini");
  folder.write("out/config.ini", std::regex_replace(config, std::regex("seed = 1\n"), "seed = 2\n"));
  const fs::path array = fs::directory_iterator(folder / "out/slurm")->path();
  EXPECT_EQ(run("slurm-task '" + array.string() + "' 0", "SLURMD_NODENAME=node1").status, 1);
  EXPECT_THAT(read_json("out/runs/words-lambda0.5-gd-rep1/manifest.json")["reason"].get<std::string>(),
              AllOf(HasSubstr("out/config.ini"), HasSubstr("is not the same on node node1")));
}

TEST_F(FakeSlurm, TasksLoadThePluginsOfTheSweep) {
  folder.write("tiny.ini", std::string(kConfig) + "[solver.prox-bb]\nmax_iterations = 3\n");
  const Result result = slurm("--wait --plugin '" PROXBENCH_TEST_PLUGINS "/prox_bb.so'");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read_json("out/runs/words-lambda1-prox-bb-rep1/manifest.json")["iterations"], 3);
}

TEST_F(FakeSlurm, WithoutSlurmTheErrorSaysSo) {
  const Result result = slurm("", "$PWD/none");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("expected Slurm's commands on the PATH"));
  EXPECT_FALSE(left_behind());
}

TEST_F(FakeSlurm, WhatThePartitionDoesNotAllowIsToldBeforeAnythingIsSubmitted) {
  const auto refused = [&](const std::string& flags) {
    const Result result = slurm(flags);
    EXPECT_EQ(result.status, 2) << flags;
    EXPECT_FALSE(left_behind()) << flags;
    return result.err;
  };
  EXPECT_THAT(refused("--slurm partition=short --slurm time=3"),
              HasSubstr("found 3 min, expected at most the 2:00 of partition short"));
  EXPECT_THAT(refused("--slurm cpus=5"), HasSubstr("found 5, expected at most the 4 of a node"));
  EXPECT_THAT(refused("--set experiment.memory_limit=2000"), HasSubstr("expected at most the 1000 MiB"));
  EXPECT_THAT(refused("--slurm time=1"), HasSubstr("expected more than"));
  EXPECT_THAT(refused("--slurm colour=red"), HasSubstr("colour"));
  EXPECT_FALSE(fs::exists(folder / "bin/submitted"));
}

TEST_F(FakeSlurm, AFullQueueIsNoError) {
  command("sbatch",
          "#!/bin/sh\necho 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying' "
          ">&2\nsleep 60\n");
  const Result result = slurm();
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("the queue is full: 4 runs were not submitted"));
  EXPECT_FALSE(left_behind());
  command("sbatch", kSbatch);
  EXPECT_EQ(slurm("--wait").status, 0);
}

TEST_F(FakeSlurm, WhatSbatchSaysIsTold) {
  command("sbatch",
          "#!/bin/sh\necho 'sbatch: error: Batch job submission failed: Invalid account' >&2\nexit 1\n");
  const Result result = slurm();
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("Invalid account; nothing was submitted"));
  EXPECT_FALSE(left_behind());
}

TEST_F(FakeSlurm, ANodeThatDoesNotSeeTheFolderIsTold) {
  command("sbatch", R"(#!/bin/sh
for argument; do case $argument in --job-name=*) name=${argument#--job-name=} ;; esac; done
for index in 0 1; do echo "$name|1|$index|FAILED|NonZeroExitCode|node1" >>"$BIN/queue-1"; done
echo 1
)");
  const Result result = slurm("--wait");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("ended before it began"), HasSubstr("its node does not see this folder"),
                    HasSubstr("Slurm says FAILED (NonZeroExitCode)")));
}

TEST_F(FakeSlurm, NothingIsSubmittedWhileTheQueueCannotBeSeen) {
  // Accepted, but not started.
  command("sbatch", "#!/bin/sh\necho 1\n");
  command("squeue", R"(#!/bin/sh
for argument; do case $argument in --name=*) names=${argument#--name=} ;; esac; done
for name in $(echo "$names" | tr , ' '); do for index in 0 1; do echo "$name|1|$index|PENDING|Resources|"; done; done
)");
  EXPECT_EQ(slurm().status, 0);
  const Result status = run("status out --json status.json", "PATH=\"$PWD/bin:$PATH\"");
  EXPECT_THAT(status.out, AllOf(HasSubstr("4 queued, 0 running, 0 done, 0 failed"), HasSubstr("Resources")));
  EXPECT_EQ(read_json("status.json")["queued"], 4);
  const Result local = run("run tiny.ini --out out", "PATH=\"$PWD/bin:$PATH\"");
  EXPECT_EQ(local.status, 1);
  EXPECT_THAT(local.err, HasSubstr("2 jobs of Slurm are at work here"));
  command("squeue",
          "#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact slurm controller' >&2\nexit 1\n");
  const Result again = slurm();
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("Unable to contact slurm controller"), HasSubstr("nothing was submitted")));
  EXPECT_THAT(run("status out", "PATH=\"$PWD/bin:$PATH\"").err, HasSubstr("Slurm does not answer"));
}

TEST_F(FakeSlurm, WhatMakesNoSenseIsBadUsage) {
  EXPECT_THAT(slurm("--jobs 2").err, HasSubstr("--jobs 2: expected 1"));
  EXPECT_THAT(slurm("--set experiment.threads=0").err, HasSubstr("threads: found 0"));
  EXPECT_EQ(run("run tiny.ini --out out --wait").status, 2);
  EXPECT_EQ(run("run tiny.ini --out out --launcher pbs").status, 2);
  EXPECT_EQ(run("status nowhere").status, 1);
  EXPECT_EQ(run("cancel nowhere").status, 1);
}

}  // namespace
}  // namespace proxbench
