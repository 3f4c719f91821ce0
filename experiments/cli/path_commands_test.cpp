/// Paths on the command line: sweeps, tables, figures, `select`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "experiments/base/test_command_line.h"
#include "experiments/results/csv.h"
#include "experiments/results/fields.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPathConfig = R"([experiment]
name = tiny
lambda = path(max, 0.1*max, 6)
threads = 1
tol = 1e-6
warm_up = 0
[data.words]
format = crfsuite
train = train.txt
test = test.txt
[solver.prox-newton]
)";

class PathCommands : public CommandLine {
 protected:
  /// Writes the config with another lambda, and more lines in [experiment].
  void write_config(const std::string& lambda, const std::string& more = "") const {
    std::string text = kPathConfig;
    const std::string old = "path(max, 0.1*max, 6)\n";
    text.replace(text.find(old), old.size(), lambda + "\n" + more);
    folder.write("path.ini", text);
  }
};

TEST_F(PathCommands, RunAPathAsOneRunAndServeItAgain) {
  folder.write("path.ini", kPathConfig);
  const Result first = run("run path.ini --out out");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("What paths cost"));
  const fs::path stored = folder / "out/runs/words-path-max-0.1max-6-prox-newton-rep1";
  for (const char* file :
       {"manifest.json", "trace.csv", "path.csv", "model.tsv", "model-001.tsv", "model-006.tsv"})
    EXPECT_TRUE(fs::exists(stored / file)) << file;
  EXPECT_FALSE(fs::exists(stored / "model-007.tsv"));
  for (const char* file :
       {"tables/path.md", "tables/path.csv", "figures/path-words-nnz.png", "figures/path-words-accuracy.svg",
        "figures/path-words-seconds.png", "figures/path-words-objective.png"})
    EXPECT_TRUE(fs::exists(folder / "out" / file)) << file;
  EXPECT_TRUE(fs::is_empty(folder / "out/references"));
  const json manifest = json::parse(read_text(stored / "manifest.json"));
  EXPECT_TRUE(manifest["run"]["lambda"].is_null());
  EXPECT_EQ(manifest["run"]["path"], "path(max, 0.1*max, 6)");
  EXPECT_EQ(manifest["status"], "converged");
  EXPECT_EQ(manifest["points"], 6);

  const std::vector<PathPoint> points = read_csv(path_columns(), stored / "path.csv");
  ASSERT_EQ(points.size(), 6u);
  EXPECT_NEAR(points.back().lambda, 0.1 * points.front().lambda, 1e-12);
  for (const PathPoint& point : points) {
    EXPECT_LE(point.certificate.kkt, 1.001 * point.kkt_target);
    EXPECT_FALSE(std::isnan(point.test_accuracy));
  }
  const Result again = run("run path.ini --out out");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("1 of 1 runs are stored already"));
  // The resolved config can be read again, and a point's model works like any other.
  EXPECT_EQ(run("check out/config.ini").status, 0);
  EXPECT_EQ(run("certify --train train.txt --model " + (stored / "model-003.tsv").string()).status, 0);
  EXPECT_EQ(run("merge out --out copy").status, 0);
  EXPECT_TRUE(fs::exists(folder / "copy/runs/words-path-max-0.1max-6-prox-newton-rep1/model-006.tsv"));
}

TEST_F(PathCommands, NoCertificateRestsOnTheStateThatASolverLeaves) {
  write_config("path(max, 0.1*max, 6)");
  folder.write("path.ini", read_text(folder / "path.ini") + "[solver.lie]\n");
  const Result result = measure("--plugin " PROXBENCH_TEST_PLUGINS "/misbehaving.so run path.ini --out out");
  EXPECT_EQ(result.status, 0) << result.err;
  const fs::path stored = folder / "out/runs/words-path-max-0.1max-6-lie-rep1";
  const json lie = json::parse(read_text(stored / "manifest.json"));
  EXPECT_EQ(lie["status"], "stalled");
  EXPECT_GE(lie["audit_max_difference"], 0.5) << "the record shows that the solver left a wrong loss";
  // Each point starts where the one before ended, so a wrong state there would show in F.
  for (const PathPoint& point : read_csv(path_columns(), stored / "path.csv")) {
    EXPECT_EQ(point.certificate.objective, point.certificate.loss + point.lambda * point.certificate.l1);
    EXPECT_LE(point.certificate.dual, point.certificate.objective);
  }
}

