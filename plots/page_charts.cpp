#include "plots/page_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
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
  const std::string text = fmt::format("{:.6g}", value);
  double out = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// Adds to each sample's way from the first one what the coordinate contributes: its change over its range.
void add_way(const std::vector<Sample>& trace, const std::function<double(const Sample&)>& coordinate,
             std::vector<double>& way) {
  Range range;
  for (const Sample& sample : trace)
    if (const double value = coordinate(sample); std::isfinite(value)) range.add(value);
  if (!(range.max > range.min)) return;
  double sum = 0.0, last = kNaN;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const double value = coordinate(trace[i]);
    if (std::isfinite(value)) {
      if (std::isfinite(last)) sum += std::abs(value - last) / (range.max - range.min);
      last = value;
    }
    way[i] += sum;
  }
}

/// How far along the drawn curves each sample stands.
std::vector<double> drawn_way(const Run& run) {
  const auto log_difference = [&](const Sample& s) {
    const double difference = relative_difference(s.objective, run.best.objective);
    return std::isnan(difference) ? kNaN : std::log10(std::max(difference, kDifferenceFloor));
  };
  std::vector<double> way(run.trace.size(), 0.0);
  for (const std::function<double(const Sample&)>& coordinate :
       {std::function<double(const Sample&)>(log_difference),
        {[](const Sample& s) { return s.seconds; }},
        {[](const Sample& s) { return std::log10(s.seconds); }},
        {[](const Sample& s) { return s.passes; }},
        {[](const Sample& s) { return std::log10(static_cast<double>(s.nnz)); }}})
    add_way(run.trace, coordinate, way);
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

/// The place of each label among the labels of all runs, as make_curves() counts them.
using Places = std::map<std::string, std::size_t>;

Places places_of(const std::vector<Run>& runs) {
  Places out;
  for (const Run& run : runs) out.try_emplace(run.parameters.label, out.size());
  return out;
}

json curves_json(const Places& places) {
  json out = json::array();
  for (std::size_t i = 0; i < places.size(); ++i) out.push_back(nullptr);
  for (const auto& [name, place] : places) {
    const LineStyle style = line_style(place);
    out[place] = {{"name", name}, {"colour", style.colour}, {"dash", style.dash}};
  }
  return out;
}

bool repeated(const Group& group) {
  return std::any_of(group.begin(), group.end(),
                     [](const Run* run) { return run->parameters.repetition > 1; });
}

/// The values of a sample are those of another quantity in other units.
bool is_rescaled(const Quantity& quantity) {
  return !quantity.of.empty();
}

json run_json(const Run& run, std::size_t curve, const std::vector<Quantity>& shown) {
  json out = {{"curve", curve}, {"comparable", run.timing.comparable}, {"failed", run.failed()}};
  for (const Sample& sample : run.trace) {
    for (const Abscissa& abscissa : abscissas())
      out[abscissa.name].push_back(rounded(abscissa.value(sample)));
    for (const Quantity& quantity : shown)
      if (!is_rescaled(quantity)) out[quantity.name].push_back(rounded(quantity.value(run, sample)));
  }
  for (const Quantity& quantity : shown)
    if (const auto values = out.find(quantity.name);
        values != out.end() &&
        std::all_of(values->begin(), values->end(), [](const json& value) { return value.is_null(); }))
      out.erase(values);
  return out;
}

/// Of points that are the same only the first one, and the last of all.
json band_json(const Band& band, const Run& run, std::size_t curve) {
  json out = {{"curve", curve}, {"comparable", run.timing.comparable}};
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
json against_json(const CurvePanel& panel, const Places& places) {
  std::vector<std::size_t> lines = panel.lines;
  json bands = json::array();
  for (const Band& band : panel.bands) {
    const Run& first = *panel.traced[band.runs.front()];
    if (std::all_of(band.points.begin(), band.points.end(),
                    [](const BandPoint& point) { return point.q25 == point.q75; }))
      lines.push_back(band.runs.front());
    else
      bands.push_back(band_json(band, first, places.at(first.parameters.label)));
  }
  return {{"lines", lines}, {"bands", bands}};
}

json panel_json(const Group& group, const Quantity& quantity, const Places& places) {
  json against = json::object();
  for (const Abscissa& abscissa : abscissas())
    if (!is_rescaled(quantity))
      against[abscissa.name] = against_json(make_curve_panel(group, quantity, abscissa, false, true), places);
  const CurvePanel panel = make_curve_panel(group, quantity, abscissas().front(), false, false);
  std::vector<std::string> notes = quantity_notes(panel);
  notes.insert(notes.begin(), kStepNote);
  const double bound = panel.bound();
  if (std::isfinite(bound)) notes.push_back(kBoundNote);
  if (repeated(group)) notes.push_back(kMedianNote);
  return {{"title", quantity.title},
          {"axis", quantity.axis},
          {"log", quantity.log_axis},
          {"count", quantity.name == "nnz"},
          {"notes", notes},
          {"bound", rounded(bound)},
          {"floor", rounded(std::fmax(panel.floor(), bound / kShownBelowBound))},
          {"of", is_rescaled(quantity) ? quantity.of : quantity.name},
          {"factor", is_rescaled(quantity) ? quantity.unit_of_any(group) : 1.0},
          {"against", against}};
}

json group_json(const Group& group, const Places& places, const std::vector<Quantity>& shown,
                bool several_data_sets) {
  const Run& first = *group.front();
  std::set<std::string> descriptions;
  json runs = json::array(), panels = json::object();
  for (const Run* run : group) {
    descriptions.insert(run->result.description);
    if (!run->trace.empty()) runs.push_back(run_json(*run, places.at(run->parameters.label), shown));
  }
  for (const Quantity& quantity : shown) panels[quantity.name] = panel_json(group, quantity, places);
  const std::string penalty = penalty_symbols({first.parameters.lambda, first.parameters.mu},
                                              first.parameters.loss),
                    problem = first.parameters.dataset + ", " + penalty;
  return {{"name", several_data_sets ? problem : penalty},
          {"problem", problem},
          {"warning", data_warnings(says_synthetic(first.result.description))},
          {"notes", descriptions},
          {"runs", runs},
          {"panels", panels}};
}

/// The quantities that some run measured; the first one where there is none.
std::vector<Quantity> measured_quantities(const std::vector<Run>& runs) {
  const std::vector<Quantity>& all = quantities();
  std::vector<Quantity> out;
  for (const Quantity& quantity : all)
    if (std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
          return std::any_of(run.trace.begin(), run.trace.end(), [&](const Sample& sample) {
            return std::isfinite(quantity.value(run, sample));
          });
        }))
      out.push_back(quantity);
  if (out.empty()) out.push_back(all.front());
  return out;
}

}  // namespace

