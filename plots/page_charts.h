#pragma once
/// The curves of stored runs as the panels of the page's interactive charts, which web/report.js draws.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Samples that a chart keeps of a run.
inline constexpr std::size_t kMostSamples = 400;

/// Where runs come from more than one machine, the label of each becomes "label @ machine", so that nothing
/// is ever taken over several machines.
void tell_machines_apart(std::vector<Run>& runs);

/// The samples that stand for a trace, ascending: all of at most `most` samples, otherwise at most `most`.
/// The trace is cut into pieces of the same length as drawn (axes: log relative difference, seconds and log
/// seconds, passes, nonzeros; each over its range), and of each piece the first sample and those with the
/// smallest and largest difference and number of nonzeros stay, as do the first and the last of all: an
/// envelope keeps its height, a steep part keeps its shape. The pieces are as many as that allows.
/// Requires most >= 10.
std::vector<std::size_t> thinned(const Run& run, std::size_t most = kMostSamples);

/// All that the charts of an experiment show, numbers to six digits, null for what was not measured:
///
///     start        x, log_x, quantity: what is shown first
///     axes         name -> label, of each x
///     quantities   names of those that some run measured
///     repetitions  whether there are several
///     curves       [{name, colour, dash}], styles as in make_curves()
///     groups       [{name (in the list of groups), problem, warning, notes, runs, panels}]
///     runs         [{curve (its place in curves), comparable, failed, and a list for each name of an x or a
///                  quantity that the run has values of}], runs without a sample left out
///     panels       name of a quantity -> {title, axis, log, count (the values are whole numbers), notes,
///                  bound (of f*; null: does not count), floor (values at or below are not shown; null:
///                  all are), against}
///     against      name of an x -> {lines, bands}: places of the runs that have a line each beside the
///                  medians, and [{curve, comparable, x, low, y, high}] for the others
///
/// `runs` in the order of read_all_runs().
nlohmann::json page_charts(std::vector<Run> runs, const PlotConfig& plot);

/// The ticks of all log axes of a page: [[value, label, rank], ...], see log_ticks().
nlohmann::json page_ticks();

}  // namespace proxbench
