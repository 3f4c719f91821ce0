#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/base/test_folder.h"
#include "plots/curve_panel.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kReference = 76214.125;

bool have_gnuplot() {
  return std::system("gnuplot --version >/dev/null 2>&1") == 0;
}

std::vector<fs::path> make_curves(const std::vector<proxbench::Run>& runs, const fs::path& folder,
                                  const PlotConfig& plot = {}, bool allow_not_comparable = false) {
  return draw_all(curve_charts(runs, plot, allow_not_comparable), folder);
}

#define SKIP_WITHOUT_GNUPLOT() \
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed: no image can be drawn"

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream in(text_of(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A run that falls to f* by a factor of ten every `decade` seconds, until `end`.
proxbench::Run falling_run(const std::string& label, double decade, double end, double lambda = 100.0) {
  proxbench::Run run;
  run.parameters.dataset = "ocr-degree2";
  run.result.description = "OCR letter.data, degree2, random split 6216/661, seed 1";
  run.parameters.label = run.parameters.solver = label;
  run.parameters.lambda = lambda;
  run.best.objective = kReference;
  run.best.relative_kkt = 1e-11;
  run.result.instances = 6216;
  run.result.d = 215358;
  run.parameters.threads = 2;
  run.best.kkt_at_zero = 4000.0;
  for (int i = 0; i <= 60; ++i) {
    Sample sample;
    sample.seconds = end * std::pow(i / 60.0, 2.0);
    sample.iteration = i;
    sample.passes = 1.5 * i;
    sample.updates = 0.75 * i;
    sample.objective = kReference * (1.0 + 1.2 * std::pow(10.0, -sample.seconds / decade));
    sample.nnz =
        i == 0 ? 0 : static_cast<std::uint64_t>(1490 + 20000 * std::pow(10.0, -sample.seconds / decade));
    sample.test_accuracy = 0.7366 * (1.0 - std::pow(10.0, -1.0 - sample.seconds / decade));
    run.trace.push_back(sample);
  }
  return run;
}

class Curves : public ::testing::Test {
 protected:
  fs::path file(const std::string& name) const { return folder_ / name; }

  const TestFolder scratch_;
  const fs::path folder_ = scratch_ / "figures";
};

TEST_F(Curves, DrawsThreeFiguresForADataSetAndLambda) {
  SKIP_WITHOUT_GNUPLOT();
  const auto written =
      make_curves({falling_run("prox-newton", 2, 20), falling_run("owl-qn", 15, 90)}, folder_);
  ASSERT_EQ(written.size(), 3u);
  for (const char* name : {"objective", "nnz", "accuracy"})
    for (const char* extension : {".svg", ".pdf", ".png", ".gp", ".tsv"})
      EXPECT_GT(fs::file_size(file(std::string("ocr-degree2-lambda100-") + name + extension)), 200u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 15) << "something else was left behind";
  EXPECT_EQ(written[0], file("ocr-degree2-lambda100-objective.png"));
  EXPECT_EQ(text_of(written[0]).substr(1, 3), "PNG");
  EXPECT_EQ(text_of(file("ocr-degree2-lambda100-nnz.pdf")).substr(0, 4), "%PDF");
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-objective.svg")), HasSubstr("prox-newton"));
}

TEST_F(Curves, TheScriptRunsByItselfInAnyFolderThatHoldsItsData) {
  SKIP_WITHOUT_GNUPLOT();
  make_curves({falling_run("prox-newton", 2, 20)}, folder_);
  const std::string name = "ocr-degree2-lambda100-nnz";
  for (const std::string locale : {"C", "C.UTF-8"}) {
    const fs::path elsewhere = folder_ / ("else where " + locale);
    fs::create_directories(elsewhere);
    for (const char* extension : {".gp", ".tsv"}) fs::copy(file(name + extension), elsewhere);
    const std::string command =
        "cd '" + elsewhere.string() + "' && LC_ALL=" + locale + " gnuplot " + name + ".gp 2>stderr.txt";
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(text_of(elsewhere / "stderr.txt"), "");
    EXPECT_EQ(text_of(elsewhere / (name + ".svg")), text_of(file(name + ".svg")));
    for (const char* extension : {".pdf", ".png"})
      EXPECT_GT(fs::file_size(elsewhere / (name + extension)), 200u);
    fs::remove(elsewhere / (name + ".tsv"));
    EXPECT_NE(std::system(command.c_str()), 0) << "a failure is told, in " << locale;
  }
}

TEST_F(Curves, DataKeepEverySampleInOneBlockARun) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run first = falling_run("prox-newton", 2, 20), second = falling_run("prox-newton", 2, 20);
  second.parameters.repetition = 2;
  first.trace.resize(2);
  second.trace.resize(1);
  first.trace[1].objective = kReference;  // not drawn, but kept
  make_curves({first, second}, folder_, {.repetitions = "lines"});
  EXPECT_THAT(lines_of(file("ocr-degree2-lambda100-objective.tsv")),
              ::testing::ElementsAre(
                  "label\trepetition\tseconds\trelative_difference\titeration\tpasses\tupdates",
                  ::testing::MatchesRegex("prox-newton\t1\t0\t1\\.(2|19999)[0-9]*\t0\t0\t0"),
                  ::testing::MatchesRegex("prox-newton\t1\t0\\.0055[0-9]*\t0\t1\t1\\.5\t0\\.75"), "", "",
                  ::testing::MatchesRegex("prox-newton\t2\t0\t1\\.(2|19999)[0-9]*\t0\t0\t0"), "", "",
                  ::testing::MatchesRegex("prox-newton\t1\t0\t1\\.(2|19999)[0-9]*\t\t\t"),
                  ::testing::MatchesRegex("prox-newton\t1\t0\\.0055[0-9]*\t1\\.(2|19999)[0-9]*\t\t\t"),
                  ::testing::MatchesRegex("prox-newton\t1\t0\\.0055[0-9]*\t0\t\t\t"), "", "",
                  ::testing::MatchesRegex("prox-newton\t2\t0\t1\\.(2|19999)[0-9]*\t\t\t")))
      << "the samples, then the corners of the steps";
}

TEST_F(Curves, WhatWasNotMeasuredIsAnEmptyField) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  run.trace.resize(2);
  run.trace[0].test_accuracy = kNaN;
  make_curves({run}, folder_);
  EXPECT_EQ(lines_of(file("ocr-degree2-lambda100-accuracy.tsv"))[1], "prox-newton\t1\t0\t\t0\t0\t0");
}

