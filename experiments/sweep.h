#pragma once
/// The sweep of an experiment: every data set x lambda x solver x repetition of a config, each run in a
/// process of its own (worker.h), measured against the f* of a reference run, and stored in the layout of
/// results.h. A second sweep into the same folder does only what is missing (cache.h).

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/monitor.h"
#include "experiments/cache.h"
#include "experiments/config.h"

namespace proxbench {

/// One cell of the grid; the pointers are into the config.
struct PlannedRun {
  const DataConfig* data;
  double lambda;
  const SolverConfig* solver;
  int repetition;  ///< from 1

  /// The name of its folder: DATASET-lambdaLAMBDA-LABEL-repREPETITION.
  std::string name() const;
};

/// The grid in the order of the config. Throws Error (kUsage) where two cells would share a folder.
std::vector<PlannedRun> plan_runs(const ExperimentConfig& config);

struct SweepOptions {
  bool force = false;  ///< run all, references too, whatever is stored
  int jobs = 1;        ///< runs at a time; above 1 they are stored as not comparable
};

/// What a sweep finds of a cell before it starts.
struct CellState {
  PlannedRun cell;
  RunKey key;
  bool stored = false;           ///< there is a run that is served: nothing to do
  std::vector<std::string> why;  ///< why not, a text each: "missing", "failed before: ...", "config tol: ..."
  double wall_seconds;  ///< what it may take: the time it took when last stored, else its limit; NaN:
                        ///< nothing is known
};

/// The state of every cell, in the order of plan_runs(). Reads manifests and the bytes of the data files,
/// writes nothing. Throws Error where a file cannot be read.
std::vector<CellState> inspect_cells(const ExperimentConfig& config, const std::filesystem::path& out,
                                     const SweepOptions& options = {});

/// What the caller wants to hear. All but `interrupt` may be empty.
struct SweepHooks {
  std::function<void(const std::string&)> message;  ///< one line for people: what is going on
  std::function<void(const std::string&)> detail;   ///< one line for people who want to know more
  std::function<void(const std::string&)> warning;  ///< one line for people: what should worry them
  std::function<void(const std::string& run, const Sample&)> on_sample;
  const std::atomic<bool>* interrupt = nullptr;  ///< set to stop cleanly
};

struct SweepResult {
  std::vector<std::filesystem::path> folders;  ///< of all runs of the grid that are stored, in its order
  std::size_t done = 0;                        ///< runs made by this sweep
  std::size_t cached = 0;                      ///< runs that were there already
  std::size_t failed = 0;  ///< runs of this sweep with a failed_status(); each was told as a warning
  bool interrupted = false;
};

/// Makes the folders of OUT and proves that they can be written to. Throws Error otherwise.
void prepare_out(const std::filesystem::path& out);

/// Runs what is missing of the grid. A run appears in OUT/runs by rename once it is complete, replacing one
/// of the same name, whatever became of it: its status says. References found in OUT/references are reused
/// where they are as tight as the config asks. Writes no tables and no figures. Throws Error where another
/// sweep works in OUT, or results cannot be written.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepOptions& options = {}, const SweepHooks& hooks = {});

}  // namespace proxbench
