#pragma once
/// Runs the sweep of an experiment: every data set x lambda x solver x repetition of a config. Each run has a
/// process of its own (worker.h), is measured against the f* of a reference run, and is stored in the layout
/// of results.h. A second sweep into the same folder makes only what is missing (plan.h).
///
/// A launcher makes the missing runs, by processes on this machine or by a cluster's jobs. Plan, cache,
/// results and tables are the same for all launchers. Another scheduler needs one more file pair and a row of
/// launchers().

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "experiments/config/config.h"
#include "experiments/run/job.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/plan.h"

namespace proxbench {

struct SweepResult {
  std::vector<std::filesystem::path> folders;  ///< of all stored runs of the grid, in its order
  std::size_t done = 0;                        ///< number of runs made by this sweep
  std::size_t cached = 0;                      ///< number of runs that were already stored
  std::size_t failed = 0;  ///< runs of this sweep that are a failed_run(); each caused a warning
  /// Runs that jobs make after this sweep has ended, and runs that have no place in the queue yet.
  std::size_t outstanding = 0, unsubmitted = 0;
  bool interrupted = false;
};

/// The input and state of a launcher.
struct Sweep {
  const ExperimentConfig& config;
  const std::filesystem::path& out;
  const SweepOptions& options;
  const Hooks& hooks;
  OutLock& lock;  ///< OutLock::kPlan, held; a launcher may release it while it waits, and must take it again
  std::vector<SweepProblem> problems = {};

  /// Fills `problems`. Reports what is stored and what starts again. Throws Error (kUsage) if complete runs
  /// would be replaced without SweepOptions::replace or force.
  void find_missing();
  /// Writes OUT/config.ini.
  void write_config() const;
};

struct LauncherInfo {
  std::string name, help;
  double patience_seconds;  ///< how long to wait for a lock that another process holds
  /// Cleans up after an earlier sweep, calls find_missing(), writes the config, and makes or submits the
  /// missing runs. Counts them in the result. Stops if the hooks ask for it. Throws Error if the launcher
  /// cannot make the sweep.
  void (*run)(Sweep&, SweepResult&);
  /// Throws Error if its jobs still work in OUT, or if this cannot be known. Another launcher must not start
  /// then. Null: its processes end with the sweep.
  void (*require_idle)(const std::filesystem::path& out) = nullptr;
};
const std::vector<LauncherInfo>& launchers();
/// Makes runs on this machine, one process each, with SweepOptions::jobs of them at a time.
LauncherInfo local_launcher_info();
/// Makes runs by jobs of a Slurm cluster. Each task of an array is a local sweep (slurm_jobs.h).
LauncherInfo slurm_launcher_info();

/// Makes the missing runs of the grid. Once a run is complete, it appears in OUT/runs by rename, and replaces
/// one of the same name. This holds for failed runs too: the status says how they ended. References in
/// OUT/references are used again if they are as exact as the config asks. Writes no tables and no figures.
/// Throws Error if another sweep works in OUT, or if results cannot be written, and what find_missing() and
/// require_own_folder() throw.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepOptions& options = {}, const Hooks& hooks = {});

/// Throws Error (kUsage) if OUT holds the results of an experiment with another name.
void require_own_folder(const ExperimentConfig& config, const std::filesystem::path& out);

/// Whether a run makes its sweep fail: one that failed, was interrupted, or was skipped because the data, the
/// oracle or f* is at fault. If its solver does not fit, the sweep does not fail.
bool failed_run(const Run& run);
/// Warns of a finished run that failed or that ended below f*.
void warn_of_run(const Run& run, const std::optional<Run>& reference, const Hooks& hooks);

/// Facts that a cluster's job knows about its node.
struct NodeRules {
  bool bind = true;                         ///< bind runs to CPUs if the config says so
  std::string not_comparable_because = "";  ///< empty: timings are comparable
  double ends_at = kInfinity;               ///< when the last process must stop, by wall_seconds()
};

/// Makes the missing runs of `sweep.problems` on this machine. The caller holds the locks of these problems.
void make_runs(const Sweep& sweep, const NodeRules& rules, SweepResult& result);
/// Stores the missing runs as failed for this reason.
void store_as_failed(const Sweep& sweep, const std::string& reason, SweepResult& result);

}  // namespace proxbench
