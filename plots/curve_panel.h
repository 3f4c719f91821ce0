#pragma once
/// The curves of runs on one problem, for figures and the page: one quantity against one axis.

#include <string>
#include <vector>

#include "experiments/results/results.h"
#include "plots/chart.h"
#include "plots/quantities.h"

namespace proxbench {

/// The quartiles of several runs at one value of the horizontal axis. For a single run, all three are its
/// value.
struct BandPoint {
  double x, median, q25, q75;
};
/// Returns the median and quartiles of several runs. Each trace is a right-continuous step function: its
/// value at x is that of the last sample at or before x. This holds beyond its end too, because a solver that
/// stopped keeps its iterate. The quartiles (quantile()) are taken at every x at which any run has a sample,
/// from the first x at which all runs have a value. Samples without a measurement must not be among the
/// points.
std::vector<BandPoint> repetition_band(const std::vector<std::vector<BandPoint>>& traces);

/// A single run, or the repetitions of one series as their median and quartiles.
struct PanelCurve {
  std::string series;
  Runs runs;
  std::vector<BandPoint> points;

  bool is_band() const { return runs.size() > 1; }
};

/// An axis goes this factor below the accuracy of f*: enough to show that a curve goes on, too little to show
/// a slope.
inline constexpr double kShownBelowBound = 30.0;

struct CurvePanel {
  const Quantity& quantity;
  const Abscissa& abscissa;
  bool machines;                   ///< whether there are several machines
  Runs group, traced;              ///< all runs, and those that have a trace
  std::vector<PanelCurve> curves;  ///< bands, then the other runs

  std::string series(const Run& run) const { return series_name(run, machines); }
  /// Values at or below this are not drawn.
  double floor() const { return quantity.floor * quantity.unit_of_any(group); }
  bool drawn(double x, double value) const;
  /// Returns the accuracy of the least exact f*. Returns NaN if the quantity is no difference to f*, or if no
  /// accuracy is known.
  double bound() const;
};

/// Makes the panel of runs on one problem. With `bands`, series of several repetitions get a band. Failed
/// runs get a line. A band never combines machines, nor comparable timings with others.
CurvePanel make_curve_panel(const Runs& group, const Quantity& quantity, const Abscissa& abscissa,
                            bool machines, bool bands);

/// Returns sentences that say how exact f* is, what is not drawn, and which runs go below f*.
std::vector<std::string> quantity_notes(const CurvePanel& panel);
/// Explains the grey ground of a panel.
inline constexpr const char* kBoundNote = "On grey ground, below the accuracy of f*, curves say nothing.";

}  // namespace proxbench