TEST_F(Curves, NothingIsDrawnAtOrBelowTheFloor) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  run.trace.back().objective = kReference * (1.0 - 1e-9);
  make_curves({run}, folder_);
  const std::string script = text_of(file("ocr-degree2-lambda100-objective.gp"));
  EXPECT_THAT(script, HasSubstr("($4 > 1e-12 ? $4 : 1/0)"));
  EXPECT_THAT(script, HasSubstr("Differences <= 1e-12 are rounding:"));
  EXPECT_THAT(script, HasSubstr("prox-newton goes below f* by 1.0e-09."));
}

TEST_F(Curves, CertifiedGapsNeedNoReference) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  run.best.objective = kNaN;
  for (std::size_t i = 0; i < run.trace.size(); i += 10) run.trace[i].gap = 0.5 * run.trace[i].objective;
  make_curves({run}, folder_, {.quantities = {"objective", "gap"}});
  EXPECT_FALSE(fs::exists(file("ocr-degree2-lambda100-objective.png")));
  EXPECT_TRUE(fs::exists(file("ocr-degree2-lambda100-gap.png")));
  EXPECT_THAT(lines_of(file("ocr-degree2-lambda100-gap.tsv"))[1], HasSubstr("prox-newton\t1\t0\t0.5\t0\t0"));
}

