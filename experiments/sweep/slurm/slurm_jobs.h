#pragma once
/// What the jobs of a folder of results leave in OUT/slurm, and what it says, together with squeue, of each.
///
///     OUT/slurm/NUMBER/batch.json          one array: its name in the queue, job and tasks
///     OUT/slurm/NUMBER/task-INDEX.json     what a task is asked for (slurm_task.h)
///     OUT/slurm/NUMBER/script
///     OUT/slurm/NUMBER/INDEX.begin.json    by the task when it begins: node, job, time, restarts
///     OUT/slurm/NUMBER/INDEX.end.json      when it has ended: failed, status, reason, node
///     OUT/slurm/NUMBER/INDEX.log
///     OUT/slurm/NUMBER/INDEX.work/         where its process works; becomes OUT/runs/RUN by rename
///     OUT/slurm/NUMBER/INDEX.facts.json    of a data set, for the runs on it
///
/// The name of a job is written before it is submitted, and no other job has it: whatever ends a sweep, its
/// jobs are found again.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sweep/slurm/slurm.h"

namespace proxbench {

/// The files of a task in its batch's folder.
struct TaskFiles {
  std::filesystem::path job, begin, end, log, work, facts;
  TaskFiles(const std::filesystem::path& folder, int index);
};

struct Batch {
  std::filesystem::path folder;
  std::string job_name;
  std::int64_t job = 0;   ///< 0: not known yet
  bool problems;          ///< its tasks describe data and find f*; else they are runs
  std::string waits_for;  ///< name of the task that runs wait for; empty: none
  struct Task {
    std::string name, key;  ///< of the run or problem; digest of what was asked for
  };
  std::vector<Task> tasks;

  nlohmann::ordered_json to_json() const;
};
/// In the order of their submission. Throws Error where a file is malformed.
std::vector<Batch> read_batches(const std::filesystem::path& out);

enum class TaskState { kQueued, kRunning, kDone, kFailed };
const char* task_state_name(TaskState state);

struct TaskStatus {
  std::string name, key, job;  ///< job: "12_3"
  bool problem;
  TaskState state;
  std::string reason;  ///< why it waits, or failed; empty: not known
  std::string node;
  std::filesystem::path folder;  ///< of its batch
  int index;

  bool live() const { return state == TaskState::kQueued || state == TaskState::kRunning; }
  TaskFiles files() const { return {folder, index}; }
};
using Queue = std::optional<std::vector<QueuedTask>>;  ///< none: Slurm does not answer

/// What squeue says of the batches. Throws Error where it does not answer.
std::vector<QueuedTask> queue_of(const std::vector<Batch>& batches);
/// The newest state of each run and problem, by name. Without a queue from the tasks' own files alone.
std::map<std::string, TaskStatus> task_states(const std::vector<Batch>& batches, const Queue& queue);

/// "12_3, 12_4, ..." of the first few.
std::string job_list(const std::vector<TaskStatus>& tasks);

/// Throws Error where jobs of OUT wait or run, or where that cannot be known.
void require_no_open_jobs(const std::filesystem::path& out);

/// For the holder of the lock: removes the folder of a batch, at once for those who read it without the lock.
void remove_batch(const std::filesystem::path& folder);

/// For the holder of the lock: gives complete runs whose task died before their rename their places.
void recover_tasks(const std::filesystem::path& out);

}  // namespace proxbench
