#pragma once
/// What figures and the page draw of the runs on one problem: one quantity of theirs against one axis.

#include <string>
#include <vector>

#include "experiments/results/results.h"
#include "plots/chart.h"
#include "plots/quantities.h"

namespace proxbench {

/// The quartiles of several runs at one place of the horizontal axis; of one run all three are its value.
struct BandPoint {
  double x, median, q25, q75;
};
/// Of runs by their medians. Each trace is taken for a right-continuous step function: its value at x is that
/// of the last sample at or before x, also beyond its end, for a solver that stopped keeps its iterate. The
/// quartiles (quantile()) are those of these values at every x at which any run was sampled, from the first
/// on at which all have a value. Samples that were not measured are not among the points.
std::vector<BandPoint> repetition_band(const std::vector<std::vector<BandPoint>>& traces);

/// A run, or the repetitions of one series as their median and quartiles.
struct PanelCurve {
  std::string series;
  Runs runs;
  std::vector<BandPoint> points;

  bool is_band() const { return runs.size() > 1; }
};

/// How far below the accuracy of f* an axis goes on: enough to see that a curve does, too little for a slope.
inline constexpr double kShownBelowBound = 30.0;

struct CurvePanel {
  const Quantity& quantity;
  const Abscissa& abscissa;
  bool machines;                   ///< there are several
  Runs group, traced;              ///< all runs, and those with a trace
  std::vector<PanelCurve> curves;  ///< bands, then the other runs

  std::string series(const Run& run) const { return series_name(run, machines); }
  /// Values at or below are not drawn.
  double floor() const { return quantity.floor * quantity.unit_of_any(group); }
  bool drawn(double x, double value) const;
  /// The accuracy of the worst f*; NaN where the quantity is no difference to f*, or none is known.
  double bound() const;
};

/// Of runs on one problem. With `bands`, series of several repetitions have a band. Runs that failed have a
/// line. No band is over machines, or over timings that are comparable and such that are not.
CurvePanel make_curve_panel(const Runs& group, const Quantity& quantity, const Abscissa& abscissa,
                            bool machines, bool bands);

/// Sentences on what is known of f*, what is not drawn, and who goes below f*.
std::vector<std::string> quantity_notes(const CurvePanel& panel);
/// On the grey ground of a panel.
inline constexpr const char* kBoundNote = "On grey ground, below the accuracy of f*, curves say nothing.";

}  // namespace proxbench
