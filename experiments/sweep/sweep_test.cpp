/// Sweeps as users run them: each run has its own process; sweeps are resumed, interrupted and limited.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>
#include <thread>

#include "experiments/base/test_command_line.h"
#include "experiments/results/test_results.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Sanitizers reserve memory without bound, and handle SIGSEGV themselves.
#if defined(PROXBENCH_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class SweepProcess : public CommandLine {
 protected:
  json manifest(const std::string& run, const std::string& out = "out") const {
    return read_json(out + "/runs/" + run + "/manifest.json");
  }
  Result sweep(const std::string& more = "", const std::string& config = "tiny.ini") const {
    return measure("run " + config + " --out out --quiet " + more);
  }
  /// When each manifest was written. A run that was made again has a later time.
  std::map<std::string, fs::file_time_type> stored() const {
    std::map<std::string, fs::file_time_type> out;
    for (const auto& entry : fs::directory_iterator(folder / "out/runs"))
      out[entry.path().filename()] = fs::last_write_time(entry.path() / "manifest.json");
    return out;
  }
  /// Starts a sweep, waits until the trace of a run of this name has `lines` lines, calls `act`, and returns
  /// the status of the sweep's process.
  int start_and(const std::string& config, const std::string& run, const std::function<void(pid_t)>& act,
                const char* plugin = nullptr, std::ptrdiff_t lines = 4) const {
    const pid_t child = fork();
    if (child == 0) {
      std::freopen((folder / "stderr").c_str(), "w", stderr);
      std::freopen("/dev/null", "w", stdout);
      if (chdir(folder.path().c_str()) != 0) _exit(126);
      execl(PROXBENCH_PROGRAM, PROXBENCH_PROGRAM, "run", config.c_str(), "--out", "out",
            plugin != nullptr ? "--plugin" : nullptr, plugin, nullptr);
      _exit(127);
    }
    for (int i = 0; i < (kSanitized ? 100000 : 6000) && lines_of(run) < lines; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(lines_of(run), lines) << read_text(folder / "stderr");
    act(child);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  /// Whether the process no longer handles SIGINT, which means that it has received one.
  static bool stopping(pid_t id) {
    std::istringstream lines(read_text(fmt::format("/proc/{}/status", id)));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("SigCgt:"))
        return (std::stoull(line.substr(8), nullptr, 16) >> (SIGINT - 1) & 1) == 0;
    return true;
  }
  /// Whether a process that is not our child ends within 10 s.
  static bool ends(pid_t id) {
    for (int i = 0; i < 1000; ++i) {
      const std::string stat = read_text(fmt::format("/proc/{}/stat", id));
      if (stat.empty() || stat.find(") Z ") != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// Returns the number of lines in the trace of a running run.
  std::ptrdiff_t lines_of(const std::string& run) const {
    std::error_code not_yet;
    for (fs::directory_iterator entry(folder / "out/runs", not_yet), end; !not_yet && entry != end;
         entry.increment(not_yet)) {
      if (!entry->path().filename().string().starts_with("." + run + ".")) continue;
      const std::string text = read_text(entry->path() / "trace.csv");
      return std::count(text.begin(), text.end(), '\n');
    }
    return 0;
  }
};

TEST_F(SweepProcess, ASecondRunDoesOnlyWhatIsMissing) {
  ASSERT_EQ(sweep().status, 0);
  const auto before = stored();
  ASSERT_EQ(before.size(), 4u);
  const Result again = run("run tiny.ini --out out --json again.json");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("4 of 4 runs are stored already"));
  EXPECT_EQ(stored(), before);
  EXPECT_EQ(read_json("again.json")["done"], 0);
  EXPECT_EQ(read_json("again.json")["stored_before"], 4);
  EXPECT_EQ(read_json("again.json")["runs"].size(), 4u);

  fs::remove_all(folder / "out/runs/words-lambda1-gd-rep1");
  ASSERT_EQ(sweep().status, 0);
  auto after = stored();
  EXPECT_EQ(after.size(), 4u);
  after["words-lambda1-gd-rep1"] = before.at("words-lambda1-gd-rep1");
  EXPECT_EQ(after, before);
}

TEST_F(SweepProcess, AnotherRevisionKeepsTheRunsAndAnotherProgramMakesThemAgain) {
  ASSERT_EQ(sweep().status, 0);
  const auto change = [&](const char* name, const std::function<void(proxbench::Run&)>& edit) {
    const fs::path file = folder / "out/runs" / name / kManifestFile;
    proxbench::Run run = read_record(file);
    edit(run);
    write_record(file, run);
  };
  change("words-lambda1-gd-rep1", [](proxbench::Run& run) { run.provenance.git_revision = "0123456"; });
  EXPECT_THAT(run("status out").out, AllOf(HasSubstr("of another revision of proxbench than "),
                                           HasSubstr(": words-lambda1-gd-rep1\n")));
  auto before = stored();
  ASSERT_EQ(sweep().status, 0);
  EXPECT_EQ(stored(), before);
  change("words-lambda1-gd-rep1", [](proxbench::Run& run) { run.key.program = "another"; });
  before = stored();
  EXPECT_THAT(sweep().err, HasSubstr("program: another build or other plug-ins (1); expected --replace"));
  ASSERT_EQ(sweep("--replace").status, 0);
  auto after = stored();
  EXPECT_NE(after.at("words-lambda1-gd-rep1"), before.at("words-lambda1-gd-rep1"));
  after["words-lambda1-gd-rep1"] = before.at("words-lambda1-gd-rep1");
  EXPECT_EQ(after, before);
  EXPECT_THAT(run("status out").out, testing::Not(HasSubstr("another revision")));
}

TEST_F(SweepProcess, RecordsOfAnotherVersionAreMadeAgain) {
  ASSERT_EQ(sweep().status, 0);
  folder.write("out/runs/words-lambda1-gd-rep1/manifest.json", R"({"status": "converged"})");
  const Result table = run("table out");
  EXPECT_EQ(table.status, 1) << "something is left out";
  EXPECT_THAT(table.out, HasSubstr("| prox-newton |")) << "the others are shown";
  EXPECT_THAT(
      table.err,
      AllOf(HasSubstr("words-lambda1-gd-rep1/manifest.json: found version 1, expected the record of a run"),
            HasSubstr("left out")));
  const fs::path reference = *fs::directory_iterator(folder / "out/references");
  folder.write("out/references/" + reference.filename().string(), R"({"objective": 1})");
  const Result again = run("run tiny.ini --out out");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("3 of 4 runs are stored already"),
                               HasSubstr("found version 1, expected the record of a run")));
  EXPECT_EQ(run("table out").status, 0);
}

