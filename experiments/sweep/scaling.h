#pragma once
/// Measures how each phase of a run scales with threads and processes. Runs make the same iterations with
/// different numbers of threads. Runs are profiled (core/base/profile.h), and made one at a time.

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/paths.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"

namespace proxbench {

/// The back end name of runs by several processes of one thread each. Other back ends have the names of
/// Backend. For this back end, "threads" counts processes.
inline constexpr const char* kProcessesBackend = "mpi";

/// The contents of scale.json: profiled runs, problem by problem and, within a problem, repetition by
/// repetition. The Python package shows them (plots/scaling.py).
struct Scaling {
  std::string title;
  std::vector<Run> runs;
};
Json scaling_json(const Scaling& scaling);

struct ScalingOptions {
  std::vector<int> threads;  ///< 1 is always among them; none: 1 to all CPUs
  /// Names of Backend, or kProcessesBackend, which uses processes of one thread instead of threads.
  std::vector<std::string> backends{"openmp", "tbb"};
  std::vector<std::string> solvers;  ///< labels of the config; none: only the first
  int repetitions = 3;
  std::int64_t iterations = 50;  ///< per run; fewer if the run converges earlier
};

/// Fills in missing options and sorts threads in ascending order. Throws Error (kUsage) if the config lacks
/// one of the solvers, or has paths.
ScalingOptions completed(ScalingOptions options, const ExperimentConfig& config);

/// Makes all runs, one at a time and problem by problem. Within a problem, repetitions are the outermost
/// loop. `options` must come from completed(). `scratch` is a folder for the runs, which is removed
/// afterwards. Throws Error if a run fails, if two runs of a problem by equally many processes end at
/// different weights, or on an interrupt.
Scaling run_scaling(const ExperimentConfig& config, const ScalingOptions& options, const fs::path& scratch,
                    const Progress& progress = {});

}  // namespace proxbench
