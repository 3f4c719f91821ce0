/// The command line as a process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "experiments/base/test_command_line.h"
#include "experiments/results/test_results.h"
#include "solvers/best_solver.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// The metrics of kTest. It has one chunk, which is found. The label X, which only the test set has, is an
/// error and starts no chunk.
const json kTestMetrics = {{"accuracy", 0.8},
                           {"structure-accuracy", 0.5},
                           {"chunk-precision", 1.0},
                           {"chunk-recall", 1.0},
                           {"chunk-f1", 1.0}};

TEST_F(CommandLine, TrainWritesSummaryModelAndTrace) {
  const Result result = train("--lambda 0.5 --tol 1e-7 --json s.json --model m.tsv --trace t.csv");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("prox-newton: converged after "));
  EXPECT_THAT(result.out,
              HasSubstr("test accuracy 0.8000 of 5 positions\ntest chunk-f1 1.0000\ntest chunk-precision "
                        "1.0000\ntest chunk-recall 1.0000\ntest structure-accuracy 0.5000\n"));
  const json summary = read_json("s.json");
  for (const char* key :
       {"solver",     "status", "lambda",  "d",           "instances",      "positions", "objective",
        "loss",       "l1",     "nnz",     "kkt",         "dual",           "gap",       "relative_gap",
        "iterations", "passes", "seconds", "cpu_seconds", "peak_rss_bytes", "threads",   "test_accuracy"})
    EXPECT_TRUE(summary.contains(key) && !summary[key].is_null()) << key;
  EXPECT_EQ(summary["gap"], summary["objective"].get<double>() - summary["dual"].get<double>());
  EXPECT_LE(summary["relative_gap"].get<double>(), 1e-5);
  EXPECT_EQ(summary["test_metrics"], kTestMetrics);
  EXPECT_EQ(summary["status"], "converged");
  EXPECT_EQ(summary["instances"], 9);
  EXPECT_EQ(summary["positions"], 22);
  EXPECT_EQ(summary["d"], 8 * 3 + 9);
  EXPECT_LE(summary["relative_kkt"].get<double>(), 1e-7);
  EXPECT_NEAR(summary["objective"].get<double>(),
              summary["loss"].get<double>() + 0.5 * summary["l1"].get<double>(), 1e-9);
  EXPECT_EQ(read_trace(folder / "t.csv").back().objective, summary["objective"].get<double>());
  EXPECT_TRUE(read_text(folder / "m.tsv").starts_with("# proxbench model 1\n"));
}

TEST_F(CommandLine, CertifyAgreesWithTrain) {
  ASSERT_EQ(train("--lambda 0.5 --json s.json --model m.tsv --quiet").status, 0);
  const Result result =
      run("certify --format crfsuite --train train.txt --model m.tsv --lambda 0.5 --threads 1 --json c.json");
  ASSERT_EQ(result.status, 0) << result.err;
  const json trained = read_json("s.json"), certified = read_json("c.json");
  for (const char* key : {"objective", "loss", "l1", "nnz", "kkt", "d", "relative_kkt"})
    EXPECT_EQ(trained[key], certified[key]) << key;
  EXPECT_EQ(trained["dual"], certified["dual"]);
  EXPECT_TRUE(certified["tightened"].is_null());
  // The header of the model supplies what the flags omit.
  ASSERT_EQ(run("certify --train train.txt --model m.tsv --threads 1 --json d.json").status, 0);
  EXPECT_EQ(read_json("d.json")["objective"], trained["objective"]);
}

TEST_F(CommandLine, TrainStartsFromAModel) {
  ASSERT_EQ(train("--lambda 0.5 --tol 1e-9 --model m.tsv --json cold.json --quiet").status, 0);
  const Result result =
      train("--lambda 0.5 --tol 1e-6 --solver prox-gd --start m.tsv --json warm.json --trace t.csv --quiet");
  ASSERT_EQ(result.status, 0) << result.err;
  const json cold = read_json("cold.json"), warm = read_json("warm.json");
  EXPECT_EQ(warm["kkt_at_zero"], cold["kkt_at_zero"]) << "not that of the start";
  EXPECT_EQ(warm["start"], "m.tsv");
  const Sample first = read_trace(folder / "t.csv").front();
  EXPECT_EQ(first.nnz, cold["nnz"].get<std::uint64_t>());
  EXPECT_NEAR(first.objective, cold["objective"].get<double>(), 1e-12);

  // Models with other labels, features, oracle or format are refused, and leave no file behind.
  folder.write("other.txt", "O\tw=the\tbias\nB\tw=new\tbias\nI\tw=york\tbias\n\n");
  const auto refused = [&](const std::string& arguments) {
    const Result bad =
        run("train --train other.txt --lambda 0.5 --start m.tsv --model n.tsv --trace n.csv --quiet " +
            arguments);
    EXPECT_NE(bad.status, 0) << arguments;
    EXPECT_FALSE(fs::exists(folder / "n.tsv"));
    EXPECT_FALSE(fs::exists(folder / "n.csv"));
    return bad.err;
  };
  EXPECT_THAT(refused("--format crfsuite"), HasSubstr("m.tsv:"));
  EXPECT_THAT(refused("--format crfsuite"), HasSubstr("expected one of the data's 4 features"));
  folder.write("other.txt", read_text(folder / "train.txt"));
  std::string model = read_text(folder / "m.tsv");
  const auto replace = [&](const std::string& from, const std::string& to) {
    std::string text = model;
    text.replace(text.find(from), from.size(), to);
    text.erase(text.find("# checksum="), std::string("# checksum=0123456789abcdef\n").size());
    folder.write("m.tsv", text);
  };
  replace("# format=crfsuite", "# format=conll");
  EXPECT_THAT(refused("--format crfsuite"),
              HasSubstr("m.tsv: found a model of format 'conll', expected format 'crfsuite'"));
  replace("# oracle=chain", "# oracle=tree");
  EXPECT_THAT(refused("--format crfsuite"),
              HasSubstr("found a model of oracle 'tree', expected oracle 'chain'"));
  fs::remove(folder / "m.tsv");
  EXPECT_THAT(refused("--format crfsuite"), HasSubstr("--start: no file 'm.tsv'; looked at "));
}

