/// The commands of the Python package on records that the program wrote: table, plot, export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <functional>

#include "experiments/base/test_folder.h"
#include "experiments/config/config.h"
#include "experiments/results/csv.h"
#include "experiments/results/fields.h"
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
  /// A run that reaches f* = 100 after this many seconds.
  void write_run(
      const std::string& out, const std::string& label, int repetition, double seconds,
      const std::function<void(proxbench::Run&)>& change = [](proxbench::Run&) {}) const {
    proxbench::Run stored;
    stored.set_status("converged");
    RunParameters& p = stored.parameters;
    p.experiment = out;
    p.dataset = "d";
    p.solver = "prox-newton";
    p.label = label;
    p.repetition = repetition;
    p.seed = static_cast<std::uint64_t>(repetition);
    p.penalty = {1.0, 0.0};
    p.time_limit = 60.0;
    p.solver_options = {{"memory", "20"}, {"sigma", "0.5"}};
    RunFigures& result = stored.result;
    result.certificate.objective = 100.0;
    result.certificate.nnz = 5;
    result.seconds = seconds;
    result.load_seconds = 1.0;
    result.setup_seconds = 0.5;
    result.description = "made up, \"twice\"";
    stored.best.objective = 100.0;
    stored.best.relative_kkt = 1e-9;
    change(stored);
    const std::string run = out + "/runs/d-lambda1-" + label + "-rep" + std::to_string(repetition);
    make_folder(folder / run);
    write_record(folder / run / kManifestFile, stored);
    Sample first, before, last;
    first.objective = before.objective = 110.0;
    before.seconds = before.passes = 0.95 * seconds;  // the time to f* is between 0.95*seconds and seconds
    last.objective = 100.0;
    last.nnz = 5;
    last.seconds = seconds;
    last.passes = last.seconds;
    folder.write(run + "/trace.csv", csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), first) +
                                         "\n" + csv_line(trace_columns(), before) + "\n" +
                                         csv_line(trace_columns(), last) + "\n");
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
  EXPECT_THAT(summary.out, HasSubstr("| a | converged | 3* | 2.00 [1.50, 2.50] |"));
  EXPECT_THAT(run("table one --targets 1e-3 --columns all").out, HasSubstr("| 1.00 | 0.50 |"));
  EXPECT_THAT(
      run("table one --targets 1e-3 --columns nnz,seconds_to_0.001 --format csv").out,
      AllOf(HasSubstr(",nnz,nnz_q25,"), HasSubstr(",seconds_to_0.001_from,"), Not(HasSubstr(",passes,"))));
  EXPECT_THAT(read_text(folder / "one/tables/summary.csv"), HasSubstr(",passes,")) << "the file has all";
  for (const char* name : {"summary", "means"})
    for (const char* extension : {".md", ".tex", ".csv"})
      EXPECT_TRUE(fs::exists(folder / "one/tables" / (std::string(name) + extension)));
  const nlohmann::json row = nlohmann::json::parse(read_text(folder / "t.json"))[0];
  EXPECT_EQ(row["seconds_to_0.001"]["q75"], 2.5);
  EXPECT_EQ(row["seconds_to_0.001"]["median"], 2.0);
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
  EXPECT_THAT(read_text(folder / "all/figures/profile-0.001.csv"), HasSubstr("a,1,0.5\na,2,1\n"));
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
  EXPECT_THAT(run("table one --kind means --format csv").out, HasSubstr("\npasses,,a,0.001,2,2,0,3,7,"));
}

