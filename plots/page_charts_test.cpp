#include "plots/page_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/base/numbers.h"
#include "plots/chart.h"
#include "plots/curve_panel.h"

namespace proxbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// f* = 100, known to 2e-9.
proxbench::Run run_of(const std::string& label, std::vector<Sample> trace = {}) {
  proxbench::Run run;
  run.parameters.dataset = "words";
  run.result.description = "some words";
  run.parameters.label = run.parameters.solver = label;
  run.parameters.lambda = 10.0;
  run.best.objective = 100.0;
  run.best.relative_kkt = 1e-11;
  run.set_status("converged");
  run.best.kkt_at_zero = 1000.0;
  run.trace = std::move(trace);
  return run;
}

Sample sample(double seconds, double objective, std::uint64_t nnz = 7) {
  Sample out;
  out.seconds = seconds;
  out.passes = seconds * 10.0;
  out.iteration = static_cast<std::int64_t>(seconds * 100.0);
  out.objective = objective;
  out.nnz = nnz;
  return out;
}

/// A difference that falls by twelve decades with a wave on it.
proxbench::Run long_run(std::size_t samples) {
  proxbench::Run run = run_of("sgd");
  for (std::size_t i = 0; i < samples; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(samples);
    const double wave = 1.0 + 0.9 * std::sin(static_cast<double>(i));
    run.trace.push_back(sample(0.01 * static_cast<double>(i),
                               100.0 + std::pow(10.0, 3.0 - 12.0 * share) * wave, 1000 - i % 100));
  }
  return run;
}

TEST(PageCharts, KeepsShortTracesWhole) {
  EXPECT_THAT(thinned(run_of("a", {sample(0, 200), sample(1, 150), sample(2, 100)})), ElementsAre(0, 1, 2));
  EXPECT_THAT(thinned(run_of("a")), ElementsAre());
}

TEST(PageCharts, ThinsLongTracesToTheirEnvelope) {
  const proxbench::Run run = long_run(20000);
  const std::vector<std::size_t> kept = thinned(run);
  EXPECT_LE(kept.size(), kMostSamples);
  EXPECT_GE(kept.size(), kMostSamples / 2);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(std::set<std::size_t>(kept.begin(), kept.end()).size(), kept.size());
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 19999u);

  // In each stretch of 500 samples the kept ones reach the smallest and largest objective of all to a
  // decade's tenth.
  for (std::size_t begin = 0; begin < 20000; begin += 500) {
    double low = INFINITY, high = 0.0, kept_low = INFINITY, kept_high = 0.0;
    for (std::size_t i = begin; i < begin + 500; ++i) {
      low = std::min(low, run.trace[i].objective - 100.0);
      high = std::max(high, run.trace[i].objective - 100.0);
    }
    for (const std::size_t i : kept) {
      if (i < begin || i >= begin + 500) continue;
      kept_low = std::min(kept_low, run.trace[i].objective - 100.0);
      kept_high = std::max(kept_high, run.trace[i].objective - 100.0);
    }
    EXPECT_LT(std::log10(kept_low / low), 0.35) << begin;
    EXPECT_LT(std::log10(high / kept_high), 0.35) << begin;
  }
}

TEST(PageCharts, ThinsWhereTheCurveIsSteepNotWhereTimeIsLong) {
  proxbench::Run run = run_of("a");
  for (int i = 0; i < 1000; ++i) run.trace.push_back(sample(1e-3 * i, 100.0 + std::pow(10.0, 3 - 0.01 * i)));
  for (int i = 0; i < 9000; ++i) run.trace.push_back(sample(1.0 + 1e-3 * i, 100.0 + 1e-7));
  const std::vector<std::size_t> kept = thinned(run);
  EXPECT_GT(std::count_if(kept.begin(), kept.end(), [](std::size_t i) { return i < 1000; }), 120);
}

TEST(PageCharts, ThinsATraceInWhichNothingChanges) {
  const proxbench::Run run = run_of("a", std::vector<Sample>(1000, sample(1, 100)));
  EXPECT_THAT(thinned(run), ElementsAre(0, 999));
}

