#include "experiments/results/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/field_csv.h"
#include "experiments/results/tables/problem_set.h"
#include "experiments/results/tables/summary_table.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Sample sample(double seconds, double objective) {
  Sample s;
  s.seconds = seconds;
  s.objective = objective;
  return s;
}

/// A run whose trace goes to f* = 100 through the given objectives, one per second. An objective reached
/// after t seconds was not reached after 0.95*t.
proxbench::Run made_up(const std::string& label, int repetition, const std::vector<double>& objectives,
                       double speed = 1.0) {
  proxbench::Run run;
  run.parameters.dataset = "ocr";
  run.result.description = "made up";
  run.parameters.solver = run.parameters.label = label;
  run.parameters.lambda = 10;
  run.parameters.repetition = repetition;
  run.best.objective = 100;
  run.best.relative_kkt = 1e-9;
  run.best.relative_gap = 3e-10;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const double seconds = speed * static_cast<double>(i);
    // The previous objective, shortly before.
    if (i > 0) run.trace.push_back(sample(0.95 * seconds, objectives[i - 1]));
    run.trace.push_back(sample(seconds, objectives[i]));
  }
  run.set_status("converged");
  RunFigures& result = run.result;
  result.certificate = {
      .objective = objectives.back(), .kkt = 1e-7, .nnz = static_cast<std::uint64_t>(7 + repetition)};
  result.certificate.dual = objectives.back() * (1.0 - 2e-8);
  result.kkt_at_zero = 1.0;
  result.passes = 2.5;
  result.iterations = 4;
  result.seconds = 3.0;
  return run;
}

void write_run(const TestFolder& out, const std::string& name, const std::string& dataset, double lambda,
               const std::string& label, int repetition, const std::string& status = "converged") {
  proxbench::Run run;
  run.parameters.dataset = dataset;
  run.parameters.lambda = lambda;
  run.parameters.label = label;
  run.parameters.repetition = repetition;
  run.set_status(status);
  make_folder(out / "runs" / name);
  write_record(out / "runs" / name / kManifestFile, run);
  out.write("runs/" + name + "/trace.csv",
            csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), sample(0, 5)) + "\n");
}

TEST(Trace, ReadsBackToTheSameBits) {
  const TestFolder folder;
  Sample s = sample(1.0 / 3.0, 12345.678901234567);
  s.cpu_seconds = 0.6;
  s.iteration = 12;
  s.passes = 13.25;
  s.updates = 11.5;
  s.loss = 1e-17;
  s.nnz = 1544;
  s.working_set = 2000;
  s.kkt = 0.125;
  s.gap = 0.25;
  s.dual_gap = 0.5;
  s.estimated_gap = 0.75;
  s.infeasibility = 0.125;
  s.test_metrics = {{"structure-accuracy", 0.75}, {"chunk-f1", 0.1}};
  EXPECT_EQ(csv_header(trace_columns()),
            "seconds,cpu_seconds,iteration,passes,updates,objective,loss,nnz,working_set,kkt,gap,dual_gap,"
            "estimated_gap,infeasibility,test_accuracy,test_metrics");
  EXPECT_EQ(
      csv_line(trace_columns(), s),
      "0.3333333333333333,0.6,12,13.25,11.5,12345.678901234567,1e-17,1544,2000,0.125,0.25,0.5,0.75,0.125,,"
      "chunk-f1=0.1 structure-accuracy=0.75");
  folder.write("t.csv", csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), s) + "\n");
  const std::vector<Sample> trace = read_trace(folder / "t.csv");
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(csv_line(trace_columns(), trace[0]), csv_line(trace_columns(), s));
  EXPECT_TRUE(std::isnan(trace[0].test_accuracy));
}