TEST_F(Curves, MarksHowWellTheReferenceIsKnownWhereCurvesGoBelowThat) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  EXPECT_DOUBLE_EQ(reference_bound(run), 2 * 1e-11 * 4000.0 / 100.0);
  make_curves({run}, folder_);
  const fs::path script = file("ocr-degree2-lambda100-objective.gp");
  EXPECT_THAT(text_of(script), HasSubstr("f* = 76214.125, proven to a relative accuracy of 8.0e-10."));
  EXPECT_THAT(text_of(script),
              HasSubstr("set object rectangle from graph 0, graph 0 to graph 1, first 8e-10 behind"));
  EXPECT_THAT(text_of(script), HasSubstr("8e-10 with lines title 'accuracy of f*'"));
  EXPECT_THAT(text_of(script), HasSubstr("curves say nothing"));
  // Below the bound the curve is faint, and the axis soon ends.
  EXPECT_THAT(text_of(script),
              HasSubstr("using 3:($4 > 1e-12 ? $4 : 1/0) notitle with lines linecolor rgb '#B0"));
  EXPECT_THAT(text_of(script),
              HasSubstr("using 3:($4 > 8e-10 ? $4 : 1/0) title 'prox-newton' with linespoints"));

  run.trace.resize(30);  // ends above the bound
  make_curves({run}, folder_);
  EXPECT_THAT(text_of(script), Not(HasSubstr("accuracy of f*")));

  run.best.relative_gap = 1e-10;
  EXPECT_DOUBLE_EQ(reference_bound(run), 1e-10) << "the better of two";
  run.best.relative_gap = 1e-7;
  EXPECT_DOUBLE_EQ(reference_bound(run), 8e-10);
  run.best.relative_gap = -1e-17;
  EXPECT_DOUBLE_EQ(reference_bound(run), 1e-15) << "rounding";
  run.best.kkt_at_zero = kNaN;
  run.best.relative_gap = 1e-7;
  EXPECT_DOUBLE_EQ(reference_bound(run), 1e-7);
  run.best.relative_gap = kNaN;
  EXPECT_TRUE(std::isnan(reference_bound(run)));
}

TEST_F(Curves, FiguresThatHaveNothingToShowAreNotMade) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  run.best.objective = kNaN;
  for (Sample& sample : run.trace) sample.test_accuracy = kNaN;
  EXPECT_THAT(make_curves({run}, folder_), ::testing::ElementsAre(file("ocr-degree2-lambda100-nnz.png")));
}

TEST_F(Curves, SyntheticDataAreNamedInTheTitle) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  make_curves({run}, folder_);
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-nnz.gp")), Not(HasSubstr("SYNTHETIC")));
  run.result.description = "synthetic OCR: 300 words, pixels features, noise 0.15, seed 1";
  make_curves({run}, folder_);
  for (const char* name : {"objective", "nnz", "accuracy"})
    EXPECT_THAT(text_of(file(std::string("ocr-degree2-lambda100-") + name + ".gp")),
                HasSubstr("set title '{/:Bold SYNTHETIC DATA: "));
}

TEST_F(Curves, TitleSaysDataLambdaSizesAndThreads) {
  SKIP_WITHOUT_GNUPLOT();
  make_curves({falling_run("prox-newton", 2, 20, 0.5)}, folder_);
  const std::string script = text_of(file("ocr-degree2-lambda0.5-objective.gp"));
  EXPECT_THAT(script, HasSubstr("ocr-degree2, λ = 0.5"));
  EXPECT_THAT(script, HasSubstr("OCR letter.data, degree2, random split 6216/661, seed 1"));
  EXPECT_THAT(script, HasSubstr("6,216 instances, d = 215,358, threads: 2"));
}

TEST_F(Curves, ALabelKeepsItsColourOverFiguresAndRepetitions) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run again = falling_run("owl-qn", 16, 90);
  again.parameters.repetition = 2;
  make_curves({falling_run("prox-newton", 2, 20), falling_run("owl-qn", 15, 90), again,
               falling_run("owl-qn", 15, 90, 50)},
              folder_, {.repetitions = "lines"});
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  };
  const std::string both = text_of(file("ocr-degree2-lambda100-objective.gp"));
  EXPECT_EQ(count(both, "#0072B2"), 1u);
  EXPECT_EQ(count(both, "#D55E00"), 2u) << "two repetitions";
  EXPECT_EQ(count(both, "title 'owl-qn'"), 1u) << "one entry in the legend";
  EXPECT_EQ(count(both, "notitle with linespoints"), 1u);
  const std::string one = text_of(file("ocr-degree2-lambda50-objective.gp"));
  EXPECT_EQ(count(one, "#0072B2"), 0u);
  EXPECT_EQ(count(one, "#D55E00"), 1u);
}

