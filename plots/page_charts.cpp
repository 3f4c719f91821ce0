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

/// The notes of panels: kStepNote for every panel, kMedianNote for panels with repetitions.
constexpr const char* kStepNote =
    "A value holds up to the next sample: nothing is known of what lies between.";
constexpr const char* kMedianNote =
    "Medians of the repetitions have a band from 25 % to 75 % of them. Between its samples, and after its "
    "end, "
    "a repetition keeps its last value.";

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
    Range range;
    for (const auto& point : out)
      if (std::isfinite(point[c])) range.add(point[c]);
    const double length = range.max > range.min ? range.max - range.min : 1.0;
    for (auto& point : out) point[c] = std::isfinite(point[c]) ? (point[c] - range.min) / length : -1.0;
  }
  return out;
}

bool repeated(const Run* run) {
  return run->parameters.repetition > 1;
}

json curve_json(const PanelCurve& curve, const Quantity& quantity, const std::vector<std::string>& labels) {
  const Run& first = *curve.runs.front();
  json out = {{"curve", place_in(labels, label_of(first))},
              {"comparable", first.timing.comparable},
              {"failed", first.failed()}};
  const bool band =
      std::ranges::any_of(curve.points, [](const BandPoint& point) { return point.q25 != point.q75; });
  for (const BandPoint& point : thinned(curve.points, quantity.log_axis)) {
    out["x"].push_back(rounded(point.x));
    out["y"].push_back(rounded(point.median));
    if (!band) continue;
    out["low"].push_back(rounded(point.q25));
    out["high"].push_back(rounded(point.q75));
  }
  return out;
}

json curves_json(const CurvePanel& panel, const std::vector<std::string>& labels) {
  json out = json::array();
  for (const PanelCurve& curve : panel.curves)
    if (!curve.points.empty()) out.push_back(curve_json(curve, panel.quantity, labels));
  return out;
}

json panel_json(const Runs& group, const Quantity& quantity, const std::vector<std::string>& labels) {
  const bool repetitions = std::ranges::any_of(group, repeated);
  json against = json::object();
  for (const Abscissa& abscissa : abscissas()) {
    const auto curves = [&](bool bands) {
      return curves_json(make_curve_panel(group, quantity, abscissa, false, bands), labels);
    };
    against[abscissa.name]["each"] = curves(false);
    if (repetitions) against[abscissa.name]["median"] = curves(true);
  }
  const CurvePanel panel = make_curve_panel(group, quantity, abscissas().front(), false, false);
  std::vector<std::string> notes = quantity_notes(panel);
  notes.insert(notes.begin(), kStepNote);
  const double bound = panel.bound();
  if (std::isfinite(bound)) notes.push_back(kBoundNote);
  if (repetitions) notes.push_back(kMedianNote);
  return {{"title", quantity.title},
          {"axis", quantity.axis},
          {"log", quantity.log_axis},
          {"count", quantity.name == "nnz"},
          {"notes", notes},
          {"bound", rounded(bound)},
          {"floor", rounded(std::fmax(panel.floor(), bound / kShownBelowBound))},
          {"against", against}};
}

json group_json(const Runs& group, const std::vector<std::string>& labels, const std::vector<Quantity>& shown,
                bool several_data_sets) {
  const Run& first = *group.front();
  json panels = json::object();
  for (const Quantity& quantity : shown) panels[quantity.name] = panel_json(group, quantity, labels);
  const std::string penalty = penalty_symbols(first.parameters),
                    problem = first.parameters.dataset + ", " + penalty;
  return {{"name", several_data_sets ? problem : penalty},
          {"problem", problem},
          {"warning", data_warnings(first.result.description)},
          {"notes", distinct(group, [](const Run& run) { return run.result.description; })},
          {"panels", panels}};
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

void tell_machines_apart(std::vector<Run>& runs) {
  if (!several_machines(runs)) return;
  for (Run& run : runs) run.parameters.label = series_name(run, true);
}

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
  const std::vector<Quantity> shown = measured_quantities(runs);
  const std::vector<std::string> labels = distinct(runs, label_of), datasets = distinct(runs, dataset_of);
  json axes = json::object(), order = json::array(), curves = json::array(), groups = json::array();
  for (const Abscissa& abscissa : abscissas()) axes[abscissa.name] = abscissa.title;
  for (const Quantity& quantity : shown) order.push_back(quantity.name);
  for (std::size_t i = 0; i < labels.size(); ++i)
    curves.push_back({{"name", labels[i]}, {"colour", line_style(i).colour}, {"dash", line_style(i).dash}});
  for (const auto& [problem, group] : grouped(runs, problem_of))
    groups.push_back(group_json(group, labels, shown, datasets.size() > 1));
  const std::string first = plot.quantities.empty() ? "objective" : plot.quantities.front();
  const bool known = std::find(order.begin(), order.end(), first) != order.end();
  return {{"start",
           {{"x", plot.x.empty() ? "seconds" : plot.x.front()},
            {"log_x", plot.log_seconds},
            {"quantity", known ? first : order.front().get<std::string>()}}},
          {"axes", axes},
          {"quantities", order},
          {"repetitions", std::ranges::any_of(runs, [](const Run& run) { return repeated(&run); })},
          {"uncomparable", std::ranges::any_of(runs, [](const Run& run) { return !run.timing.comparable; })},
          {"failed", std::ranges::any_of(runs, &Run::failed)},
          {"curves", curves},
          {"groups", groups}};
}

json page_ticks() {
  json out = json::array();
  for (const auto& [tick, rank] : log_ticks()) out.push_back({tick.at, tick.label, rank});
  return out;
}

}  // namespace proxbench
