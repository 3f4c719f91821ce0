#pragma once
/// The curves of stored runs as panels of the page's interactive charts, which web/report.js draws.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "plots/curve_panel.h"

namespace proxbench {

/// The number of points that a chart keeps of a curve.
inline constexpr std::size_t kMostPoints = 200;

/// If runs come from more than one machine, changes each label to "label @ machine", so that no statistic
/// combines machines.
void tell_machines_apart(std::vector<Run>& runs);

/// Returns at most kMostPoints points of a curve: the first, the last, and every point in between whose drawn
/// distance to the last kept point exceeds a step in some coordinate. Coordinates are x, log x and the values
/// (or their logarithms, with `log_values`). The step is a fraction of each coordinate's range, and as small
/// as the number of points allows. So omitted points would be drawn within one step of a kept one.
std::vector<BandPoint> thinned(const std::vector<BandPoint>& points, bool log_values);

/// Returns the data of all charts of an experiment. Numbers have six digits, and null means not measured:
///
///     start        x, log_x, quantity: the first view
///     axes         name -> label for each x
///     quantities   names of the quantities that some run measured
///     repetitions, uncomparable, failed   whether there are several repetitions, or such runs
///     curves       [{name, colour, dash}], styles as in curve_charts()
///     groups       [{name (in the list of groups), problem, warning, notes, panels}]
///     panels       name of a quantity -> {title, axis, log, count (the values are whole numbers), notes,
///                  bound (of f*; null: does not count), floor (values at or below are not shown; null:
///                  all are), against}
///     against      name of an x -> {each, and median if there are repetitions}: the curves of all runs, and
///                  the curves of medians and of runs that are in no median: [{curve (index in curves),
///                  comparable, failed, x, y, and low and high for medians of differing repetitions}]
///
/// `runs` must be in the order of read_all_runs().
nlohmann::json page_charts(const std::vector<Run>& runs, const PlotConfig& plot);

/// Returns the ticks of all log axes of a page: [[value, label, rank], ...], see log_ticks().
nlohmann::json page_ticks();

}  // namespace proxbench
