#pragma once
/// One task of an array on its node: describes data and finds f*, or makes a run, as a local sweep does.

#include <filesystem>

#include "experiments/sweep/problem_runner.h"

namespace proxbench {

/// What a task is asked for: OUT/slurm/NUMBER/task-INDEX.json.
struct SlurmTask {
  bool problem;
  nlohmann::ordered_json rules;  ///< ProcessRules
  bool exclusive, force;
  std::string source_digest, program_digest, submit_host;
  RunParameters data_job;                  ///< of a problem
  std::optional<Run> reference;            ///< of a problem; none: a path
  std::vector<Run> runs;                   ///< those of a problem, or the one to make
  std::filesystem::path facts;             ///< of a run: the facts of its data, relative to OUT/slurm

  nlohmann::ordered_json to_json() const;
  static SlurmTask from(const nlohmann::ordered_json& json);
};

/// Does the task, writes its files and publishes its run. Returns whether what waits for it may go on. Throws
/// Error where not even that can be written.
bool do_slurm_task(const std::filesystem::path& batch_folder, int index, const SweepHooks& hooks);

}  // namespace proxbench
