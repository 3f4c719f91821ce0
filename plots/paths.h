#pragma once
/// Pictures of regularisation paths.

#include <vector>

#include "experiments/results/results.h"
#include "plots/chart.h"

namespace proxbench {

/// Returns for each data set with a path the figures
///
///     path-DATASET-nnz, -objective, -accuracy, -seconds
///     path-DATASET-mu-nnz, ...        for paths over mu
///
/// (with a fixed part above 0, path-DATASET-mu0.1-nnz and path-DATASET-mu-lambda1-nnz),
///
/// against lambda or mu, on a log axis with the largest value on the left. There is a line for each solver
/// or, if a data set has several paths, for each path of each solver. Only the first of several repetitions
/// is drawn. A figure with nothing to show is omitted: accuracy without test data, and seconds that are not
/// comparable. If those are allowed, the title says so.
std::vector<Chart> path_charts(const std::vector<Run>& paths, bool allow_not_comparable = false);

}  // namespace proxbench
