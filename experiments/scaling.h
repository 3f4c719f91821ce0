#pragma once
/// How a run scales with threads, by phase: the same iterations on both back ends and several numbers of
/// threads, each in a process of its own on CPUs of its own, profiled (core/profile.h).

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config.h"

namespace proxbench {

struct ScalingOptions {
  std::vector<int> threads;  ///< ascending, the first is 1
  std::vector<Backend> backends{Backend::kOpenMP, Backend::kTBB};
  std::vector<std::string> solvers;  ///< labels of the config
  int repetitions = 3;
  std::int64_t iterations = 50;  ///< of every run, fewer where it converges before
};

/// One phase of one run.
struct PhaseCost {
  std::string phase;  ///< phase_name()
  std::int64_t calls = 0;
  double seconds = 0.0;
  double loop_seconds = 0.0;  ///< of these, in parallel loops
  double flops = 0.0, bytes = 0.0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> loops;  ///< chunks, and how many loops had so many
};

struct ScalingRun {
  std::string backend;
  int threads = 1, repetition = 1;
  bool pinned = false;   ///< each thread on a CPU of its own
  double seconds = 0.0;  ///< on the clock
  std::vector<PhaseCost> phases;
};

/// One data set, lambda and solver. All its runs ended at the same weights, to the last bit.
struct ScalingProblem {
  std::string dataset, description, label;
  double lambda = 0.0;
  std::int64_t iterations = 0;
  std::string status;
  std::uint64_t nnz = 0;
  std::string weights;  ///< digest of the model file
  std::vector<ScalingRun> runs;

  /// "DATASET-lambdaLAMBDA-LABEL".
  std::string name() const;
};

/// What so many threads reach on this machine.
struct TeamSpeed {
  int threads = 1;
  double bandwidth = 0.0;                      ///< bytes a second, reading memory that no cache holds
  std::map<std::string, double> loop_seconds;  ///< that a loop costs beyond its work, for each back end
};

struct Scaling {
  std::string name, title;
  std::vector<int> threads;
  std::vector<std::string> backends;
  int cpus = 1;  ///< that the runs could use
  std::vector<ScalingProblem> problems;
  std::vector<TeamSpeed> speeds;  ///< of those numbers of threads for which there are CPUs
  nlohmann::ordered_json provenance;

  bool oversubscribed() const { return threads.back() > cpus; }
};

/// The options as the user typed them, "" where not given: threads and back ends separated by commas, labels
/// of solvers too. Default: 1 to all CPUs, both back ends, the first solver of the config; 1 thread is always
/// added. Throws Error (kUsage) that names the flag.
ScalingOptions parse_scaling_options(const ExperimentConfig& config, const std::string& threads,
                                     const std::string& backends, const std::string& solvers);

struct ScalingHooks {
  std::function<void(const std::string&)> message, warning;  ///< one line for people; may be empty
  const std::atomic<bool>* interrupt = nullptr;              ///< set to stop
};

/// Makes all runs, one at a time, repetitions outermost. `scratch` is a folder for them, which is removed
/// afterwards. Throws Error where a run fails, where two runs of a problem end at different weights, or where
/// it was interrupted.
Scaling run_scaling(const ExperimentConfig& config, const ScalingOptions& options,
                    const std::filesystem::path& scratch, const ScalingHooks& hooks = {});

/// Measures bandwidth and the cost of loops for these numbers of threads, a second or so each. Reads a
/// quarter of a GiB: caches that hold so much are measured in the place of memory.
std::vector<TeamSpeed> measure_speeds(const std::vector<int>& threads, const std::vector<Backend>& backends);

nlohmann::ordered_json scaling_to_json(const Scaling& scaling);
/// Throws Error (kInput) where it is no such file.
Scaling read_scaling(const std::filesystem::path& file);

}  // namespace proxbench
