#include "plots/page_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "experiments/base/numbers.h"
#include "plots/curve_panel.h"
#include "plots/facts.h"

namespace proxbench {
namespace {

using nlohmann::json;

/// Of each piece of a trace, envelope() keeps at most so many samples.
constexpr std::size_t kOfEachPiece = 5;
/// A band has about as many points at most.
constexpr std::size_t kMostBandPoints = 300;
/// What every panel says of its curves, and those with repetitions.
constexpr const char* kStepNote =
    "A value holds up to the next sample: nothing is known of what lies between.";
constexpr const char* kMedianNote =
    "Medians of the repetitions have a band from 25 % to 75 % of them. Between its samples, and after its "
    "end, "
    "a repetition keeps its last value.";

/// Six digits, which is more than a screen shows; counts in full.
nlohmann::json rounded(double value) {
  constexpr double kLargestCount = 1e15;
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < kLargestCount) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

/// What the drawn curves of a run follow.
using Coordinate = double (*)(const Run&, const Sample&);
constexpr std::array<Coordinate, 5> kCoordinates = {
    [](const Run& run, const Sample& s) {
      const double difference = relative_difference(s.objective, run.best.objective);
      return std::isnan(difference) ? kNaN : std::log10(std::max(difference, kDifferenceFloor));
    },
    [](const Run&, const Sample& s) { return s.seconds; },
    [](const Run&, const Sample& s) { return std::log10(s.seconds); },
    [](const Run&, const Sample& s) { return s.passes; },
    [](const Run&, const Sample& s) { return std::log10(static_cast<double>(s.nnz)); }};

/// How far along the drawn curves each sample stands: the changes of all coordinates, each over its range.
std::vector<double> drawn_way(const Run& run) {
  std::vector<double> way(run.trace.size(), 0.0);
  for (const Coordinate coordinate : kCoordinates) {
    Range range;
    for (const Sample& sample : run.trace)
      if (const double value = coordinate(run, sample); std::isfinite(value)) range.add(value);
    if (!(range.max > range.min)) continue;
    double sum = 0.0, last = kNaN;
    for (std::size_t i = 0; i < run.trace.size(); ++i) {
      const double value = coordinate(run, run.trace[i]);
      if (std::isfinite(value)) {
        if (std::isfinite(last)) sum += std::abs(value - last) / (range.max - range.min);
        last = value;
      }
      way[i] += sum;
    }
  }
  return way;
}

/// Of each piece of the way the first sample and those that reach furthest; and the last of all.
std::vector<std::size_t> envelope(const std::vector<Sample>& trace, const std::vector<double>& way,
                                  std::size_t pieces) {
  const double length = way.back() > 0.0 ? way.back() : 1.0;  // 0: nothing changes, one piece is enough
  const auto piece = [&](std::size_t i) {
    return std::min(pieces - 1, static_cast<std::size_t>(way[i] / length * static_cast<double>(pieces)));
  };
  std::vector<std::size_t> kept;
  for (std::size_t begin = 0, end = 0; begin < trace.size(); begin = end) {
    std::size_t best = begin, worst = begin, fewest = begin, most = begin;
    for (end = begin; end < trace.size() && piece(end) == piece(begin); ++end) {
      if (trace[end].objective < trace[best].objective) best = end;
      if (trace[end].objective > trace[worst].objective) worst = end;
      if (trace[end].nnz < trace[fewest].nnz) fewest = end;
      if (trace[end].nnz > trace[most].nnz) most = end;
    }
    const std::set<std::size_t> chosen{begin, best, worst, fewest, most};
    kept.insert(kept.end(), chosen.begin(), chosen.end());
  }
  if (kept.back() != trace.size() - 1) kept.push_back(trace.size() - 1);
  return kept;
}

bool repeated(const Run* run) {
  return run->parameters.repetition > 1;
}

json run_json(const Run& run, std::size_t curve, const std::vector<Quantity>& shown) {
  json out = {{"curve", curve}, {"comparable", run.timing.comparable}, {"failed", run.failed()}};
  for (const Sample& sample : run.trace) {
    for (const Abscissa& abscissa : abscissas()) out[abscissa.name].push_back(rounded(abscissa.of(sample)));
    for (const Quantity& quantity : shown) out[quantity.name].push_back(rounded(quantity.value(run, sample)));
  }
  for (const Quantity& quantity : shown)
    if (std::ranges::all_of(out[quantity.name], [](const json& value) { return value.is_null(); }))
      out.erase(quantity.name);
  return out;
}

/// Of points that are the same only the first one, and the last of all.
json band_json(const PanelCurve& band, std::size_t curve) {
  json out = {{"curve", curve}, {"comparable", band.runs.front()->timing.comparable}};
  const std::size_t stride = band.points.size() / kMostBandPoints + 1;
  std::array<json, 3> before;
  for (std::size_t i = 0; i < band.points.size(); ++i) {
    const bool last = i + 1 == band.points.size();
    const BandPoint& point = band.points[i];
    const std::array<json, 3> values = {rounded(point.q25), rounded(point.median), rounded(point.q75)};
    if (!last && (i % stride != 0 || values == before)) continue;
    out["x"].push_back(rounded(point.x));
    out["low"].push_back(values[0]);
    out["y"].push_back(values[1]);
    out["high"].push_back(values[2]);
    before = values;
  }
  return out;
}

/// Repetitions that are the same are shown as the first of them.
json against_json(const CurvePanel& panel, const std::vector<std::string>& labels) {
  json lines = json::array(), bands = json::array();
  for (const PanelCurve& curve : panel.curves) {
    const auto same = [](const BandPoint& point) { return point.q25 == point.q75; };
    if (curve.is_band() && !std::ranges::all_of(curve.points, same))
      bands.push_back(band_json(curve, place_in(labels, curve.series)));
    else
      lines.push_back(place_in(panel.traced, curve.runs.front()));
  }
  return {{"lines", lines}, {"bands", bands}};
}

json panel_json(const Runs& group, const Quantity& quantity, const std::vector<std::string>& labels) {
  json against = json::object();
  for (const Abscissa& abscissa : abscissas())
    against[abscissa.name] = against_json(make_curve_panel(group, quantity, abscissa, false, true), labels);
  const CurvePanel panel = make_curve_panel(group, quantity, abscissas().front(), false, false);
  std::vector<std::string> notes = quantity_notes(panel);
  notes.insert(notes.begin(), kStepNote);
  const double bound = panel.bound();
  if (std::isfinite(bound)) notes.push_back(kBoundNote);
  if (std::ranges::any_of(group, repeated)) notes.push_back(kMedianNote);
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
  json runs = json::array(), panels = json::object();
  for (const Run* run : group)
    if (!run->trace.empty()) runs.push_back(run_json(*run, place_in(labels, run->parameters.label), shown));
  for (const Quantity& quantity : shown) panels[quantity.name] = panel_json(group, quantity, labels);
  const std::string penalty = penalty_symbols(first.parameters),
                    problem = first.parameters.dataset + ", " + penalty;
  return {{"name", several_data_sets ? problem : penalty},
          {"problem", problem},
          {"warning", data_warnings(says_synthetic(first.result.description))},
          {"notes", distinct(group, [](const Run& run) { return run.result.description; })},
          {"runs", runs},
          {"panels", panels}};
}

/// The quantities that some run measured; the first one where there is none.
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

std::vector<std::size_t> thinned(const Run& run, std::size_t most) {
  const std::size_t n = run.trace.size();
  std::vector<std::size_t> kept;
  if (n <= most) {
    for (std::size_t i = 0; i < n; ++i) kept.push_back(i);
    return kept;
  }
  const std::vector<double> way = drawn_way(run);
  std::size_t pieces = (most - 1) / kOfEachPiece;
  kept = envelope(run.trace, way, pieces);
  // Where few samples stand out of their piece there is room for more pieces.
  while (pieces < n) {
    pieces += pieces / 4 + 1;
    std::vector<std::size_t> finer = envelope(run.trace, way, pieces);
    if (finer.size() > most) break;
    kept = std::move(finer);
  }
  return kept;
}

json page_charts(std::vector<Run> runs, const PlotConfig& plot) {
  const std::vector<Quantity> shown = measured_quantities(runs);
  for (Run& run : runs) {
    std::vector<Sample> kept;
    for (const std::size_t i : thinned(run)) kept.push_back(run.trace[i]);
    run.trace = std::move(kept);
  }
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
          {"curves", curves},
          {"groups", groups}};
}

json page_ticks() {
  json out = json::array();
  for (const auto& [tick, rank] : log_ticks()) out.push_back({tick.at, tick.label, rank});
  return out;
}

}  // namespace proxbench
