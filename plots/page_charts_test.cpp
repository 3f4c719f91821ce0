#include "plots/page_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/numbers.h"
#include "plots/chart.h"
#include "plots/curve_panel.h"

namespace proxbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A run with f* = 100, known to 2e-9.
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

/// A run whose difference to f* falls by twelve decades with a wave.
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

BandPoint point(double x, double value) {
  return {x, value, value, value};
}

/// Returns the chart of all runs of a group.
const nlohmann::json& chart_of(const nlohmann::json& page, const char* quantity, const char* x,
                               std::size_t group = 0) {
  return page["groups"][group]["panels"][quantity][x]["each"];
}

TEST(PageCharts, KeepsShortCurvesWhole) {
  EXPECT_THAT(thinned({point(0, 2), point(1, 1.5), point(2, 1)}, true), SizeIs(3));
  EXPECT_THAT(thinned({}, true), SizeIs(0));
}

/// The points that a kept point replaces are drawn near it, up to the next kept one.
TEST(PageCharts, ThinnedCurvesAreDrawnWhereTheWholeOnesAre) {
  std::vector<BandPoint> whole;
  for (int i = 0; i < 20000; ++i)
    whole.push_back(point(0.01 * i, std::pow(10.0, 3.0 - 6e-4 * i) * (1.0 + 0.3 * std::sin(1e-3 * i))));
  const std::vector<BandPoint> kept = thinned(whole, true);
  EXPECT_LE(kept.size(), kMostPoints);
  EXPECT_GE(kept.size(), kMostPoints / 2);
  EXPECT_EQ(kept.front().x, whole.front().x);
  EXPECT_EQ(kept.back().x, whole.back().x);
  std::size_t at = 0;
  for (const BandPoint& one : whole) {
    while (at + 1 < kept.size() && kept[at + 1].x <= one.x) ++at;
    EXPECT_LT(std::abs(std::log10(kept[at].median / one.median)), 0.02 * 12.0) << one.x;
    EXPECT_LT(std::abs(kept[at].x - one.x), 0.02 * 200.0);
  }
}

TEST(PageCharts, ThinsWhereTheCurveIsSteepNotWhereTimeIsLong) {
  std::vector<BandPoint> whole;
  for (int i = 0; i < 1000; ++i) whole.push_back(point(1e-3 * i, std::pow(10.0, 3 - 0.01 * i)));
  for (int i = 0; i < 9000; ++i) whole.push_back(point(1.0 + 1e-3 * i, 1e-7));
  const std::vector<BandPoint> kept = thinned(whole, true);
  EXPECT_GT(std::ranges::count_if(kept, [](const BandPoint& one) { return one.x < 1.0; }), 60);
}

TEST(PageCharts, ThinsACurveInWhichNothingChanges) {
  EXPECT_THAT(thinned(std::vector<BandPoint>(1000, point(1, 100)), false), SizeIs(2));
}

TEST(PageCharts, AHundredRunsAreFewMegabytes) {
  std::vector<proxbench::Run> runs(100, long_run(3000));
  for (int i = 0; i < 100; ++i) runs[static_cast<std::size_t>(i)].parameters.repetition = i + 1;
  EXPECT_LT(page_charts(runs, {}).dump().size(), 4'500'000u);
}

TEST(PageCharts, HoldsWhatWasMeasured) {
  proxbench::Run run = run_of("prox-newton", {sample(0, 300), sample(1.23456789, 100.0 + 1e-4)});
  run.trace[1].test_accuracy = 0.75;
  run.trace[0].test_accuracy = kNaN;
  run.trace[0].gap = 75.0;
  run.trace[0].seconds = 1e-310;  // no number is too small
  run.best.relative_kkt = 1e-8;
  const nlohmann::json data =
      page_charts({run}, {.x = {"passes"}, .quantities = {"nnz"}, .x_max = {}, .log_seconds = true});
  EXPECT_EQ(data["start"], nlohmann::json({{"x", "passes"}, {"log_x", true}, {"quantity", "nnz"}}));
  const nlohmann::json& group = data["groups"][0];
  EXPECT_EQ(data["quantities"][0], nlohmann::json({"objective", "Relative objective difference"}));
  const nlohmann::json& panel = chart_of(data, "objective", "seconds");
  EXPECT_EQ(panel["title"], "Relative objective difference: words, λ = 10");
  EXPECT_EQ(panel["x"], "seconds");
  EXPECT_NEAR(panel["bound"].get<double>(), 2e-6, 1e-11);
  EXPECT_NEAR(panel["floor"].get<double>(), 2e-6 / kShownBelowBound, 1e-12);
  const auto curve = [&](const char* quantity, const char* x) {
    return chart_of(data, quantity, x)["curves"][0];
  };
  EXPECT_EQ(curve("nnz", "seconds")["x"], nlohmann::json({1e-310, 1.23457}));
  EXPECT_EQ(curve("accuracy", "seconds")["x"], nlohmann::json({1.23457})) << "measured once";
  EXPECT_EQ(curve("accuracy", "seconds")["y"], nlohmann::json({0.75}));
  EXPECT_NEAR(curve("objective", "passes")["y"][0].get<double>(), 2.0, 1e-12);
  EXPECT_NEAR(curve("objective", "passes")["y"][1].get<double>(), 1e-6, 1e-11);
  EXPECT_EQ(curve("gap", "iterations")["y"], nlohmann::json({0.25}));
  EXPECT_EQ(curve("nnz", "iterations")["y"], nlohmann::json({7, 7}));
  EXPECT_EQ(curve("nnz", "iterations")["x"], nlohmann::json({0, 123}));
  EXPECT_EQ(curve("error", "passes")["y"], nlohmann::json({0.25}));
  EXPECT_FALSE(group["panels"].contains("chunk-f1")) << "no sample has it";
  EXPECT_THAT(
      panel["notes"].get<std::string>(),
      AllOf(HasSubstr("some words\n"), HasSubstr("f* = 100, proven to a relative accuracy of 2.0e-06."),
            HasSubstr("On grey ground")));
}

