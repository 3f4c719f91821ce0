#pragma once
/// What `proxbench scale` measured, as scale.json holds it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace proxbench {

/// One phase of one run.
struct PhaseCost {
  std::string phase;  ///< phase_name()
  std::int64_t calls = 0;
  double seconds = 0.0;
  double loop_seconds = 0.0;  ///< of these, in parallel loops
  double flops = 0.0, bytes = 0.0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> loops;  ///< chunks, and how many loops had so many
  std::int64_t sums = 0, tree_sums = 0;                       ///< over instances, by chunks and by leaves
  double sum_bytes = 0.0, tree_bytes = 0.0;                   ///< of their results
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

nlohmann::ordered_json phase_cost_json(const PhaseCost& phase);
/// Throws nlohmann::json::exception where a key is missing or of another type.
PhaseCost phase_cost_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json scaling_to_json(const Scaling& scaling);
/// Throws Error (kInput) where it is no such file.
Scaling read_scaling(const std::filesystem::path& file);

}  // namespace proxbench
