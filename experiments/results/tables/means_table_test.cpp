#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/tables/problem_set.h"
#include "experiments/results/tables/result_tables.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A run that reaches f* = 100 between 0.95*seconds and seconds. With seconds = 0, its objective stays at 110
/// for 20 s.
proxbench::Run run_of(const std::string& label, int repetition, double seconds, double time_limit = 50.0) {
  proxbench::Run run;
  run.parameters.experiment = "e";
  run.parameters.dataset = "ocr";
  run.result.description = "made up";
  run.parameters.solver = run.parameters.label = label;
  run.parameters.lambda = 10;
  run.parameters.repetition = repetition;
  run.folder = "results/e/runs/" + run_name(run);
  run.best.objective = 100.0;
  run.set_status(seconds > 0.0 ? "converged" : "time-limit");
  run.parameters.time_limit = time_limit;
  run.trace.resize(3);
  run.trace[0].objective = run.trace[1].objective = 110.0;
  run.trace[2].objective = seconds > 0.0 ? 100.0 : 110.0;
  run.trace[2].seconds = seconds > 0.0 ? seconds : 20.0;
  run.trace[2].passes = 7.0;
  run.trace[2].iteration = 5;
  run.trace[1].seconds = 0.95 * run.trace[2].seconds;
  run.trace[1].passes = 6.9;
  run.trace[1].iteration = 5;
  return run;
}

/// Asks for means of the costs to 1e-3.
Presentation presentation(double shift = 1.0, double par = 10.0, const std::string& measure = "seconds") {
  Presentation out;
  out.targets = {1e-3};
  out.plot.x = {measure};
  out.plot.shift = shift;
  out.plot.par = par;
  return out;
}

TableSet means(const std::vector<proxbench::Run>& runs, double shift = 1.0, double par = 10.0,
               const std::string& measure = "seconds") {
  return means_tables(runs, presentation(shift, par, measure));
}

/// Returns the mean of a record.
double mean(const TableSet& set, std::size_t record) {
  return set.records.at(record)["shifted_geometric_mean"].get<double>();
}

std::vector<ProblemSet> sets(const std::vector<proxbench::Run>& runs,
                             const std::string& measure = "seconds") {
  return problem_sets(runs, measure, {1e-3}, false);
}

TEST(Means, AreShiftedGeometricMeansOverProblems) {
  const TableSet set = means({run_of("a", 1, 3), run_of("a", 2, 15), run_of("a", 3, 1e-9)});
  ASSERT_EQ(set.records.size(), 1u);
  EXPECT_EQ(set.records[0]["problems"], 3);
  EXPECT_NEAR(mean(set, 0), std::cbrt(4.0 * 16.0 * 1.0) - 1.0, 1e-8);
  EXPECT_EQ(set.records[0]["reached"], 3);
}

TEST(Means, ChargeFailuresWithAMultipleOfTheirLimit) {
  // One problem, so that the mean is the charge.
  EXPECT_NEAR(mean(means({run_of("a", 1, 0)}), 0), 10 * 50.0, 1e-9);
  EXPECT_NEAR(mean(means({run_of("a", 1, 0)}, 1.0, 2.0), 0), 2 * 50.0, 1e-9);
  proxbench::Run crashed = run_of("a", 1, 3);
  crashed.set_status("crashed(SIGSEGV)");
  const TableSet set = means({crashed, run_of("b", 1, 3)});
  EXPECT_NEAR(mean(set, 0), 500.0, 1e-9) << "whatever its trace reached before";
  EXPECT_EQ(set.records[0]["reached"], 0);
  EXPECT_NEAR(mean(set, 1), 3.0, 1e-9);
  EXPECT_EQ(set.tables[0].footnotes.back(), "Failed: ocr-lambda10-a-rep1 crashed(SIGSEGV).");
}

TEST(Means, ChargeTheMostThatAnyRunPaidWhereThereIsNoLimit) {
  const std::vector<proxbench::Run> runs = {run_of("a", 1, 0, 0.0), run_of("b", 1, 33, 0.0)};
  EXPECT_NEAR(mean(means(runs), 0), 10 * 33.0, 1e-9);
  EXPECT_NEAR(mean(means(runs, 1.0, 10.0, "passes"), 0), 10 * 7.0, 1e-9);
  EXPECT_NEAR(mean(means(runs, 1.0, 10.0, "iterations"), 0), 10 * 5.0, 1e-9);
}

TEST(Means, LeaveOutWhatNotAllWereRunOnAndSayWhy) {
  proxbench::Run skipped = run_of("b", 2, 0), loaded = run_of("b", 3, 5), unknown = run_of("a", 4, 5);
  skipped.set_status("skipped(too large)");
  loaded.timing.comparable = false;
  unknown.best.objective = std::nan("");
  std::vector<proxbench::Run> runs = {run_of("a", 1, 2), run_of("b", 1, 4), run_of("a", 2, 1),
                                      skipped,           run_of("a", 3, 1), loaded,
                                      unknown,           run_of("b", 4, 5), run_of("a", 5, 5)};
  EXPECT_EQ(sets(runs)[0].problems.size(), 1u);
  EXPECT_THAT(sets(runs)[0].left_out,
              ElementsAre("e: ocr, lambda = 10, repetition 2 (not run: b)",
                          "e: ocr, lambda = 10, repetition 3 (timings not comparable: b)",
                          "e: ocr, lambda = 10, repetition 4 (no f*)",
                          "e: ocr, lambda = 10, repetition 5 (not run: b)"));
  EXPECT_EQ(sets(runs, "passes")[0].problems.size(), 2u) << "passes are comparable";
  const TableSet allowed = means_tables(runs, presentation(), true);
  EXPECT_EQ(allowed.records[0]["problems"], 2);
  EXPECT_THAT(allowed.tables[0].notes[0], HasSubstr("NOT COMPARABLE"));
}