TEST_F(CommandLine, TrainStopsAtAGapWithoutATolAndCertifyTightens) {
  const Result result = train("--lambda 0.5 --gap 1e-2 --json s.json --model m.tsv --trace t.csv");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("prox-newton: gap-reached after "));
  EXPECT_THAT(result.out, HasSubstr(", so F is proven to a relative gap of "));
  const json trained = read_json("s.json");
  EXPECT_EQ(trained["tol"], 0.0);
  EXPECT_LE(trained["relative_gap"].get<double>(), 1e-2);
  EXPECT_FALSE(std::isnan(read_trace(folder / "t.csv").back().gap));
  ASSERT_EQ(train("--lambda 0.5 --gap 1e-2 --tol 0.5 --json t.json --model m.tsv --quiet").status, 0);
  EXPECT_EQ(read_json("t.json")["tol"], 0.5);

  const Result tight = run("certify --train train.txt --model m.tsv --threads 1 --tighten 5 --json c.json");
  ASSERT_EQ(tight.status, 0) << tight.err;
  EXPECT_THAT(tight.out, HasSubstr("tightened: min F >= "));
  const json certified = read_json("c.json");
  EXPECT_EQ(certified["tightened"]["status"], "gap-reached");
  EXPECT_GT(certified["tightened"]["dual"], certified["dual"]);
  EXPECT_LT(certified["tightened"]["relative_gap"], certified["relative_gap"]);
  EXPECT_LE(certified["tightened"]["dual"], certified["objective"]);
  const Result wrong = run("certify --train train.txt --model m.tsv --tighten -1");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--tighten: Value -1 not in range 0"));
}

/// Rows with two labels and two features. The first row has this cell.
std::string rows_with_cell(const std::string& cell) {
  std::string out = "1 1:" + cell + " 2:1\n";
  for (int i = 0; i < 30; ++i)
    out += fmt::format("{} 1:{} 2:{}\n", i % 3 == 0 ? 1 : 2, 0.1 * (i % 7) - 0.3, i % 3 == 0 ? -1 : 1);
  return out;
}

/// The gradient of the cell makes up nearly all of kkt at w = 0.
TEST_F(CommandLine, TrainSaysWhereKktProvesLittle) {
  folder.write("cell.txt", rows_with_cell("1e12"));
  const std::string flags =
      "train --format libsvm --train cell.txt --lambda 0 --mu 1 --solver lbfgs --option start=identity "
      "--threads 1 ";
  const Result loose = run(flags + "--json s.json");
  ASSERT_EQ(loose.status, 0) << loose.err;
  ASSERT_GT(read_json("s.json")["relative_gap"], 1e-3);
  EXPECT_THAT(loose.out,
              testing::ContainsRegex("lbfgs: converged after [^\n]*; F is proven to a relative gap "
                                     "of [^\n]*: --gap 1e-6 in place of --tol proves a smaller one\n"));
  folder.write("plain.txt", rows_with_cell("1"));
  const Result tight =
      run("train --format libsvm --train plain.txt --lambda 0 --mu 1 --solver lbfgs --threads 1");
  EXPECT_THAT(tight.out, HasSubstr("lbfgs: converged after "));
  EXPECT_THAT(tight.out, Not(HasSubstr("proves more")));
}

TEST_F(CommandLine, TrainProvesNothingOfARunThatDiverged) {
  folder.write("cell.txt", rows_with_cell("1"));
  const Result result =
      run("train --format libsvm --train cell.txt --lambda 0 --mu 1 --solver sgd --option eta0=1e9 "
          "--max-iterations 30 --threads 1 --json s.json --trace t.csv --model m.tsv");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("sgd: diverged after "));
  EXPECT_THAT(result.out, HasSubstr("nothing is proven: the run diverged\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("proven to")));
  EXPECT_THAT(result.err, HasSubstr("sgd diverged, so there is no model"));
  EXPECT_GE(read_trace(folder / "t.csv").size(), 2u);
  EXPECT_FALSE(fs::exists(folder / "m.tsv"));
  const json summary = read_json("s.json");
  EXPECT_EQ(summary["status"], "diverged");
  for (const char* key : {"kkt", "dual", "gap", "relative_gap"}) EXPECT_TRUE(summary[key].is_null()) << key;
}

/// For a solver that passes no loss, the log or the terminal has this text.
constexpr const char* kNoLoss = "hands no loss to Monitor::step()";

TEST_F(CommandLine, ATracedRunSaysOnceThatItsSolverHandsOverNoLoss) {
  const std::string few = "--lambda 0.5 --max-iterations 3 ";
  const std::string traced = train(few + "--solver sgd --trace t.csv").err;
  EXPECT_THAT(traced, HasSubstr(std::string("solver sgd ") + kNoLoss));
  EXPECT_EQ(traced.find(kNoLoss), traced.rfind(kNoLoss));
  EXPECT_THAT(train(few + "--solver sgd").err, Not(HasSubstr(kNoLoss)));
  EXPECT_THAT(train(few + "--solver prox-newton --trace t.csv").err, Not(HasSubstr(kNoLoss)));
  folder.write("sgd.ini", std::string(kConfig) + "[solver.sgd]\nmax_iterations = 3\n");
  ASSERT_EQ(run("run sgd.ini --out out --set experiment.lambda=1").status, 0);
  EXPECT_THAT(read_text(folder / "out/runs/words-lambda1-sgd-rep1/log.txt"), HasSubstr(kNoLoss));
  EXPECT_FALSE(fs::exists(folder / "out/runs/words-lambda1-gd-rep1/log.txt"));
}

TEST_F(CommandLine, QuietKeepsTheResult) {
  const Result quiet = train("--lambda 0.5 --quiet");
  EXPECT_THAT(quiet.out, HasSubstr("prox-newton: converged after "));
  EXPECT_THAT(quiet.out, HasSubstr("test accuracy 0.8000"));
  EXPECT_THAT(quiet.err, Not(HasSubstr("info")));
  EXPECT_THAT(train("--lambda 0.5 --quiet --json -").out, testing::StartsWith("{"));
}

TEST_F(CommandLine, AnEmptyModelSaysWhichLambdaGivesNonzeros) {
  const Result empty = train("--lambda 50 --quiet");
  EXPECT_EQ(empty.status, 0);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(
      empty.err, found,
      std::regex("all weights are 0: w = 0 is optimal from lambda = ([0-9.]+) on, and lambda "
                 "is 50; `--lambda ([0-9.]+)` gives nonzeros")))
      << empty.err;
  EXPECT_EQ(train("--lambda " + found[1].str() + "1 --json s.json").status, 0);
  EXPECT_EQ(read_json("s.json")["nnz"], 0);
  EXPECT_THAT(train("--lambda " + found[2].str() + " --json s.json").err,
              Not(HasSubstr("all weights are 0")));
  EXPECT_GT(read_json("s.json")["nnz"], 0);
  folder.write("one.txt", "O\tx\nO\ty\n");
  const Result one = run("train --format crfsuite --train one.txt --lambda 1");
  EXPECT_THAT(one.err, HasSubstr("all 2 positions have the label 'O': another column"));
  EXPECT_THAT(one.err, HasSubstr("these labels leave nothing to learn"));
}

