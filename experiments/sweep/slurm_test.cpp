/// Sweeps through commands that imitate Slurm's, whether or not Slurm is installed. scripts/test-slurm uses
/// the real ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_command_line.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Runs the tasks of the script one after the other, with --wait before it returns.
const char* const kSbatch = R"sh(#!/bin/sh
for script; do :; done
echo "$*" >>"$BIN/submitted"
number=$(wc -l <"$BIN/submitted")
asked() { sed -n "s/^#SBATCH --$1=//p" "$script"; }
export SLURM_JOB_ID=$number SLURM_JOB_NAME=$(asked job-name) SLURM_ARRAY_JOB_ID=$number SLURMD_NODENAME=node1
export SLURM_CPUS_ON_NODE=1000
for index in $(asked array | tr , ' '); do
  log=$(asked output | sed "s/%a/$index/")
  SLURM_ARRAY_TASK_ID=$index sh "$script" >"$log" 2>&1
done
echo "$number"
)sh";

class FakeSlurm : public CommandLine {
 protected:
  FakeSlurm() {
    command("sbatch", kSbatch);
    queue("");
  }
  void command(const std::string& name, const std::string& text) const {
    fs::permissions(folder.write("bin/" + name, text), fs::perms::owner_all);
  }
  /// Makes sbatch fail with this message.
  void refuse(const std::string& error) const {
    command("sbatch", "#!/bin/sh\necho 'sbatch: error: " + error + "' >&2\nexit 1\n");
  }
  void queue(const std::string& lines) const { command("squeue", "#!/bin/sh\nprintf '" + lines + "'\n"); }
  Result with_slurm(const std::string& arguments, const std::string& path = "$PWD/bin:$PATH") const {
    return run(arguments, "BIN=$PWD/bin PATH=\"" + path + "\"");
  }
  Result slurm(const std::string& more = "", const std::string& path = "$PWD/bin:$PATH") const {
    return with_slurm("run tiny.ini --out out --launcher slurm " + more, path);
  }
  Result status() const { return with_slurm("status out --json status.json"); }
  std::string script() const { return read_text(folder / "out/slurm/array.sh"); }
  nlohmann::json manifest(const std::string& run, const std::string& out = "out") const {
    return read_json(out + "/runs/" + run + "/manifest.json");
  }
};

TEST_F(FakeSlurm, ASweepOfJobsStoresWhatALocalOneStores) {
  ASSERT_EQ(run("run tiny.ini --out local --quiet").status, 0);
  const Result result =
      slurm("--wait --slurm time=20 --slurm account=crf --set experiment.memory_limit=1000");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Results: out"));
  for (const char* name : {"words-lambda0.5-gd-rep1", "words-lambda1-prox-newton-rep1"}) {
    const std::string model = fmt::format("/runs/{}/model.tsv", name);
    EXPECT_EQ(read_text(folder / ("out" + model)), read_text(folder / ("local" + model)));
    EXPECT_EQ(manifest(name)["key"], manifest(name, "local")["key"]);
    EXPECT_EQ(manifest(name)["provenance"]["slurm"]["node"], "node1");
    EXPECT_EQ(manifest(name)["timing"]["comparable"], true);
  }
  EXPECT_THAT(read_text(folder / "bin/submitted"), HasSubstr("--parsable --wait out/slurm/array.sh\n"));
  // The nodes are whole, since figures have a time axis.
  EXPECT_THAT(script(),
              AllOf(HasSubstr("--exclusive\n"), HasSubstr("--time=20\n"), HasSubstr("--array=0,1\n"),
                    HasSubstr("--cpus-per-task=1\n"), HasSubstr("--mem=1256M\n"),
                    HasSubstr("--account=crf\n"), HasSubstr("--signal=B:USR1@70\n")));
  EXPECT_EQ(status().out, "0 queued, 0 running, 4 done, 0 failed\n");
}

TEST_F(FakeSlurm, OnlyProblemsThatAreNeitherStoredNorQueuedAreSubmitted) {
  ASSERT_EQ(slurm("--wait --slurm exclusive=false").status, 0);
  EXPECT_EQ(manifest("words-lambda1-gd-rep1")["timing"]["comparable"], false);
  const std::string before = script();
  EXPECT_EQ(slurm("--slurm exclusive=false").status, 0) << "nothing is missing";
  EXPECT_EQ(script(), before);
  fs::remove_all(folder / "out/runs/words-lambda1-gd-rep1");
  queue("1|7_1|PENDING|Resources|\\n");
  EXPECT_THAT(slurm("--slurm exclusive=false").err,
              AllOf(HasSubstr("1 tasks are in the queue; `scancel --name=proxbench-tiny-"),
                    Not(HasSubstr("follow"))));
  EXPECT_EQ(script(), before);
  EXPECT_THAT(slurm("--slurm exclusive=false --set experiment.tol=1e-5 --replace").err,
              HasSubstr("found the config of tasks in the queue"));
  EXPECT_THAT(status().out, HasSubstr("queued  words-lambda1-gd-rep1  job 7_1  Resources\n"));
  EXPECT_EQ(read_json("status.json")["queued"], 1);
  queue("");
  EXPECT_EQ(slurm("--slurm exclusive=false").status, 0);
  EXPECT_THAT(script(), HasSubstr("--array=1\n"));
  EXPECT_EQ(status().out, "0 queued, 0 running, 4 done, 0 failed\n");
}

