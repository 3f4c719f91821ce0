#pragma once
/// The charts of curves (curve_chart()) as JSON for the page, which web/report.js draws.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "plots/curve_panel.h"

namespace proxbench {

/// The number of points that a chart keeps of a curve.
inline constexpr std::size_t kMostPoints = 200;

/// Returns at most kMostPoints points of a curve: the first, the last, and every point in between whose drawn
/// distance to the last kept point exceeds a step in some coordinate. Coordinates are x, log x and the values
/// (or their logarithms, with `log_values`). The step is a fraction of each coordinate's range, and as small
/// as the number of points allows. So omitted points would be drawn within one step of a kept one.
std::vector<BandPoint> thinned(const std::vector<BandPoint>& points, bool log_values);

/// Returns the data of all charts of an experiment. Numbers have six digits, and null means none:
///
///     start        x, log_x, quantity: the first view
///     axes         names of the x
///     quantities   [[name, title]] of the quantities that some run measured
///     repetitions, uncomparable, failed   whether there are several repetitions, or such runs
///     series       [{name, colour, dash}]
///     groups       [{name (in the list of groups), panels}]
///     panels       name of a quantity -> name of an x -> {each, and median if there are repetitions}: the
///                  chart of all runs, and the chart of medians and of runs that are in no median
///
/// A chart has
///
///     warning, title, notes (lines), x, y (labels of the axes)
///     log          whether the y axis is logarithmic
///     count        whether the values are whole numbers
///     bound        the accuracy of f*; null: nothing is drawn below it
///     floor        values at or below are not shown; null: all are
///     curves       [{series (name), width, comparable, failed, x, y, and low and high for medians
///                  of differing repetitions}]
///
/// `runs` must be in the order of read_all_runs().
nlohmann::json page_charts(const std::vector<Run>& runs, const PlotConfig& plot);

/// Returns the ticks of all log axes of a page: [[value, label, rank], ...], see log_ticks().
nlohmann::json page_ticks();

}  // namespace proxbench