TEST_F(PathCommands, APointIsStalledWhereItsSolverClaimsMoreThanTheCertificateShows) {
  write_config("path(max, 0.1*max, 3)");
  folder.write("path.ini", read_text(folder / "path.ini") + "[solver.boast]\n");
  ASSERT_EQ(measure("--plugin " PROXBENCH_TEST_PLUGINS "/misbehaving.so run path.ini --out out").status, 0);
  const fs::path stored = folder / "out/runs/words-path-max-0.1max-3-boast-rep1";
  const std::vector<PathPoint> points = read_csv(path_columns(), stored / "path.csv");
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].status, Status::kConverged) << "w = 0 is optimal there";
  EXPECT_EQ(points[1].status, Status::kStalled);
  EXPECT_EQ(points[2].status, Status::kStalled);
  EXPECT_EQ(json::parse(read_text(stored / "manifest.json"))["status"], "stalled");
}

TEST_F(PathCommands, AnInterruptedPathBeginsAnewAndTheSweepSaysSo) {
  folder.write("path.ini", kPathConfig);
  ASSERT_EQ(measure("run path.ini --out out").status, 0);
  const std::string stored = "out/runs/words-path-max-0.1max-6-prox-newton-rep1/";
  json manifest = read_json(stored + "manifest.json");
  manifest["status"] = "interrupted";
  folder.write(stored + "manifest.json", manifest.dump());
  std::string points = read_text(folder / stored / "path.csv");
  points.resize(points.find("\n4,") + 1);
  folder.write(stored + "path.csv", points);
  const std::string why =
      "failed before: interrupted; a path starts again from its first point: 3 of its 6 were done";
  EXPECT_THAT(run("run path.ini --out out --dry-run --why").out, HasSubstr(why));
  const Result again = measure("run path.ini --out out");
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, HasSubstr("words-path-max-0.1max-6-prox-newton-rep1: " + why));
  EXPECT_EQ(read_csv(path_columns(), folder / stored / "path.csv").size(), 6u);
}

TEST_F(PathCommands, CompareAPathWithTheSolveOfItsLastLambda) {
  write_config("0.5, path(max, 0.5, 4)", "reference_tol = 1e-8\n");
  const Result ran = run("run path.ini --out out");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(fs::exists(folder / "out/tables/summary.md"));
  const Result table = run("table out --kind path --json -");
  ASSERT_EQ(table.status, 0) << table.err;
  const json paths = json::parse(table.out);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0]["points"].size(), 4u);
  EXPECT_GT(paths[0]["seconds_ratio"].get<double>(), 0.0);
  EXPECT_GT(paths[0]["passes_ratio"].get<double>(), 0.0);
  const Result csv = run("table out --kind path --format csv");
  EXPECT_THAT(csv.out, HasSubstr("dataset,path,solver,repetition,point,lambda,mu,objective"));
  EXPECT_EQ(run("plot out --kind path").status, 0);
  EXPECT_EQ(run("table out").status, 0);  // a table of the single lambda
}

