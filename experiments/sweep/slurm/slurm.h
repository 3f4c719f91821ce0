#pragma once
/// Slurm's commands, found on the PATH: sbatch, squeue, scancel, sinfo. Accounting is not needed.

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace proxbench {

/// One task of an array that is in the queue, or left it less than MinJobAge ago.
struct QueuedTask {
  std::string name;  ///< of the task's job
  std::int64_t job, index;
  std::string state;   ///< "PENDING", "RUNNING", "FAILED", ...
  std::string reason;  ///< "Resources", "NonZeroExitCode", ...; "None"
  std::string node;

  std::string id() const { return std::to_string(job) + "_" + std::to_string(index); }
  /// Whether the task waits or runs, or is about to.
  bool live() const;
};
/// Returns all tasks of jobs with these names. Throws Error if Slurm does not answer.
std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& job_names);

/// Removes all tasks of jobs with these names. Throws Error if Slurm does not answer.
void cancel_jobs(const std::vector<std::string>& job_names);

struct Submission {
  enum class Outcome {
    kAccepted,
    kFull,         ///< the queue takes no more jobs for now, or only fewer
    kUnreachable,  ///< no answer: the job may have been accepted
    kRefused
  };
  Outcome outcome;
  std::int64_t job = 0;
  std::string text;  ///< the output of sbatch
};
/// Runs `sbatch --parsable ARGUMENTS`. Throws Error if there is no sbatch.
Submission submit_job(const std::vector<std::string>& arguments);

/// Throws Error (kUsage) if the partition's time limit is shorter than this job asks for, or if none of its
/// nodes is large enough: Slurm would let the job wait forever. Throws Error if Slurm does not answer.
void check_size(const SlurmConfig& config, double seconds, int cpus, double memory_mib);

}  // namespace proxbench