void tell_machines_apart(std::vector<Run>& runs) {
  std::set<std::string> machines;
  for (const Run& run : runs) machines.insert(run.provenance.machine);
  if (machines.size() < 2) return;
  const auto same = [](const Run& a, const Run& b) {
    return same_problem(a.parameters, b.parameters) && a.parameters.label == b.parameters.label;
  };
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end = std::find_if(begin, runs.end(), [&](const Run& run) { return !same(*begin, run); });
    std::stable_sort(begin, end,
                     [](const Run& a, const Run& b) { return a.provenance.machine < b.provenance.machine; });
    begin = end;
  }
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
  const Places places = places_of(runs);
  for (Run& run : runs) {
    std::vector<Sample> kept;
    for (const std::size_t i : thinned(run)) kept.push_back(run.trace[i]);
    run.trace = std::move(kept);
  }
  json axes = json::object(), order = json::array(), groups = json::array();
  for (const Abscissa& abscissa : abscissas()) axes[abscissa.name] = abscissa.title;
  for (const Quantity& quantity : shown) order.push_back(quantity.name);
  std::set<std::string> datasets;
  for (const Run& run : runs) datasets.insert(run.parameters.dataset);
  for (const Group& group : problem_groups(runs))
    groups.push_back(group_json(group, places, shown, datasets.size() > 1));
  const std::string first = plot.quantities.empty() ? "objective" : plot.quantities.front();
  const bool known = std::find(order.begin(), order.end(), first) != order.end();
  return {{"start",
           {{"x", plot.x.empty() ? "seconds" : plot.x.front()},
            {"log_x", plot.log_seconds},
            {"quantity", known ? first : order.front().get<std::string>()}}},
          {"axes", axes},
          {"quantities", order},
          {"repetitions", std::any_of(runs.begin(), runs.end(),
                                      [](const Run& run) { return run.parameters.repetition > 1; })},
          {"curves", curves_json(places)},
          {"groups", groups}};
}

json page_ticks() {
  json out = json::array();
  for (const auto& [tick, rank] : log_ticks()) out.push_back({tick.at, tick.label, rank});
  return out;
}

}  // namespace proxbench
