#include "plots/page_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "core/base/numbers.h"

namespace proxbench {
namespace {

using nlohmann::json;

/// A note on every chart of the page.
constexpr const char* kStepNote =
    "A value holds up to the next sample, and the last value to the end: nothing is known in between.";

/// Rounds to six digits, which is more than a screen shows. Counts stay exact.
nlohmann::json rounded(double value) {
  constexpr double kLargestCount = 1e15;
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < kLargestCount) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

/// Returns the drawn coordinates of points, each as a fraction of its range; -1 if it cannot be drawn.
std::vector<std::array<double, 5>> drawn_coordinates(const std::vector<BandPoint>& points, bool log_values) {
  std::vector<std::array<double, 5>> out;
  for (const auto& [x, median, q25, q75] : points) {
    out.push_back({x, std::log10(x), median, q25, q75});
    if (log_values)
      for (std::size_t c = 2; c < out.back().size(); ++c) out.back()[c] = std::log10(out.back()[c]);
  }
  for (std::size_t c = 0; c < 5; ++c) {
    AxisRange range;
    for (const auto& point : out)
      if (std::isfinite(point[c])) range.add(point[c]);
    const double length = range.max > range.min ? range.max - range.min : 1.0;
    for (auto& point : out) point[c] = std::isfinite(point[c]) ? (point[c] - range.min) / length : -1.0;
  }
  return out;
}

bool repeated(const Runs& runs) {
  return std::ranges::any_of(runs, [](const Run* run) { return run->parameters.repetition > 1; });
}

/// Adds x and y to the JSON of a curve, and low and high if a band is wider than its median anywhere.
void add_points(json& curve, const std::vector<BandPoint>& points, bool log_values) {
  const bool band =
      std::ranges::any_of(points, [](const BandPoint& point) { return point.q25 != point.q75; });
  for (const BandPoint& point : thinned(points, log_values)) {
    curve["x"].push_back(rounded(point.x));
    curve["y"].push_back(rounded(point.median));
    if (!band) continue;
    curve["low"].push_back(rounded(point.q25));
    curve["high"].push_back(rounded(point.q75));
  }
}

json chart_json(const CurvePanel& panel, const Styles& styles) {
  const Chart chart = curve_chart(panel, styles, false);
  const Panel& drawn = chart.panels.front();
  json curves = json::array();
  for (std::size_t i = 0; i < drawn.curves.size(); ++i) {
    const PanelCurve& of = panel.curves[i];
    if (of.points.empty()) continue;
    const Run& run = *of.runs.front();
    json curve = {{"series", panel.series(run)},
                  {"width", drawn.curves[i].width},
                  {"comparable", run.timing.comparable},
                  {"failed", run.failed()}};
    add_points(curve, of.points, drawn.y.log);
    curves.push_back(std::move(curve));
  }
  return {{"warning", data_warnings(chart.subtitle)},
          {"title", chart.title + chart.about},
          {"notes", fmt::format("{}\n{}\n{}", chart.subtitle, chart.caption, kStepNote)},
          {"x", drawn.x.label},
          {"y", drawn.y.label},
          {"log", drawn.y.log},
          {"count", panel.quantity.name == "nnz"},
          {"bound", rounded(drawn.bound)},
          {"floor", rounded(std::fmax(drawn.floor, drawn.bound / kShownBelowBound))},
          {"curves", curves}};
}

/// Returns the charts of one quantity against every x.
json charts_json(const Runs& group, const Quantity& quantity, const Styles& styles, bool machines) {
  json out;
  for (const Abscissa& abscissa : abscissas()) {
    const auto chart = [&](bool bands) {
      return chart_json(make_curve_panel(group, quantity, abscissa, machines, bands), styles);
    };
    out[abscissa.name]["each"] = chart(false);
    if (repeated(group)) out[abscissa.name]["median"] = chart(true);
  }
  return out;
}

/// Returns the quantities that some run measured, or the first quantity if there are none.
std::vector<Quantity> measured_quantities(const std::vector<Run>& runs) {
  std::vector<Quantity> out;
  std::ranges::copy_if(quantities(), std::back_inserter(out), [&](const Quantity& quantity) {
    return std::ranges::any_of(runs, [&](const Run& run) {
      return std::ranges::any_of(
          run.trace, [&](const Sample& sample) { return std::isfinite(quantity.value(run, sample)); });
    });
  });
  if (out.empty()) out.push_back(quantities().front());
  return out;
}

}  // namespace

std::vector<BandPoint> thinned(const std::vector<BandPoint>& points, bool log_values) {
  const auto drawn = drawn_coordinates(points, log_values);
  for (double step = 0.0;; step = std::max(1.0 / kMostPoints, 1.5 * step)) {
    std::vector<std::size_t> kept;
    const auto moved = [&](std::size_t i) {
      for (std::size_t c = 0; c < drawn[i].size(); ++c)
        if (std::abs(drawn[i][c] - drawn[kept.back()][c]) > step) return true;
      return false;
    };
    for (std::size_t i = 0; i < points.size(); ++i)
      if (i == 0 || i + 1 == points.size() || moved(i)) kept.push_back(i);
    if (kept.size() > kMostPoints) continue;
    std::vector<BandPoint> out;
    for (const std::size_t i : kept) out.push_back(points[i]);
    return out;
  }
}

json page_charts(const std::vector<Run>& runs, const PlotConfig& plot) {
  const bool machines = several_machines(runs), datasets = distinct(runs, dataset_of).size() > 1;
  const auto series_of = [&](const Run& run) { return series_name(run, machines); };
  const std::vector<Quantity> shown = measured_quantities(runs);
  const Styles styles(runs);
  json axes = json::array(), order = json::array(), series = json::array(), groups = json::array();
  for (const Abscissa& abscissa : abscissas()) axes.push_back(abscissa.name);
  for (const Quantity& quantity : shown) order.push_back({quantity.name, quantity.title});
  for (const auto& [name, of_series] : grouped(runs, series_of)) {
    const LineStyle style = styles.of(*of_series.front());
    series.push_back({{"name", name}, {"colour", style.colour}, {"dash", style.dash}});
  }
  for (const auto& [problem, group] : grouped(runs, problem_of)) {
    const RunParameters& run = group.front()->parameters;
    json panels;
    for (const Quantity& quantity : shown)
      panels[quantity.name] = charts_json(group, quantity, styles, machines);
    groups.push_back(
        {{"name", (datasets ? run.dataset + ", " : "") + penalty_symbols(run)}, {"panels", panels}});
  }
  const std::string first = plot.quantities.empty() ? "objective" : plot.quantities.front();
  const bool known = std::ranges::find(shown, first, &Quantity::name) != shown.end();
  return {{"start",
           {{"x", plot.x.empty() ? "seconds" : plot.x.front()},
            {"log_x", plot.log_seconds},
            {"quantity", known ? first : shown.front().name}}},
          {"axes", axes},
          {"quantities", order},
          {"repetitions", repeated(runs)},
          {"uncomparable", std::ranges::any_of(runs, [](const Run& run) { return !run.timing.comparable; })},
          {"failed", std::ranges::any_of(runs, &Run::failed)},
          {"series", series},
          {"groups", groups}};
}

json page_ticks() {
  json out = json::array();
  for (const auto& [at, label, rank] : log_ticks()) out.push_back({at, label, rank});
  return out;
}

}  // namespace proxbench