TEST_F(CommandLine, TrainSaysWhereTheBoundIsLooseAndNotF) {
  const Result loose =
      run("train --format synthetic-ocr --data-option features=pixels --data-option words=60 --lambda 0.1 "
          "--tol 1e-5 --solver owl-qn --threads 1 --json s.json");
  ASSERT_EQ(loose.status, 0) << loose.err;
  ASSERT_GT(read_json("s.json")["relative_gap"], 1e-3);
  EXPECT_THAT(loose.out, testing::ContainsRegex(
                             "owl-qn: converged after [^\n]*; F is proven to a relative gap of [^\n]* "
                             "and has changed by a relative [^\n]* in the last tenth of the time, so "
                             "either the bound is loose or the solver is slow; `--gap 1e-6` or "
                             "`proxbench certify --tighten 60` tells which\n"));
}

TEST_F(CommandLine, PredictNeedsNoTrainingData) {
  ASSERT_EQ(train("--lambda 0.1 --model m.tsv --quiet").status, 0);
  const Result alone = run("predict --model m.tsv --test test.txt --output p.txt --json p.json");
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("test accuracy 0.8000: 4 of 5 positions in 2 instances"));
  EXPECT_TRUE(read_text(folder / "p.txt").starts_with("O\nB\nI\n\n"));
  EXPECT_EQ(read_json("p.json")["correct"], 4);
  EXPECT_EQ(read_json("p.json")["test_metrics"], kTestMetrics);
  const Result beside =
      run("predict --model m.tsv --format crfsuite --train train.txt --test test.txt --output q.txt");
  EXPECT_EQ(beside.out, alone.out);
  EXPECT_EQ(read_text(folder / "q.txt"), read_text(folder / "p.txt"));
}

TEST_F(CommandLine, SeveralFilesStandInAListOrOneBehindTheOther) {
  folder.write("more.txt", read_text(folder / "train.txt"));
  folder.write("tests.txt", read_text(folder / "test.txt"));
  for (const std::string between : {",", " ", " --train "}) {
    const std::string train = "--train train.txt" + between + "more.txt --threads 1 --quiet ";
    const std::string test = "--test test.txt" + (between == " " ? between : ",") + "tests.txt ";
    const auto instances_of = [&](const std::string& arguments) -> std::size_t {
      const Result result = run(arguments);
      EXPECT_EQ(result.status, 0) << arguments << result.err;
      return read_json("s.json")["instances"];
    };
    EXPECT_EQ(
        instances_of("train --format crfsuite " + train + test + "--lambda 0.5 --model m.tsv --json s.json"),
        18u);
    EXPECT_EQ(instances_of("certify --model m.tsv " + test + train + "--json s.json"), 18u);
    const Result chosen = run("select --format crfsuite " + train + test +
                              "--lambda 'path(1, 0.5, 2)' --max-iterations 20 --json select.json");
    ASSERT_EQ(chosen.status, 0) << chosen.err;
    EXPECT_EQ(read_json("select.json")["held_out_instances"], 4);
    const Result predicted = run("predict --model m.tsv --output labels.txt " + train + test);
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    const std::string labels = read_text(folder / "labels.txt");
    EXPECT_EQ(std::ranges::count(labels, '\n'), 2 * 5 + 3) << labels;
  }
}

TEST_F(CommandLine, ModelsOfColumnsRememberWhichIsWhich) {
  folder.write("columns.txt", "O the DT\nB new NNP\nI york NNP\n\nO is VB\nB san NNP\nI jose NNP\n");
  const Result trained =
      run("train --format conll --train columns.txt --lambda 0.01 --threads 1 --json s.json --model m.tsv "
          "--data-option word_column=1 --data-option pos_column=2 --data-option label_column=0");
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(read_text(folder / "m.tsv"), HasSubstr("\n# data-option.label_column=0\n"));
  ASSERT_EQ(run("certify --train columns.txt --model m.tsv --threads 1 --json c.json").status, 0);
  EXPECT_EQ(read_json("c.json")["objective"], read_json("s.json")["objective"]);
  folder.write("new.txt", "O is VB\nB new NNP\nI jose NNP\n");
  const Result predicted = run("predict --model m.tsv --test new.txt --output p.txt");
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(read_text(folder / "p.txt"), "O\nB\nI\n");
}

TEST_F(CommandLine, BadModelsAreErrorsWithFileAndLine) {
  folder.write("bad.tsv", "# proxbench model 1\nunary\tw=the\tO\tnan\n");
  const Result result = run("certify --format crfsuite --train train.txt --lambda 1 --model bad.tsv --mu 0");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("bad.tsv:2: found weight 'nan', expected a finite number"));
  folder.write("bad.tsv", "# proxbench model 1\nunary\tw=them\tO\t1\n");
  EXPECT_THAT(run("certify --format crfsuite --train train.txt --lambda 1 --mu 0 --model bad.tsv").err,
              HasSubstr("bad.tsv:2: found feature 'w=them', expected one of the data's 8 features"));
  EXPECT_THAT(run("predict --format crfsuite --test test.txt --model bad.tsv").err,
              HasSubstr("'# labels=...'"));
}

TEST_F(CommandLine, TrainsAndCertifiesWithL2Alone) {
  for (const char* solver : {"prox-newton", "owl-qn", "bcd"}) {
    const Result result = train(std::string("--lambda 0 --mu 0.5 --solver ") + solver +
                                " --tol 1e-7 --model m.tsv --json s.json");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(" (l2)\n"));
    EXPECT_THAT(result.out, testing::Not(HasSubstr("(l1)")));
    const nlohmann::json summary = read_json("s.json");
    EXPECT_EQ(summary["lambda"], 0.0);
    EXPECT_EQ(summary["mu"], 0.5);
    EXPECT_LE(summary["relative_gap"].get<double>(), 1e-10);
    ASSERT_EQ(
        run("certify --format crfsuite --train train.txt --model m.tsv --tighten 1 --json c.json").status, 0);
    EXPECT_EQ(read_json("c.json")["objective"], summary["objective"]);
    EXPECT_EQ(read_json("c.json")["mu"], 0.5);
  }
  const Result none = run("certify --format crfsuite --train train.txt --model m.tsv --mu 0");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("violated constraint lambda + mu > 0"));
}

