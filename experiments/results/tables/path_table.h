#pragma once
/// Stored paths: read back, and as tables.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/path_file.h"
#include "experiments/results/results.h"

namespace proxbench {

struct StoredPath {
  Run run;
  std::vector<PathPoint> points;  ///< those that were done
};

/// The paths among stored runs, which are taken out of them. Throws Error where a path.csv is malformed.
std::vector<StoredPath> take_paths(std::vector<Run>& runs);
/// Throws Error that names the results where there is none.
void require_paths(const std::vector<StoredPath>& paths, const std::filesystem::path& results);

/// What a path cost beside one solve, from w = 0, of its last point alone: the run of the same data set,
/// label, repetition and machine. NaN where there is none, or where the path did not come so far.
struct PathCost {
  double seconds = 0.0, passes = 0.0;  ///< of the path
  double single_seconds = 0.0, single_passes = 0.0;
  double seconds_ratio() const { return seconds / single_seconds; }
  double passes_ratio() const { return passes / single_passes; }
};
/// `runs`: all that are stored.
PathCost path_cost(const StoredPath& path, const std::vector<Run>& runs);

/// What each path cost, then the points of each. Seconds are "-" where they are not comparable.
std::vector<TextTable> path_tables(const std::vector<StoredPath>& paths, const std::vector<Run>& runs);
/// All points of all paths: dataset, path, label, repetition, and the columns of path.csv.
std::string csv_paths(const std::vector<StoredPath>& paths);

/// Writes path.md, path.tex and path.csv into the folder (made where it is missing); nothing where there is
/// no path.
std::vector<std::filesystem::path> write_path_tables(const std::vector<StoredPath>& paths,
                                                     const std::vector<Run>& runs,
                                                     const std::filesystem::path& folder,
                                                     const std::string& title);

}  // namespace proxbench
