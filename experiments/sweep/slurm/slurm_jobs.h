#pragma once
/// Tracks the jobs that were submitted for a folder of results. Of a job's own output, only the stored runs
/// are read here; everything else comes from squeue.
///
///     OUT/slurm/NAME/jobs.json    one array of jobs, NAME in the queue, and the runs of each of its tasks
///     OUT/slurm/NAME/script
///     OUT/slurm/NAME/INDEX.log    the output of a task
///
/// The folder is written before its array is submitted, and no other job has its name. So however a sweep
/// ends, the next one finds its jobs.

#include <map>

#include "experiments/base/json_members.h"
#include "experiments/sweep/slurm/slurm.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {

/// A problem, or the part of it that one task makes.
struct SlurmTask {
  std::string problem;  ///< name of the SweepProblem
  std::string solver;   ///< label of the only solver that the task runs; empty: it makes f* and `runs`
  std::string key;      ///< digest of the keys of all its runs, including stored ones
  bool force = false;   ///< SweepOptions::force
  std::vector<std::string> runs;  ///< those that were missing; reference() if the task only finds f*
  // Not stored in the file.
  std::filesystem::path folder = {};      ///< of its array
  std::size_t index = 0;                  ///< the task's place in its array, from 0
  std::optional<QueuedTask> queued = {};  ///< what squeue says of the task; none: squeue does not list it

  bool live() const { return queued && queued->live(); }
  std::string name() const { return solver.empty() ? problem : problem + " " + solver; }
  /// The name that stands for f* in `runs`.
  std::string reference() const { return "reference " + problem; }
  /// The name of the array in the queue.
  std::string job_name() const { return folder.filename().string(); }
  static auto members() {
    return std::tuple(std::pair("problem", &SlurmTask::problem), std::pair("solver", &SlurmTask::solver),
                      std::pair("key", &SlurmTask::key), std::pair("force", &SlurmTask::force),
                      std::pair("runs", &SlurmTask::runs));
  }
};

/// The file in an array's folder that lists its tasks.
inline constexpr const char* kArrayFile = "jobs.json";
/// Throws Error if the array's file is malformed.
std::vector<SlurmTask> read_array(const std::filesystem::path& folder);
/// Returns the tasks of all arrays, in the order of their submission.
std::vector<SlurmTask> read_arrays(const std::filesystem::path& out);

/// Sets SlurmTask::queued to what squeue said of each task.
void note_queue(std::vector<SlurmTask>& tasks, const std::vector<QueuedTask>& queue);

/// The tasks that were submitted for a folder, with the later answer of squeue about them.
struct SubmittedJobs {
  std::vector<SlurmTask> tasks;
  std::string no_answer = "";  ///< why Slurm does not answer; empty: it does

  /// Returns the names of all arrays in the queue.
  std::vector<std::string> names() const;
};
SubmittedJobs submitted_jobs(const std::filesystem::path& out);

/// The state of a run, or of f* of a problem.
struct RunState {
  /// "queued", "running" or "failed"; of stored runs also "done", "interrupted" or "skipped"; of other runs
  /// of the plan "missing".
  std::string state;
  std::filesystem::path log;  ///< of the run or of its task
  // Empty: not known.
  std::string job = "";     ///< "12_3"
  std::string reason = "";  ///< why the run waits or failed
  std::string node = "";
  std::string revision = "";  ///< of the proxbench that made a stored run
  bool live() const { return state != "failed"; }
};
/// Returns the submitted runs that are not stored yet, by the names in SlurmTask::runs. If squeue gave no
/// answer, they count as live.
std::map<std::string, RunState> open_runs(const std::filesystem::path& out, const SubmittedJobs& jobs);

/// Throws Error if jobs of OUT wait or run, or if this cannot be known.
void require_no_open_jobs(const std::filesystem::path& out);

// ---- One task of an array on its node: a local sweep of one problem, or of one solver's part of it.

/// Seconds that a job gets in addition to the limits of its processes: to start and to store runs, and to
/// read the data.
inline constexpr double kJobMargin = 60.0, kReadingData = 600.0;

/// Keeps only the part of a problem that one task makes. `label` is SlurmTask::solver.
void restrict_to(SweepProblem& problem, const std::string& label, const SlurmConfig& config);
/// Returns SlurmTask::key for a problem or a part of it.
std::string task_key(const SweepProblem& problem);

/// Makes the runs of task `index` of this array, according to OUT/config.ini. Throws Error if it cannot.
SweepResult do_slurm_task(const std::filesystem::path& array_folder, std::size_t index, const Hooks& hooks);

}  // namespace proxbench