TEST_F(CommandLine, TrainsAndCertifiesWithAHingeLoss) {
  const Result result =
      train("--mu 0.5 --loss hinge --cost hamming-mean --gap 1e-3 --model m.tsv --json s.json --trace t.csv");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, testing::Not(HasSubstr("kkt")));
  const nlohmann::json summary = read_json("s.json");
  EXPECT_EQ(summary["loss_function"], "hinge");
  EXPECT_EQ(summary["cost"], "hamming-mean");
  EXPECT_EQ(summary["status"], "gap-reached");
  EXPECT_TRUE(summary["kkt"].is_null());
  EXPECT_LE(summary["relative_gap"].get<double>(), 1e-3);
  EXPECT_GE(summary["relative_gap"].get<double>(), 0.0);
  const Sample last = read_trace(folder / "t.csv").back();
  EXPECT_LE(last.gap, 1e-3 * last.objective);
  EXPECT_THAT(read_text(folder / "m.tsv"),
              testing::AllOf(HasSubstr("# loss=hinge\n"), HasSubstr("# cost=hamming-mean\n")));
  // The header supplies the loss. Without the solver's dual point the bound is weaker.
  const Result certified = run("certify --format crfsuite --train train.txt --model m.tsv --json c.json");
  ASSERT_EQ(certified.status, 0) << certified.err;
  EXPECT_EQ(read_json("c.json")["objective"], summary["objective"]);
  EXPECT_EQ(read_json("c.json")["cost"], "hamming-mean");
  EXPECT_LE(read_json("c.json")["dual"], summary["dual"]);
  EXPECT_EQ(run("certify --format crfsuite --train train.txt --model m.tsv --loss log --json c.json").status,
            0);
  EXPECT_NE(read_json("c.json")["objective"], summary["objective"]);
  EXPECT_THAT(run("certify --format crfsuite --train train.txt --model m.tsv --tighten 1").err,
              HasSubstr("solver 'prox-newton' minimises the log loss: found loss = hinge"));
  const Result chosen =
      run("select --format crfsuite --train train.txt --lambda 0 --mu 'path(2, 0.5, 3)' --folds 3 "
          "--loss hinge --solver bcfw --max-iterations 50 --model h.tsv");
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_THAT(read_text(folder / "h.tsv"), HasSubstr("# loss=hinge\n"));
}

TEST_F(CommandLine, WithoutASolverTheBestForTheObjectiveIsTaken) {
  for (const auto& [flags, solver, lambda] : {std::tuple{"--mu 0.5", "oeg", 0.0},
                                              {"--lambda 0.5", kBestForL1, 0.5},
                                              {"--lambda 0.5 --mu 0.5", kBestForL1, 0.5},
                                              {"--mu 0.5 --loss hinge", "bcfw", 0.0}}) {
    const Result result = train(std::string(flags) + " --gap 1e-2 --json s.json");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(read_json("s.json")["solver"], solver);
    EXPECT_EQ(read_json("s.json")["lambda"], lambda);
    EXPECT_THAT(result.out, HasSubstr(std::string(solver) + ": gap-reached"));
  }
  const Result chosen =
      run("select --format crfsuite --train train.txt --mu 'path(2, 0.5, 3)' --folds 2 --json s.json");
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_EQ(read_json("s.json")["refit"]["solver"], "oeg");
  EXPECT_EQ(read_json("s.json")["chosen_lambda"], 0.0);
  EXPECT_THAT(run("select --format crfsuite --train train.txt --folds 2").err,
              HasSubstr("--lambda is missing"));
}

TEST_F(CommandLine, StatesItsVersion) {
  const Result result = run("--version");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, MatchesRegex("proxbench [0-9.]+\nrevision [^\n]+\ncompiler [^\n]+\n"
                                       "instruction set [a-z0-9-]+\ncode [0-9a-f]{32}\n"));
}

TEST_F(CommandLine, WrongValuesAreBadUsage) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "--lambda and --mu are missing, expected --lambda REAL, --mu REAL or both"},
      {"--lambda 1 --loss hinge --solver bcfw",
       "solver 'bcfw' needs an l2 penalty: found mu = 0, expected mu > 0"},
      {"--lambda 1 --mu 1 --loss hinge",
       "no solver has a hinge loss with lambda = 1, mu = 1 on oracle 'chain'"},
      {"--mu 1 --solver bcfw",
       "solver 'bcfw' minimises the hinge loss: found loss = log; solvers that fit: prox-newton, prox-qn, "
       "owl-qn, "
       "lbfgs, "},
      {"--lambda 0 --mu 1 --loss hinges", "expected one of log, hinge (did you mean 'hinge'?)"},
      {"--lambda 1 --cost hamming-mean", "found loss = log, expected --loss hinge"},
      {"--lambda 0", "lambda = 0 and mu = 0: violated constraint lambda + mu > 0"},
      {"--lambda=-1", "--lambda: found '-1', expected a finite real, 0 <= lambda"},
      {"--lambda 1 --mu=-1", "--mu: found '-1', expected a finite real, 0 <= mu"},
      {"--lambda 1 --mu nan", "--mu: found 'nan', expected a finite real"},
      {"--lambda 0 --mu 1 --solver liblbfgs-owlqn",
       "solver 'liblbfgs-owlqn' needs an l1 penalty: found lambda = 0, expected lambda > 0"},
      {"--lambda inf", "--lambda: found 'inf', expected a finite real"},
      {"--lambda 1,2",
       "--lambda and --mu: found a list or path, expected a number each (`proxbench select` tries "
       "several)"},
      {"--lambda 1 --solver prox-qm", "solver: found 'prox-qm' (did you mean 'prox-qn'?)"},
      {"--lambda 1 --option memry=3", "option: found 'memry' (did you mean 'memory'?)"},
      {"--lambda 1 --option memory", "--option memory: expected key=value"},
      {"--lambda 1 --backend tbbb", "expected one of openmp, tbb (did you mean 'tbb'?)"},
      {"--lambda 1 --tol -2", "--tol: found '-2', expected a finite real, 0 <= tol <= 1"},
      {"--lambda 1 --lamda 2",
       "found --lamda (did you mean '--lambda'?), expected a flag of `proxbench train --help`"},
      {"--lambda path", "--lambda: found 'path'"},
      {"--lambda x", "--lambda: found 'x', expected a finite real, 0 <= lambda\n"},
  };
  for (const auto& [flags, message] : cases) {
    const Result result = train(flags);
    EXPECT_EQ(result.status, 2) << flags;
    EXPECT_THAT(result.err, HasSubstr(message)) << flags;
  }
  const Result format = run("train --format crfsuit --train train.txt --lambda 1");
  EXPECT_EQ(format.status, 2);
  EXPECT_THAT(format.err, HasSubstr("data format: found 'crfsuit' (did you mean 'crfsuite'?)"));
  EXPECT_THAT(run("predict --modle x").err, HasSubstr("found --modle (did you mean '--model'?)"));
  const Result command = run("trian");
  EXPECT_EQ(command.status, 2);
  EXPECT_THAT(command.err,
              HasSubstr("command: found 'trian' (did you mean 'train'?), expected one of run, check, "));
  EXPECT_EQ(run("").status, 2);
}

