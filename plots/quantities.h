#pragma once
/// The quantities that curves show, and the axes that they are drawn against: values of the samples of stored
/// runs.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "experiments/results/tables/problem_set.h"

namespace proxbench {

/// One kind of figure: the quantity on the vertical axis.
struct Quantity {
  std::string name;    ///< end of the file name
  std::string title;   ///< title of the plot
  std::string axis;    ///< label of the vertical axis
  std::string column;  ///< in the .tsv
  bool log_axis;
  double floor;       ///< values at or below are not drawn, in units of `unit`
  double unmeasured;  ///< the value of NaN in a median, e.g. infinity for a diverged objective
  std::function<double(const Run&, const Sample&)> value;
  bool to_reference = false;  ///< a difference to f*
  /// Returns the length on the axis of a difference of |f*|, or NaN if f* or n is not known. Null: it is 1.
  double (*unit)(const Run&) = nullptr;

  double unit_of(const Run& run) const { return unit == nullptr ? 1.0 : unit(run); }
  /// Returns the unit of runs on the same problem. Some may have failed before it was known.
  double unit_of_any(const Runs& runs) const {
    for (const Run* run : runs)
      if (const double found = unit_of(*run); std::isfinite(found)) return found;
    return 1.0;
  }
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
/// Return all of them, under their names in PlotConfig.
const std::vector<Abscissa>& abscissas();
const std::vector<Quantity>& quantities();

}  // namespace proxbench
