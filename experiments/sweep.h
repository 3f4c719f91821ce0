#pragma once
/// The sweep of an experiment: every data set x lambda x solver x repetition of a config, one after the
/// other, each measured against the f* of a reference run, and stored in the layout of results.h.

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/monitor.h"
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

/// The grid in the order in which it is run. Throws Error (kUsage) where two cells would share a folder.
std::vector<PlannedRun> plan_runs(const ExperimentConfig& config);

/// What the caller wants to hear. All but `interrupt` may be empty.
struct SweepHooks {
  std::function<void(const std::string&)> message;  ///< one line for people: what is going on
  std::function<void(const std::string&)> warning;  ///< one line for people: what should worry them
  std::function<void(const std::string& run, const Sample&)> on_sample;
  const std::atomic<bool>* interrupt = nullptr;  ///< set to stop cleanly
};

struct SweepResult {
  std::vector<std::filesystem::path> folders;  ///< of the runs that were stored, in order
  std::size_t failed = 0;                      ///< runs whose solver threw; each was told as a warning
  bool interrupted = false;
};

/// Makes the folders of OUT and proves that they can be written to. Throws Error otherwise.
void prepare_out(const std::filesystem::path& out);

/// Runs the whole grid. A run appears in OUT/runs by rename once it is complete, replacing one of the same
/// name; the trace of an interrupted run is kept with status "interrupted". References found in
/// OUT/references are reused where they are as tight as the config asks. Writes no tables and no figures.
/// Throws Error where data cannot be read or results cannot be written.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepHooks& hooks = {});

}  // namespace proxbench
