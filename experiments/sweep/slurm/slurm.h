#pragma once
/// Slurm's commands, found on the PATH: sbatch, squeue, scancel, sinfo. Accounting is not needed.

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace proxbench {

/// One task of an array in the queue, or that left it a short while ago (MinJobAge).
struct QueuedTask {
  std::string name;  ///< of its job
  std::int64_t job, index;
  std::string state;   ///< "PENDING", "RUNNING", "FAILED", ...
  std::string reason;  ///< "Resources", "NonZeroExitCode", ...; "None"
  std::string node;

  std::string id() const { return std::to_string(job) + "_" + std::to_string(index); }
  /// Waits, runs, or is about to.
  bool live() const;
};
/// All tasks of jobs with these names. Throws Error where Slurm does not answer.
std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& job_names);

/// Removes all tasks of jobs with these names. Throws Error where Slurm does not answer.
void cancel_jobs(const std::vector<std::string>& job_names);

struct Submission {
  enum class Outcome {
    kAccepted,
    kFull,         ///< no more jobs for now, or fewer
    kUnreachable,  ///< no answer: it may have been accepted
    kRefused
  };
  Outcome outcome;
  std::int64_t job = 0;
  std::string text;  ///< what sbatch said
};
/// `sbatch --parsable ARGUMENTS`. Throws Error where there is no sbatch.
Submission submit_job(const std::vector<std::string>& arguments);

/// What every job of a sweep asks for.
struct JobRequest {
  int cpus = 1;
  double seconds = 0.0;     ///< 0: the partition's limit
  double memory_mib = 0.0;  ///< 0: all of a node where it is exclusive, else the partition's default
  bool exclusive = false;

  /// Of sbatch.
  std::vector<std::string> arguments(const SlurmConfig& config) const;
};

/// Throws Error (kUsage) where the partition does not exist, or no node of it could ever run such a job, with
/// the limit that stands against it; Error where Slurm does not answer.
void check_request(const SlurmConfig& config, const JobRequest& request);

}  // namespace proxbench
