#pragma once
/// Stored paths: read back, and as tables.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Throws Error that names the results where there is none.
void require_paths(const std::vector<Run>& paths, const std::filesystem::path& results);

/// What a path cost beside one solve, from w = 0, of its last point alone: the run of the same data set,
/// label, repetition and machine. NaN where there is none, or where the path did not come so far.
struct PathCost {
  double seconds = 0.0, passes = 0.0;  ///< of the path
  double single_seconds = 0.0, single_passes = 0.0;
  double seconds_ratio() const { return seconds / single_seconds; }
  double passes_ratio() const { return passes / single_passes; }
};
/// `runs`: all that are stored.
PathCost path_cost(const Run& path, const std::vector<Run>& runs);

/// What each path cost, then the points of each; a record for each point. Seconds are "-" where they are not
/// comparable.
TableSet path_tables(const std::vector<Run>& paths, const std::vector<Run>& runs,
                     const std::string& title = "");
/// What each path cost, and its points.
nlohmann::ordered_json paths_json(const std::vector<Run>& paths, const std::vector<Run>& runs);

}  // namespace proxbench
