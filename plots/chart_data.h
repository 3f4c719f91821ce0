#pragma once
/// The curves of stored runs as data for the interactive charts of a report.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Samples that a chart keeps of a run.
inline constexpr std::size_t kMostSamples = 400;

/// Where runs come from more than one machine, the label of each becomes "label @ machine" and the runs of a
/// label stand together machine by machine, so that nothing is ever taken over several machines. `runs` in
/// the order of read_results().
void tell_machines_apart(std::vector<Run>& runs);

/// The samples that stand for a trace, ascending: all of at most `most` samples, otherwise at most `most`.
/// The trace is cut into pieces of the same length as drawn (axes: log relative difference, seconds and log
/// seconds, passes, nonzeros; each over its range), and of each piece the first sample and those with the
/// smallest and largest difference and number of nonzeros stay, as do the first and the last of all: an
/// envelope keeps its height, a steep part keeps its shape. The pieces are as many as that allows.
/// Differences at or below `floor` count as `floor`. Requires most >= 10.
std::vector<std::size_t> thinned(const Run& run, double floor, std::size_t most = kMostSamples);

/// All that the charts of an experiment show, numbers to six digits, null for what was not measured:
///
///     floor    differences at or below are rounding
///     start    x, log_x, quantity: what is shown first
///     curves   [{name, colour, round}], a colour comes again with the next round of dashes; colours as in
///              make_curves()
///     groups   [{dataset, penalty (text), bound (of f*, null where not known), unit (suboptimality_unit()),
///     notes,
///              objective_notes, runs}]
///     runs     [{curve (its place in curves), repetition, comparable, failed, and a list for each name of
///              curve_values() that the run has values of}], runs without a sample left out
///
/// `runs` in the order of read_results() or tell_machines_apart().
nlohmann::json chart_data(const std::vector<Run>& runs, const PlotConfig& plot);

}  // namespace proxbench
