#pragma once
/// The sweep of an experiment: every data set x lambda x solver x repetition of a config, each run in a
/// process of its own (worker.h), measured against the f* of a reference run, and stored in the layout of
/// results.h. A second sweep into the same folder does only what is missing (cache.h).
///
/// A launcher makes the missing runs: by processes of this machine, or by the jobs of a cluster. Plan, cache,
/// results and tables are the same for all. Another scheduler is one more file pair and a row of launchers().

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/run/hooks.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/plan.h"

namespace proxbench {

struct SweepResult {
  std::vector<std::filesystem::path> folders;  ///< of all runs of the grid that are stored, in its order
  std::size_t done = 0;                        ///< runs made by this sweep
  std::size_t cached = 0;                      ///< runs that were there already
  std::size_t failed = 0;  ///< runs of this sweep that are a failed_run(); each was told as a warning
  /// Runs that jobs go on with after this sweep, and runs that found no place in the queue yet.
  std::size_t outstanding = 0, unsubmitted = 0;
  bool interrupted = false;
};

/// What a launcher works with.
struct Sweep {
  const ExperimentConfig& config;
  const std::filesystem::path& out;
  const SweepOptions& options;
  const Hooks& hooks;
  OutLock& lock;  ///< OutLock::kPlan, held; a launcher may release it while it waits, and takes it again
  std::vector<SweepProblem> problems = {};

  /// Fills `problems`, and tells what is stored and what begins again.
  void find_missing();
  /// Writes OUT/config.ini.
  void write_config() const;
};

struct LauncherInfo {
  std::string name, help;
  double patience_seconds;  ///< for a lock that another process holds
  /// Ends what an earlier sweep has left unfinished, calls find_missing(), writes the config, and makes the
  /// missing runs or sees that they will be made. Counts them in the result. Stops where the hooks say so.
  /// Throws Error where the sweep cannot be made this way.
  void (*run)(Sweep&, SweepResult&);
};
const std::vector<LauncherInfo>& launchers();

/// Runs what is missing of the grid. A run appears in OUT/runs by rename once it is complete, replacing one
/// of the same name, whatever became of it: its status says. References found in OUT/references are reused
/// where they are as tight as the config asks. Writes no tables and no figures. Throws Error where another
/// sweep works in OUT, or results cannot be written.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepOptions& options = {}, const Hooks& hooks = {});

/// Whether a run is a failure of its sweep: a solver that does not fit is none.
bool failed_run(const Run& run);
/// Tells what should worry people of a finished run: its failure, or an end below f*.
void warn_of_run(const Run& run, const std::optional<Run>& reference, const Hooks& hooks);

}  // namespace proxbench