TEST(Trace, MalformedLinesAreErrorsWithFileAndLine) {
  const TestFolder folder;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      read_trace(folder.write("t.csv", text));
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  const std::string file = (folder / "t.csv").string();
  EXPECT_EQ(error("seconds\n"), file + ":1: found 'seconds', expected '" + csv_header(trace_columns()) + "'");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n1,2\n"), file + ":2: found 2 fields, expected 16");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n0,0,0,0,0,x,0,0,0,,,,,,,\n"),
            file + ":2: found objective 'x', expected a number or an empty field");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n0,0,-1,0,0,0,0,0,0,,,,,,,\n"),
            file + ":2: found iteration '-1', expected a count");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n0,0,0,0,0,0,0,0,0,,,,,,,chunk-f1\n"),
            file + ":2: found test_metrics 'chunk-f1', expected NAME=NUMBER, separated by spaces");
}

TEST(Results, AreSortedAsTheConfigHasThem) {
  const TestFolder out;
  Presentation config;
  config.datasets = {"late", "early"};
  config.labels = {"z", "a"};
  write_run(out, "1", "early", 1, "z", 1);
  write_run(out, "2", "late", 20, "z", 1);
  write_run(out, "3", "late", 3, "a", 2);
  write_run(out, "4", "late", 3, "a", 1);
  write_run(out, "5", "late", 3, "z", 1);
  write_run(out, "6", "late", 3, "unknown", 1);
  write_run(out, ".half.tmp", "late", 3, "z", 1);
  std::vector<std::string> order;
  for (const proxbench::Run& run : read_all_runs(out.path(), config)) order.push_back(run.folder.filename());
  EXPECT_THAT(order, ElementsAre("5", "4", "3", "6", "2", "1"));
}

TEST(Results, OfWhatTheConfigNoLongerHasAreLeftOutAndNamed) {
  const TestFolder out;
  write_run(out, "1", "kept", 1, "a", 1);
  write_run(out, "2", "old", 1, "a", 1);
  write_run(out, "3", "kept", 1, "gone", 1);
  write_run(out, "4", "kept", 2, "gone", 1);
  Presentation config;
  std::vector<proxbench::Run> runs = read_all_runs(out.path());
  EXPECT_EQ(leave_out_strangers(out.path(), config, runs), "") << "there is no config to go by";
  EXPECT_EQ(runs.size(), 4u);
  config.datasets = {"kept", "not-run-yet"};
  config.labels = {"a"};
  EXPECT_EQ(
      leave_out_strangers(out.path(), config, runs),
      "left out 3 of 4 stored runs: " + (out / "config.ini").string() + " has no data set old, solver gone");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs.front().folder.filename(), "1");
  EXPECT_EQ(leave_out_strangers(out.path(), config, runs), "") << "nothing more";
  config.datasets = {"other"};
  EXPECT_THROW(leave_out_strangers(out.path(), config, runs), Error) << "none is left";
}

