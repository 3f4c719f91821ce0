/// The commands that read stored results, as processes: table, plot, export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "experiments/base/test_folder.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Result {
  int status;
  std::string out, err;
};

class ReadCommands : public testing::Test {
 protected:
  /// A run that reaches f* = 100 after so many seconds.
  void write_run(const std::string& out, const std::string& label, int repetition, double seconds,
                 const json& changes = json::object()) const {
    json manifest = {{"status", "converged"},
                     {"objective", 100.0},
                     {"nnz", 5},
                     {"seconds", seconds},
                     {"timing", {{"load_seconds", 1.0}, {"setup_seconds", 0.5}, {"comparable", true}}},
                     {"run",
                      {{"experiment", out},
                       {"dataset", "d"},
                       {"lambda", 1.0},
                       {"solver", "prox-qn"},
                       {"label", label},
                       {"repetition", repetition},
                       {"seed", repetition},
                       {"time_limit", 60.0},
                       {"description", "made up"},
                       {"options", {{"memory", "20"}}},
                       {"reference_objective", 100.0},
                       {"reference_kkt", 1e-9}}}};
    manifest.merge_patch(changes);
    const std::string run = out + "/runs/d-lambda1-" + label + "-rep" + std::to_string(repetition);
    folder.write(run + "/manifest.json", manifest.dump());
    Sample first, before, last;
    first.objective = before.objective = 110.0;
    before.seconds = before.passes = 0.95 * seconds;  // so that the time is known to a twentieth
    last.objective = 100.0;
    last.nnz = 5;
    last.seconds = seconds;
    last.passes = last.seconds;
    folder.write(run + "/trace.csv", trace_header() + "\n" + trace_line(first) + "\n" + trace_line(before) +
                                         "\n" + trace_line(last) + "\n");
  }

  Result run(const std::string& arguments) const {
    const fs::path out = folder / "stdout", err = folder / "stderr";
    const int status = std::system(("cd '" + folder.path().string() + "' && '" PROXBENCH_PROGRAM "' " +
                                    arguments + " >'" + out.string() + "' 2>'" + err.string() + "'")
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
  }

  TestFolder folder;
};

TEST_F(ReadCommands, TableWritesAllAndPrintsSummaryOrMeans) {
  for (int repetition = 1; repetition <= 3; ++repetition) write_run("one", "a", repetition, repetition);
  const Result summary = run("table one --targets 1e-3 --json t.json");
  ASSERT_EQ(summary.status, 0) << summary.err;
  EXPECT_THAT(summary.out,
              AllOf(HasSubstr("| a | converged | 3* | 2.00 [1.50, 2.50] |"), HasSubstr("| 1.50 |")));
  for (const char* name : {"summary", "means"})
    for (const char* extension : {".md", ".tex", ".csv"})
      EXPECT_TRUE(fs::exists(folder / "one/tables" / (std::string(name) + extension)));
  const json row = json::parse(read_text(folder / "t.json"))[0]["rows"][0];
  EXPECT_EQ(row["spread"]["seconds_to_0.001"]["q75"], 2.5);
  EXPECT_EQ(row["seconds_to"]["0.001"], 2.0);
  EXPECT_THAT(run("table one --kind means --format csv --shift 2 --par 5 --targets 1e-3").out,
              HasSubstr("\nseconds,,a,0.001,3,3,0,2,5,"));
  EXPECT_EQ(run("table one --kind mean").status, 2);
  EXPECT_EQ(run("table one --par 0.5").status, 2);
}

TEST_F(ReadCommands, SeveralFoldersAreComparedTogether) {
  write_run("one", "a", 1, 1);
  write_run("one", "b", 1, 2);
  write_run("two", "a", 1, 8);
  write_run("two", "b", 1, 4);
  const Result missing = run("plot one two --kind profile");
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("--out: found none, expected a folder"));
  EXPECT_EQ(run("plot one one --kind profile --out all").status, 2);

  const Result profiles = run("plot one two --kind profile,ecdf --targets 1e-3 --out all");
  ASSERT_EQ(profiles.status, 0) << profiles.err;
  EXPECT_EQ(profiles.out, "all/figures/profile-0.001.png\nall/figures/ecdf.png\n");
  EXPECT_THAT(read_text(folder / "all/figures/profile-0.001.tsv"), HasSubstr("a\t1\t0.5\na\t2\t1\n"));
  EXPECT_FALSE(fs::exists(folder / "one/figures"));