TEST_F(SweepProcess, WhySaysWhatChanged) {
  ASSERT_EQ(sweep().status, 0);
  const std::string dry = "run tiny.ini --out out --dry-run --why ";
  EXPECT_THAT(run(dry).out, HasSubstr("4 runs, 4 of them stored; 0 references to make\n"));
  const Result changed = run(dry + "--set solver.gd.max_iterations=21 --json dry.json");
  EXPECT_THAT(
      changed.out,
      AllOf(HasSubstr("words-lambda1-prox-newton-rep1  (tol 1e-06, at most 500 iterations)  stored\n"),
            HasSubstr("config max_iterations: 20 -> 21\n")));
  EXPECT_EQ(read_json("dry.json")["runs"][1]["why"], json::array({"config max_iterations: 20 -> 21"}));
  EXPECT_GT(read_json("dry.json")["runs"][1]["estimated_seconds"], 0.0);
  EXPECT_THAT(run(dry + "--set experiment.seed=2").out, HasSubstr("seed: 1 -> 2"));
  EXPECT_THAT(run(dry + "--force").out, HasSubstr("forced"));
  folder.write("train.txt", kTrain + std::string("O\tw=is\tbias\n\n"));
  EXPECT_THAT(run(dry).out, HasSubstr("data: other bytes in the files"));
}