TEST_F(CommandLine, FilesThatCannotBeReadOrWrittenFailBeforeTheWork) {
  const Result missing = run("train --format crfsuite --train none.txt --lambda 1");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("no file 'none.txt'; looked at none.txt, "));
  for (const char* flag : {"--model", "--trace", "--json"}) {
    const Result result = train(std::string("--lambda 1 ") + flag + " tiny.ini/x");
    EXPECT_EQ(result.status, 1) << flag;
    EXPECT_THAT(result.err, HasSubstr("tiny.ini/x: cannot be written")) << flag;
    EXPECT_THAT(result.err, testing::Not(HasSubstr("sequences"))) << flag;  // the data were not read
  }
  const Result run_out = run("run tiny.ini --out train.txt/x");
  EXPECT_EQ(run_out.status, 1);
  EXPECT_THAT(run_out.err, HasSubstr("train.txt/x"));
}

TEST_F(CommandLine, AnOutputIsNoInputAndNoOtherOutput) {
  ASSERT_EQ(train("--lambda 0.5 --model m.tsv --quiet").status, 0);
  fs::create_symlink("train.txt", folder / "link.txt");
  folder.write("words.template", "U0:%x[0,0]\n");
  folder.write("columns.txt", "the O\nnew B\n\n");
  const std::string before = read_text(folder / "train.txt"), model = read_text(folder / "m.tsv");
  for (const auto& [line, flag] : std::vector<std::pair<std::string, std::string>>{
           {"train --format crfsuite --train train.txt --lambda 1 --model train.txt", "--model"},
           {"train --format crfsuite --train train.txt --lambda 1 --trace ./link.txt", "--trace"},
           {"train --format crfsuite --train train.txt --lambda 1 --start m.tsv --json m.tsv", "--json"},
           {"select --format crfsuite --train train.txt --lambda 'path(max, 0.5*max, 2)' --folds 2 --model "
            "train.txt",
            "--model"},
           {"predict --model m.tsv --test test.txt --output m.tsv", "--output"},
           {"predict --model m.tsv --test test.txt --output test.txt", "--output"},
           {"evaluate --model m.tsv --test test.txt --json m.tsv", "--json"},
           {"certify --model m.tsv --train train.txt --json train.txt", "--json"},
           {"describe --format crfsuite --train train.txt --json train.txt", "--json"},
           {"convert --format crfsuite --train train.txt --to wapiti --out train.txt", "--out"},
           {"convert --format conll --train columns.txt --data-option template=words.template --to crf++ "
            "--out words",
            "--out"},
           {"check tiny.ini --json tiny.ini", "--json"},
           {"run tiny.ini --out out --json test.txt", "--json"}}) {
    const Result result = run(line);
    EXPECT_EQ(result.status, 2) << line << result.err;
    EXPECT_THAT(result.err, HasSubstr(flag + " ")) << line;
    EXPECT_THAT(result.err, HasSubstr(": found a file that the command reads, expected another name"))
        << line;
  }
  EXPECT_EQ(read_text(folder / "train.txt"), before);
  EXPECT_EQ(read_text(folder / "m.tsv"), model);
  EXPECT_FALSE(fs::exists(folder / "out"));
  const Result twice = train("--lambda 1 --model x --json ./x");
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("both write ./x, expected a file for each"));
  EXPECT_EQ(train("--lambda 1 --quiet --model /dev/null --json /dev/null").status, 0);
}

TEST_F(CommandLine, AFullDiskLeavesNoneOfTheFiles) {
  // /dev/full is always full. It is the last file of each command, and no other file may be left.
  for (const std::string line :
       {"train --format crfsuite --train train.txt --lambda 1 --model m.tsv --trace t.csv --json /dev/full",
        "select --format crfsuite --train train.txt --folds 2 --lambda 'path(max, 0.5*max, 2)' --model m.tsv "
        "--json /dev/full"}) {
    const Result result = run(line);
    EXPECT_EQ(result.status, 1) << line;
    EXPECT_THAT(result.err, HasSubstr("/dev/full: cannot be written")) << line;
    for (const char* name : {"m.tsv", "t.csv"}) EXPECT_FALSE(fs::exists(folder / name)) << name;
  }
}

TEST_F(CommandLine, ListShowsOneEntryWithItsOptions) {
  const Result solver = run("list owl-qn");
  EXPECT_EQ(solver.status, 0) << solver.err;
  EXPECT_THAT(solver.out, testing::AllOf(HasSubstr("Solvers"), HasSubstr("memory"), Not(HasSubstr("Oracles")),
                                         Not(HasSubstr("prox-newton"))));
  for (const char* name : {"crfsuite", "chain", "accuracy", "experiment"})
    EXPECT_THAT(run(std::string("list ") + name).out, HasSubstr(name));
  EXPECT_EQ(run("list owl-qn --json l.json").status, 0);
  EXPECT_EQ(read_json("l.json")["solvers"].size(), 1u);
  const Result wrong = run("list owlqn");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("name: found 'owlqn' (did you mean 'owl-qn'?)"));
}

