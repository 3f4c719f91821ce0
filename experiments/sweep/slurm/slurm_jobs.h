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
  std::string problem;  ///< problem_name() of its jobs
  std::string solver;   ///< label of the only solver that it runs; empty: f* and what `runs` holds
  std::string key;      ///< digest over the keys of all its runs, also of those that were stored
  /// Those that were missing, with their keys; where it finds f* alone, reference().
  std::map<std::string, std::string> runs;

  std::string name() const { return solver.empty() ? problem : problem + " " + solver; }
  /// What stands for f* among runs.
  std::string reference() const { return "reference " + problem; }
  static auto members() {
    return std::tuple(std::pair("problem", &SlurmTask::problem), std::pair("solver", &SlurmTask::solver),
                      std::pair("key", &SlurmTask::key), std::pair("runs", &SlurmTask::runs));
  }
};

/// In the folder of an array.
inline constexpr const char* kArrayFile = "jobs.json";

struct SlurmArray {
  std::filesystem::path folder;
  bool force = false;  ///< SweepOptions::force
  std::vector<SlurmTask> tasks;

  std::string name() const { return folder.filename().string(); }
  static auto members() {
    return std::tuple(std::pair("force", &SlurmArray::force), std::pair("tasks", &SlurmArray::tasks));
  }
};
/// Throws Error where its file is malformed.
SlurmArray read_array(const std::filesystem::path& folder);
/// In the order of their submission.
std::vector<SlurmArray> read_arrays(const std::filesystem::path& out);

/// What was submitted for a folder, and what squeue says of it afterwards.
struct SubmittedJobs {
  std::vector<SlurmArray> arrays;
  std::optional<std::vector<QueuedTask>> queue;  ///< none: Slurm does not answer
  std::string no_answer;                         ///< why

  /// Null: squeue knows no such task.
  const QueuedTask* find(const SlurmArray& array, std::size_t index) const;
  std::vector<std::string> names() const;
};
SubmittedJobs submitted_jobs(const std::filesystem::path& out);

/// A run, or f* of a problem, that jobs were asked for and have not stored.
struct OpenRun {
  std::string state;   ///< "queued", "running" or "failed"
  std::string job;     ///< "12_3"; empty: not known
  std::string reason;  ///< why it waits, or failed; empty: not known
  std::string node;
  std::filesystem::path log;  ///< of its task
  bool live() const { return state != "failed"; }
};
/// By the names in SlurmTask::runs. Without a queue, what is not stored counts as live.
std::map<std::string, OpenRun> open_runs(const std::filesystem::path& out, const SubmittedJobs& jobs);

/// Throws Error where jobs of OUT wait or run, or where that cannot be known.
void require_no_open_jobs(const std::filesystem::path& out);

}  // namespace proxbench
