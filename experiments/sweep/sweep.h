#pragma once
/// Runs the sweep of an experiment: every data set x lambda x solver x repetition of a config. Each run has a
/// process of its own (worker.h), is measured against the f* of a reference run, and is stored in the layout
/// of results.h. A second sweep into the same folder makes only the missing runs (plan.h).

#include <optional>
#include <vector>

#include "experiments/base/paths.h"
#include "experiments/config/config.h"
#include "experiments/run/job.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/run_key.h"

namespace proxbench {

struct SweepResult {
  std::vector<fs::path> folders;  ///< of all stored runs of the grid, in its order
  std::size_t done = 0;           ///< number of runs made by this sweep
  std::size_t cached = 0;         ///< number of runs that were already stored
  std::size_t failed = 0;         ///< runs of this sweep that are a failed_run(), or that no job made
  std::size_t outstanding = 0;    ///< runs that jobs of a cluster make after this command
  bool interrupted = false;
};

/// The input and state of a sweep.
struct Sweep {
  const ExperimentConfig& config;
  const fs::path& out;
  const SweepOptions& options;
  const Progress& progress;
  std::vector<SweepProblem> problems = {};

  /// Fills `problems`. Reports which runs are stored and which start again. Throws Error (kUsage) if complete
  /// runs would be replaced without SweepOptions::replace or force.
  void find_missing();
  /// Writes OUT/config.ini.
  void write_config() const;
  /// Returns the folders of the runs that are stored.
  std::vector<fs::path> stored_folders() const;
};

/// Makes the missing runs of the grid on this machine, one process each, with SweepOptions::jobs of them at a
/// time. Once a run is complete, it appears in OUT/runs by rename, and replaces an older run of the same
/// name. Failed runs appear too; their status says how they ended. References in OUT/references are used
/// again if they are as exact as the config asks. Writes no tables and no figures.
///
/// With SweepOptions::only, makes the runs of this problem, while other processes may make the runs of other
/// problems. If another process makes the runs of this problem, or no run is missing, says so and makes none.
/// Throws Error if OUT/config.ini has other settings, without SweepOptions::replace or force.
///
/// Throws Error if another sweep works in OUT, or if results cannot be written, and passes errors of
/// find_missing(), require_key() and require_own_folder() on.
SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options = {},
                      const Progress& progress = {});

/// Throws Error (kUsage) if OUT holds the results of an experiment with another name.
void require_own_folder(const ExperimentConfig& config, const fs::path& out);

/// Whether OUT/config.ini has other settings than this config. Ignores figures ([plot]) and resources of jobs
/// ([slurm]).
bool has_other_settings(const ExperimentConfig& config, const fs::path& out);

/// Whether a run makes its sweep fail. A run that is skipped, because its solver does not fit, lets it
/// succeed.
bool failed_run(const Run& run);
/// Warns of a finished run that failed or that ended below f*.
void warn_of_run(const Run& run, const std::optional<Run>& reference, const Progress& progress);

}  // namespace proxbench