TEST_F(PathCommands, StatesWhatIsWrongWithAPathAndWhere) {
  const auto rejects = [&](const std::string& lambda, const std::string& more, const std::string& expected) {
    SCOPED_TRACE(lambda + " " + more);
    write_config(lambda, more);
    const Result result = run("check path.ini");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(expected));
  };
  rejects("path(max, 50", "", "path.ini:3:10: [experiment] lambda: found 'path(max, 50'");
  rejects("1, path(max, 2max, 5)", "", "path.ini:3:23: [experiment] lambda: found '2max' as END of a path");
  rejects("path(1, 2, 5)", "", "path.ini:3:18: [experiment] lambda: found END = 2 of a path from 1");
  rejects("path(2, 1, 5), path(2.0, 1, 5)", "", "again, expected each value once");
  rejects("path 2 1 5", "",
          "found 'path 2 1 5', expected a finite real, 0 <= lambda, or path(START, END, COUNT)");
  rejects("path(2)", "", "found 'path(2)' with 1 value, expected path(START, END, COUNT)");
  rejects("path(2, 1, 5)", "stop_at = 1e-6\n", "has no f* to stop at");
  rejects("path(2, 1, 5)", "reference_tol = 1e-6\n", "which has no f*, expected no such key");
  rejects("path(2, 1, 5)", "reference_gap = 1e-6\n", "which has no f*, expected no such key");
  rejects("path(2, 1, 5)", "[plot]\nkinds = curves\n", "expected kinds = path or grid");
  rejects("path(2, 1, 5)", "[plot]\nx = passes\n", "expected no such key");
  rejects("2", "[plot]\nkinds = path\n", "has a path(...), expected one to draw");
  rejects("1", "mu = 1, 1\n", "[experiment] mu: found '1' again, expected each value once");
  rejects("path(2, 1, 5), 0", "mu = 1, 0\n", "lambda: found '0' with mu = 0, expected lambda + mu > 0");
  rejects("1", "mu = path(max, 1, 5)\n",
          "as START of a path over mu, expected a number, e.g. path(10, 0.1, 20)");
  rejects("1", "mu = path(1, 2, 5)\n", "paths go from the largest mu down");
  rejects("1", "mu = -1\n", "[experiment] mu: found '-1', expected a finite real, 0 <= mu");
  rejects("1", "mu = nan\n", "[experiment] mu: found 'nan', expected a finite real, 0 <= mu");
  rejects("1, 0", "", "path.ini:3:13: [experiment] lambda: found '0' with mu = 0, expected lambda + mu > 0");
  rejects("1", "mu = path(2, 1, 5)\nreference_tol = 1e-6\n",
          "mu has nothing but a path(...), which has no f*, expected no such key");
}

TEST_F(PathCommands, GoOverMuWithLambdaFixed) {
  write_config("0, 0.5", "mu = path(10, 0.1, 4)\n");
  const Result result = run("run path.ini --out out");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("lambda = 0.5, mu = path(10, 0.1, 4)"));
  for (const char* lambda : {"0", "0.5"}) {
    const std::string name = std::string("words-lambda") + lambda + "-mu-path-10-0.1-4-prox-newton-rep1";
    const std::vector<PathPoint> points =
        read_csv(path_columns(), folder / ("out/runs/" + name) / "path.csv");
    ASSERT_EQ(points.size(), 4u);
    EXPECT_EQ(points.front().mu, 10.0);
    EXPECT_EQ(points.back().mu, 0.1);
    EXPECT_EQ(points.back().lambda, std::stod(lambda));
    for (const PathPoint& point : points) EXPECT_LE(point.certificate.relative_gap(), 1e-6);
  }
  EXPECT_THAT(run("run path.ini --out out --dry-run").out, HasSubstr("2 runs, 2 of them stored"));
  EXPECT_THAT(run("export out --out - --points").out,
              HasSubstr(",words,path(10; 0.1; 4),prox-newton,prox-newton,1,4,0.5,0.1,"));
}