TEST_F(SweepProcess, AChangedConfigReplacesCompleteRunsOnlyIfAsked) {
  ASSERT_EQ(sweep().status, 0);
  const auto before = stored();
  const std::string config = read_text(folder / "out/config.ini"),
                    changed = "--set solver.gd.max_iterations=21 ";
  const Result refused = sweep(changed);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("out: 2 complete runs would be replaced."),
                    HasSubstr("config max_iterations: 20 -> 21 (2); expected --replace, which makes these")));
  EXPECT_EQ(stored(), before);
  EXPECT_EQ(read_text(folder / "out/config.ini"), config);
  const Result dry = run("run tiny.ini --out out --dry-run " + changed);
  EXPECT_EQ(dry.status, 0);
  EXPECT_THAT(dry.out, AllOf(HasSubstr("2 complete runs would be replaced."), HasSubstr("needs --replace")));
  EXPECT_EQ(sweep("--set experiment.repetitions=2").status, 0) << "new runs replace nothing";
  EXPECT_EQ(stored().size(), 8u);
  fs::remove_all(folder / "out/runs/words-lambda1-gd-rep2");
  ASSERT_EQ(sweep(changed + "--replace").status, 0);
  for (const auto& [name, time] : stored()) {
    if (!before.contains(name)) continue;
    EXPECT_EQ(time == before.at(name), name.find("gd") == name.npos) << name;
  }
}

TEST_F(SweepProcess, OnlyMakesFStarAndTheRunsOfOneProblem) {
  const std::string only = "--only words-lambda1 ";
  ASSERT_EQ(sweep(only).status, 0);
  EXPECT_EQ(stored().size(), 2u);
  EXPECT_TRUE(fs::exists(folder / "out/references/words-lambda1.json"));
  EXPECT_TRUE(fs::is_empty(folder / "out/tables") && fs::is_empty(folder / "out/figures"));
  EXPECT_THAT(run("status out").out, HasSubstr("2 done, 0 failed, 2 missing\n"));
  const auto before = stored();
  const Result again = run("run tiny.ini --out out " + only);
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, HasSubstr("words-lambda1: nothing is missing\n"));
  ASSERT_EQ(sweep().status, 0);
  EXPECT_EQ(stored().at("words-lambda1-gd-rep1"), before.at("words-lambda1-gd-rep1"));
  EXPECT_THAT(sweep("--only words-lamda1").err,
              HasSubstr("--only: found 'words-lamda1' (did you mean 'words-lambda1'?), expected one of "
                        "words-lambda0.5, words-lambda1\n"));
}

TEST_F(SweepProcess, OnlyLeavesAProblemToTheProcessThatMakesIt) {
  folder.write("slow.ini", kEndless);
  const Result both = type(
      "proxbench run slow.ini --out out --quiet --only synthetic-ocr-lambda1 & first=$!\n"
      "until ls out/runs/.synthetic*prox-gd*.new/trace.csv; do sleep 0.05; done >/dev/null 2>&1\n"
      "proxbench run slow.ini --out out --only synthetic-ocr-lambda1; second=$?\n"
      "proxbench status out; kill $first; wait $first; test $second = 0");
  EXPECT_EQ(both.status, 0);
  EXPECT_THAT(both.err, HasSubstr("synthetic-ocr-lambda1: another `proxbench run` makes its runs"));
  EXPECT_THAT(both.out, HasSubstr("running synthetic-ocr-lambda1-prox-gd-rep1\n"));
}

TEST_F(SweepProcess, OnlyStoresNothingIfConfigDataOrBuildChanged) {
  const std::string only = "--only words-lambda1 ";
  const std::string plan = sweep(only + "--dry-run").out;
  const std::string key = plan.substr(plan.find("(key ") + 5, 26);
  ASSERT_EQ(sweep("--only words-lambda0.5").status, 0);
  const auto before = stored();
  const Result other = sweep(only + "--set experiment.tol=1e-5");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("out/config.ini: found another config"), HasSubstr("nothing was stored")));
  EXPECT_THAT(sweep(only + "--key x" + key.substr(1)).err, HasSubstr(": the config changed or"));
  EXPECT_THAT(sweep(only + "--key " + key.substr(0, 18) + "00000000").err,
              HasSubstr(": the build, a plug-in or the instruction set changed or"));
  folder.write("train.txt", kTrain + std::string("O\tw=is\tbias\n\n"));
  const Result data = sweep(only + "--key " + key);
  EXPECT_EQ(data.status, 1);
  EXPECT_THAT(data.err, HasSubstr(": the data changed or"));
  EXPECT_EQ(stored(), before);
  folder.write("train.txt", kTrain);
  EXPECT_EQ(sweep(only + "--key " + key).status, 0);
}

