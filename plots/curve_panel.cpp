#include "plots/curve_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiments/results/statistics.h"

namespace proxbench {
namespace {

/// The samples of a run that were measured.
std::vector<CurvePoint> measured_points(const CurvePanel& panel, const Run& run) {
  std::vector<CurvePoint> points;
  for (const Sample& sample : run.trace) {
    const double value = panel.quantity.value(run, sample);
    const double counted = std::isnan(value) ? panel.quantity.unmeasured : value;
    const double x = panel.abscissa.value(sample);
    if (!std::isnan(counted) && !std::isnan(x)) points.push_back({x, counted});
  }
  return points;
}

/// Whether the run may be one of several in a band. Where a run has no f*, all of its differences are unknown
/// and none has diverged.
bool can_be_in_band(const CurvePanel& panel, const Run& run) {
  return !run.failed() && (!panel.quantity.to_reference || !std::isnan(run.best.objective));
}

void add_bands(CurvePanel& panel) {
  for (std::size_t i = 0; i < panel.traced.size(); ++i) {
    const Run& run = *panel.traced[i];
    const auto same = [&](const Band& band) {
      return band.series == panel.series(run) &&
             (panel.abscissa.name != "seconds" ||
              panel.traced[band.runs.front()]->timing.comparable == run.timing.comparable);
    };
    if (!can_be_in_band(panel, run)) {
      panel.lines.push_back(i);
      continue;
    }
    auto found = std::find_if(panel.bands.begin(), panel.bands.end(), same);
    if (found == panel.bands.end()) found = panel.bands.insert(found, {panel.series(run), {}, {}});
    found->runs.push_back(i);
  }
  for (Band& band : panel.bands) {
    std::vector<std::vector<CurvePoint>> traces;
    std::vector<std::size_t> measured;
    for (const std::size_t i : band.runs)
      if (auto points = measured_points(panel, *panel.traced[i]); !points.empty()) {
        traces.push_back(std::move(points));
        measured.push_back(i);
      }
    if (traces.size() < 2) {
      panel.lines.insert(panel.lines.end(), band.runs.begin(), band.runs.end());
    } else {
      band.points = repetition_band(traces);
      band.runs = measured;
    }
  }
  std::erase_if(panel.bands, [](const Band& band) { return band.points.empty(); });
  std::sort(panel.lines.begin(), panel.lines.end());
}

}  // namespace

std::vector<Group> problem_groups(const std::vector<Run>& runs) {
  std::vector<Group> groups;
  for (const Run& run : runs) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return same_problem(group.front()->parameters, run.parameters);
    });
    if (found == groups.end()) found = groups.insert(found, Group{});
    found->push_back(&run);
  }
  return groups;
}

std::vector<BandPoint> repetition_band(const std::vector<std::vector<CurvePoint>>& traces) {
  std::set<double> grid;
  double begin = -kInfinity;
  for (const std::vector<CurvePoint>& trace : traces) {
    if (trace.empty()) return {};
    begin = std::max(begin, trace.front().x);
    for (const CurvePoint& point : trace) grid.insert(point.x);
  }
  std::vector<BandPoint> band;
  std::vector<std::size_t> at(traces.size(), 0);  // the sample that holds at x, of each trace
  for (auto x = grid.lower_bound(begin); x != grid.end(); ++x) {
    std::vector<double> values;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      while (at[i] + 1 < traces[i].size() && traces[i][at[i] + 1].x <= *x) ++at[i];
      values.push_back(traces[i][at[i]].value);
    }
    band.push_back({*x, quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)});
  }
  return band;
}

bool CurvePanel::drawn(double x, double value) const {
  return std::isfinite(x) && std::isfinite(value) && value > floor() && (!abscissa.log_axis || x > 0.0) &&
         (abscissa.max == 0.0 || x <= abscissa.max);
}

double CurvePanel::bound() const {
  double bound = kNaN;
  if (!quantity.to_reference) return bound;
  for (const Run* run : traced) bound = std::fmax(bound, reference_bound(*run) * quantity.unit_of(*run));
  return bound;
}

CurvePanel make_curve_panel(const Group& group, const Quantity& quantity, const Abscissa& abscissa,
                            bool machines, bool bands) {
  CurvePanel panel{quantity, abscissa, machines, group, {}, {}, {}};
  for (const Run* run : group)
    if (!run->trace.empty()) panel.traced.push_back(run);
  if (bands)
    add_bands(panel);
  else
    for (std::size_t i = 0; i < panel.traced.size(); ++i) panel.lines.push_back(i);
  return panel;
}

std::vector<std::string> quantity_notes(const CurvePanel& panel) {
  if (panel.quantity.name == "nnz") return {"Nothing is drawn while no weight differs from zero."};
  if (!panel.quantity.to_reference) return {};
  std::map<double, double> references;  // f* -> its bound
  std::map<std::string, double> below;  // series -> how far
  for (const Run* run : panel.group) {
    if (!std::isfinite(run->best.objective)) continue;
    references[run->best.objective] = reference_bound(*run);
    for (const Sample& sample : run->trace) {
      const double difference = relative_difference(sample.objective, run->best.objective);
      if (difference < -panel.quantity.floor)
        below[panel.series(*run)] = std::min(below[panel.series(*run)], difference);
    }
  }
  if (references.empty()) return {"No f* is stored."};
  std::vector<std::string> notes;
  for (const auto& [objective, bound] : references)
    notes.push_back(fmt::format("f* = {:.10g}{}", objective,
                                std::isfinite(bound)
                                    ? fmt::format(", proven to a relative accuracy of {:.1e}.", bound)
                                    : "; how exact it is was not stored."));
  notes.push_back(fmt::format("Differences <= {:g}{} are rounding: not drawn.", panel.quantity.floor,
                              panel.quantity.unit == nullptr ? "" : " f*"));
  for (const auto& [series, difference] : below)
    notes.push_back(fmt::format("{} goes below f* by {:.1e}.", series, -difference));
  return notes;
}

}  // namespace proxbench
