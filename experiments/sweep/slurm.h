#pragma once
/// Makes the runs of a sweep on a Slurm cluster. A batch script in OUT/slurm asks for an array of jobs with a
/// task `proxbench run OUT/config.ini --only PROBLEM` for each problem that lacks runs. A task has the number
/// of its problem in the config. OUT/runs, squeue and the log of a task show its state.

#include <map>
#include <string>

#include "experiments/base/paths.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {

/// Returns the name in the queue of all jobs for the problems of a config in OUT.
std::string job_name(const ExperimentConfig& config, const fs::path& out);

/// Returns the file that receives the output of a task; "%a" stands for its number.
fs::path task_log(const fs::path& out, const std::string& job_name, const std::string& number);

/// A task that waits or runs.
struct QueuedTask {
  std::string job;     ///< "12_3"
  std::string state;   ///< "PENDING", "RUNNING", ...
  std::string reason;  ///< why it waits: "Resources", ...
  std::string node;
};
/// Returns the waiting and running tasks of jobs of this name, by number. Throws Error if squeue is missing
/// or does not answer.
std::map<std::size_t, QueuedTask> queued_tasks(const std::string& job_name);

/// Returns a batch script with a task for each incomplete problem that is not queued, or "" if no problem
/// needs a task. Throws Error (kUsage) if [slurm] time is too short for a run.
std::string batch_script(const Sweep& sweep, const std::map<std::size_t, QueuedTask>& queued);

/// Submits the batch script. With `wait`, waits until no task is queued any more. Throws Error if Slurm's
/// commands are missing, refuse or do not answer, and (kUsage) if tasks of another config are queued.
SweepResult submit_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                         bool wait, const Progress& progress);

}  // namespace proxbench
