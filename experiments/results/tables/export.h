#pragma once
/// Stored results as one CSV file (RFC 4180, lines end in "\n") for other programs. Numbers in full
/// precision; an empty field is what was not measured or does not apply.

#include <string>
#include <vector>

#include "experiments/results/results.h"
#include "experiments/results/tables/path_table.h"

namespace proxbench {

/// One row a run, the columns of run_columns(). The column `options` holds the solver's options as JSON. A
/// path has `path` in the place of its lambda or mu and of f*; its numbers are those of its last point, its
/// costs those of all.
std::string csv_of_runs(const std::vector<Run>& runs);

/// One row a sample: the name of the run, the columns of its trace, the relative difference to f*. On a path
/// the objective is that of the penalty at hand.
std::string csv_of_samples(const std::vector<Run>& runs);

/// One row a point of a path: the name of the run, the columns of its path.csv.
std::string csv_of_points(const std::vector<StoredPath>& paths);

}  // namespace proxbench