TEST_F(PathCommands, EachLambdaIsRunWithEachMu) {
  write_config("path(2, 0.5, 3), 0.5", "mu = path(1, 0.1, 3), 2\n");
  const Result result = measure("run path.ini --out out");
  ASSERT_EQ(result.status, 0) << result.err;
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "out/runs"))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names,
            (std::set<std::string>{
                "words-path-2-0.5-3-mu1-prox-newton-rep1",
                "words-path-2-0.5-3-mu0.31622776601683794-prox-newton-rep1",
                "words-path-2-0.5-3-mu0.1-prox-newton-rep1", "words-path-2-0.5-3-mu2-prox-newton-rep1",
                "words-lambda0.5-mu-path-1-0.1-3-prox-newton-rep1", "words-lambda0.5-mu2-prox-newton-rep1"}));
  // A run along lambda ends at the optimum of its last lambda with its mu.
  const json last = read_json("out/runs/words-path-2-0.5-3-mu2-prox-newton-rep1/manifest.json"),
             single = read_json("out/runs/words-lambda0.5-mu2-prox-newton-rep1/manifest.json");
  EXPECT_NEAR(last["objective"].get<double>(), single["objective"].get<double>(), 1e-8);
  EXPECT_THAT(run("run path.ini --out out --dry-run").out, HasSubstr("6 runs, 6 of them stored"));
  EXPECT_EQ(run("check out/config.ini").status, 0) << "the resolved config reads back";
}

TEST_F(PathCommands, AMuThatIsAddedOrRemovedLeavesTheRunsOfTheOthersValid) {
  write_config("0.5, path(2, 0.5, 3)", "mu = 0.1\n");
  ASSERT_EQ(measure("run path.ini --out out").status, 0);
  const auto stored = [&](const std::string& mu) {
    return run("run path.ini --out out --dry-run --set experiment.mu=" + mu).out;
  };
  EXPECT_THAT(stored("0.1,0.2"), HasSubstr("4 runs, 2 of them stored; 1 references to make"));
  EXPECT_THAT(stored("0,0.1"), HasSubstr("4 runs, 2 of them stored; 1 references to make"))
      << "a place that the runs of one mu have is not taken for another";
  ASSERT_EQ(measure("run path.ini --out out --set experiment.mu=0.2,0.1").status, 0);
  EXPECT_TRUE(fs::exists(folder / "out/runs/words-lambda0.5-mu0.2-prox-newton-rep1"));
  EXPECT_THAT(run("status out").out, HasSubstr("4 done, 0 failed\n"));
  for (const char* mu : {"0.1", "0.2"})
    EXPECT_THAT(stored(mu), HasSubstr("2 runs, 2 of them stored; 0 references to make")) << mu;
}

TEST_F(PathCommands, RunsUnderTheNamesOfAnEarlierVersionAreReported) {
  write_config("0.5", "mu = 0.1\n");
  ASSERT_EQ(measure("run path.ini --out out").status, 0);
  fs::rename(folder / "out/runs/words-lambda0.5-mu0.1-prox-newton-rep1",
             folder / "out/runs/words-lambda0.5-prox-newton-rep1");
  const Result result = measure("run path.ini --out out");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              HasSubstr("name: an earlier version stored it as words-lambda0.5-prox-newton-rep1 (1)"));
  EXPECT_EQ(measure("run path.ini --out out --replace").status, 0);
  EXPECT_THAT(run("run path.ini --out out --dry-run --set experiment.mu=0").out,
              HasSubstr("config mu: 0.1 -> 0 (1)"));
}

