#pragma once
/// Regularisation paths as pictures.

#include <vector>

#include "experiments/results/results.h"
#include "plots/chart.h"

namespace proxbench {

/// For each data set with a path,
///
///     path-DATASET-nnz, -objective, -accuracy, -seconds
///     path-DATASET-mu-nnz, ...        of paths over mu
///
/// (with a fixed part above 0, path-DATASET-mu0.1-nnz and path-DATASET-mu-lambda1-nnz),
///
/// against lambda or mu, on a log axis with the largest on the left, a line for each solver; with more than
/// one path of a data set, for each path of each solver. Of several repetitions the first is drawn. A figure
/// without anything to show is left out: accuracy without test data, and seconds that are not comparable
/// unless that is allowed; then the title says so.
std::vector<Chart> path_charts(const std::vector<Run>& paths, bool allow_not_comparable = false);

}  // namespace proxbench