TEST_F(Curves, ARunWithTwoSamplesIsFlatUpToTheSecondOne) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("sgd", 2, 20);
  run.trace = {run.trace.front(), run.trace.back()};
  make_curves({run}, folder_, {.quantities = {"objective"}});
  const std::string script = text_of(file("ocr-degree2-lambda100-objective.gp"));
  EXPECT_THAT(script, HasSubstr("index 1 using 3:($4 > 8e-10 ? $4 : 1/0) title 'sgd' with linespoints"));
  const std::vector<std::string> lines = lines_of(file("ocr-degree2-lambda100-objective.tsv"));
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_THAT(lines[5], ::testing::StartsWith("sgd\t1\t0\t1."));
  EXPECT_THAT(lines[6], ::testing::StartsWith("sgd\t1\t20\t1.")) << "as high as at the start";
  EXPECT_THAT(lines[7], ::testing::MatchesRegex("sgd\t1\t20\t[0-9.]*e-1[0-9]\t\t\t"));
}

BandPoint at(double x, double value) {
  return {x, value, value, value};
}

TEST_F(Curves, ABandIsMadeOfStepFunctionsOnTheUnionOfTheirPlaces) {
  // Three runs. At x = 1 the second one still has its value from x = 0. After its end, the first one keeps
  // its last value.
  const auto band =
      repetition_band({{at(0, 8), at(1, 4)}, {at(0, 8), at(2, 2)}, {at(0, 8), at(1, 6), at(4, 0)}});
  ASSERT_EQ(band.size(), 4u);
  const auto expect = [&](std::size_t i, double x, double q25, double median, double q75) {
    EXPECT_EQ(band[i].x, x);
    EXPECT_EQ(band[i].q25, q25) << x;
    EXPECT_EQ(band[i].median, median) << x;
    EXPECT_EQ(band[i].q75, q75) << x;
  };
  expect(0, 0, 8, 8, 8);
  expect(1, 1, 5, 6, 7);  // 4, 8, 6
  expect(2, 2, 3, 4, 5);  // 4, 2, 6
  expect(3, 4, 1, 2, 3);  // 4, 2, 0
}

TEST_F(Curves, ABandBeginsWhereAllRunsHaveAValueAndTheLastOfEqualPlacesCounts) {
  const auto band = repetition_band({{at(0, 1), at(3, 5), at(3, 7)}, {at(2, 9)}});
  ASSERT_EQ(band.size(), 2u);
  EXPECT_EQ(band[0].x, 2);
  EXPECT_EQ(band[0].median, 5);  // 1, 9
  EXPECT_EQ(band[1].x, 3);
  EXPECT_EQ(band[1].median, 8);  // 7, 9
  EXPECT_TRUE(repetition_band({{at(0, 1)}, {}}).empty());
}

TEST_F(Curves, RepetitionsAreAMedianWithABand) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run first = falling_run("prox-newton", 2, 20), second = falling_run("prox-newton", 2, 20);
  second.parameters.repetition = 2;
  first.trace.resize(2);
  second.trace.resize(2);
  second.trace[1].seconds *= 2.0;
  second.trace[1].nnz = 10;
  first.trace[1].nnz = 30;
  make_curves({first, second}, folder_, {.quantities = {"nnz"}});
  // The corners of the steps: first all have 0, then one run has 30, then both have a value.
  EXPECT_THAT(
      lines_of(file("ocr-degree2-lambda100-nnz.tsv")),
      ::testing::ElementsAre(
          "label\trepetition\tseconds\tnnz\titeration\tpasses\tupdates\tq25\tq75", ::testing::_, ::testing::_,
          "", "", ::testing::_, ::testing::_, "", "", "prox-newton\tmedian\t0\t0\t\t\t\t0\t0",
          ::testing::MatchesRegex("prox-newton\tmedian\t0.0055[0-9]*\t0\t\t\t\t0\t0"),
          ::testing::MatchesRegex("prox-newton\tmedian\t0.0055[0-9]*\t15\t\t\t\t7.5\t22.5"),
          ::testing::MatchesRegex("prox-newton\tmedian\t0.0111[0-9]*\t15\t\t\t\t7.5\t22.5"),
          ::testing::MatchesRegex("prox-newton\tmedian\t0.0111[0-9]*\t20\t\t\t\t15\t25")));
  const std::string script = text_of(file("ocr-degree2-lambda100-nnz.gp"));
  EXPECT_THAT(script,
              HasSubstr("index 2 using 3:($8 > 5 ? $8 : 5):($9 > 5 ? $9 : 5) with filledcurves notitle"));
  EXPECT_THAT(script, HasSubstr("index 2 using 3:($4 > 0 ? $4 : 1/0) title 'prox-newton' with linespoints"));
  EXPECT_THAT(
      script,
      HasSubstr("Medians of n = 2 repetitions with 25-75 % bands (n < 5: no more than the spread seen)."));
}