TEST_F(PathCommands, SelectChoosesFromAGrid) {
  const std::string select =
      "select --format crfsuite --train train.txt --folds 3 --threads 1 --measure loss ";
  const Result grid =
      run(select + "--lambda 'path(2, 0.1, 3)' --mu 1,0.01 --json grid.json --model grid.tsv");
  ASSERT_EQ(grid.status, 0) << grid.err;
  const json chosen = read_json("grid.json");
  ASSERT_EQ(chosen["points"].size(), 6u);
  EXPECT_THAT(grid.out, HasSubstr("| mu | lambda | loss |"));
  EXPECT_THAT(grid.out, HasSubstr(", mu = "));
  for (const char* mu : {"1", "0.01"}) {
    ASSERT_EQ(run(select + "--lambda 'path(2, 0.1, 3)' --json one.json --mu " + mu).status, 0);
    const json one = read_json("one.json");
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(one["points"][k]["mean"], chosen["points"][k + (one["chosen_mu"] == 1.0 ? 0 : 3)]["mean"]);
  }
  ASSERT_EQ(run("certify --train train.txt --model grid.tsv --json c.json").status, 0);
  EXPECT_EQ(read_json("c.json")["lambda"], chosen["chosen_lambda"]);
  EXPECT_EQ(read_json("c.json")["mu"], chosen["chosen_mu"]);
  // Lists may stand for paths, in any order, and a path of mu beside one of lambda is a list.
  const Result lists = run(select + "--lambda 0.1,2 --mu 'path(1, 0.01, 2)' --json lists.json");
  ASSERT_EQ(lists.status, 0) << lists.err;
  EXPECT_EQ(read_json("lists.json")["points"].size(), 4u);
  EXPECT_EQ(read_json("lists.json")["points"][0]["lambda"], 2.0);
  EXPECT_EQ(run(select + "--lambda 1,0 --mu 1,0").status, 2);
}

TEST_F(PathCommands, SelectSaysThatModelsAreFarFromConverged) {
  const std::string select =
      "select --format crfsuite --train train.txt --folds 2 --lambda 'path(0.05, 0.01, 3)' --measure loss ";
  const Result few = run(select + "--max-iterations 1 --json s.json");
  EXPECT_EQ(few.status, 0);
  EXPECT_THAT(few.err, testing::ContainsRegex(
                           "warning: [4-6] of 6 measured models are far from converged, and so is the "
                           "chosen one, lambda = 0.0[0-9]+: max-iterations, kkt [0-9.]+, and its "
                           "target is"));
  EXPECT_THAT(run(select).err, Not(HasSubstr("far from converged")));
}

TEST_F(PathCommands, SelectProposesNothingWhereThePenaltyIsGone) {
  const std::string select =
      "select --format crfsuite --train train.txt --folds 2 --threads 1 --measure loss ";
  EXPECT_THAT(run(select + "--lambda 'path(max, 1e-20*max, 3)' --max-iterations 20").err,
              Not(HasSubstr("may be better")));
}

TEST_F(PathCommands, ASolverThatDoesNotFitIsSkippedWithItsReason) {
  write_config("0, 0.5", "mu = 1\n");
  folder.write("path.ini", read_text(folder / "path.ini") + "[solver.liblbfgs-owlqn]\n");
  constexpr const char* kReason =
      "skipped(the solver does not fit): solver 'liblbfgs-owlqn' needs an l1 penalty: found lambda = 0, "
      "expected "
      "lambda > 0";
  EXPECT_THAT(run("run path.ini --out out --dry-run").out, HasSubstr(kReason));
  const Result result = run("run path.ini --out out");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(std::string("words-lambda0-mu1-liblbfgs-owlqn-rep1: ") + kReason));
  EXPECT_THAT(result.out, HasSubstr("words, mu = 1, f* = "));
  EXPECT_THAT(result.out, HasSubstr("words, lambda = 0.5, mu = 1, f* = "));
  EXPECT_EQ(read_json("out/runs/words-lambda0-mu1-prox-newton-rep1/manifest.json")["run"]["mu"], 1.0);
  const Result status = run("status out");
  EXPECT_THAT(status.out, HasSubstr("skipped words-lambda0-mu1-liblbfgs-owlqn-rep1"));
  EXPECT_THAT(status.out, HasSubstr("0 queued, 0 running, 3 done, 0 failed, 1 skipped\n"));
  const Result again = run("run path.ini --out out");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(run("run path.ini --out out --dry-run").out, HasSubstr("4 runs, 4 of them stored"));
}

