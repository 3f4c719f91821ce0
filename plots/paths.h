#pragma once
/// Regularisation paths as pictures.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/tables/path_table.h"

namespace proxbench {

/// Writes below `figures` (made where it is missing), for each data set with a path,
///
///     path-DATASET-nnz, -objective, -accuracy, -seconds
///     path-DATASET-mu-nnz, ...        of paths over mu
///
/// (with a fixed part above 0, path-DATASET-mu0.1-nnz and path-DATASET-mu-lambda1-nnz),
///
/// against lambda or mu, on a log axis with the largest on the left, a line for each solver; with more than
/// one path of a data set, for each path of each solver. Of several repetitions the first is drawn. Each as
/// .svg, .pdf and .png, with the data (.tsv) and the script (.gp). A figure without anything to show is left
/// out: accuracy without test data, and seconds that are not comparable unless that is allowed; then the
/// title says so. Returns the .png files. Throws Error (kRun) when gnuplot is missing or fails.
std::vector<std::filesystem::path> make_paths(const std::vector<StoredPath>& paths,
                                              const std::filesystem::path& figures,
                                              bool allow_not_comparable = false);

}  // namespace proxbench
