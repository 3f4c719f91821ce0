#pragma once
/// For tests: all stored runs of a folder.

#include "experiments/results/results.h"

namespace proxbench {

/// Returns the runs in the order of their names. Throws Error if one cannot be read.
inline std::vector<Run> stored_runs(const std::filesystem::path& out) {
  std::vector<Run> runs;
  for (const std::filesystem::path& folder : run_folders(out)) runs.push_back(read_run(out, folder));
  return runs;
}

}  // namespace proxbench