TEST(PageCharts, AHundredRunsAreFewMegabytes) {
  std::vector<proxbench::Run> runs(100, long_run(3000));
  for (int i = 0; i < 100; ++i) runs[static_cast<std::size_t>(i)].parameters.repetition = i + 1;
  EXPECT_LT(page_charts(runs, {}).dump().size(), 4'500'000u);
}

TEST(PageCharts, HoldsWhatWasMeasuredAndNullForWhatWasNot) {
  proxbench::Run run = run_of("prox-newton", {sample(0, 300), sample(1.23456789, 100.0 + 1e-4)});
  run.trace[1].test_accuracy = 0.75;
  run.trace[0].test_accuracy = kNaN;
  run.trace[0].gap = 75.0;
  run.trace[0].seconds = 1e-310;  // no number is too small
  const nlohmann::json data =
      page_charts({run}, {.x = {"passes"}, .quantities = {"nnz"}, .x_max = {}, .log_seconds = true});
  EXPECT_EQ(data["start"], nlohmann::json({{"x", "passes"}, {"log_x", true}, {"quantity", "nnz"}}));
  const nlohmann::json& group = data["groups"][0];
  EXPECT_EQ(group["problem"], "words, λ = 10");
  const nlohmann::json& panel = group["panels"]["objective"];
  EXPECT_NEAR(panel["bound"].get<double>(), 2e-9, 1e-14);
  EXPECT_NEAR(panel["floor"].get<double>(), 2e-9 / kShownBelowBound, 1e-15);
  const nlohmann::json& stored = group["runs"][0];
  EXPECT_EQ(stored["seconds"], nlohmann::json({1e-310, 1.23457}));
  EXPECT_EQ(stored["accuracy"], nlohmann::json({nullptr, 0.75}));
  EXPECT_NEAR(stored["objective"][0].get<double>(), 2.0, 1e-12);
  EXPECT_NEAR(stored["objective"][1].get<double>(), 1e-6, 1e-11);
  EXPECT_EQ(stored["gap"], nlohmann::json({0.25, nullptr}));
  EXPECT_EQ(stored["nnz"], nlohmann::json({7, 7}));
  EXPECT_EQ(stored["iterations"], nlohmann::json({0, 123}));
  EXPECT_EQ(stored["error"], nlohmann::json({nullptr, 0.25}));
  EXPECT_FALSE(stored.contains("chunk-f1")) << "no sample has it";
  EXPECT_THAT(panel["notes"][1], HasSubstr("f* = 100, proven to a relative accuracy of 2.0e-09."));
}

TEST(PageCharts, ColoursSolversAsTheFiguresDo) {
  std::vector<proxbench::Run> runs;
  for (char c = 'a'; c < 'a' + 9; ++c) runs.push_back(run_of(std::string(1, c), {sample(0, 200)}));
  const nlohmann::json curves = page_charts(runs, {})["curves"];
  ASSERT_THAT(curves, SizeIs(9));
  EXPECT_EQ(curves[0], nlohmann::json({{"name", "a"}, {"colour", kColours[0]}, {"dash", 0}}));
  EXPECT_EQ(curves[8], nlohmann::json({{"name", "i"}, {"colour", kColours[0]}, {"dash", 1}}));
}

TEST(PageCharts, SaysWhichRunsFailedAndWhichTimingsAreNotComparable) {
  proxbench::Run bad = run_of("a", {sample(0, 200)}), empty = run_of("b");
  bad.set_status("crashed(SIGSEGV)");
  bad.timing.comparable = false;
  const nlohmann::json runs = page_charts({bad, empty}, {})["groups"][0]["runs"];
  ASSERT_THAT(runs, SizeIs(1)) << "nothing to draw of a run without a sample";
  EXPECT_TRUE(runs[0]["failed"]);
  EXPECT_FALSE(runs[0]["comparable"]);
}

