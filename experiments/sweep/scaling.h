#pragma once
/// How a run scales with threads and processes, by phase: the same iterations with several numbers of them,
/// each run by itself on CPUs of its own, profiled (core/base/profile.h).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/scaling_record.h"
#include "experiments/run/hooks.h"

namespace proxbench {

struct ScalingOptions {
  std::vector<int> threads;  ///< ascending, the first is 1
  /// Names of Backend, or kProcessesBackend: as many processes of one thread.
  std::vector<std::string> backends{"openmp", "tbb"};
  std::vector<std::string> solvers;  ///< labels of the config
  int repetitions = 3;
  std::int64_t iterations = 50;  ///< of every run, fewer where it converges before
};

/// The options as the user typed them, "" where not given: threads and back ends separated by commas, labels
/// of solvers too. Default: 1 to all CPUs, both back ends, the first solver of the config; 1 thread is always
/// added. Throws Error (kUsage) that names the flag.
ScalingOptions parse_scaling_options(const ExperimentConfig& config, const std::string& threads,
                                     const std::string& backends, const std::string& solvers);

/// Makes all runs, one at a time, repetitions outermost. `scratch` is a folder for them, which is removed
/// afterwards. Throws Error where a run fails, where two runs of a problem end at different weights, or where
/// it was interrupted.
Scaling run_scaling(const ExperimentConfig& config, const ScalingOptions& options,
                    const std::filesystem::path& scratch, const Hooks& hooks = {});

}  // namespace proxbench