TEST_F(Curves, AMedianCountsDivergedRunsAsTheWorst) {
  SKIP_WITHOUT_GNUPLOT();
  std::vector<proxbench::Run> runs(3, falling_run("prox-newton", 2, 20));
  for (int i = 0; i < 3; ++i) {
    runs[static_cast<std::size_t>(i)].parameters.repetition = i + 1;
    runs[static_cast<std::size_t>(i)].trace.resize(2);
  }
  for (std::size_t i : {0u, 1u}) runs[i].trace[1].objective = kNaN;
  make_curves(runs, folder_, {.quantities = {"objective"}});
  EXPECT_THAT(lines_of(file("ocr-degree2-lambda100-objective.tsv")).back(),
              ::testing::MatchesRegex("prox-newton\tmedian\t0.0055[0-9]*\t\t\t\t\t\t"));
}

TEST_F(Curves, FailedRunsEndInACrossAndEnterNoMedian) {
  SKIP_WITHOUT_GNUPLOT();
  std::vector<proxbench::Run> runs(4, falling_run("prox-newton", 2, 20));
  for (int i = 0; i < 4; ++i) runs[static_cast<std::size_t>(i)].parameters.repetition = i + 1;
  runs[1].set_status("crashed(SIGSEGV)");
  runs[1].trace.resize(12);
  runs[2].set_status("out-of-memory");
  runs[2].trace.clear();
  make_curves(runs, folder_, {.quantities = {"objective"}});
  const std::string script = text_of(file("ocr-degree2-lambda100-objective.gp"));
  EXPECT_THAT(script, HasSubstr("Medians of n = 2 repetitions"));
  EXPECT_THAT(script,
              HasSubstr("index 1 every ::11::11 using 3:($4 > 1e-12 ? $4 : 1/0) notitle with points"));
  EXPECT_THAT(script, HasSubstr("index 3 using 3:($8")) << "the run without a trace has no block";
  EXPECT_THAT(script, HasSubstr("A cross ends what failed: prox-newton repetition 2 crashed(SIGSEGV)."));
  EXPECT_THAT(script, HasSubstr("Failed, nothing to draw: prox-newton repetition 3 out-of-memory."));
}

TEST_F(Curves, TimingsThatAreNotComparableAreRefusedUnlessAllowed) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("prox-newton", 2, 20);
  run.timing.comparable = false;
  try {
    make_curves({run, falling_run("owl-qn", 2, 20)}, folder_);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(
        error.what(),
        "the timings of 1 of 2 runs are not comparable: ocr-degree2-lambda100-prox-newton-rep1; expected "
        "--allow-not-comparable, or x without seconds");
  }
  EXPECT_FALSE(fs::exists(folder_));
  make_curves({run}, folder_, {.x = {"passes"}, .quantities = {"nnz"}});
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-nnz-passes.gp")), Not(HasSubstr("NOT COMPARABLE")));
  make_curves({run}, folder_, {.quantities = {"nnz"}}, true);
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-nnz.gp")),
              HasSubstr("set title '{/:Bold NOT COMPARABLE: "));
}

TEST_F(Curves, RunsOfSeveralMachinesAreToldApart) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run here = falling_run("prox-newton", 2, 20), there = falling_run("prox-newton", 4, 40);
  here.provenance.machine = "here";
  make_curves({here, there}, folder_, {.quantities = {"nnz"}});
  const std::string script = text_of(file("ocr-degree2-lambda100-nnz.gp"));
  EXPECT_THAT(script, HasSubstr("title 'prox-newton @ here'"));
  EXPECT_THAT(script,
              HasSubstr("title 'prox-newton @ unknown machine' with linespoints linecolor rgb '#0072B2' "
                        "linewidth 2 dashtype 2"))
      << "the same colour, other dashes";
  EXPECT_THAT(script, Not(HasSubstr("filledcurves"))) << "never one median of both";
}