TEST(PageCharts, NamesWhoGoesBelowTheOptimumAndWhereThereIsNone) {
  const nlohmann::json below = page_charts({run_of("fast", {sample(0, 99.0)})}, {});
  EXPECT_EQ(below["groups"][0]["panels"]["objective"]["notes"][3], "fast goes below f* by 1.0e-02.");
  proxbench::Run without = run_of("a", {sample(0, 99.0)});
  without.best.objective = without.best.relative_kkt = kNaN;
  proxbench::Run with = run_of("b", {sample(0, 99.0)});
  const nlohmann::json none = page_charts({without}, {})["groups"][0];
  EXPECT_FALSE(none["panels"].contains("objective")) << "no run has a value of it";
  EXPECT_FALSE(none["runs"][0].contains("objective"));
  with.parameters.lambda = 1.0;
  const nlohmann::json panel = page_charts({with, without}, {})["groups"][1]["panels"]["objective"];
  EXPECT_EQ(panel["notes"][1], "No f* is stored.");
  EXPECT_TRUE(panel["bound"].is_null());
}

TEST(PageCharts, TakeMediansOverRepetitionsThatAreNotTheSame) {
  std::vector<proxbench::Run> runs;
  for (const double speed : {1.0, 2.0, 4.0}) {
    runs.push_back(run_of("a", {sample(0, 200), sample(speed, 150)}));
    runs.back().parameters.repetition = static_cast<int>(runs.size());
    runs.back().trace[1].iteration = 1;
  }
  runs.push_back(runs.back());
  runs.back().parameters.repetition = 4;
  runs.back().set_status("crashed(SIGSEGV)");
  runs.push_back(runs[0]);
  runs.back().parameters.repetition = 5;
  runs.back().timing.comparable = false;
  const nlohmann::json panel = page_charts(runs, {})["groups"][0]["panels"]["objective"];
  const nlohmann::json &seconds = panel["against"]["seconds"], &iterations = panel["against"]["iterations"];
  EXPECT_EQ(seconds["lines"], nlohmann::json({3, 4})) << "one failed, one is not comparable";
  ASSERT_THAT(seconds["bands"], SizeIs(1));
  EXPECT_EQ(seconds["bands"][0]["x"], nlohmann::json({0, 1, 2, 4}));
  EXPECT_EQ(seconds["bands"][0]["y"], nlohmann::json({1, 1, 0.5, 0.5}));
  EXPECT_EQ(seconds["bands"][0]["low"], nlohmann::json({1, 0.75, 0.5, 0.5}));
  EXPECT_EQ(iterations["lines"], nlohmann::json({0, 3})) << "the same after so many iterations";
  EXPECT_THAT(iterations["bands"], SizeIs(0));
  const nlohmann::json rescaled = page_charts(runs, {})["groups"][0]["panels"];
  EXPECT_FALSE(rescaled.contains("suboptimality")) << "nobody knows n";
}

TEST(PageCharts, ShowSuboptimalityWhereTheNumberOfInstancesIsKnown) {
  proxbench::Run run = run_of("a", {sample(0, 200)});
  run.result.instances = 4;
  const nlohmann::json group = page_charts({run}, {})["groups"][0], panel = group["panels"]["suboptimality"];
  EXPECT_EQ(group["runs"][0]["suboptimality"], nlohmann::json({25}));
  EXPECT_NEAR(panel["bound"].get<double>(), 25.0 * 2e-9, 1e-12) << "on the scale of the axis";
}

TEST(PageCharts, TellsMachinesApartOnlyWhereThereAreSeveral) {
  std::vector<proxbench::Run> runs(4, run_of("a"));
  for (proxbench::Run& run : runs) run.provenance.machine = "one";
  std::vector<proxbench::Run> same = runs;
  tell_machines_apart(same);
  EXPECT_EQ(same[0].parameters.label, "a");

  runs[1].provenance.machine = "another";
  runs[2].provenance.machine = "";
  tell_machines_apart(runs);
  std::vector<std::string> labels;
  for (const proxbench::Run& run : runs) labels.push_back(run.parameters.label);
  EXPECT_THAT(labels, ElementsAre("a @ one", "a @ another", "a @ unknown machine", "a @ one"));
}

}  // namespace
}  // namespace proxbench