TEST(PageCharts, ColoursSolversAsTheFiguresDo) {
  std::vector<proxbench::Run> runs;
  for (char c = 'a'; c < 'a' + 9; ++c) runs.push_back(run_of(std::string(1, c), {sample(0, 200)}));
  const nlohmann::json curves = page_charts(runs, {})["series"];
  ASSERT_THAT(curves, SizeIs(9));
  EXPECT_EQ(curves[0], nlohmann::json({{"name", "a"}, {"colour", kColours[0]}, {"dash", 0}}));
  EXPECT_EQ(curves[8], nlohmann::json({{"name", "i"}, {"colour", kColours[0]}, {"dash", 1}}));
}

TEST(PageCharts, SaysWhichRunsFailedAndWhichTimingsAreNotComparable) {
  proxbench::Run bad = run_of("a", {sample(0, 200)}), empty = run_of("b");
  bad.set_status("crashed(SIGSEGV)");
  bad.timing.comparable = false;
  const nlohmann::json page = page_charts({bad, empty}, {});
  const nlohmann::json curves = chart_of(page, "objective", "seconds")["curves"];
  ASSERT_THAT(curves, SizeIs(1)) << "nothing to draw of a run without a sample";
  EXPECT_TRUE(curves[0]["failed"]);
  EXPECT_FALSE(curves[0]["comparable"]);
  EXPECT_TRUE(page["failed"]);
  EXPECT_TRUE(page["uncomparable"]);
}

TEST(PageCharts, NamesWhoGoesBelowTheOptimumAndWhereThereIsNone) {
  const nlohmann::json below = page_charts({run_of("fast", {sample(0, 99.0)})}, {});
  EXPECT_THAT(chart_of(below, "objective", "seconds")["notes"].get<std::string>(),
              HasSubstr("fast goes below f* by 1.0e-02."));
  proxbench::Run without = run_of("a", {sample(0, 99.0)});
  without.best.objective = without.best.relative_kkt = kNaN;
  proxbench::Run with = run_of("b", {sample(0, 99.0)});
  const nlohmann::json none = page_charts({without}, {})["groups"][0];
  EXPECT_FALSE(none["panels"].contains("objective")) << "no run has a value of it";
  with.parameters.lambda = 1.0;
  const nlohmann::json panel = chart_of(page_charts({with, without}, {}), "objective", "seconds", 1);
  EXPECT_THAT(panel["notes"].get<std::string>(), HasSubstr("No f* is stored."));
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
  const nlohmann::json seconds = panel["seconds"]["median"]["curves"],
                       iterations = panel["iterations"]["median"]["curves"];
  EXPECT_THAT(panel["seconds"]["each"]["curves"], SizeIs(5));
  ASSERT_THAT(seconds, SizeIs(3)) << "one failed, one is not comparable";
  EXPECT_EQ(seconds[0]["x"], nlohmann::json({0, 1, 2, 4}));
  EXPECT_EQ(seconds[0]["y"], nlohmann::json({1, 1, 0.5, 0.5}));
  EXPECT_EQ(seconds[0]["low"], nlohmann::json({1, 0.75, 0.5, 0.5}));
  EXPECT_TRUE(seconds[1]["failed"]);
  EXPECT_FALSE(seconds[2]["comparable"]);
  ASSERT_THAT(iterations, SizeIs(2));
  EXPECT_FALSE(iterations[0].contains("low")) << "the same after so many iterations";
  const nlohmann::json rescaled = page_charts(runs, {})["groups"][0]["panels"];
  EXPECT_FALSE(rescaled.contains("suboptimality")) << "nobody knows n";
}

TEST(PageCharts, ShowSuboptimalityWhereTheNumberOfInstancesIsKnown) {
  proxbench::Run run = run_of("a", {sample(0, 200)});
  run.result.instances = 4;
  run.best.relative_kkt = 0.01;  // f* to a factor of 2
  const nlohmann::json chart = chart_of(page_charts({run}, {}), "suboptimality", "passes");
  EXPECT_EQ(chart["curves"][0]["y"], nlohmann::json({25}));
  EXPECT_NEAR(chart["bound"].get<double>(), 25.0 * 2.0, 1e-12) << "on the scale of the axis";
}

TEST(PageCharts, TellsMachinesApartOnlyWhereThereAreSeveral) {
  std::vector<proxbench::Run> runs(4, run_of("a", {sample(0, 200)}));
  for (proxbench::Run& run : runs) run.provenance.machine = "one";
  const auto names = [&] {
    std::vector<std::string> out;
    const nlohmann::json page = page_charts(runs, {});
    for (const nlohmann::json& curve : page["series"]) out.push_back(curve["name"]);
    return out;
  };
  EXPECT_THAT(names(), ElementsAre("a"));
  runs[1].provenance.machine = "another";
  runs[2].provenance.machine = "";
  EXPECT_THAT(names(), ElementsAre("a @ one", "a @ another", "a @ unknown machine"));
}

}  // namespace
}  // namespace proxbench
