#pragma once
/// What it costs to come within targets of f*, as in Table 2 of Andrew and Gao 2007: evaluations and seconds,
/// and how the seconds are shared between function and solver.

#include <filesystem>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

/// A row for each machine, data set, penalty and solver, in the order of the runs, medians over repetitions:
/// passes and seconds (of comparable timings) to each target, the share of scores, inference and gradients
/// ("function") in the time of the whole run and that of the rest ("solver"), where runs were profiled, and
/// how the runs ended. A target that a run did not reach is "-".
TextTable cost_table(const std::vector<Run>& runs, const std::vector<double>& targets);

/// Writes costs.md, costs.tex and costs.csv into the folder (made where it is missing); returns them.
std::vector<std::filesystem::path> write_cost_table(const std::vector<Run>& runs,
                                                    const std::vector<double>& targets,
                                                    const std::filesystem::path& folder);

}  // namespace proxbench
