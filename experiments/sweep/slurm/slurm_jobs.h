#pragma once
/// What was submitted for a folder of results, and what became of it. Nothing that a job writes is read here
/// but the runs that it stores; squeue tells the rest.
///
///     OUT/slurm/NAME/jobs.json    one array of jobs, NAME in the queue, and what each of its tasks makes
///     OUT/slurm/NAME/script
///     OUT/slurm/NAME/INDEX.log    what a task says
///
/// The folder is written before its array is submitted, and no other job has its name: whatever ends a sweep,
/// the next one finds its jobs.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/json_members.h"
#include "experiments/sweep/slurm/slurm.h"

namespace proxbench {

/// A problem, or the share of it that one task makes.
struct SlurmTask {
  std::string problem;  ///< name of the SweepProblem
  std::string solver;   ///< label of the only solver that it runs; empty: f* and what `runs` holds
  std::string key;      ///< digest over the keys of all its runs, also of those that were stored
  bool force = false;   ///< SweepOptions::force
  /// Those that were missing, with their keys; where it finds f* alone, reference().
  std::map<std::string, std::string> runs;
  // Not in the file.
  std::filesystem::path folder = {};  ///< of its array
  std::size_t index = 0;              ///< in that

  std::string name() const { return solver.empty() ? problem : problem + " " + solver; }
  /// What stands for f* among runs.
  std::string reference() const { return "reference " + problem; }
  /// Of the array in the queue.
  std::string job_name() const { return folder.filename().string(); }
  static auto members() {
    return std::tuple(std::pair("problem", &SlurmTask::problem), std::pair("solver", &SlurmTask::solver),
                      std::pair("key", &SlurmTask::key), std::pair("force", &SlurmTask::force),
                      std::pair("runs", &SlurmTask::runs));
  }
};

/// In the folder of an array: its tasks.
inline constexpr const char* kArrayFile = "jobs.json";
/// Throws Error where its file is malformed.
std::vector<SlurmTask> read_array(const std::filesystem::path& folder);
/// The tasks of all arrays, in the order of their submission.
std::vector<SlurmTask> read_arrays(const std::filesystem::path& out);

/// What was submitted for a folder, and what squeue says of it afterwards.
struct SubmittedJobs {
  std::vector<SlurmTask> tasks;
  std::optional<std::vector<QueuedTask>> queue;  ///< none: Slurm does not answer
  std::string no_answer;                         ///< why

  /// Null: squeue knows no such task.
  const QueuedTask* find(const SlurmTask& task) const;
  /// Of all arrays in the queue.
  std::vector<std::string> names() const;
};
SubmittedJobs submitted_jobs(const std::filesystem::path& out);

/// What became of a run, or of f* of a problem.
struct RunState {
  std::string state;   ///< "queued", "running" or "failed"; of stored runs also "done" or "skipped"
  std::string job;     ///< "12_3"; empty: not known
  std::string reason;  ///< why it waits, or failed; empty: not known
  std::string node;
  std::filesystem::path log;  ///< of it, or of its task
  bool live() const { return state != "failed"; }
};
/// What jobs were asked for and have not stored, by the names in SlurmTask::runs. Without a queue, what is
/// not stored counts as live.
std::map<std::string, RunState> open_runs(const std::filesystem::path& out, const SubmittedJobs& jobs);

/// Throws Error where jobs of OUT wait or run, or where that cannot be known.
void require_no_open_jobs(const std::filesystem::path& out);

}  // namespace proxbench