TEST_F(SweepProcess, RunsOnASharedMachineAreNotComparable) {
  ASSERT_EQ(sweep("--only words-lambda1 --shared 1000").status, 0);
  EXPECT_EQ(manifest("words-lambda1-gd-rep1")["timing"]["not_comparable_because"],
            "others may have used this machine");
}

TEST_F(SweepProcess, AFolderHoldsOneExperiment) {
  ASSERT_EQ(sweep().status, 0);
  const auto before = stored();
  for (const char* more : {"", "--force", "--replace", "--dry-run"}) {
    const Result other = sweep(std::string("--set experiment.name=other ") + more);
    EXPECT_EQ(other.status, 2) << more;
    EXPECT_THAT(other.err, HasSubstr("out/config.ini: found the results of experiment 'tiny', expected "
                                     "those of 'other'; --out DIR takes another folder"));
  }
  EXPECT_EQ(stored(), before);
}

TEST_F(SweepProcess, WithoutTheDataAPlanIsStillShown) {
  ASSERT_EQ(sweep().status, 0);
  fs::remove(folder / "train.txt");
  const Result dry = run("run tiny.ini --out out --dry-run");
  EXPECT_EQ(dry.status, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("4 runs, 4 of them stored; 0 references to make\n"));
  EXPECT_THAT(dry.err, HasSubstr("no file 'train.txt'; looked at "));
  EXPECT_THAT(run("status out").out, HasSubstr("4 done, 0 failed\n"));
  const Result check = run("check tiny.ini");
  EXPECT_EQ(check.status, 2);
  EXPECT_THAT(check.out, HasSubstr("words-lambda1-gd-rep1  (tol 1e-06, at most 20 iterations)\n"));
  EXPECT_THAT(check.err, HasSubstr("[data.words] train: no file 'train.txt'; looked at "));
  EXPECT_EQ(sweep().status, 2) << "a sweep needs the data";
}

TEST_F(SweepProcess, AnEstimateCountsTheReferences) {
  const std::string dry =
      "run tiny.ini --out out --dry-run --set experiment.time_limit=100 "
      "--set experiment.reference_time_limit=7 ";
  EXPECT_THAT(
      run(dry).out,
      HasSubstr("4 runs, 0 of them stored; 2 references to make; at most about 414 s for what is missing\n"));
  EXPECT_THAT(
      run(dry + "--set experiment.reference=none").out,
      HasSubstr("4 runs, 0 of them stored; 0 references to make; at most about 400 s for what is missing\n"));
}

TEST_F(SweepProcess, TheTimeLeftCountsTheReferences) {
  const std::string sweep = "run tiny.ini ";
  EXPECT_THAT(run(sweep + "--out unlimited").err, HasSubstr("[1/4, about 0 s left]"))
      << "the first reference took some time";
  EXPECT_THAT(run(sweep + "--out limited --set experiment.lambda=1 --set experiment.time_limit=100").err,
              HasSubstr("[1/2, about 3 min left]"))
      << "the only reference is made";
  EXPECT_THAT(run(sweep + "--out none --set experiment.reference=none").err, HasSubstr("[1/4] "));
}

TEST_F(SweepProcess, WithoutAReferenceNoneIsMade) {
  ASSERT_EQ(sweep("--set experiment.reference=none").status, 0);
  EXPECT_EQ(stored().size(), 4u);
  EXPECT_TRUE(fs::is_empty(folder / "out/references"));
  EXPECT_THAT(run("table out").out, HasSubstr("| prox-newton |"));
}

TEST_F(SweepProcess, ForceMakesAllAnew) {
  ASSERT_EQ(sweep().status, 0);
  const auto before = stored();
  ASSERT_EQ(sweep("--force").status, 0);
  for (const auto& [name, time] : stored()) EXPECT_NE(time, before.at(name)) << name;
}