TEST_F(Curves, LinesGoThroughTheSamplesThatHaveAnAccuracy) {
  SKIP_WITHOUT_GNUPLOT();
  std::vector<proxbench::Run> runs(2, falling_run("prox-newton", 2, 20));
  runs[1].parameters.repetition = 2;
  for (proxbench::Run& run : runs) {
    run.trace.resize(4);
    run.trace[1].test_accuracy = run.trace[2].test_accuracy = kNaN;
    run.trace[0].test_accuracy = 0.25;
    run.trace[3].test_accuracy = 0.5;
  }
  make_curves(runs, folder_, {.quantities = {"accuracy"}});
  const auto lines = lines_of(file("ocr-degree2-lambda100-accuracy.tsv"));
  EXPECT_EQ(lines[2],
            "prox-newton\t1\t" + lines[2].substr(14, lines[2].find('\t', 14) - 14) + "\t\t1\t1.5\t0.75\t\t");
  EXPECT_THAT(
      std::vector<std::string>(lines.end() - 3, lines.end()),
      ::testing::ElementsAre("prox-newton\tmedian\t0\t0.25\t\t\t\t0.25\t0.25",
                             ::testing::MatchesRegex("prox-newton\tmedian\t[0-9.]+\t0.25\t\t\t\t0.25\t0.25"),
                             ::testing::MatchesRegex("prox-newton\tmedian\t[0-9.]+\t0.5\t\t\t\t0.5\t0.5")));
}

TEST_F(Curves, LogSecondsGoToFiguresOfTheirOwn) {
  SKIP_WITHOUT_GNUPLOT();
  const std::vector<proxbench::Run> runs = {falling_run("prox-newton", 2, 20),
                                            falling_run("prox-gd", 500, 2000)};
  make_curves(runs, folder_);
  make_curves(runs, folder_, {.log_seconds = true});
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-objective.gp")), HasSubstr("set xrange [0:2000]"));
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-objective-logx.gp")), HasSubstr("set logscale x"));
  EXPECT_TRUE(fs::exists(file("ocr-degree2-lambda100-nnz-logx.png")));
}

TEST_F(Curves, PassesUpdatesAndIterationsGoToFiguresOfTheirOwn) {
  SKIP_WITHOUT_GNUPLOT();
  const auto written = make_curves({falling_run("prox-newton", 2, 20)}, folder_,
                                   {.x = {"passes", "updates", "iterations", "seconds"},
                                    .quantities = {"objective"},
                                    .log_seconds = true});
  EXPECT_THAT(written, ::testing::ElementsAre(file("ocr-degree2-lambda100-objective-passes.png"),
                                              file("ocr-degree2-lambda100-objective-updates.png"),
                                              file("ocr-degree2-lambda100-objective-iterations.png"),
                                              file("ocr-degree2-lambda100-objective-logx.png")));
  const std::string passes = text_of(file("ocr-degree2-lambda100-objective-passes.gp"));
  EXPECT_THAT(passes, HasSubstr("set xlabel 'oracle calls / n"));
  EXPECT_THAT(passes, HasSubstr("using 6:($4 > "));
  EXPECT_THAT(passes, HasSubstr("set xrange [0:100]")) << "only seconds can have a log axis";
  const std::string updates = text_of(file("ocr-degree2-lambda100-objective-updates.gp"));
  EXPECT_THAT(updates, HasSubstr("set xlabel 'parameter updates / n"));
  EXPECT_THAT(updates, HasSubstr("using 7:($4 > "));
  EXPECT_THAT(text_of(file("ocr-degree2-lambda100-objective-iterations.gp")), HasSubstr("using 5:($4 > "));
  EXPECT_THAT(lines_of(file("ocr-degree2-lambda100-objective-passes.tsv"))[0],
              "label\trepetition\tseconds\trelative_difference\titeration\tpasses\tupdates");
}

