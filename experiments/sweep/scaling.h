#pragma once
/// How a run scales with threads and processes, by phase: the same iterations with several numbers of them,
/// each run by itself on CPUs of its own, profiled (core/base/profile.h).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/scaling_model.h"
#include "experiments/run/hooks.h"

namespace proxbench {

struct ScalingOptions {
  std::vector<int> threads;  ///< 1 is always among them; none: 1 to all CPUs
  /// Names of Backend, or kProcessesBackend: as many processes of one thread.
  std::vector<std::string> backends{"openmp", "tbb"};
  std::vector<std::string> solvers;  ///< labels of the config; none: its first
  int repetitions = 3;
  std::int64_t iterations = 50;  ///< of every run, fewer where it converges before
};

/// The options with what they leave open, threads ascending. Throws Error (kUsage) where the config has no
/// such solver, or paths.
ScalingOptions completed(ScalingOptions options, const ExperimentConfig& config);

/// Makes all runs, one at a time, repetitions outermost; `options`: completed(). `scratch` is a folder for
/// them, which is removed afterwards. Throws Error where a run fails, where two runs of a problem end at
/// different weights, or where it was interrupted.
Scaling run_scaling(const ExperimentConfig& config, const ScalingOptions& options,
                    const std::filesystem::path& scratch, const Hooks& hooks = {});

}  // namespace proxbench