TEST_F(SweepProcess, AManifestStatesWhereARunCameFrom) {
  ASSERT_EQ(sweep().status, 0);
  const json made = manifest("words-lambda1-gd-rep1");
  for (const char* key :
       {"program", "machine", "libraries", "settings", "command", "time", "load", "governor", "affinity"})
    EXPECT_TRUE(made["provenance"].contains(key)) << key;
  EXPECT_THAT(made["provenance"]["command"].get<std::string>(), HasSubstr("run tiny.ini --out out --quiet"));
  EXPECT_GT(made["timing"]["wall_seconds"], made["timing"]["load_seconds"]);
  EXPECT_EQ(made["timing"]["cpus"].size(), 1u);
  EXPECT_EQ(made["timing"]["comparable"], true);
  EXPECT_EQ(made["key"]["digest"].get<std::string>().size(), 32u);
  EXPECT_TRUE(made["reason"].is_null());
  // Any run can be made again by hand.
  fs::create_directory(folder / "again");
  const std::string worker = (fs::path(PROXBENCH_PROGRAM).parent_path() / "proxbench-worker").string();
  ASSERT_EQ(std::system((worker + " '" + (folder / "out/runs/words-lambda1-gd-rep1/manifest.json").string() +
                         "' '" + (folder / "again").string() + "'")
                            .c_str()),
            0);
  EXPECT_EQ(read_json("again/manifest.json")["objective"], made["objective"]);
  EXPECT_FALSE(fs::exists(folder / "out/runs/words-lambda1-gd-rep1/job.json"))
      << "the manifest says all of it";
  EXPECT_EQ(read_text(folder / "again/model.tsv"),
            read_text(folder / "out/runs/words-lambda1-gd-rep1/model.tsv"));
}

TEST_F(SweepProcess, RunsMadeAtATimeAreNotComparable) {
  ASSERT_EQ(sweep("--jobs 2").status, 0);
  const json made = manifest("words-lambda1-gd-rep1");
  EXPECT_EQ(made["timing"]["comparable"], false);
  EXPECT_EQ(made["timing"]["not_comparable_because"], "2 runs were made at a time");
  EXPECT_EQ(stored().size(), 4u);
  EXPECT_EQ(sweep("--jobs 0").status, 2);
  EXPECT_THAT(run("run tiny.ini --out out --jobs 2 --dry-run").out, HasSubstr("4 of them stored"));
  // A sweep that measures times does not reuse them.
  EXPECT_THAT(run("run tiny.ini --out out --dry-run").out,
              AllOf(HasSubstr("0 of them stored"), HasSubstr("not comparable: 2 runs were made at a time")));
}

TEST_F(SweepProcess, DataThatCannotBeReadCostTheirRunsOnly) {
  folder.write("bad.txt", "O\tw=the\nB\tw:x\n");
  folder.write("two.ini", kConfig + std::string("[data.bad]\nformat = crfsuite\ntrain = bad.txt\n"));
  const Result result = sweep("", "two.ini");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("bad-lambda0.5-gd-rep1: failed(the data cannot be read): "),
                                HasSubstr("bad.txt:2: found "), HasSubstr("4 of 8 runs failed")));
  EXPECT_EQ(manifest("words-lambda1-gd-rep1")["status"], "max-iterations");
  EXPECT_EQ(manifest("bad-lambda1-gd-rep1")["status"], "failed(the data cannot be read)");
  EXPECT_THAT(run("status out").out,
              AllOf(HasSubstr("failed  bad-lambda1-gd-rep1"), HasSubstr("4 done, 4 failed\n")));
  folder.write("bad.txt", kTrain);  // failed runs are never reused
  EXPECT_EQ(sweep("", "two.ini").status, 0);
  EXPECT_EQ(manifest("bad-lambda1-gd-rep1")["status"], "max-iterations");
}

TEST_F(SweepProcess, AnOracleThatDoesNotFitCostsItsRunsOnly) {
  folder.write("tree.ini",
               kConfig + std::string("[data.tree]\nformat = crfsuite\ntrain = train.txt\noracle = tree\n"));
  const Result result = sweep("", "tree.ini");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("failed(the oracle does not fit the data): oracle tree cannot serve"),
                    HasSubstr("4 of 8 runs failed")));
  EXPECT_EQ(manifest("words-lambda1-gd-rep1")["status"], "max-iterations");
  EXPECT_EQ(manifest("tree-lambda1-gd-rep1")["status"], "failed(the oracle does not fit the data)");
  EXPECT_THAT(run("status out").out, HasSubstr("4 done, 4 failed\n"));
  EXPECT_THAT(
      run("check tree.ini --set data.tree.oracle=tre").err,
      HasSubstr("[data.tree] oracle: found 'tre' (did you mean 'tree'?), expected one of chain, tree"));
}

