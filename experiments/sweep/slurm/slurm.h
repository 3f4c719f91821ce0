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

/// Throws Error (kUsage) where the partition ends jobs sooner than this one asks for, or has no node as
/// large: Slurm would let it wait for ever. Throws Error where Slurm does not answer.
void check_size(const SlurmConfig& config, double seconds, int cpus, double memory_mib);

}  // namespace proxbench
