#pragma once
/// What `proxbench scale` measured, as scale.json holds it.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/json_members.h"

namespace proxbench {

/// One phase of one run.
struct PhaseCost {
  std::string phase;  ///< phase_name()
  std::int64_t calls = 0;
  double seconds = 0.0;
  double loop_seconds = 0.0;  ///< of these, in parallel loops
  double flops = 0.0, bytes = 0.0;
  std::int64_t sums = 0;   ///< over instances
  double sum_bytes = 0.0;  ///< of their results

  static auto members() {
    return std::tuple(std::pair("phase", &PhaseCost::phase), std::pair("calls", &PhaseCost::calls),
                      std::pair("seconds", &PhaseCost::seconds),
                      std::pair("loop_seconds", &PhaseCost::loop_seconds),
                      std::pair("flops", &PhaseCost::flops), std::pair("bytes", &PhaseCost::bytes),
                      std::pair("sums", &PhaseCost::sums), std::pair("sum_bytes", &PhaseCost::sum_bytes));
  }
};

struct ScalingRun {
  std::string backend;
  int threads = 1, repetition = 1;
  bool pinned = false;   ///< each thread on a CPU of its own
  double seconds = 0.0;  ///< on the clock
  std::vector<PhaseCost> phases;

  static auto members() {
    return std::tuple(std::pair("backend", &ScalingRun::backend), std::pair("threads", &ScalingRun::threads),
                      std::pair("repetition", &ScalingRun::repetition),
                      std::pair("pinned", &ScalingRun::pinned), std::pair("seconds", &ScalingRun::seconds),
                      std::pair("phases", &ScalingRun::phases));
  }
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

  static auto members() {
    return std::tuple(
        std::pair("dataset", &ScalingProblem::dataset),
        std::pair("description", &ScalingProblem::description), std::pair("lambda", &ScalingProblem::lambda),
        std::pair("label", &ScalingProblem::label), std::pair("iterations", &ScalingProblem::iterations),
        std::pair("status", &ScalingProblem::status), std::pair("nnz", &ScalingProblem::nnz),
        std::pair("weights", &ScalingProblem::weights), std::pair("runs", &ScalingProblem::runs));
  }
};

/// The back end of runs by several processes of one thread each; the others are names of Backend. Their
/// "threads" are the processes.
inline constexpr const char* kProcessesBackend = "mpi";

struct Scaling {
  std::string name, title;
  std::vector<int> threads;
  std::vector<std::string> backends;
  int cpus = 1;  ///< that the runs could use
  std::vector<ScalingProblem> problems;
  nlohmann::ordered_json provenance;

  bool oversubscribed() const { return threads.back() > cpus; }

  static auto members() {
    return std::tuple(std::pair("experiment", &Scaling::name), std::pair("title", &Scaling::title),
                      std::pair("threads", &Scaling::threads), std::pair("backends", &Scaling::backends),
                      std::pair("cpus", &Scaling::cpus), std::pair("problems", &Scaling::problems),
                      std::pair("provenance", &Scaling::provenance));
  }
};

/// Throws Error (kInput) where it is no such file.
Scaling read_scaling(const std::filesystem::path& file);

}  // namespace proxbench