TEST_F(SweepProcess, MemoryIsLimited) {
  if (kSanitized) GTEST_SKIP() << "memory and signals are the sanitizer's";
  folder.write("slow.ini", kEndless);
  const Result result =
      sweep("--set experiment.memory_limit=2 --set experiment.max_iterations=3", "slow.ini");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("memory ran out"));
  EXPECT_EQ(manifest("synthetic-ocr-lambda1-prox-gd-rep1")["reason"], "memory ran out");
}

TEST_F(SweepProcess, AWallLimitStopsARunAndKeepsItsTrace) {
  folder.write("slow.ini", kEndless);
  const Result result = sweep(
      "--set experiment.wall_limit=1.5 --set experiment.reference_tol=0.5 --set "
      "solver.owl-qn.max_iterations=2",
      "slow.ini");
  EXPECT_EQ(result.status, 0) << result.err;
  const json stopped = manifest("synthetic-ocr-lambda1-prox-gd-rep1");
  EXPECT_EQ(stopped["status"], "time-limit");
  EXPECT_EQ(stopped["reason"], "asked to stop after 1.5 s of wall time");
  EXPECT_GT(stopped["iterations"], 0);
  EXPECT_EQ(manifest("synthetic-ocr-lambda1-owl-qn-rep1")["status"], "max-iterations");
}

TEST_F(SweepProcess, StopsAtATarget) {
  ASSERT_EQ(sweep("--set experiment.stop_at=1e-3").status, 0);
  const json made = manifest("words-lambda1-prox-newton-rep1");
  EXPECT_EQ(made["status"], "target-reached");
  const double best = made["reference"]["objective"].get<double>();
  EXPECT_LE(made["objective"].get<double>(), best * (1 + 1e-3));
}

TEST_F(SweepProcess, InterruptKeepsThePartialTraceAndTheSweepGoesOnFromThere) {
  folder.write("slow.ini", kEndless);
  const int status =
      start_and("slow.ini", "synthetic-ocr-lambda1-prox-gd-rep1", [](pid_t id) { kill(id, SIGINT); });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_THAT(read_text(folder / "stderr"), HasSubstr("interrupted; 1 runs are kept in out"));
  const std::vector<StoredRun> runs = stored_runs(folder / "out");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].status(), "interrupted");
  EXPECT_GE(runs[0].trace.size(), 3u);
  EXPECT_EQ(stored().size(), 1u);
  EXPECT_EQ(sweep("--set experiment.max_iterations=3", "slow.ini").status, 0);
  EXPECT_EQ(manifest("synthetic-ocr-lambda1-prox-gd-rep1")["status"], "max-iterations");
}

TEST_F(SweepProcess, StatusStatesWhatRunsWhatWasInterruptedAndWhatIsMissing) {
  folder.write("slow.ini", kEndless);
  const std::string name = "synthetic-ocr-lambda1-prox-gd-rep1";
  const auto status = [&] { return run("status out").out; };
  start_and("slow.ini", name, [&](pid_t id) {
    EXPECT_THAT(status(), AllOf(HasSubstr("running " + name + "\n"),
                                HasSubstr("missing synthetic-ocr-lambda1-owl-qn-rep1\n"),
                                HasSubstr("0 queued, 1 running, 0 done, 0 failed, 1 missing\n")));
    kill(id, SIGINT);
  });
  folder.write("out/runs/" + name + "/log.txt", "a note\n");
  EXPECT_THAT(status(), AllOf(HasSubstr("interrupted " + name), testing::Not(HasSubstr("a note")),
                              HasSubstr("0 running, 0 done, 0 failed, 1 interrupted, 1 missing\n")));
  fs::rename(folder / "out/runs" / name, folder / "out/runs" / ("." + name + ".17.new"));
  EXPECT_THAT(status(), HasSubstr("interrupted " + name + "  its sweep was killed"));
  EXPECT_EQ(run("status out --json s.json").status, 0);
  EXPECT_EQ(read_json("s.json")["interrupted"], 1);
  EXPECT_EQ(read_json("s.json")["missing"], 1);
}