TEST_F(ReadCommands, ConfigsAreWrittenOutWithTheirPlotKeys) {
  const std::string ini =
      parse_config(
          "[experiment]\nname = e\nlambda = 1\n[data]\nformat = synthetic-ocr\n[solver.prox-newton]\n"
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
  EXPECT_THAT(unknown.err, HasSubstr("expected labels of the results: a, b"));
}

TEST_F(ReadCommands, TimingsThatAreNotComparableNeedAFlag) {
  write_run("one", "a", 1, 1, [](proxbench::Run& stored) { stored.timing.comparable = false; });
  EXPECT_THAT(run("table one --targets 1e-3").out, AllOf(HasSubstr("| a | converged | 1* | 0.0e+00 | 5 |"),
                                                         HasSubstr("1 of 1 runs are not comparable")));
  EXPECT_THAT(run("table one --targets 1e-3 --columns all").out,
              HasSubstr("| a | converged | 1* | n/c | n/c | 0.0e+00 | 5 |"));
  EXPECT_THAT(run("table one --targets 1e-3 --allow-not-comparable").out, HasSubstr("| 1* | 1.00 |"));
  for (const std::string kind : {"curves", "ecdf"}) {
    const Result refused = run("plot one --kind " + kind);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("d-lambda1-a-rep1; expected --allow-not-comparable"));
    EXPECT_EQ(run("plot one --kind " + kind + " --x passes").status, 0);
    EXPECT_EQ(run("plot one --kind " + kind + " --allow-not-comparable").status, 0);
  }
}

TEST_F(ReadCommands, ExportWritesRunsAndSamples) {
  write_run("one", "a", 1, 1);
  write_run("one", "a", 2, 2, [](proxbench::Run& stored) {
    stored.set_status("crashed(SIGSEGV)");
    stored.result.reason = "it said \"no\", twice";
  });
  EXPECT_EQ(run("export one --out runs.csv").out, "");
  const std::string runs = read_text(folder / "runs.csv"), samples = read_text(folder / "runs-samples.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 3);
  EXPECT_THAT(runs, HasSubstr("crashed(SIGSEGV),it said  no ; twice,"));
  EXPECT_THAT(runs, HasSubstr(",memory=20 sigma=0.5,"));
  EXPECT_THAT(runs, Not(HasSubstr("{")));
  EXPECT_THAT(samples,
              HasSubstr("\nd-lambda1-a-rep2,one,d,1,0,,prox-newton,a,2,2,0,0,2,,100,0,5,0,,,,,,,0\n"));
  EXPECT_EQ(run("export one --out - --samples").out, samples);
  EXPECT_EQ(run("export one --out -").out, runs);
  EXPECT_FALSE(fs::exists(folder / "runs-points.csv")) << "there are no paths";
  EXPECT_EQ(run("export one").status, 2);
  EXPECT_EQ(run("export one --out new/x.csv").status, 0);
  EXPECT_EQ(read_text(folder / "new/x.csv"), runs);
  EXPECT_EQ(run("export one --out new").status, 1) << "a folder";
  EXPECT_EQ(run("export none --out x.csv").status, 1);
  EXPECT_FALSE(fs::exists(folder / "x.csv"));
}

TEST_F(ReadCommands, NumPyReadsTheExport) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no python3-numpy";
  write_run("one", "a", 1, 1);
  write_run("one", "b", 1, 2);
  ASSERT_EQ(run("export one --out runs.csv").status, 0);
  folder.write("read.py", R"(import numpy
read = lambda name: numpy.genfromtxt(name, delimiter=",", names=True, dtype=None, encoding="utf-8")
runs, samples = read("runs.csv"), read("runs-samples.csv")
print(*runs["label"], *runs["seconds"], *runs["description"], sep="|")
print(len(samples), samples["seconds"].max(), samples["label"][-1], samples["lambda"][0], *runs["comparable"])
)");
  ASSERT_EQ(
      std::system(("cd '" + folder.path().string() + "' && /usr/bin/python3 read.py >read.txt 2>&1").c_str()),
      0)
      << read_text(folder / "read.txt");
  EXPECT_EQ(read_text(folder / "read.txt"),
            "a|b|1|2|made up;  twice |made up;  twice \n6 2.0 b 1 True True\n");
}

}  // namespace
}  // namespace proxbench
