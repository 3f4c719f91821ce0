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
#include "experiments/sweep/plan.h"

namespace proxbench {

/// What the caller wants to hear. All but `interrupt` may be empty.
struct SweepHooks {
  std::function<void(const std::string&)> message;  ///< one line for people: what is going on
  std::function<void(const std::string&)> detail;   ///< one line for people who want to know more
  std::function<void(const std::string&)> warning;  ///< one line for people: what should worry them
  /// The newest sample of a run, now and then.
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

/// Runs what is missing of the grid. A run appears in OUT/runs by rename once it is complete, replacing one
/// of the same name, whatever became of it: its status says. References found in OUT/references are reused
/// where they are as tight as the config asks. Writes no tables and no figures. Throws Error where another
/// sweep works in OUT, or results cannot be written.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepOptions& options = {}, const SweepHooks& hooks = {});

}  // namespace proxbench