TEST_F(SweepProcess, TheSecondInterruptKillsWhatDoesNotStop) {
  folder.write("hang.ini", kConfig + std::string("[solver.hang]\n"));
  pid_t worker = 0;
  const int status = start_and(
      "hang.ini", "words-lambda0.5-hang-rep1",
      [&](pid_t id) {
        worker = std::stoi(read_text(fmt::format("/proc/{0}/task/{0}/children", id)));
        kill(id, SIGINT);
        while (!stopping(id)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        kill(id, SIGINT);
      },
      PROXBENCH_TEST_PLUGINS "/misbehaving.so", 2);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  EXPECT_TRUE(ends(worker));
}

TEST_F(SweepProcess, AKilledRunIsRecordedAndCostsOnlyItself) {
  if (kSanitized) GTEST_SKIP() << "memory and signals are the sanitizer's";
  folder.write("slow.ini", kEndless + "max_iterations = 2\n");
  const int status = start_and("slow.ini", "synthetic-ocr-lambda1-prox-gd-rep1", [](pid_t id) {
    const std::string children = fmt::format("/proc/{0}/task/{0}/children", id);
    kill(std::stoi(read_text(children)), SIGSEGV);  // the only child: the run's process
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  const json crashed = manifest("synthetic-ocr-lambda1-prox-gd-rep1");
  EXPECT_EQ(crashed["status"], "crashed(SIGSEGV)");
  EXPECT_GT(crashed["objective"], 0.0);
  EXPECT_GE(read_trace(folder / "out/runs/synthetic-ocr-lambda1-prox-gd-rep1/trace.csv").size(), 3u);
  EXPECT_EQ(manifest("synthetic-ocr-lambda1-owl-qn-rep1")["status"], "max-iterations");
}

TEST_F(SweepProcess, WhatAKilledSweepLeftIsEndedByTheNext) {
  ASSERT_EQ(sweep().status, 0);
  const fs::path runs = folder / "out/runs";
  fs::rename(runs / "words-lambda1-gd-rep1",
             runs / ".words-lambda1-gd-rep1.17.new");  // complete, not renamed
  fs::rename(runs / "words-lambda1-prox-newton-rep1",
             runs / ".words-lambda1-prox-newton-rep1.17.old");                            // moved aside
  folder.write("out/runs/.words-lambda0.5-gd-rep1.17.new/trace.csv", "half");             // not complete
  folder.write("out/runs/.words-lambda0.5-prox-newton-rep1.17.old/manifest.json", "{}");  // already replaced
  folder.write("out/.config.ini.tmp-4194305", "half");  // above the largest process id
  folder.write("out/figures/.drawing-4194305/half", "");
  EXPECT_THAT(run("run tiny.ini --out out").err, HasSubstr("4 of 4 runs are stored already"));
  EXPECT_EQ(stored().size(), 4u);
  for (const auto& entry : fs::recursive_directory_iterator(folder / "out"))
    EXPECT_TRUE(!entry.path().filename().string().starts_with('.') || entry.path().filename() == ".lock")
        << entry.path();
}

TEST_F(SweepProcess, AReferenceThatItsTimeLimitEndedSaysSo) {
  folder.write("short.ini", kConfig);
  const std::string sweep =
      "run short.ini --out out --set experiment.lambda=1 --set experiment.reference_tol=1e-12 ";
  const Result cut = run(sweep + "--set experiment.reference_time_limit=1e-6");
  ASSERT_EQ(cut.status, 0) << cut.err;
  EXPECT_THAT(
      cut.err,
      HasSubstr("reference words-lambda1: ended by its time limit of 1e-06 s, so that another sweep may find "
                "another f*"));
  const auto ended_by_limit = [&]() -> bool {
    const fs::path references = folder / "out/references";
    return ended_by_time_limit(read_record(*fs::directory_iterator(references)));
  };
  EXPECT_EQ(ended_by_limit(), true);
  const Result whole = run(sweep + "--force");
  EXPECT_EQ(ended_by_limit(), false) << whole.err;
  EXPECT_THAT(whole.err, testing::Not(HasSubstr("ended by its time limit")));
}

TEST_F(SweepProcess, ASolverThatGoesWrongCostsItsOwnRunsOnly) {
  if (kSanitized) GTEST_SKIP() << "memory and signals are the sanitizer's";
  folder.write("wrong.ini", kConfig + std::string("[solver.crash]\n[solver.fail]\n[solver.hang]\n"
                                                  "time_limit = 0\n[solver.hog]\n"));
  const Result result =
      run("--plugin " PROXBENCH_TEST_PLUGINS
          "/misbehaving.so run wrong.ini --out out --quiet "
          "--set experiment.lambda=1 --set experiment.wall_limit=2 --set experiment.kill_grace=0.2 "
          "--set experiment.memory_limit=300 --set experiment.threads=1");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("3 of 6 runs failed"));
  const auto ended = [&](const std::string& solver) { return manifest("words-lambda1-" + solver + "-rep1"); };
  EXPECT_EQ(ended("crash")["status"], "crashed(SIGSEGV)");
  EXPECT_EQ(ended("fail")["status"], "failed");
  EXPECT_EQ(ended("fail")["reason"], "no descent direction");
  EXPECT_EQ(ended("hog")["status"], "out-of-memory");
  EXPECT_EQ(ended("hang")["status"], "time-limit");
  EXPECT_THAT(ended("hang")["reason"].get<std::string>(), HasSubstr("killed: did not stop within 0.2 s"));
  EXPECT_EQ(ended("hang")["iterations"], 2) << "of the last sample";
  EXPECT_EQ(ended("gd")["status"], "max-iterations");
  EXPECT_EQ(ended("prox-newton")["status"], "converged");
  // None of these runs is reused, not even the one that did not fail, because a limit stopped it.
  const Result again =
      run("--plugin " PROXBENCH_TEST_PLUGINS
          "/misbehaving.so run wrong.ini --out out --dry-run "
          "--set experiment.lambda=1 --set experiment.wall_limit=2 --set experiment.kill_grace=0.2 "
          "--set experiment.memory_limit=300 --set experiment.threads=1");
  EXPECT_THAT(again.out,
              AllOf(HasSubstr("6 runs, 2 of them stored"), HasSubstr("failed before: crashed(SIGSEGV)"),
                    HasSubstr("not complete: killed")));
}

TEST_F(SweepProcess, ADamagedOrForeignFolderIsLeftOutAndNamed) {
  ASSERT_EQ(sweep().status, 0);
  folder.write("out/runs/foreign/notes.txt", "mine");
  folder.write("out/runs/words-lambda1-gd-rep1/trace.csv", "seconds\nx\n");
  fs::remove(folder / "out/runs/words-lambda0.5-gd-rep1/trace.csv");
  for (const std::string command :
       {"table out", "plot out", "export out --out runs.csv", "report out --out page.html"}) {
    const Result result = run(command);
    EXPECT_EQ(result.status, 1) << command << ": something is left out";
    for (const char* name :
         {"foreign", "words-lambda1-gd-rep1/trace.csv", "words-lambda0.5-gd-rep1/trace.csv"}) {
      const std::string told = std::string("warning: out/runs/") + name;
      EXPECT_THAT(result.err, HasSubstr(told)) << command;
      EXPECT_EQ(result.err.find(told), result.err.rfind(told)) << command;
    }
  }
  EXPECT_THAT(read_text(folder / "runs.csv"), HasSubstr("words-lambda1-prox-newton-rep1"));
  EXPECT_NE(run("merge out --out both").status, 0) << "a copy must not lose a run";
}

TEST_F(SweepProcess, TwoSweepsDoNotShareAFolder) {
  folder.write("slow.ini", kEndless);
  start_and("slow.ini", "synthetic-ocr-lambda1-prox-gd-rep1", [&](pid_t id) {
    const Result second = run("run slow.ini --out out");
    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.err, HasSubstr("out: another `proxbench run` works in this folder"));
    kill(id, SIGKILL);
  });
}

TEST_F(SweepProcess, MergeIsACommand) {
  ASSERT_EQ(sweep().status, 0);
  const Result merged = run("merge out --out both");
  EXPECT_EQ(merged.out, "both: 4 runs, 2 references\n") << merged.err;
  EXPECT_EQ(run("table both").status, 0);
  EXPECT_EQ(run("merge out --out both").status, 2);
}

}  // namespace
}  // namespace proxbench
