#pragma once
/// Tables of stored lambda paths.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Throws Error, which names the results, if there is no path.
void require_paths(const std::vector<Run>& paths, const std::filesystem::path& results);

/// The cost of a path, and the cost of solving only its last point from w = 0. The second is taken from a run
/// of the same data set, label, repetition and machine. NaN if there is no such run, or if the path did not
/// reach its last point.
struct PathCost {
  double seconds = 0.0, passes = 0.0;  ///< of the path
  double single_seconds = 0.0, single_passes = 0.0;
  double seconds_ratio() const { return seconds / single_seconds; }
  double passes_ratio() const { return passes / single_passes; }
};
/// `runs` holds all stored runs.
PathCost path_cost(const Run& path, const std::vector<Run>& runs);

/// Returns a table of the paths' costs, then one of each path's points, and a record for each point. Seconds
/// are "-" if they are not comparable.
TableSet path_tables(const std::vector<Run>& paths, const std::vector<Run>& runs,
                     const std::string& title = "");
/// Returns the cost and the points of each path.
Json paths_json(const std::vector<Run>& paths, const std::vector<Run>& runs);

}  // namespace proxbench
