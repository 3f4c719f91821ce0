#pragma once
/// Runs the sweep of an experiment: every data set x lambda x solver x repetition of a config. Each run has a
/// process of its own (worker.h), is measured against the f* of a reference run, and is stored in the layout
/// of results.h. A second sweep into the same folder makes only what is missing (plan.h).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/run/job.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/run_key.h"

namespace proxbench {

struct SweepResult {
  std::vector<std::filesystem::path> folders;  ///< of all stored runs of the grid, in its order
  std::size_t done = 0;                        ///< number of runs made by this sweep
  std::size_t cached = 0;                      ///< number of runs that were already stored
  std::size_t failed = 0;       ///< runs of this sweep that are a failed_run(), or that no job made
  std::size_t outstanding = 0;  ///< runs that jobs of a cluster make after this command
  bool interrupted = false;
};

/// The input and state of a sweep.
struct Sweep {
  const ExperimentConfig& config;
  const std::filesystem::path& out;
  const SweepOptions& options;
  const Hooks& hooks;
  std::vector<SweepProblem> problems = {};

  /// Fills `problems`. Reports what is stored and what starts again. Throws Error (kUsage) if complete runs
  /// would be replaced without SweepOptions::replace or force.
  void find_missing();
  /// Writes OUT/config.ini.
  void write_config() const;
  /// Returns the folders of the runs that are stored.
  std::vector<std::filesystem::path> stored_folders() const;
};

/// Makes the missing runs of the grid on this machine, one process each, with SweepOptions::jobs of them at a
/// time. Once a run is complete, it appears in OUT/runs by rename, and replaces one of the same name. This
/// holds for failed runs too: the status says how they ended. References in OUT/references are used again if
/// they are as exact as the config asks. Writes no tables and no figures.
///
/// With SweepOptions::only, makes the runs of this problem while others may make those of other problems. If
/// another process makes them, or none is missing, says so and makes none. Throws Error if OUT/config.ini has
/// other settings, without SweepOptions::replace or force.
///
/// Throws Error if another sweep works in OUT, or if results cannot be written, and what find_missing(),
/// require_key() and require_own_folder() throw.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepOptions& options = {}, const Hooks& hooks = {});

/// Throws Error (kUsage) if OUT holds the results of an experiment with another name.
void require_own_folder(const ExperimentConfig& config, const std::filesystem::path& out);

/// Whether OUT/config.ini has other settings than this config, besides figures and what jobs ask for.
bool has_other_settings(const ExperimentConfig& config, const std::filesystem::path& out);

/// Whether a run makes its sweep fail: one that failed, was interrupted, or was skipped because the data, the
/// oracle or f* is at fault. If its solver does not fit, the sweep does not fail.
bool failed_run(const Run& run);
/// Warns of a finished run that failed or that ended below f*.
void warn_of_run(const Run& run, const std::optional<Run>& reference, const Hooks& hooks);

}  // namespace proxbench
