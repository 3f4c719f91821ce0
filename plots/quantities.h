#pragma once
/// What curves show and what they are drawn against: values of the samples of stored runs.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "experiments/results/tables/problem_set.h"

namespace proxbench {

/// One kind of figure: what is on the vertical axis.
struct Quantity {
  std::string name;    ///< end of the file name
  std::string title;   ///< of the plot
  std::string axis;    ///< of the vertical axis
  std::string column;  ///< in the .tsv
  bool log_axis;
  double floor;       ///< values at or below are not drawn, in units of `unit`
  double unmeasured;  ///< what NaN stands for in a median: an objective that is none has diverged
  std::function<double(const Run&, const Sample&)> value;
  bool to_reference = false;  ///< a difference to f*
  /// What a difference of |f*| is on the axis, NaN where f* or n is not known; null: 1.
  double (*unit)(const Run&) = nullptr;

  double unit_of(const Run& run) const { return unit == nullptr ? 1.0 : unit(run); }
  /// Of runs on the same problem, of which some may have failed before it was known.
  double unit_of_any(const Runs& runs) const {
    for (const Run* run : runs)
      if (const double found = unit_of(*run); std::isfinite(found)) return found;
    return 1.0;
  }
};

/// What is on the horizontal axis: something that a run pays.
struct Abscissa : Measure {
  std::string title;  ///< of the axis
  int column;         ///< in the .tsv
  bool log_axis = false;
  double max = 0.0;  ///< 0: where the runs end

  /// Of the names of figures.
  std::string suffix() const { return log_axis ? "-logx" : name == "seconds" ? "" : "-" + name; }
};

/// Relative differences at or below are rounding, and not drawn.
inline constexpr double kDifferenceFloor = 1e-12;
/// All there are, under their names in PlotConfig.
const std::vector<Abscissa>& abscissas();
const std::vector<Quantity>& quantities();

}  // namespace proxbench
