#pragma once
/// For tests: all stored runs of a folder.

#include "experiments/results/csv.h"
#include "experiments/results/results.h"

namespace proxbench {

struct StoredRun : Run {
  fs::path folder;
  std::vector<Sample> trace;  ///< empty if a run that failed has none
};

/// Returns the runs in the order of their names. Throws Error if one cannot be read.
inline std::vector<StoredRun> stored_runs(const fs::path& out) {
  std::vector<StoredRun> runs;
  for (const fs::path& folder : run_folders(out)) {
    runs.push_back({read_run(out, folder), folder, {}});
    if (!runs.back().failed() || fs::exists(folder / "trace.csv"))
      runs.back().trace = read_trace(folder / "trace.csv");
  }
  return runs;
}

}  // namespace proxbench
