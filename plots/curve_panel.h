#pragma once
/// The curves of runs on one problem, for figures and the page: one quantity against one axis.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "experiments/results/tables/problem_set.h"
#include "plots/chart.h"

namespace proxbench {

// ---- The quantities that curves show, and the axes that they are drawn against: values of the samples of
// stored runs.

/// One kind of figure: the quantity on the vertical axis.
struct Quantity {
  std::string name;    ///< end of the file name
  std::string title;   ///< title of the plot
  std::string axis;    ///< label of the vertical axis
  std::string column;  ///< in the .tsv
  bool log_axis;
  double floor;       ///< values at or below are not drawn, in units of unit_of()
  double unmeasured;  ///< the value of NaN in a median, e.g. infinity for a diverged objective
  std::function<double(const Run&, const Sample&)> value;
  bool to_reference = false;  ///< a difference to f*

  /// Returns the length on the axis of a difference as large as |f*|, or NaN if f* or n is not known. It is 1
  /// for quantities that are no difference to f*.
  double unit_of(const Run& run) const;
};

/// The cost on the horizontal axis.
struct Abscissa : Measure {
  std::string title;  ///< label of the axis
  int column;         ///< in the .tsv
  bool log_axis = false;
  double max = 0.0;  ///< 0: the end of the runs

  /// The suffix of the names of figures.
  std::string suffix() const { return log_axis ? "-logx" : name == "seconds" ? "" : "-" + name; }
};

/// Relative differences at or below this are rounding and not drawn.
inline constexpr double kDifferenceFloor = 1e-12;
/// Return all axes and all quantities, under their names in PlotConfig.
const std::vector<Abscissa>& abscissas();
const std::vector<Quantity>& quantities();

// ---- panels

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
  Runs group;                      ///< all runs
  std::vector<PanelCurve> curves;  ///< bands, then the other runs that have a trace

  std::string series(const Run& run) const { return series_name(run, machines); }
  /// Values at or below this are not drawn.
  double floor() const;
  bool drawn(double x, double value) const;
  /// Returns the accuracy of the least exact f*. Returns NaN if the quantity is no difference to f*, or if no
  /// accuracy is known.
  double bound() const;
};

/// Makes the panel of runs on one problem. With `bands`, series of several repetitions get a band. Failed
/// runs get a line. A band never combines machines, nor comparable timings with others.
CurvePanel make_curve_panel(const Runs& group, const Quantity& quantity, const Abscissa& abscissa,
                            bool machines, bool bands);

// ---- charts

/// The styles of series. Each label has one colour, and dashes distinguish machines.
class Styles {
 public:
  explicit Styles(const std::vector<Run>& runs)
      : labels_(distinct(runs, label_of)),
        machines_(distinct(runs, [](const Run& run) { return run.provenance.machine; })) {}
  LineStyle of(const Run& run) const {
    return line_style(place_in(labels_, run.parameters.label), place_in(machines_, run.provenance.machine));
  }

 private:
  std::vector<std::string> labels_, machines_;
};

/// Makes the chart of a panel, with its curves in their order. Its y range is empty if nothing is drawn. With
/// `samples`, its data begin with a block of all samples of each run, crosses end the runs that failed, and
/// the caption names these.
Chart curve_chart(const CurvePanel& panel, const Styles& styles, bool samples);

}  // namespace proxbench
