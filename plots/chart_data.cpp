#include "plots/chart_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "experiments/base/numbers.h"
#include "plots/colours.h"
#include "plots/facts.h"
#include "plots/quantities.h"

namespace proxbench {
namespace {

/// Of each piece of a trace, envelope() keeps at most so many samples.
constexpr std::size_t kOfEachPiece = 5;

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
template <class Coordinate>
void add_way(const std::vector<Sample>& trace, const Coordinate& coordinate, std::vector<double>& way) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Sample& sample : trace)
    if (const double value = coordinate(sample); std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(high > low)) return;
  double sum = 0.0, last = kNaN;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const double value = coordinate(trace[i]);
    if (std::isfinite(value)) {
      if (std::isfinite(last)) sum += std::abs(value - last) / (high - low);
      last = value;
    }
    way[i] += sum;
  }
}

/// How far along the drawn curves each sample stands.
std::vector<double> drawn_way(const Run& run, double floor) {
  std::vector<double> way(run.trace.size(), 0.0);
  add_way(
      run.trace,
      [&](const Sample& s) {
        const double difference = relative_difference(s.objective, run.best.objective);
        return std::isnan(difference) ? kNaN : std::log10(std::max(difference, floor));
      },
      way);
  add_way(
      run.trace, [](const Sample& s) { return s.seconds; }, way);
  add_way(
      run.trace, [](const Sample& s) { return std::log10(s.seconds); }, way);
  add_way(
      run.trace, [](const Sample& s) { return s.passes; }, way);
  add_way(
      run.trace, [](const Sample& s) { return std::log10(static_cast<double>(s.nnz)); }, way);
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
std::map<std::string, std::size_t> places(const std::vector<Run>& runs) {
  std::map<std::string, std::size_t> out;
  for (const Run& run : runs) out.try_emplace(run.parameters.label, out.size());
  return out;
}

nlohmann::json curves_json(const std::map<std::string, std::size_t>& places) {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t i = 0; i < places.size(); ++i) out.push_back(nullptr);
  for (const auto& [name, place] : places)
    out[place] = {
        {"name", name}, {"colour", kColours[place % kColours.size()]}, {"round", place / kColours.size()}};
  return out;
}

nlohmann::json run_json(const Run& run, std::size_t curve, double floor) {
  nlohmann::json out = {{"curve", curve},
                        {"repetition", run.parameters.repetition},
                        {"comparable", run.timing.comparable},
                        {"failed", run.failed()}};
  std::map<std::string, nlohmann::json> values;
  std::set<std::string> measured;
  for (const std::size_t i : thinned(run, floor))
    for (const auto& [name, value] : curve_values(run, run.trace[i])) {
      values[name].push_back(rounded(value));
      if (std::isfinite(value)) measured.insert(name);
    }
  for (const std::string& name : measured) out[name] = std::move(values[name]);
  return out;
}

/// What is known of f*, what is not drawn, and who went below f*.
std::vector<std::string> objective_notes(const std::vector<const Run*>& runs, double floor) {
  std::map<double, double> references;                // f* -> its bound
  std::vector<std::pair<std::string, double>> below;  // label -> how far
  for (const Run* run : runs) {
    if (!std::isfinite(run->best.objective)) continue;
    references[run->best.objective] = reference_bound(*run);
    for (const Sample& sample : run->trace) {
      const double difference = relative_difference(sample.objective, run->best.objective);
      if (!(difference < -floor)) continue;
      if (below.empty() || below.back().first != run->parameters.label)
        below.emplace_back(run->parameters.label, 0.0);
      below.back().second = std::min(below.back().second, difference);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [objective, bound] : references)
    notes.push_back(fmt::format("f* = {:.10g}{}", objective,
                                std::isfinite(bound)
                                    ? fmt::format(", proven to a relative accuracy of {:.1e}.", bound)
                                    : "; how exact it is was not stored."));
  if (references.empty()) return {"No f* is stored."};
  notes.push_back(fmt::format("Differences ≤ {:g} are rounding: not drawn.", floor));
  for (const auto& [label, difference] : below)
    notes.push_back(fmt::format("{} goes below f* by {:.1e}.", label, -difference));
  return notes;
}

nlohmann::json group_json(const std::vector<const Run*>& runs,
                          const std::map<std::string, std::size_t>& places, double floor) {
  const Run& first = *runs.front();
  std::set<std::string> descriptions;
  nlohmann::json drawn = nlohmann::json::array();
  double bound = kNaN, unit = kNaN;
  for (const Run* run : runs) {
    if (std::isnan(unit)) unit = suboptimality_unit(*run);
    descriptions.insert(run->result.description);
    bound = std::fmax(bound, reference_bound(*run));
    if (!run->trace.empty()) drawn.push_back(run_json(*run, places.at(run->parameters.label), floor));
  }
  return {{"dataset", first.parameters.dataset},
          {"penalty", penalty_symbols({first.parameters.lambda, first.parameters.mu}, first.parameters.loss)},
          {"synthetic", says_synthetic(first.result.description)},
          {"bound", rounded(bound)},
          {"unit", rounded(unit)},
          {"notes", descriptions},
          {"objective_notes", objective_notes(runs, floor)},
          {"runs", drawn}};
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

std::vector<std::size_t> thinned(const Run& run, double floor, std::size_t most) {
  const std::size_t n = run.trace.size();
  std::vector<std::size_t> kept;
  if (n <= most) {
    for (std::size_t i = 0; i < n; ++i) kept.push_back(i);
    return kept;
  }
  const std::vector<double> way = drawn_way(run, floor);
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

nlohmann::json chart_data(const std::vector<Run>& runs, const PlotConfig& plot) {
  const std::map<std::string, std::size_t> place_of = places(runs);
  nlohmann::json groups = nlohmann::json::array();
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    std::vector<const Run*> group;
    for (; end < runs.size() && same_problem(runs[end].parameters, runs[begin].parameters); ++end)
      group.push_back(&runs[end]);
    groups.push_back(group_json(group, place_of, plot.floor));
  }
  return {{"floor", plot.floor},
          {"start",
           {{"x", plot.x.empty() ? "seconds" : plot.x.front()},
            {"log_x", plot.log_seconds},
            {"quantity", plot.quantities.empty() ? "objective" : plot.quantities.front()}}},
          {"curves", curves_json(place_of)},
          {"groups", groups}};
}

}  // namespace proxbench