TEST_F(CommandLine, TrainSaysWhichFlagsTrainTheData) {
  folder.write("sets.arff",
               "@relation s\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
               "0.5,0,1\n-1,1,0\n0.25,1,1\n");
  const std::string data = "--format arff --train sets.arff --data-option label_count=2 ";
  for (const char* flags : {"--lambda 0.1", "--mu 1", "--lambda 0.1 --loss hinge --mu 1"}) {
    const Result result = run("train " + data + flags);
    EXPECT_EQ(result.status, 2) << flags;
    EXPECT_THAT(result.err, HasSubstr("on oracle 'labels'; expected --loss hinge --mu M\n")) << flags;
    EXPECT_THAT(result.err, Not(HasSubstr("the best known"))) << flags;
  }
  EXPECT_EQ(run("train --quiet " + data + "--loss hinge --mu 1").status, 0);
  EXPECT_THAT(train("--lambda 1 --loss hinge").err,
              HasSubstr("expected --lambda L or --mu M or --loss hinge --mu M"));
}

TEST_F(CommandLine, AFailedTrainLeavesNoFile) {
  folder.write("train.txt", "O\tw=the\nB\tw:x\n");
  EXPECT_EQ(train("--lambda 1 --model m.tsv --json s.json --trace t.csv").status, 1);
  for (const char* name : {"m.tsv", "s.json", "t.csv"}) EXPECT_FALSE(fs::exists(folder / name)) << name;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
}

TEST_F(CommandLine, RunLeavesRunsReferencesTablesAndFigures) {
  const Result result = run("run tiny.ini --out out --json r.json --set plot.quantities=objective");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("## tiny\n\n### words, lambda = 0.5, f* = "));
  EXPECT_EQ(read_json("r.json")["runs"].size(), 4u);
  const std::vector<StoredRun> runs = stored_runs(folder / "out");
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[1].folder.filename(), "words-lambda0.5-prox-newton-rep1");
  EXPECT_EQ(runs[0].parameters.label, "gd");
  EXPECT_EQ(runs[0].parameters.solver, "prox-gd");
  for (const StoredRun& stored : runs) {
    EXPECT_GE(stored.result.certificate.objective, stored.best.objective * (1 - 1e-10));
    EXPECT_LE(stored.best.relative_kkt, 1e-8);
    EXPECT_LE(stored.best.relative_gap, 1e-7);
    EXPECT_TRUE(std::isfinite(stored.result.certificate.relative_gap()));
    EXPECT_TRUE(fs::exists(stored.folder / "model.tsv"));
    EXPECT_GE(stored.trace.size(), 2u);
  }
  EXPECT_EQ(runs[1].status(), "converged");
  EXPECT_LT(std::abs(runs[1].result.certificate.objective / runs[1].best.objective - 1), 1e-6);
  for (const char* name : {"summary.md", "summary.tex", "summary.csv"})
    EXPECT_TRUE(fs::exists(folder / "out/tables" / name)) << name;
  EXPECT_TRUE(fs::exists(folder / "out/figures/words-lambda1-objective.svg"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "out/references"), {}), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "out/runs"), {}), 4);

  // In the second sweep, references are reused, runs with the same name are replaced, and others stay.
  const Result again =
      run("run tiny.ini --out out --set experiment.lambda=1 --set solver.gd.max_iterations=3 --replace");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("reusing f* = "));
  const std::vector<StoredRun> later = stored_runs(folder / "out");
  ASSERT_EQ(later.size(), 4u);
  EXPECT_EQ(later[0].result.iterations, 20);
  EXPECT_EQ(later[2].result.iterations, 3);
  EXPECT_EQ(later[2].status(), "max-iterations");

  // A tighter reference holds for all runs on the same data, including those stored before.
  const std::string config = kConfig;
  folder.write("tight.ini", config.substr(0, config.find("[solver.gd]")));
  const Result tight =
      run("run tight.ini --out out --set experiment.lambda=1 --set experiment.reference_tol=1e-9");
  ASSERT_EQ(tight.status, 0) << tight.err;
  for (const StoredRun& stored : stored_runs(folder / "out"))
    EXPECT_LE(stored.best.relative_kkt, stored.parameters.penalty.lambda == 1 ? 1e-9 : 1e-8) << stored.folder;

  const Result table = run("table out --format csv --targets 1e-1");
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.out, HasSubstr(",seconds_to_0.1,"));
  EXPECT_THAT(run("table out --columns nnz,status").out, HasSubstr("| solver | nnz | status |"));
  EXPECT_THAT(run("table out --format latex").out, HasSubstr("\\toprule\nsolver & status & n & "));
  EXPECT_EQ(run("table out --columns nnzs").status, 2);
  EXPECT_EQ(run("table out --kind means --columns nnz").status, 2);
  const Result plot = run("plot out --log-seconds --quantities objective");
  EXPECT_EQ(plot.status, 0) << plot.err;
  EXPECT_THAT(plot.out, HasSubstr("words-lambda1-objective-logx.png"));
  EXPECT_EQ(run("plot out --x passes --quantities nnz").out,
            "out/figures/words-lambda0.5-nnz-passes.png\nout/figures/words-lambda1-nnz-passes.png\n");
  EXPECT_EQ(run("plot out --x pases").status, 2);
}

TEST_F(CommandLine, MeasuringNeedsNoPython) {
  const Result ran = run("run tiny.ini --out out --set experiment.lambda=1", "PROXBENCH_PYTHON=/no/python");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              HasSubstr("PROXBENCH_PYTHON=/no/python lacks an interpreter that starts, expected "
                        "python3-pandas, python3-matplotlib and python3-jinja2 of Debian "
                        "(scripts/install-deps), or the name of another interpreter in $PROXBENCH_PYTHON; "
                        "all 2 runs are stored in out/runs"));
  EXPECT_TRUE(fs::is_empty(folder / "out/tables"));
  for (const char* command : {"table out", "plot out", "report out --out p.html", "export out --out r.csv",
                              "merge out --out both"}) {
    const Result shown = run(command, "PROXBENCH_PYTHON=/no/python");
    EXPECT_EQ(shown.status, 1) << command;
    EXPECT_THAT(shown.err, HasSubstr("PROXBENCH_PYTHON=/no/python lacks")) << command;
  }
  // An interpreter that lacks the packages.
  folder.write("bare", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");
  fs::permissions(folder / "bare", fs::perms::owner_all);
  EXPECT_THAT(run("table out", "PROXBENCH_PYTHON=./bare").err,
              HasSubstr("PROXBENCH_PYTHON=./bare lacks pandas, matplotlib, jinja2, expected"));
  // The modules of the working folder are not those of Python.
  folder.write("random.py", "raise SystemExit(7)\n");
  const Result table = run("table out");
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("| prox-newton |"));
}