TEST_F(PathCommands, SelectChoosesAMu) {
  const std::string select = "select --format crfsuite --train train.txt --folds 2 ";
  const Result result =
      run(select + "--lambda 0 --mu 'path(10, 0.1, 4)' --measure loss --model mu.tsv --json mu.json");
  ASSERT_EQ(result.status, 0) << result.err;
  const json selection = read_json("mu.json");
  EXPECT_EQ(selection["over"], "mu");
  ASSERT_EQ(selection["points"].size(), 4u);
  EXPECT_EQ(selection["points"][0]["mu"], 10.0);
  EXPECT_THAT(result.out, HasSubstr("chosen: mu = "));
  ASSERT_EQ(run("certify --format crfsuite --train train.txt --model mu.tsv --json mc.json").status, 0);
  EXPECT_EQ(read_json("mc.json")["mu"], selection["chosen_mu"]);
  EXPECT_THAT(run(select + "--lambda 0 --mu 'path(max, 1, 3)'").err, HasSubstr("expected a number"));
  EXPECT_THAT(run(select + "--lambda 0 --mu 'path(2, 1, 3)' --solver liblbfgs-owlqn").err,
              HasSubstr("needs an l1 penalty"));
  EXPECT_THAT(run(select + "--lambda 1 --mu 2").err, HasSubstr("--lambda: found '1'"));
}

TEST_F(PathCommands, StopAPathThatWouldGoUp) {
  write_config("path(max, 1000, 4)");
  const Result result = measure("run path.ini --out out");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("expected a path that ends above 0 and below its start"));
  const Result plot = run("plot out --kind path");
  EXPECT_EQ(plot.status, 1);
  EXPECT_THAT(plot.err, HasSubstr("out: found no path with a finished point"));
}

TEST_F(PathCommands, NameTheKindWhereThereAreOnlyPaths) {
  folder.write("path.ini", kPathConfig);
  ASSERT_EQ(measure("run path.ini --out out").status, 0);
  EXPECT_THAT(run("table out").out, HasSubstr("What paths cost"));
  const Result summary = run("table out --kind summary");
  EXPECT_NE(summary.status, 0);
  EXPECT_THAT(summary.err, HasSubstr("--kind path"));
  EXPECT_NE(run("plot out --kind curves").status, 0);
  write_config("0.5");
  ASSERT_EQ(measure("run path.ini --out single").status, 0);
  EXPECT_NE(run("table single --kind path").status, 0);
  EXPECT_NE(run("plot single --kind path").status, 0);
}

TEST_F(PathCommands, ExportAndReportShowPaths) {
  folder.write("path.ini", kPathConfig);
  ASSERT_EQ(measure("run path.ini --out out").status, 0);
  const std::string runs = run("export out --out -").out;
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 2);
  EXPECT_THAT(runs, HasSubstr(",path(max; 0.1*max; 6),prox-newton,"));
  const std::string points = run("export out --out - --points").out;
  EXPECT_EQ(std::count(points.begin(), points.end(), '\n'), 7);
  EXPECT_THAT(points, HasSubstr(",path(max; 0.1*max; 6),prox-newton,prox-newton,1,6,"));
  EXPECT_EQ(run("export out --out - --points --samples").status, 2);
  const Result report = run("report out --out page.html");
  ASSERT_EQ(report.status, 0) << report.err;
  const std::string page = read_text(folder / "page.html");
  EXPECT_THAT(page, HasSubstr("alt=\"words: regularisation path"));
  EXPECT_THAT(page, HasSubstr("What paths cost"));

  write_config("0.5", "reference_tol = 1e-8\n");
  ASSERT_EQ(measure("run path.ini --out single").status, 0);
  const Result none = run("export single --out - --points");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("single: found no path, expected the results of a config with"));
}

