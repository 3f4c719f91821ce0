#pragma once
/// The curves of stored runs as the panels of the page's interactive charts, which web/report.js draws.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "plots/curve_panel.h"

namespace proxbench {

/// Points that a chart keeps of a curve.
inline constexpr std::size_t kMostPoints = 200;

/// Where runs come from more than one machine, the label of each becomes "label @ machine", so that nothing
/// is ever taken over several machines.
void tell_machines_apart(std::vector<Run>& runs);

/// The points that stand for a curve, at most kMostPoints: the first, the last, and each between them that is
/// drawn farther than a step from the last one that was kept, in some coordinate: x, log x, or one of its
/// values (logarithms of them with `log_values`). The step, a share of each coordinate's range, is as small
/// as that allows. So what is left out is drawn within a step of where it would be.
std::vector<BandPoint> thinned(const std::vector<BandPoint>& points, bool log_values);

/// All that the charts of an experiment show, numbers to six digits, null for what was not measured:
///
///     start        x, log_x, quantity: what is shown first
///     axes         name -> label, of each x
///     quantities   names of those that some run measured
///     repetitions, uncomparable, failed   whether there are several, or such runs
///     curves       [{name, colour, dash}], styles as in make_curves()
///     groups       [{name (in the list of groups), problem, warning, notes, panels}]
///     panels       name of a quantity -> {title, axis, log, count (the values are whole numbers), notes,
///                  bound (of f*; null: does not count), floor (values at or below are not shown; null:
///                  all are), against}
///     against      name of an x -> {each, and where there are repetitions median}: the curves of all runs,
///     and
///                  those of medians and of runs that are in none: [{curve (its place in curves), comparable,
///                  failed, x, y, and of medians of repetitions that differ low and high}]
///
/// `runs` in the order of read_all_runs().
nlohmann::json page_charts(const std::vector<Run>& runs, const PlotConfig& plot);

/// The ticks of all log axes of a page: [[value, label, rank], ...], see log_ticks().
nlohmann::json page_ticks();

}  // namespace proxbench
