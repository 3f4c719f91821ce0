#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "experiments/base/process.h"
#include "experiments/base/test_command_line.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Scale : public CommandLine {
 protected:
  std::vector<proxbench::Run> measured() const {
    const nlohmann::json stored = read_json("out/scale.json");
    std::vector<proxbench::Run> runs;
    for (const nlohmann::json& run : stored["runs"]) runs.push_back(run_from(run, "scale.json"));
    return runs;
  }
};

TEST_F(Scale, MeasuresEachNumberOfThreadsOnBothBackEnds) {
  const Result result =
      run("scale tiny.ini --threads 2 --repetitions 2 --iterations 5 --out out --set experiment.lambda=1");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("| openmp | total |"), HasSubstr("| tbb | inference |"),
                                HasSubstr("scale.png")));
  for (const char* name : {"scale.json", "scale.csv", "scale.md", "scale.png", "scale.svg"})
    EXPECT_TRUE(fs::exists(folder / "out" / name)) << name;
  const std::vector<proxbench::Run> runs = measured();
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_EQ(runs[0].parameters.label, "prox-newton") << "the first of the config";
  std::set<int> threads;
  for (const proxbench::Run& one : runs) threads.insert(one.parameters.threads);
  EXPECT_THAT(threads, ElementsAre(1, 2));
  for (const proxbench::Run& one : runs) {
    EXPECT_EQ(one.result.iterations, 5);
    double sum = 0.0;
    for (const PhaseCost& phase : one.result.phases) sum += phase.seconds;
    EXPECT_LE(sum, one.result.seconds) << "the phases, and what counting the work took, are the run";
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "out"))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".scale")) << "the runs are gone";

  const Result again = run("scale tiny.ini --out out --redraw --predict 32");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("speed-up at 32"));
  const Result whole = run("scale tiny.ini --out out --redraw --json -");
  EXPECT_EQ(nlohmann::json::parse(whole.out), read_json("out/scale.json"));
  EXPECT_EQ(read_json("out/scale.json")["phases"][0]["speedup"], 1.0);
}

TEST_F(Scale, MoreThreadsThanCpusIsSaid) {
  const std::size_t cpus = usable_cpus().size(), most = cpus + 2;
  const Result result = run("scale tiny.ini --threads " + std::to_string(most) +
                            " --backend openmp --repetitions 1 --iterations 1 --out out --set "
                            "experiment.lambda=1 --solver gd --quiet");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("oversubscribed: " + std::to_string(most) + " threads on " + std::to_string(cpus)));
  EXPECT_THAT(result.out, testing::StartsWith("## tiny\n")) << "--quiet keeps results";
  EXPECT_THAT(result.err, testing::Not(HasSubstr("info: ")));
  EXPECT_EQ(measured().back().timing.cpus.size(), cpus) << "not bound";
}

TEST_F(Scale, WrongUsageIsTold) {
  const auto expect = [&](const std::string& arguments, const std::string& text) {
    const Result result = run("scale " + arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr(text)) << arguments;
  };
  expect("tiny.ini --threads 0", "--threads: Value 0 not in range 1 to 4096");
  expect("tiny.ini --threads 1,two", "--threads: Value two not in range");
  expect("tiny.ini --backend opnmp",
         "--backend: found 'opnmp' (did you mean 'openmp'?), expected one of openmp, tbb, mpi");
  expect("tiny.ini --solver prox-qm", "--solver: found 'prox-qm'");
  expect("tiny.ini --iterations 0", "--iterations");
  expect("tiny.ini --repetitions 0", "--repetitions");
  expect("tiny.ini --predict x", "--predict: Value x not in range");
  expect("tiny.ini --set 'experiment.lambda=1, path(2, 1, 3)'",
         "tiny: [experiment] lambda: found 'path(2, 1, 3)', expected single lambdas to measure");
  expect("tiny.ini --redraw --threads 2", "--redraw");
  folder.write("none.ini",
               "[experiment]\nname = none\nlambda = 1\n[data.words]\nformat = crfsuite\ntrain = train.txt\n");
  expect("none.ini", "solver");
  folder.write("other.ini",
               "[experiment]\nname = other\nlambda = 1\n[data.words]\nformat = crfsuite\ntrain = train.txt\n"
               "[solver.theirs]\nsolver = external\nadapter = proxbench\n");
  expect("other.ini", "found only external trainers, expected a solver whose phases can be measured");
  EXPECT_EQ(run("scale tiny.ini --redraw --out nowhere").status, 1);
}

TEST_F(Scale, ARunThatFailsIsTold) {
  folder.write("train.txt", "O\tw:many\n");
  const Result result = run("scale tiny.ini --threads 1 --repetitions 1 --out out");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("words-lambda0.5-prox-newton: 1 thread, openmp, repetition 1: failed(the "
                                    "data cannot be read): "));
  EXPECT_FALSE(fs::exists(folder / "out/scale.json"));
}

TEST_F(Scale, StatesWhatTheCommandForProcessesComplainsOf) {
  folder.write(
      "launch",
      "#!/bin/sh\necho ------\necho There are too few slots.\necho Ask for fewer.\necho ------\nexit 1\n");
  fs::permissions(folder / "launch", fs::perms::owner_all);
  const Result result = run("scale tiny.ini --threads 2 --backend mpi --repetitions 1 --out out",
                            "PROXBENCH_MPIRUN='" + (folder / "launch").string() + " {}'");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(
      result.err,
      HasSubstr("2 processes, mpi, repetition 1: failed(the data cannot be read): There are too few slots."));
}

TEST_F(Scale, ProcessesAreStartedByTheCommandForThem) {
  // The substitute for mpirun starts the command once and records the number of processes.
  folder.write("launch", "#!/bin/sh\necho $1 >>processes.txt\nshift\nexec \"$@\"\n");
  fs::permissions(folder / "launch", fs::perms::owner_all);
  const Result result =
      run("scale tiny.ini --threads 2 --backend mpi --repetitions 1 --iterations 2 --out out --set "
          "experiment.lambda=1",
          "PROXBENCH_MPIRUN='" + (folder / "launch").string() + " {}'");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("| mpi | total |"));
  const std::vector<proxbench::Run> runs = measured();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].parameters.backend, "mpi");
  EXPECT_EQ(runs[1].parameters.processes, 2);
  EXPECT_THAT(result.err, HasSubstr("words-lambda1-prox-newton: 2 processes, mpi, repetition 1"));
}

}  // namespace
}  // namespace proxbench