TEST_F(CommandLine, ReportStandsResultsBesideThePaper) {
  folder.write("paper.ini", kConfig + std::string("[paper]\nitem = Table 9\nlambda = 1\nnnz = 12\n"));
  const Result result =
      run("run paper.ini --out out --set 'plot.x=passes, iterations' --set plot.quantities=nnz");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("### Table 9 of the paper, and ours"));
  EXPECT_THAT(read_text(folder / "out/tables/paper.md"),
              HasSubstr("| words, lambda = 1 | prox-newton: converged | 12 | "));
  for (const char* figure : {"words-lambda1-nnz-passes.png", "words-lambda1-nnz-iterations.png"})
    EXPECT_TRUE(fs::exists(folder / "out/figures" / figure)) << figure;
  EXPECT_FALSE(fs::exists(folder / "out/figures/words-lambda1-nnz.png"));

  fs::remove_all(folder / "out/tables");
  EXPECT_THAT(run("table out").out, HasSubstr("### Table 9 of the paper, and ours"));
  EXPECT_TRUE(fs::exists(folder / "out/tables/paper.tex"));

  const Result report =
      run("report --out page/all.html out --title 'Nine tables' --note 'one note' --note two");
  ASSERT_EQ(report.status, 0) << report.err;
  EXPECT_EQ(report.out, "page/all.html\n");
  EXPECT_THAT(read_text(folder / "page/all.html"),
              HasSubstr("<h1>Nine tables</h1>\n<p>one note</p>\n<p>two</p>"));
  EXPECT_EQ(run("report --out page.html none").status, 1);
  EXPECT_EQ(run("report out").status, 2) << "no --out";
  EXPECT_EQ(run("report --out page out").status, 2) << "a folder";
}

TEST_F(CommandLine, ReproducePaperKnowsEveryConfigOfAPaper) {
  for (const auto& [paper, configs] : {std::pair{"", ""}, {"prox-qn", ""}, {"sdca", "/sdca"}}) {
    std::set<std::string> listed, expected;
    const std::string command = std::string(PROXBENCH_SOURCE_DIR "/scripts/reproduce-paper ") + paper +
                                " --list >'" + (folder / "list").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::istringstream lines(read_text(folder / "list"));
    for (std::string line; std::getline(lines, line);) listed.insert(line);
    for (const auto& entry : fs::directory_iterator(std::string(PROXBENCH_SOURCE_DIR "/configs") + configs))
      if (entry.path().extension() == ".ini" &&
          read_text(entry.path()).find("\n[paper]") != std::string::npos)
        expected.insert(entry.path().stem());
    EXPECT_EQ(listed, expected) << paper;
  }
}

TEST_F(CommandLine, DryRunAndCheckWriteNothing) {
  const Result dry = run("run tiny.ini --dry-run --set experiment.repetitions=2");
  EXPECT_EQ(dry.status, 0);
  EXPECT_THAT(dry.out, HasSubstr("words-lambda0.5-gd-rep2  (tol 1e-06, at most 20 iterations)  missing\n"));
  EXPECT_THAT(dry.out, HasSubstr("8 runs"));
  EXPECT_FALSE(fs::exists(folder / "results"));
  folder.write("including.ini", "include = tiny.ini\n[experiment]\nname = more\n");
  EXPECT_THAT(run("run including.ini --dry-run").out, testing::StartsWith("includes tiny.ini\n"));
  const Result resolved = run("check including.ini --resolved --json i.json --set experiment.lambda=7");
  EXPECT_EQ(read_json("i.json")["includes"], json::array({"tiny.ini"}));
  EXPECT_EQ(read_json("i.json")["resolved"], resolved.out);
  EXPECT_THAT(resolved.out, testing::StartsWith("[experiment]\nname = more\n"));
  EXPECT_THAT(resolved.out, HasSubstr("\nlambda = 7\n"));
  folder.write("resolved.ini", resolved.out);
  EXPECT_EQ(run("check resolved.ini --resolved").out, resolved.out);
  const Result good = run("check tiny.ini");
  EXPECT_EQ(good.status, 0);
  EXPECT_THAT(good.out, HasSubstr("tiny.ini: good; 4 runs"));
  const Result some =
      run("check tiny.ini --set experiment.mu=1 --set experiment.lambda=0,1 --set solver.lbfgs.tol=1e-3");
  EXPECT_EQ(some.status, 0);
  EXPECT_THAT(some.out,
              HasSubstr("\nlbfgs is skipped on 1 of 2 problems: solver 'lbfgs' needs a smooth objective"));
  const Result skipped = run("run tiny.ini --dry-run --set solver.lbfgs.tol=1e-3");
  EXPECT_EQ(skipped.status, 2);
  EXPECT_THAT(skipped.err, HasSubstr("[solver.lbfgs] can run on no problem of the config"));
  EXPECT_THAT(run("run train.txt").err, HasSubstr("train.txt:1:1: found key 'O\\x09w' outside a section"));
  folder.write("words, all.txt", "O\tw\n\n");
  EXPECT_EQ(run("check tiny.ini --set 'data.words.train=words, all.txt' --set data.words.test=").status, 0);
  const Result gone = run("check tiny.ini --set data.words.train=gone.txt");
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err,
              HasSubstr("tiny.ini: 1 data files are missing\n--set data.words.train=gone.txt: [data.words] "
                        "train: no file 'gone.txt'; looked at"));
  const Result bad = run("check tiny.ini --set experiment.lamda=1 --set solver.gd.memory=3 --json c.json");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(
      bad.err,
      HasSubstr("tiny.ini: 2 errors\n--set experiment.lamda=1: found key 'lamda' in [experiment] (did you "
                "mean 'lambda'?)"));
  EXPECT_EQ(read_json("c.json")["valid"], false);
  EXPECT_EQ(run("run tiny.ini --set experiment.lambda=0 --out out").status, 2);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(CommandLine, EveryCommandHasHelp) {
  for (const char* command : {"run", "check", "train", "predict", "evaluate", "certify", "list", "table",
                              "plot", "report", "completion"}) {
    const Result result = run(std::string(command) + " --help");
    EXPECT_EQ(result.status, 0) << command;
    EXPECT_THAT(result.out, HasSubstr("Usage: proxbench " + std::string(command))) << command;
  }
}