TEST(Means, AreOfOneMachineWhereTheyAreSeconds) {
  std::vector<proxbench::Run> runs = {run_of("a", 1, 2), run_of("a", 2, 4)};
  runs[0].provenance.machine = "fast";
  const TableSet set = means(runs);
  ASSERT_EQ(set.tables.size(), 2u);
  EXPECT_EQ(set.records[0]["machine"], "fast");
  EXPECT_EQ(set.records[1]["machine"], "unknown machine");
  EXPECT_NEAR(mean(set, 1), 4.0, 1e-9);
  EXPECT_EQ(means(runs, 1.0, 10.0, "passes").tables.size(), 1u);
  // The same repetition on both machines makes two problems, neither of which mixes machines.
  proxbench::Run again = run_of("a", 2, 4);
  again.provenance.machine = "fast";
  again.folder += "@fast";
  runs.push_back(again);
  const std::vector<ProblemSet> passes = sets(runs, "passes");
  ASSERT_EQ(passes[0].problems.size(), 3u);
  EXPECT_EQ(passes[0].problems[2].name, "e: ocr, lambda = 10, repetition 2 @ fast");
}

TEST(Means, TellExperimentsApartAlsoWhereTheyBearTheSameName) {
  std::vector<proxbench::Run> runs = {run_of("a", 1, 2), run_of("a", 1, 8)};
  runs[1].folder = "other/e/runs/" + run_name(run_of("a", 1, 8));
  EXPECT_EQ(sets(runs)[0].problems.size(), 2u);
}

TEST(Means, ComeAsMarkdownLatexAndCsv) {
  Presentation options = presentation();
  options.title = "Two";
  const TestFolder folder;
  const TableSet set = means_tables({run_of("a_b", 1, 2), run_of("c", 1, 0)}, options);
  set.write(folder / "tables");
  for (const char* file : {"tables/means.md", "tables/means.tex", "tables/means.csv"})
    EXPECT_FALSE(read_text(folder / file).empty()) << file;
  EXPECT_EQ(read_text(folder / "tables/means.md"),
            "## Two\n\n### Shifted geometric means of seconds to a target, shift 1, PAR10\n\n"
            "1 problems: (experiment, data set, penalty, repetition).\n\n"
            "| solver | s to 0.001 | reached |\n|---|---:|---:|\n| a_b | 2.00 | 1 of 1 |\n"
            "| c | 500 | 0 of 1 |\n\n"
            "A run that failed or never reached the target is charged 10 x the run's time limit, or the most "
            "seconds of any run of that problem where there is none (PAR10).\n");
  EXPECT_THAT(read_text(folder / "tables/means.tex"), HasSubstr("\na\\_b & 2.00 & 1 of 1 \\\\\n"));
  EXPECT_THAT(read_text(folder / "tables/means.csv"),
              testing::StartsWith("measure,machine,solver,target,problems,reached,left_out,shift,par,"
                                  "shifted_geometric_mean,shifted_geometric_mean_from,unproven\n"
                                  "seconds,,a_b,0.001,1,1,0,1,10,2"));
}

TEST(Means, OfCostsThatAreRangesAreRanges) {
  proxbench::Run coarse = run_of("a", 1, 8);
  coarse.trace[1].seconds = 3.0;
  const std::vector<proxbench::Run> runs{coarse, run_of("a", 2, 2), run_of("b", 1, 8), run_of("b", 2, 2)};
  const TableSet set = means(runs);
  EXPECT_NEAR(set.records[0]["shifted_geometric_mean_from"].get<double>(), std::sqrt(4.0 * 2.9) - 1.0, 1e-12);
  EXPECT_NEAR(mean(set, 0), std::sqrt(9.0 * 3.0) - 1.0, 1e-12);
  EXPECT_EQ(sets(runs)[0].known().paid, 4u);
  EXPECT_EQ(sets(runs)[0].known().wide, 1u);
  const TextTable& table = set.tables[0];
  EXPECT_THAT(table.rows[0], ElementsAre("a", "2.41-4.20", "2 of 2"));
  EXPECT_THAT(table.rows[1], ElementsAre("b", "4.20", "2 of 2"));
  EXPECT_THAT(table.footnotes[0], HasSubstr("A-B: means of the costs at the samples before"));
}

TEST(Means, AreNoneWhereAReferenceIsNotProvenToTheTarget) {
  std::vector<proxbench::Run> runs{run_of("a", 1, 8), run_of("a", 2, 2)};
  runs[0].best.relative_gap = 1e-9;
  runs[1].best.relative_gap = 2e-3;
  const TableSet set = means(runs);
  EXPECT_TRUE(std::isnan(mean(set, 0)));
  const TextTable& table = set.tables[0];
  EXPECT_THAT(table.rows[0], ElementsAre("a", "?", "?"));
  EXPECT_EQ(table.footnotes[0], "?: f* of 1 of 2 problems is not proven to 0.001.");
  EXPECT_THAT(set.text("csv"), testing::EndsWith(",2,2,0,1,10,,,1\n"));
}

TEST(Means, RefuseWrongOptions) {
  EXPECT_THROW(means({run_of("a", 1, 2)}, 1.0, 10.0, "hours"), Error);
  EXPECT_THROW(means({}), Error);
  Presentation none = presentation();
  none.targets.clear();
  EXPECT_THROW(means_tables({run_of("a", 1, 2)}, none), Error);
}

}  // namespace
}  // namespace proxbench