TEST_F(Curves, AreOnTheScaleOfTheMeanLossToo) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("sgd", 2, 20);
  run.result.instances = 4;
  run.trace.resize(2);
  run.trace[1].objective = kReference * 1.5;
  run.trace[1].gap = kReference * 0.5 + 8.0;
  run.trace[1].dual_gap = 12.0;
  run.trace[1].estimated_gap = 3.0;
  run.trace[1].infeasibility = 2.0;
  run.trace[1].test_accuracy = 0.75;
  run.trace[1].test_metrics = {{"structure-accuracy", 0.5}, {"chunk-f1", 0.25}};
  const std::map<std::string, double> expected = {{"suboptimality", kReference * 0.5 / 4.0},
                                                  {"mean-gap", (kReference * 0.5 + 8.0) / 4.0},
                                                  {"dual", 8.0 / kReference},
                                                  {"gap-estimate", 0.25},
                                                  {"gap-infeasibility", 3.5},
                                                  {"error", 0.25},
                                                  {"structure-error", 0.5},
                                                  {"chunk-f1", 0.25}};
  for (const auto& [quantity, value] : expected) {
    SCOPED_TRACE(quantity);
    make_curves({run}, folder_, {.quantities = {quantity}});
    const std::vector<std::string> lines = lines_of(file("ocr-degree2-lambda100-" + quantity + ".tsv"));
    ASSERT_GE(lines.size(), 3u);
    std::istringstream fields(lines[2]);
    std::string field;
    for (int column = 1; column <= 4; ++column) std::getline(fields, field, '\t');
    EXPECT_NEAR(std::stod(field), value, 1e-9 * value);
  }
  // The floor of rounding and the accuracy of f* are on that scale too.
  const std::string script = text_of(file("ocr-degree2-lambda100-suboptimality.gp"));
  EXPECT_THAT(script, HasSubstr(fmt::format("$4 > {:g} ?", 1e-12 * kReference / 4.0)));
}

TEST_F(Curves, AnAxisCanEndBeforeTheRuns) {
  SKIP_WITHOUT_GNUPLOT();
  make_curves({falling_run("prox-newton", 2, 20)}, folder_, {.quantities = {"objective"}, .x_max = {4}});
  const std::string script = text_of(file("ocr-degree2-lambda100-objective.gp"));
  EXPECT_THAT(script, HasSubstr("set xrange [0:4]\n"));
  EXPECT_THAT(script, ::testing::ContainsRegex("set yrange \\[0\\.01[0-9]+:")) << "of what is seen";
}

TEST_F(Curves, MarksOfTheScriptLanguageInNamesAreDrawnAsTheyAre) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run run = falling_run("it's a_b^2 `touch oops` {x}", 2, 20);
  run.parameters.dataset = "a/b c";
  run.result.description = "Kassel's \"words\" \\ a_b `touch oops` {2}";
  make_curves({run}, folder_);
  const std::string picture = text_of(file("a_b_c-lambda100-objective.svg"));
  EXPECT_THAT(picture, HasSubstr("a_b^2 `touch oops` {x}"));
  EXPECT_THAT(picture, HasSubstr("a/b c"));
  EXPECT_FALSE(fs::exists(file("oops")));
}

TEST_F(Curves, DivergedAndShortTracesAreDrawn) {
  SKIP_WITHOUT_GNUPLOT();
  proxbench::Run diverged = falling_run("sgd", 2, 20), single = falling_run("prox-newton", 2, 20);
  diverged.trace[30].objective = std::numeric_limits<double>::infinity();
  diverged.trace[31].objective = kNaN;
  single.trace = {single.trace[1]};
  EXPECT_EQ(make_curves({single}, folder_).size(), 3u);
  EXPECT_EQ(make_curves({diverged, single}, folder_).size(), 3u);
}

TEST_F(Curves, RefusesWhatItCannotDraw) {
  EXPECT_THROW(make_curves({}, folder_), Error);
  const std::vector<proxbench::Run> runs = {falling_run("prox-newton", 2, 20)};
  EXPECT_THROW(make_curves(runs, folder_, {.quantities = {"loss"}}), Error);
  try {
    make_curves(runs, folder_, {.x = {"pases"}});
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "x: found 'pases' (did you mean 'passes'?), expected one of seconds, passes, updates, iterations");
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(Curves, KeepsScriptAndDataWhereGnuplotIsMissing) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  try {
    make_curves({falling_run("prox-newton", 2, 20)}, folder_);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("gnuplot: cannot be started: No such file or directory (Debian package gnuplot-nox"));
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(fs::exists(file("ocr-degree2-lambda100-objective.gp")));
  EXPECT_TRUE(fs::exists(file("ocr-degree2-lambda100-objective.tsv")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "nothing half-made stays";
}

TEST_F(Curves, NamesTheFolderItCannotWrite) {
  fs::create_directories(folder_);
  std::ofstream(file("figures")) << "a file in the way";
  try {
    make_curves({falling_run("prox-newton", 2, 20)}, file("figures"));
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file("figures").string()));
  }
}

}  // namespace
}  // namespace proxbench