TEST_F(CommandLine, ListKnowsEverySolverAndOption) {
  const Result text = run("list --options");
  EXPECT_EQ(text.status, 0);
  for (const char* word :
       {"prox-newton", "owl-qn", "chain", "crfsuite", "memory", "reference_tol", "[solver.LABEL]"})
    EXPECT_THAT(text.out, HasSubstr(word));
  const Result listed = run("list --json");
  EXPECT_EQ(json::parse(listed.out)["solvers"][0]["name"], "prox-newton");
  ASSERT_EQ(run("list --json l.json").status, 0);
  EXPECT_EQ(read_json("l.json"), json::parse(listed.out));
}

/// Two branches with three leaves, and documents whose words mostly determine the leaf.
const char* const kHierarchy = "1 2 4\n1 2 5\n3 6\n";
const char* const kDocuments =
    "4 0:10 7:2 8:1\n4 0:11 7:1 9:1\n5 0:12 8:3\n5 0:13 8:1 9:2\n6 0:14 12:1\n6 0:15 12:2 9:1\n4 0:16 7:1\n";

class TreeCommandLine : public CommandLine {
 protected:
  TreeCommandLine() {
    folder.write("hier.txt", kHierarchy);
    folder.write("docs.txt", kDocuments);
    folder.write("more.txt", "4 0:20 7:1 99:1\n6 0:21 12:3\n");
  }
  Result train(const std::string& more) const {
    return run("train --format lshtc --hierarchy hier.txt --train docs.txt --test more.txt --threads 1 " +
               more);
  }
};

TEST_F(TreeCommandLine, ModelsAreNamedByFeatureAndNodeAndReadBack) {
  const Result result = train("--solver prox-newton --lambda 0.3 --tol 1e-8 --json s.json --model m.tsv");
  ASSERT_EQ(result.status, 0) << result.err;
  const json summary = read_json("s.json");
  EXPECT_EQ(summary["d"], 4 * 7);  // 6 ids and the root above the two top nodes
  EXPECT_EQ(summary["instances"], 7);
  EXPECT_GT(summary["nnz"], 0);
  EXPECT_THAT(read_text(folder / "m.tsv"), HasSubstr("# labels=root\t1\t2\t4\t5\t3\t6\n"));
  EXPECT_THAT(read_text(folder / "m.tsv"), HasSubstr("unary\t7\t"));

  const Result certified =
      run("certify --hierarchy hier.txt --train docs.txt --test more.txt --model m.tsv --json c.json");
  ASSERT_EQ(certified.status, 0) << certified.err;
  const json certificate = read_json("c.json");
  EXPECT_NEAR(certificate["objective"].get<double>(), summary["objective"].get<double>(), 1e-12);
  EXPECT_NEAR(certificate["kkt"].get<double>(), summary["kkt"].get<double>(), 1e-12);
  EXPECT_EQ(certificate["test_accuracy"], summary["test_accuracy"]);

  const Result predicted =
      run("predict --hierarchy hier.txt --train docs.txt --test more.txt --model m.tsv --output labels.txt");
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(read_text(folder / "labels.txt"), "4\n6\n");
}

TEST_F(TreeCommandLine, ScaledDataAreNotReadWithoutTheirTrainingSet) {
  ASSERT_EQ(train("--lambda 0.3 --model m.tsv").status, 0);
  const Result result = run("predict --hierarchy hier.txt --test more.txt --model m.tsv");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("scaled over the training set"));
  ASSERT_EQ(train("--lambda 0.3 --model plain.tsv --data-option scale=none").status, 0);
  EXPECT_EQ(run("predict --hierarchy hier.txt --test more.txt --model plain.tsv").status, 0);
  // The document id is scaled over the training set, even with scale=none.
  ASSERT_EQ(
      train("--lambda 0.3 --model id.tsv --data-option scale=none --data-option keep_doc_id=true").status, 0);
  const Result id = run("predict --hierarchy hier.txt --test more.txt --model id.tsv");
  EXPECT_EQ(id.status, 2);
  EXPECT_THAT(id.err, HasSubstr("scaled over the training set"));
}

TEST_F(TreeCommandLine, AnotherHierarchyThanTheModelsIsRefused) {
  ASSERT_EQ(train("--lambda 0.3 --model m.tsv --data-option scale=none").status, 0);
  folder.write("other.txt", "1 2 4\n1 2 5\n3 6\n3 7\n");
  const Result result = run("predict --hierarchy other.txt --test more.txt --model m.tsv");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("not the nodes of the hierarchy"));
}

TEST_F(TreeCommandLine, BadInputNamesFileAndLineAndLeavesNothing) {
  folder.write("bad.txt", "4 0:1 7:1\n2 0:2 7:1\n");
  const Result result =
      run("train --format lshtc --hierarchy hier.txt --train bad.txt --lambda 1 --model m.tsv --json s.json");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("bad.txt:2: found"));
  EXPECT_FALSE(fs::exists(folder / "m.tsv"));
  EXPECT_FALSE(fs::exists(folder / "s.json"));
}

/// Tests the paper's own experiment, which only needs its training file in the data folder.
TEST_F(TreeCommandLine, ATrainingFileInTheDataFolderIsFound) {
  fs::create_directories(folder / "data/lshtc1-dryrun");
  folder.write("data/lshtc1-dryrun/cat_hier.txt", kHierarchy);
  folder.write("data/lshtc1-dryrun/train.txt", kDocuments);
  folder.write("data/lshtc1-dryrun/task1.test.txt.gz", "4 0:20 7:1 99:1\n6 0:21 12:3\n");
  folder.write("paper.ini", R"([experiment]
name = paper
lambda = 0.3
threads = 1
reference_tol = 1e-8
[data.lshtc]
format = lshtc
hierarchy = lshtc1-dryrun/cat_hier.txt
train = lshtc1-dryrun/train.txt
test = lshtc1-dryrun/task1.test.txt.gz
keep_doc_id = true
[solver.prox-newton]
)");
  const Result result =
      run("run paper.ini --quiet --out out", "PROXBENCH_DATA='" + (folder / "data").string() + "'");
  ASSERT_EQ(result.status, 0) << result.err;
  const json summary =
      json::parse(read_text(folder / "out/runs/lshtc-lambda0.3-prox-newton-rep1/manifest.json"));
  EXPECT_EQ(summary["d"], 5 * 7);
}

}  // namespace
}  // namespace proxbench