  const Result curves = run("plot one two --kind curves --quantities nnz");
  EXPECT_EQ(curves.out, "one/figures/d-lambda1-nnz.png\ntwo/figures/d-lambda1-nnz.png\n");
  EXPECT_EQ(run("plot one two --kind curves --out all").status, 2);
  EXPECT_EQ(run("plot one --quantities nnz --out else").out, "else/figures/d-lambda1-nnz.png\n");
  EXPECT_EQ(run("plot one --kind histogram").status, 2);

  const Result means = run("table one two --kind means --targets 1e-3 --out all");
  ASSERT_EQ(means.status, 0) << means.err;
  EXPECT_THAT(means.out, AllOf(HasSubstr("2 problems"), HasSubstr("2 of 2")));
  EXPECT_TRUE(fs::exists(folder / "all/tables/means.csv"));
}

TEST_F(ReadCommands, TheConfigBesideTheRunsIsObeyed) {
  write_run("one", "a", 1, 4);
  write_run("one", "a", 2, 4);
  folder.write(
      "one/config.ini",
      "[experiment]\nname = one\nlambda = 1\ntargets = 1e-3\n[plot]\nkinds = curves, ecdf\nx = passes\n"
      "quantities = nnz\nrepetitions = lines\nshift = 3\npar = 7\n");
  const Result plot = run("plot one");
  ASSERT_EQ(plot.status, 0) << plot.err;
  EXPECT_EQ(plot.out, "one/figures/d-lambda1-nnz-passes.png\none/figures/ecdf-passes.png\n");
  EXPECT_THAT(read_text(folder / "one/figures/d-lambda1-nnz-passes.gp"), Not(HasSubstr("filledcurves")));
  EXPECT_THAT(run("table one --kind means --format csv").out, HasSubstr("\npasses,,a,0.001,2,2,0,3,7,"));
}

TEST_F(ReadCommands, ConfigsAreWrittenOutWithTheirPlotKeys) {
  const std::string ini =
      parse_config(
          "[experiment]\nname = e\nlambda = 1\n[data]\nformat = synthetic-ocr\n[solver.prox-qn]\n"
          "[plot]\nkinds = profile, ecdf\nrepetitions = lines\nshift = 2\npar = 5\n",
          "e.ini", folder.path())
          .to_ini();
  for (const char* line :
       {"\nkinds = profile, ecdf\n", "\nrepetitions = lines\n", "\nshift = 2\n", "\npar = 5\n"})
    EXPECT_THAT(ini, HasSubstr(line));
}

TEST_F(ReadCommands, SolversCanBeChosen) {
  write_run("one", "a", 1, 1);
  write_run("one", "b", 1, 2);
  EXPECT_THAT(run("table one --solvers b").out, AllOf(HasSubstr("| b |"), Not(HasSubstr("| a |"))));
  const Result unknown = run("table one --solvers a,bb");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("solvers: found 'bb', expected labels of the results: a, b"));
}

TEST_F(ReadCommands, TimingsThatAreNotComparableNeedAFlag) {
  write_run("one", "a", 1, 1, {{"timing", {{"comparable", false}}}});
  EXPECT_THAT(run("table one --targets 1e-3").out, HasSubstr("| a | converged | 1* | n/c | n/c |"));
  EXPECT_THAT(run("table one --targets 1e-3 --allow-not-comparable").out, HasSubstr("| 1* | 1.00 |"));
  for (const std::string kind : {"curves", "ecdf"}) {
    const Result refused = run("plot one --kind " + kind);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("d-lambda1-a-rep1; expected --allow-not-comparable"));
    EXPECT_EQ(run("plot one --kind " + kind + " --x passes").status, 0);
    EXPECT_EQ(run("plot one --kind " + kind + " --allow-not-comparable").status, 0);
  }
}

TEST_F(ReadCommands, ExportWritesRunsOrSamples) {
  write_run("one", "a", 1, 1);
  write_run("one", "a", 2, 2, {{"status", "crashed(SIGSEGV)"}, {"reason", "it said \"no\", twice"}});
  EXPECT_EQ(run("export one --out runs.csv").out, "");
  const std::string runs = read_text(folder / "runs.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 3);
  EXPECT_THAT(runs, HasSubstr("crashed(SIGSEGV),\"it said \"\"no\"\", twice\","));
  const Result samples = run("export one --out - --samples");
  EXPECT_THAT(samples.out, HasSubstr("\nd-lambda1-a-rep2,2,0,0,2,,100,0,5,0,,,,,,,,0\n"));
  EXPECT_EQ(run("export one").status, 2);
  EXPECT_EQ(run("export one --out none/x.csv").status, 1);
  EXPECT_EQ(run("export none --out x.csv").status, 1);
  EXPECT_FALSE(fs::exists(folder / "x.csv"));
}

}  // namespace
}  // namespace proxbench