TEST_F(PathCommands, SelectByFolds) {
  const std::string flags =
      "select --format crfsuite --train train.txt --threads 1 --lambda 'path(max, 0.02*max, 8)' ";
  const Result result = run(flags + "--folds 3 --model m.tsv --json s.json");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("best"));
  const json selection = read_json("s.json");
  ASSERT_EQ(selection["points"].size(), 8u);
  double best = -1.0;
  for (const json& point : selection["points"]) best = std::max(best, point["mean"].get<double>());
  for (const json& point : selection["points"])
    if (point["mean"] == best) {
      EXPECT_EQ(selection["chosen_lambda"], point["lambda"]);
      break;
    }
  EXPECT_GE(selection["one_se_lambda"].get<double>(), selection["best_lambda"].get<double>());
  EXPECT_EQ(run("certify --train train.txt --model m.tsv --json c.json").status, 0);
  EXPECT_NEAR(read_json("c.json")["objective"].get<double>(), selection["refit"]["objective"].get<double>(),
              1e-8);
  EXPECT_EQ(read_json("c.json")["lambda"], selection["chosen_lambda"]);
}

TEST_F(PathCommands, SelectGoesOnBeyondTheEndOfThePath) {
  const std::string flags =
      "select --format crfsuite --train train.txt --folds 3 --threads 1 --measure loss ";
  const Result edge = run(flags + "--lambda 'path(max, 0.5*max, 4)' --json s.json");
  ASSERT_EQ(edge.status, 0) << edge.err;
  const json points = read_json("s.json")["points"];
  ASSERT_EQ(read_json("s.json")["best_lambda"], points.back()["lambda"]);
  EXPECT_THAT(edge.err, HasSubstr("is the last of the path, and smaller ones may be better: --extend tries"));

  const Result extended =
      run(flags + "--lambda 'path(max, 0.5*max, 4)' --extend --json e.json --model m.tsv");
  ASSERT_EQ(extended.status, 0) << extended.err;
  const json all = read_json("e.json");
  EXPECT_GT(all["points"].size(), 4u);
  EXPECT_LE(all["points"].size(), 14u);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(all["points"][k]["mean"].get<double>(), points[k]["mean"].get<double>(), 1e-4) << k;
  for (std::size_t k = 4; k < all["points"].size(); ++k)
    EXPECT_NEAR(all["points"][k]["lambda"].get<double>() / all["points"][k - 1]["lambda"].get<double>(),
                points[3]["lambda"].get<double>() / points[2]["lambda"].get<double>(), 1e-9);
  const bool inside = all["best_lambda"] != all["points"].back()["lambda"];
  EXPECT_EQ(inside, all["points"].size() < 14u) << "it stops once the best is not the last";
  EXPECT_EQ(extended.err.find("is the last of the path") == std::string::npos, inside);
  EXPECT_EQ(run("certify --train train.txt --model m.tsv --json c.json").status, 0);
  EXPECT_LE(read_json("c.json")["relative_kkt"], 1e-5);
}

TEST_F(PathCommands, SelectShowsFiguresOfATestSetThatDoesNotChoose) {
  const std::string flags =
      "select --format crfsuite --train train.txt --test test.txt --threads 1 "
      "--lambda 'path(2, 0.05, 5)' --json s.json ";
  const Result result = run(flags + "--folds 3");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("| test accuracy |"));
  EXPECT_THAT(result.out, HasSubstr("test accuracy 0.8000 of 5 positions\n"));
  const json selection = read_json("s.json");
  for (const json& point : selection["points"])
    EXPECT_EQ(point.contains("test_metrics"), point["lambda"] >= selection["chosen_lambda"]);
  EXPECT_EQ(selection["refit"]["test_accuracy"], 0.8);
  EXPECT_THAT(run(flags).out, Not(HasSubstr("| test accuracy |"))) << "it chooses";
}