TEST_F(FakeSlurm, TimeIsTheSumOfTheLimitsOfTheLongestTask) {
  const auto asked = [&](const std::string& more) {
    return slurm("--dry-run --set experiment.wall_limit=100 --set experiment.kill_grace=20 " + more).out;
  };
  EXPECT_THAT(asked(""), AllOf(HasSubstr("--time=17\n"), HasSubstr("USR1@80\n"))) << "11 min and 3 processes";
  EXPECT_THAT(asked("--set experiment.repetitions=2"), HasSubstr("--time=21\n"));
  EXPECT_THAT(asked("--set experiment.wall_limit=0"), Not(HasSubstr("--time"))) << "the partition's limit";
  EXPECT_THAT(slurm("--slurm time=1").err, HasSubstr("[slurm] time: found 1, expected more than"));
}

TEST_F(FakeSlurm, ATaskIsAskedToStopBeforeItsTimeIsOver) {
  std::string sbatch = kSbatch;
  sbatch.replace(sbatch.find("sh \"$script\""), 12,
                 "sh -c '(sleep 2; kill -USR1 $$) & exec sh \"$0\"' \"$script\"");
  command("sbatch", sbatch);
  folder.write("tiny.ini", kEndless);
  const Result result = slurm("--wait");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("2 of 2 runs failed; `proxbench status out` says why"));
  EXPECT_THAT(status().out,
              AllOf(HasSubstr("its task ended after: warning: out of time (SIGUSR1); 1 runs are"),
                    HasSubstr("1 interrupted, 1 missing")));
}

TEST_F(FakeSlurm, FilesThatDifferBetweenMachinesAreAnError) {
  command("sbatch", "#!/bin/sh\necho 'O\tw=new' >>train.txt\n" + std::string(kSbatch).substr(10));
  EXPECT_EQ(slurm("--wait").status, 1);
  EXPECT_TRUE(fs::is_empty(folder / "out/runs"));
  EXPECT_THAT(status().out,
              AllOf(HasSubstr("expected "), HasSubstr(": the data changed or"), HasSubstr("4 missing")));
}

TEST_F(FakeSlurm, TasksLoadThePluginsOfTheSweep) {
  folder.write("tiny.ini", std::string(kConfig) + "[solver.prox-bb]\nmax_iterations = 3\n");
  const Result result = slurm("--wait --plugin '" PROXBENCH_TEST_PLUGINS "/prox_bb.so'");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(manifest("words-lambda1-prox-bb-rep1")["iterations"], 3);
}

TEST_F(FakeSlurm, WhatSlurmCannotDoIsOneSentence) {
  const auto error = [&](const std::string& more, int status = 1) {
    const Result result = slurm(more);
    EXPECT_EQ(result.status, status) << result.err;
    return result.err;
  };
  EXPECT_THAT(slurm("", "$PWD/none").err, HasSubstr("expected Slurm's commands on the PATH"));
  refuse("Batch job submission failed: Invalid account");
  EXPECT_THAT(
      error(""),
      HasSubstr("error: sbatch: Batch job submission failed: Invalid account; nothing was submitted\n"));
  command(
      "sbatch",
      "#!/bin/sh\necho 'sbatch: error: unable to accept job, sleeping and retrying' >&2\nexec sleep 60\n");
  EXPECT_THAT(error(""), HasSubstr("sleeping and retrying; nothing was submitted"));
  command("squeue",
          "#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact slurm controller' >&2\nexit 1\n");
  EXPECT_THAT(error(""), HasSubstr("error: squeue: Unable to contact slurm controller"));
  EXPECT_THAT(status().err, HasSubstr("the states below come from stored runs only"));
  EXPECT_THAT(error("--slurm colour=red", 2), HasSubstr("colour"));
  EXPECT_THAT(error("--jobs 2", 2), HasSubstr("--jobs 2: expected 1"));
  EXPECT_THAT(error("--set experiment.threads=0", 2), HasSubstr("threads: found 0"));
  EXPECT_EQ(run("run tiny.ini --out out --wait").status, 2);
  EXPECT_EQ(run("run tiny.ini --out out --launcher pbs").status, 2);
}

}  // namespace
}  // namespace proxbench
