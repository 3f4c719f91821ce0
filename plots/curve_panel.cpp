#include "plots/curve_panel.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "experiments/results/statistics.h"

namespace proxbench {
namespace {

/// Returns the samples of a run that have a measurement.
std::vector<BandPoint> measured_points(const CurvePanel& panel, const Run& run) {
  std::vector<BandPoint> points;
  for (const Sample& sample : run.trace) {
    const double value = panel.quantity.value(run, sample);
    const double counted = std::isnan(value) ? panel.quantity.unmeasured : value;
    const double x = panel.abscissa.of(sample);
    if (!std::isnan(counted) && !std::isnan(x)) points.push_back({x, counted, counted, counted});
  }
  return points;
}

}  // namespace

std::vector<BandPoint> repetition_band(const std::vector<std::vector<BandPoint>>& traces) {
  std::set<double> grid;
  double begin = -kInfinity;
  for (const std::vector<BandPoint>& trace : traces) {
    if (trace.empty()) return {};
    begin = std::max(begin, trace.front().x);
    for (const BandPoint& point : trace) grid.insert(point.x);
  }
  std::vector<BandPoint> band;
  std::vector<std::size_t> at(traces.size(), 0);  // for each trace, the sample that holds at x
  for (auto x = grid.lower_bound(begin); x != grid.end(); ++x) {
    std::vector<double> values;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      while (at[i] + 1 < traces[i].size() && traces[i][at[i] + 1].x <= *x) ++at[i];
      values.push_back(traces[i][at[i]].median);
    }
    band.push_back({*x, quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)});
  }
  return band;
}

bool CurvePanel::drawn(double x, double value) const {
  return std::isfinite(x) && std::isfinite(value) && value > floor() && (!abscissa.log_axis || x > 0.0) &&
         (abscissa.max == 0.0 || x <= abscissa.max);
}

double CurvePanel::floor() const {
  for (const Run* run : group)  // some may have failed before their unit was known
    if (const double unit = quantity.unit_of(*run); std::isfinite(unit)) return quantity.floor * unit;
  return quantity.floor;
}

double CurvePanel::bound() const {
  double bound = kNaN;
  if (!quantity.to_reference) return bound;
  for (const Run* run : group) bound = std::fmax(bound, reference_bound(*run) * quantity.unit_of(*run));
  return bound;
}

CurvePanel make_curve_panel(const Runs& group, const Quantity& quantity, const Abscissa& abscissa,
                            bool machines, bool bands) {
  CurvePanel panel{quantity, abscissa, machines, group, {}};
  // If a run has no f*, all of its differences are unknown. This does not mean that it diverged.
  const auto alone = [&](const Run& run) {
    return !bands || run.failed() || (quantity.to_reference && std::isnan(run.best.objective));
  };
  const auto band_of = [&](const Run& run) {
    return std::tuple(panel.series(run), abscissa.name != "seconds" || run.timing.comparable,
                      alone(run) ? &run : nullptr);
  };
  for (const auto& [key, runs] : grouped(group, band_of)) {
    Runs measured;
    std::vector<std::vector<BandPoint>> traces;
    for (const Run* run : runs)
      if (auto points = measured_points(panel, *run); !points.empty()) {
        traces.push_back(std::move(points));
        measured.push_back(run);
      }
    if (measured.size() > 1)
      panel.curves.push_back({measured, repetition_band(traces)});
    else
      for (const Run* run : runs)
        if (!run->trace.empty()) panel.curves.push_back({{run}, measured_points(panel, *run)});
  }
  std::ranges::stable_sort(panel.curves, {}, [&](const PanelCurve& curve) {
    return curve.is_band() ? 0 : 1 + place_in(group, curve.runs.front());
  });
  return panel;
}

}  // namespace proxbench