TEST_F(PathCommands, AnInterruptedSelectIsGoneOnWithByTheSameCommand) {
  const std::string command =
      "select --format synthetic-ocr --data-option features=pixels --data-option words=300 --folds 4 "
      "--threads 1 --measure loss --lambda 'path(max, 0.05*max, 12)' ";
  const auto kept = [&] {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().starts_with("select-")) files.push_back(entry.path());
    return files;
  };
  ASSERT_EQ(run(command + "--json whole.json").status, 0);
  EXPECT_TRUE(kept().empty());
  Result stopped{1, "", ""};
  for (double seconds = 0.1; stopped.status != 0 && kept().empty(); seconds *= 1.4)
    stopped = run(command + "--json part.json", fmt::format("timeout --preserve-status -s INT {}", seconds));
  ASSERT_EQ(kept().size(), 1u) << stopped.err;
  EXPECT_EQ(stopped.status, 1);
  const std::string name = kept().front().filename().string();
  EXPECT_THAT(stopped.err, HasSubstr("nothing is chosen yet: the results so far are kept in " + name +
                                     ", and the same command goes on from there"));
  EXPECT_THAT(stopped.out, HasSubstr("| folds |"));
  EXPECT_FALSE(fs::exists(folder / "part.json"));
  const Result on = run(command + "--json part.json");
  ASSERT_EQ(on.status, 0) << on.err;
  EXPECT_THAT(on.err, HasSubstr("going on from " + name));
  EXPECT_TRUE(kept().empty());
  const json whole = read_json("whole.json"), part = read_json("part.json");
  EXPECT_EQ(part["chosen_lambda"], whole["chosen_lambda"]);
  EXPECT_EQ(part["held_out_instances"], whole["held_out_instances"]);
  ASSERT_EQ(part["points"].size(), whole["points"].size());
  for (std::size_t k = 0; k < whole["points"].size(); ++k)
    EXPECT_NEAR(part["points"][k]["mean"].get<double>(), whole["points"][k]["mean"].get<double>(), 1e-4);

  folder.write(name, "[{}]");
  const Result damaged = run(command);
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err,
              HasSubstr("remove the file, and the same command starts again from the first fold"));
}

TEST_F(PathCommands, SelectByTheLossThatTrainingMinimises) {
  const Result result = run(
      "select --format crfsuite --train train.txt --folds 2 --lambda 0 --mu 'path(10, 0.1, 3)' --loss hinge "
      "--solver bcfw --gap 1e-2 --measure loss --json -");
  ASSERT_EQ(result.status, 0) << result.err;
  const json selection = json::parse(result.out);
  ASSERT_EQ(selection["points"].size(), 3u);
  for (const json& point : selection["points"]) EXPECT_GT(point["mean"].get<double>(), 0.0);
}

TEST_F(PathCommands, SelectByHeldOutOrTestInstances) {
  const std::string flags =
      "select --format crfsuite --train train.txt --threads 1 --lambda 'path(2, 0.1, 4)' --json - ";
  const Result share = run(flags + "--held-out 0.3 --measure loss");
  ASSERT_EQ(share.status, 0) << share.err;
  EXPECT_EQ(json::parse(share.out)["held_out_instances"], 3);
  const Result test = run(flags + "--test test.txt --measure loss --rule one-se");
  ASSERT_EQ(test.status, 0) << test.err;
  EXPECT_EQ(json::parse(test.out)["skipped_instances"], 1);  // one with a label that training does not know
  EXPECT_THAT(test.err, HasSubstr("1 of 2 instances held out"));

  const Result none = run(flags);
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("found no --folds, --held-out or --test"));
  EXPECT_EQ(run(flags + "--folds 1").status, 2);
  EXPECT_EQ(run(flags + "--folds 2 --held-out 0.5").status, 2);
  EXPECT_EQ(run(flags + "--held-out 0").status, 2);
  EXPECT_EQ(run("select --format crfsuite --train train.txt --lambda 3 --folds 2").status, 2);
}

}  // namespace
}  // namespace proxbench