/// Reads these results. Returns the message of the error, or "" if there is none.
std::string error_of(const TestFolder& out) {
  try {
    read_all_runs(out.path());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Results, ThatAreMissingOrMalformedAreErrors) {
  const TestFolder out;
  const auto error = [&] { return error_of(out); };
  EXPECT_EQ(error(), (out / "runs").string() + ": found no run, expected the results of `proxbench run`");
  write_run(out, "x", "d", 1, "a", 1);
  const std::string file = (out / "runs/x/manifest.json").string(), whole = read_text(file);
  EXPECT_EQ(error(), "");
  const std::string expected =
      ", expected the record of a run, version 3; delete it, and `proxbench run` makes the run again";
  out.write("runs/x/manifest.json", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(error(), file + ": found no complete JSON object" + expected);
  out.write("runs/x/manifest.json", R"({"status": "converged", "run": {}})");
  EXPECT_EQ(error(), file + ": found version 1" + expected) << "of the version before";
  nlohmann::json changed = nlohmann::json::parse(whole);
  changed["run"].erase("tol");
  out.write("runs/x/manifest.json", changed.dump());
  EXPECT_EQ(error(), file + ": found no key /run/tol" + expected);
  changed["run"]["tol"] = "small";
  out.write("runs/x/manifest.json", changed.dump());
  EXPECT_EQ(error(), file + ": found /run/tol = \"small\"" + expected);
}

TEST(Results, ATruncatedFileOfACompleteRunTellsWhatToDo) {
  const TestFolder out;
  write_run(out, "x", "d", 1, "a", 1);
  const auto error = [&] { return error_of(out); };
  const std::string run = (out / "runs/x").string(), whole = read_text(out / "runs/x/trace.csv");
  const std::string advice = "; delete " + run + ", and `proxbench run` makes the run again";
  out.write("runs/x/trace.csv", whole + "1,2,3");
  EXPECT_EQ(error(), run + "/trace.csv:3: found 3 fields, expected 16" + advice);
  std::filesystem::remove(out / "runs/x/trace.csv");
  EXPECT_THAT(error(), AllOf(testing::StartsWith(run + "/trace.csv: "), testing::EndsWith(advice)));
  out.write("runs/x/trace.csv", whole);
  proxbench::Run path = read_record(out / "runs/x" / kManifestFile);
  path.parameters.path = "path(2, 1, 2)";
  path.result.points_done = 2;
  write_record(out / "runs/x" / kManifestFile, path);
  out.write("runs/x/path.csv",
            csv_header(path_columns()) + "\n" + csv_line(path_columns(), PathPoint{}) + "\n1,");
  EXPECT_EQ(error(), run + "/path.csv:3: found 2 fields, expected 22" + advice);
}

TEST(Results, AFailedRunHasWhatItsTraceGotTo) {
  const TestFolder out;
  write_run(out, "1", "d", 1, "gone", 1, "crashed(SIGKILL)");
  write_run(out, "2", "d", 1, "cut", 1, "crashed(SIGKILL)");
  write_run(out, "3", "d", 1, "empty", 1, "crashed(SIGKILL)");
  std::filesystem::remove(out / "runs/1/trace.csv");
  repair_csv(trace_columns(), out.write("runs/2/trace.csv", read_text(out / "runs/2/trace.csv") + "1,2,3"));
  repair_csv(trace_columns(), out.write("runs/3/trace.csv", csv_header(trace_columns()).substr(0, 9)));
  std::map<std::string, std::size_t> samples;
  for (const proxbench::Run& run : read_all_runs(out.path()))
    samples[run.parameters.label] = run.trace.size();
  EXPECT_EQ(samples, (std::map<std::string, std::size_t>{{"gone", 0}, {"cut", 1}, {"empty", 0}}));
}

TEST(Results, AreChosenBySolversThatTheyHave) {
  const std::vector<proxbench::Run> runs{made_up("a", 1, {1}), made_up("b", 1, {1}), made_up("a", 2, {1})};
  require_labels(runs, {"a"});
  EXPECT_THROW(require_labels(runs, {"a", "c"}), Error);
}

TEST(Results, ACostToATargetIsThatOfTheFirstSampleThere) {
  const proxbench::Run run = made_up("a", 1, {200, 101, 100.5, 100});
  const auto range = [](const proxbench::Run& of, double target) {
    const CostRange cost = cost_to_target(of, target, find_measure("seconds").of);
    return std::pair(cost.from, cost.to);
  };
  EXPECT_EQ(range(run, 1e-2), std::pair(0.95, 1.0));
  EXPECT_EQ(range(run, 6e-3), std::pair(1.9, 2.0));
  EXPECT_EQ(range(run, 1e-9), std::pair(0.95 * 3.0, 3.0));
  EXPECT_EQ(range(run, 1.0), std::pair(0.0, 0.0)) << "the start is there";
  EXPECT_EQ(range(made_up("a", 1, {200}), 1e-2), std::pair(kInfinity, kInfinity));
  proxbench::Run unknown = run;
  unknown.best.objective = kNaN;
  EXPECT_TRUE(std::isnan(range(unknown, 1e-2).second));
  EXPECT_FALSE(is_wide({0.95, 1.0}));
  EXPECT_FALSE(is_wide({0.0, 0.0}));
  EXPECT_FALSE(is_wide({kInfinity, kInfinity}));
  EXPECT_TRUE(is_wide({0.89, 1.0}));
}

TEST(Results, FilesAppearWholeOrNotAtAll) {
  const TestFolder folder;
  write_file_atomically(folder / "a", "one");
  write_file_atomically(folder / "a", "two");
  EXPECT_EQ(read_text(folder / "a"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  try {
    write_file_atomically(folder / "a/b", "three");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr((folder / "a/b").string() + ": cannot be written: open: Not a directory"));
  }
  write_file_atomically("/dev/null", "a device stays a device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_symlink(folder / "a", folder / "link");
  write_file_atomically(folder / "link", "four");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "a"), "four");
}

/// Returns the median of the times to a target in a row of the only group.
double seconds(const Summary& summary, std::size_t row, std::size_t target) {
  return summary.groups.at(0).rows.at(row).figures.at(target).to.median;
}

const Spread& spread_of_figure(const Summary& summary, const TableRow& row, const std::string& name) {
  const auto found = std::ranges::find(summary.figures, name, &Figure::name);
  return row.figures.at(static_cast<std::size_t>(found - summary.figures.begin())).to;
}

TEST(Tables, GiveTimesToTargetsAndTheRatioToTheFastest) {
  const TableOptions options{"", {1e-2, 1e-6}, 1e-6, {"all"}};
  const std::vector<proxbench::Run> runs{made_up("quick", 1, {200, 101, 100.00001}),
                                         made_up("slow", 1, {200, 150, 101, 100.5, 100.00001}, 2.0),
                                         made_up("never", 1, {200, 99})};
  const Summary summary = summarize(runs, options);
  ASSERT_EQ(summary.groups.size(), 1u);
  ASSERT_EQ(summary.groups[0].rows.size(), 3u);
  EXPECT_EQ(seconds(summary, 0, 0), 1);
  EXPECT_EQ(seconds(summary, 0, 1), 2);
  EXPECT_EQ(summary.groups[0].rows[0].ratio, 2.0);  // the run that ends below f* counts
  EXPECT_EQ(seconds(summary, 1, 0), 4);
  EXPECT_EQ(seconds(summary, 1, 1), 8);
  EXPECT_EQ(summary.groups[0].rows[1].ratio, 8.0);
  EXPECT_NEAR(spread_of_figure(summary, summary.groups[0].rows[2], "final_difference").median, -0.01, 1e-15);
  EXPECT_TRUE(std::isnan(spread_of_figure(summary, summary.groups[0].rows[0], "test_accuracy").median));
}

TEST(Tables, ATimeBetweenTwoDistantSamplesIsARange) {
  const TableOptions options{"", {1e-1, 1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs;
  for (const int repetition : {1, 2, 3}) {
    runs.push_back(made_up("a", repetition, {200}));
    runs.back().trace.push_back(sample(1.0 + repetition, 105));
    runs.back().trace.push_back(sample(9.0 + repetition, 100));
  }
  runs.push_back(made_up("b", 1, {200, 150, 150, 150, 100}));
  const Summary summary = summarize(runs, options);
  EXPECT_EQ(summary.groups[0].rows[0].figures[1].from.median, 3.0);
  EXPECT_EQ(summary.groups[0].rows[0].figures[1].to.median, 11.0);
  const std::string text = summary_tables(summary, options).text("md");
  EXPECT_THAT(text, HasSubstr("| 3* | 0.00-3.00 [2.50, 3.50] | 3.00-11.0 [10.5, 11.5] | ~2.75 |"));
  EXPECT_THAT(text, HasSubstr("| 1* | 4.00 | 4.00 | 1.00 |"));
  EXPECT_THAT(text, HasSubstr("\nA-B: the target was reached between two samples, at A and at B, more than a "
                              "tenth of B apart. Quartiles are those of B.\n"));
  EXPECT_THAT(text,
              HasSubstr("\n~: a ratio of two times of which at least one is known as an interval only.\n"));
  EXPECT_THAT(summary_tables(summary, options).text("latex"),
              HasSubstr(" & 3.00-11.0 [10.5, 11.5] & \\~{}2.75 & "));
  const std::string csv = summary_tables(summary, options).text("csv");
  EXPECT_THAT(csv, HasSubstr(",seconds_to_0.01,seconds_to_0.01_q25,"));
  EXPECT_THAT(csv, HasSubstr(",seconds_to_0.01_from,seconds_to_0.01_from_q25,"));
  EXPECT_THAT(csv, HasSubstr(",11,10.5,11.5,10,12,3,3,2.5,3.5,2,4,3,"));
  runs.erase(runs.begin(), runs.begin() + 3);
  EXPECT_THAT(summary_tables(summarize(runs, options), options).text("md"), testing::Not(HasSubstr("A-B")))
      << "said where it stands only";
}

TEST(Tables, ATargetBelowWhatIsProvenOfTheReferenceIsNoNumber) {
  const TableOptions options{"", {1e-2, 1e-6}, 1e-6, {"all"}};
  std::vector<proxbench::Run> runs{made_up("a", 1, {200, 101, 100}), made_up("b", 1, {200, 150, 100})};
  for (proxbench::Run& run : runs) run.best.relative_gap = 2e-6;
  const Summary summary = summarize(runs, options);
  const std::string text = summary_tables(summary, options).text("md");
  EXPECT_THAT(text, HasSubstr("| a | converged | 1* | 1.00 | ? | ? |"));
  EXPECT_THAT(text, HasSubstr("| b | converged | 1* | 2.00 | ? | ? |"));
  EXPECT_THAT(text, HasSubstr("\n?: f* is proven to a relative accuracy of 2.0e-06 only, and no target below "
                              "that can be told.\n"));
  EXPECT_TRUE(std::isnan(seconds(summary, 0, 1)));
  EXPECT_TRUE(std::isnan(summary.groups[0].rows[0].ratio));
  EXPECT_THAT(summary_tables(summary, options).text("csv"), HasSubstr(",2e-06,2e-06,a,"));
  EXPECT_THAT(summary_tables(summary, options).text("csv"),
              HasSubstr(",1,1,1,1,1,1,0.95,0.95,0.95,0.95,0.95,1,,,,,,0,,,,,,0,"));
  for (proxbench::Run& run : runs) run.best.relative_gap = 1e-6;
  EXPECT_THAT(summary_tables(summarize(runs, options), options).text("md"), testing::Not(HasSubstr("?")));
}

TEST(Tables, TakeMediansOverRepetitionsWithNeverAsTheWorst) {
  const TableOptions options{"", {1e-6}, 1e-6, {"all"}};
  const std::vector<proxbench::Run> runs{made_up("a", 1, {200, 100}), made_up("a", 2, {200, 150, 100}),
                                         made_up("a", 3, {200}), made_up("b", 1, {200, 100}),
                                         made_up("b", 2, {200})};
  const Summary summary = summarize(runs, options);
  EXPECT_EQ(summary.groups[0].rows[0].runs.size(), 3u);
  EXPECT_EQ(seconds(summary, 0, 0), 2);
  EXPECT_EQ(spread_of_figure(summary, summary.groups[0].rows[0], "nnz").median, 9);
  EXPECT_TRUE(std::isinf(seconds(summary, 1, 0)));  // half of the repetitions never got there
}

TEST(Tables, ComeAsMarkdownLatexAndCsv) {
  const TableOptions options{"OCR, 50 %", {1e-2, 1e-6}, 1e-6, {"all"}};
  const std::vector<proxbench::Run> runs{made_up("a_b", 1, {200, 101})};
  const Summary summary = summarize(runs, options);
  EXPECT_EQ(
      summary_tables(summary, options).text("md"),
      "## OCR, 50 %\n\n### ocr, lambda = 10, f* = 100 (relative kkt 1.0e-09, gap 3.0e-10)\n\nmade up\n\n"
      "| solver | status | n | s to 0.01 | final difference | nnz | relative kkt | relative gap | iterations "
      "| passes | seconds | passes to 0.01 |\n"
      "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
      "| a_b | converged | 1* | 1.00 | 1.0e-02 | 8 | 1.0e-07 | 2.0e-08 | 4 | 2.5 | 3.00 | 0.0 |\n\n"
      "No solver reached 1e-06.\n\n"
      "\\* n = 1: a single run, whose spread is not known.\n");
  EXPECT_THAT(summary_tables(summary, options).text("latex"),
              HasSubstr("\na\\_b & converged & 1* & 1.00 & 1.0e-02 & 8 & "
                        "1.0e-07 & 2.0e-08 & 4 & 2.5 & 3.00 & 0.0 \\\\\n"));
  EXPECT_THAT(summary_tables(summary, options).text("latex"),
              HasSubstr("\\par\\noindent{\\footnotesize * n = 1: a single run"));
  const std::string csv = summary_tables(summary, options).text("csv");
  EXPECT_THAT(
      csv,
      testing::StartsWith(
          "experiment,dataset,lambda,mu,reference_objective,reference_relative_kkt,reference_relative_gap,"
          "reference_accuracy,solver,machine,"
          "status,repetitions,failed,failures,not_comparable,ratio_to_fastest_at_1e-06,seconds_to_0.01,"
          "seconds_to_0.01_q25,seconds_to_0.01_q75,seconds_to_0.01_min,seconds_to_0.01_max,"
          "seconds_to_0.01_n,seconds_to_0.01_from,"));
  EXPECT_THAT(csv, HasSubstr("ocr,10,0,100,1e-09,3e-10,3e-10,a_b,,converged,1,0,,0,,1,1,1,1,1,1,"
                             "0.95,0.95,0.95,0.95,0.95,1,inf,inf,inf,inf,inf,1,inf,inf,inf,inf,inf,1,"
                             "0.01,0.01,0.01,0.01,0.01,1,8,8,8,8,8,1,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
}

TEST(Tables, FitAPageUnlessColumnsAreChosen) {
  TableOptions options{"", {1e-1, 1e-2, 1e-3, 1e-4, 1e-6}};
  std::vector<proxbench::Run> runs{made_up("a", 1, {200, 101, 100})};
  runs[0].result.test_accuracy = 0.5;
  const auto head = [&] { return summary_tables(summarize(runs, options), options).tables.front().head; };
  EXPECT_THAT(head(), ElementsAre("solver", "status", "n", "s to 0.01", "s to 0.001", "s to 0.0001",
                                  "s to 1e-06", "final difference", "test accuracy"));
  options.targets.clear();
  runs[0].best.objective = std::nan("");  // as with reference = none
  EXPECT_THAT(head(), ElementsAre("solver", "status", "n", "test accuracy", "seconds", "nnz", "relative gap",
                                  "iterations", "passes"));
  options.columns = {"passes", "n", "load_seconds"};
  EXPECT_THAT(head(), ElementsAre("solver", "passes", "n", "load s"));
  EXPECT_EQ(summary_tables(summarize(runs, options), options).tables.front().text_columns, 1u);
  EXPECT_THAT(summary_tables(summarize(runs, options), options).text("csv"),
              AllOf(HasSubstr(",passes,passes_q25,"), HasSubstr(",nnz,")))
      << "records have all";
  options.columns = {"passes", "iteration"};
  try {
    head();
    ADD_FAILURE() << "no column has this name";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("columns: found 'iteration' (did you mean 'iterations'?), expected all, or "
                          "some of solver, status, n, "));
  }
}

TEST(Tables, ShowTheMetricsThatAnyRunHas) {
  const TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs{made_up("a", 1, {200, 101}), made_up("b", 1, {200, 101})};
  runs[0].result.updates = 3.0;
  runs[0].trace.front().test_metrics = {{"chunk-f1", 0.25}};
  runs[0].trace.back().test_metrics = {{"chunk-f1", 0.75}};
  const Summary summary = summarize(runs, options);
  const std::string table = summary_tables(summary, options).text("md");
  EXPECT_THAT(table, HasSubstr("| passes | updates | seconds | test chunk-f1 | passes to 0.01 |\n"));
  EXPECT_THAT(table, HasSubstr("| 2.5 | 3 | 3.00 | 0.7500 | ")) << "that at the end";
  EXPECT_THAT(table, HasSubstr("| 2.5 | - | 3.00 | - | "));
  const std::string csv = summary_tables(summary, options).text("csv");
  EXPECT_THAT(csv, HasSubstr(",test_metrics.chunk-f1_n,"));
  EXPECT_THAT(csv, HasSubstr(",0.75,0.75,0.75,0.75,0.75,1,"));
}

std::vector<proxbench::Run> repeated(const std::string& label, const std::vector<double>& speeds) {
  std::vector<proxbench::Run> runs;
  for (double speed : speeds)
    runs.push_back(made_up(label, static_cast<int>(runs.size()) + 1, {200, 100}, speed));
  return runs;
}

TEST(Tables, ShowMediansWithQuartilesAndFlagFewRepetitions) {
  const TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  const auto three = summary_tables(summarize(repeated("a", {1, 4, 2}), options), options).text("md");
  EXPECT_THAT(three, HasSubstr("| a | converged | 3* | 2.00 [1.50, 3.00] | 1.00 |"));
  EXPECT_THAT(three, HasSubstr("\n\\* n = 3 < 5 repetitions: quartiles are no more than the spread seen.\n"));
  EXPECT_THAT(three, HasSubstr("medians [quartiles] of 3 repetitions"));
  const auto five = summary_tables(summarize(repeated("a", {1, 4, 2, 3, 5}), options), options).text("md");
  EXPECT_THAT(five, HasSubstr("| a | converged | 5 | 3.00 [2.00, 4.00] | 1.00 |"));
  EXPECT_THAT(five, testing::Not(HasSubstr("*n")));
  EXPECT_THAT(five, testing::Not(HasSubstr("< 5")));
}

TEST(Tables, ARepetitionThatNeverGetsThereCountsAsInfinite) {
  const TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs = repeated("a", {1, 2, 3});
  runs[2].trace.pop_back();
  const Summary summary = summarize(runs, options);
  EXPECT_EQ(seconds(summary, 0, 0), 2);
  EXPECT_THAT(summary_tables(summary, options).text("md"), HasSubstr("| 2.00 [1.50, never] |"));
  EXPECT_THAT(summary_tables(summary, options).text("csv"), HasSubstr(",2,1.5,inf,1,inf,3,"));
}

TEST(Tables, FailedRunsAreCountedAndEnterNoMedian) {
  const TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs = repeated("a", {1, 2, 3, 4, 50});
  runs[4].set_status("crashed(SIGSEGV)");
  runs[4].result.reason = "died after\n1 s";
  proxbench::Run alone = made_up("b", 1, {200, 100});
  alone.set_status("out-of-memory");
  runs.push_back(alone);
  const Summary summary = summarize(runs, options);
  const TableRow& row = summary.groups[0].rows[0];
  EXPECT_EQ(row.runs.size(), 5u);
  EXPECT_EQ(row.failed.size(), 1u);
  EXPECT_EQ(row.measured.size(), 4u);
  EXPECT_EQ(row.figures[0].to.median, 2.5);
  EXPECT_TRUE(std::isnan(spread_of_figure(summary, summary.groups[0].rows[1], "nnz").median));
  const std::string text = summary_tables(summary, options).text("md");
  EXPECT_THAT(text, HasSubstr("| a | converged, 1 of 5 crashed(SIGSEGV) | 4* | 2.50 [1.75, 3.25] | 1.00 |"));
  EXPECT_THAT(text, HasSubstr("| b | 1 of 1 out-of-memory | 0* | - | - | - |"));
  EXPECT_THAT(text, HasSubstr("\na: 1 of 5 crashed(SIGSEGV): died after 1 s; in no median.\n"));
  EXPECT_THAT(summary_tables(summary, options).text("csv"),
              HasSubstr(",a,,converged,5,1,1 of 5 crashed(SIGSEGV),0,1,2.5,"));
}

TEST(Tables, TimingsThatAreNotComparableAreLeftOutUnlessAllowed) {
  TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs = repeated("a", {1, 2});
  for (proxbench::Run& run : runs) {
    run.timing.comparable = false;
    run.timing.not_comparable_because = "two runs at once";
  }
  runs.push_back(made_up("b", 1, {200, 100}, 8));
  Summary summary = summarize(runs, options);
  EXPECT_TRUE(std::isnan(seconds(summary, 0, 0)));
  EXPECT_EQ(spread_of_figure(summary, summary.groups[0].rows[0], "passes").median, 2.5)
      << "passes are comparable";
  EXPECT_EQ(summary.groups[0].rows[1].ratio, 1.0);
  const std::string text = summary_tables(summary, options).text("md");
  EXPECT_THAT(text, HasSubstr("| a | converged | 2* | n/c | n/c | 0.0e+00 |"));
  EXPECT_THAT(text, HasSubstr("| 2.5 | n/c |"));
  EXPECT_THAT(text,
              HasSubstr("\na: the timings of 2 of 2 runs are not comparable (n/c) and left out: two runs "
                        "at once.\n"));
  options.allow_not_comparable = true;
  summary = summarize(runs, options);
  EXPECT_EQ(seconds(summary, 0, 0), 1.5);
  EXPECT_EQ(summary.groups[0].rows[1].ratio, 8 / 1.5);
}

TEST(Tables, MachinesHaveRowsAndRatiosOfTheirOwn) {
  const TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs = repeated("a", {1, 10, 2});
  for (const proxbench::Run& run : repeated("b", {4, 20})) runs.push_back(run);
  for (const std::size_t slow : {1u, 4u}) runs[slow].provenance.machine = "slow";
  for (const std::size_t fast : {0u, 2u, 3u}) runs[fast].provenance.machine = "fast";
  const Summary summary = summarize(runs, options);
  std::vector<std::string> labels;
  std::vector<double> ratios;
  for (const TableRow& row : summary.groups[0].rows) {
    labels.push_back(row.label);
    ratios.push_back(row.ratio);
  }
  EXPECT_THAT(labels, ElementsAre("a @ fast", "a @ slow", "b @ fast", "b @ slow"));
  EXPECT_THAT(ratios, ElementsAre(1.0, 1.0, 4 / 1.5, 2.0));
  EXPECT_THAT(summary_tables(summary, options).text("md"), HasSubstr("\nRuns of several machines: "));
}

TEST(Tables, ShowWhatWasSpentOffTheClock) {
  const TableOptions options{"", {1e-2}, 1e-2, {"all"}};
  std::vector<proxbench::Run> runs = repeated("a", {1, 1, 1});
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].result.load_seconds = 1.0 + static_cast<double>(i);
    runs[i].result.setup_seconds = 0.5;
    runs[i].result.sampling_seconds = 7.0;
  }
  const Summary summary = summarize(runs, options);
  EXPECT_EQ(spread_of_figure(summary, summary.groups[0].rows[0], "load_seconds").median, 2.0);
  EXPECT_EQ(spread_of_figure(summary, summary.groups[0].rows[0], "warm_up_seconds").n, 0);
  EXPECT_THAT(summary_tables(summary, options).text("md"), HasSubstr("| 2.00 [1.50, 2.50] | 0.50 | 7.00 |"));
  EXPECT_THAT(summary_tables(summary, options).text("csv"),
              HasSubstr(",2,1.5,2.5,1,3,3,0.5,0.5,0.5,0.5,0.5,3,,,,,,0,7,7,7,7,7,3,"));
}

TEST(Tables, AreWrittenInAllFormats) {
  const TestFolder folder;
  summary_tables(summarize({made_up("a", 1, {200, 100})}, {}), {}).write(folder / "tables");
  for (const char* file : {"tables/summary.md", "tables/summary.tex", "tables/summary.csv"})
    EXPECT_FALSE(read_text(folder / file).empty()) << file;
}

}  // namespace
}  // namespace proxbench
