#include "experiments/sweep/slurm/slurm_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

constexpr const char* kExpected = "jobs of `proxbench run --launcher slurm`";

/// Whether a job of this name has stored the run. A run that was stopped and is in the queue again does not
/// count.
bool stored_by(const fs::path& out, const std::string& run, const std::string& job_name, bool live) {
  std::string problem;  // a record of another version is from an earlier run
  const std::optional<Run> stored = find_record(out / "runs" / run / kManifestFile, problem);
  if (!stored || (live && stored->result.status == Status::kInterrupted)) return false;
  const auto name = stored->provenance.slurm.find("name");
  return name != stored->provenance.slurm.end() && name->second == job_name;
}

/// Returns the state of a task according to squeue and its log.
RunState status_of(const SlurmTask& task, bool answered) {
  const std::optional<QueuedTask>& queued = task.queued;
  RunState status{.state = "queued", .log = task.folder / (std::to_string(task.index) + ".log")};
  if (queued) {
    status.job = queued->id();
    status.node = queued->node;
  }
  if (!answered) return status;
  // Files that an ending task has stored may not be visible on this machine yet.
  if (queued &&
      (queued->state == "RUNNING" || queued->state == "COMPLETED" || queued->state == "COMPLETING")) {
    status.state = "running";
  } else if (task.live()) {
    status.reason = queued->reason;
  } else {
    status.state = "failed";
    status.reason = fs::exists(status.log)
                        ? "ended without a result: killed, stopped by Slurm, or its node failed"
                        : "ended before it began: cancelled, or its node does not see this folder or cannot "
                          "run the program";
    status.reason += queued ? "; Slurm says " + queued->state : "; no longer in the queue";
    if (queued && queued->reason != "None") status.reason += " (" + queued->reason + ")";
  }
  return status;
}

}  // namespace

std::vector<SlurmTask> read_array(const fs::path& folder) {
  try {
    auto tasks = read_json(folder / kArrayFile, kExpected).get<std::vector<SlurmTask>>();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].folder = folder;
      tasks[i].index = i;
    }
    return tasks;
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file((folder / kArrayFile).string(), 0, error.what(), kExpected);
  }
}

std::vector<SlurmTask> read_arrays(const fs::path& out) {
  std::vector<SlurmTask> tasks;
  for (const fs::path& folder : entries_of(out / "slurm"))
    if (fs::exists(folder / kArrayFile)) std::ranges::move(read_array(folder), std::back_inserter(tasks));
  return tasks;
}

std::vector<std::string> SubmittedJobs::names() const {
  std::set<std::string> out;
  for (const SlurmTask& task : tasks) out.insert(task.job_name());
  return {out.begin(), out.end()};
}

void note_queue(std::vector<SlurmTask>& tasks, const std::vector<QueuedTask>& queue) {
  for (const QueuedTask& queued : queue)
    for (SlurmTask& task : tasks)
      if (queued.name == task.job_name() && static_cast<std::size_t>(queued.index) == task.index)
        task.queued = queued;
}

SubmittedJobs submitted_jobs(const fs::path& out) {
  SubmittedJobs jobs{read_arrays(out)};
  try {
    note_queue(jobs.tasks, queued_tasks(jobs.names()));
  } catch (const Error& error) {
    jobs.no_answer = error.what();
  }
  return jobs;
}

std::map<std::string, RunState> open_runs(const fs::path& out, const SubmittedJobs& jobs) {
  const std::set<std::string> unfinished = unfinished_runs(out);
  std::map<std::string, RunState> open;
  for (const SlurmTask& task : jobs.tasks) {
    const RunState status = status_of(task, jobs.no_answer.empty());
    // A task that only finds f* has succeeded unless Slurm says otherwise.
    const bool has_reference = jobs.no_answer.empty() && (!task.queued || task.queued->state == "COMPLETED");
    if (task.solver.empty()) open.erase(task.reference());
    for (const std::string& run : task.runs) {
      open.erase(run);  // replaces the entry of an earlier task
      const bool is_reference = run == task.reference();
      if (is_reference ? has_reference : stored_by(out, run, task.job_name(), status.live())) continue;
      RunState& one = open.emplace(run, status).first->second;
      if (unfinished.contains(run) && status.live()) {
        one.state = "running";
      } else if (status.state == "running" && !is_reference) {
        one.state = "queued";
        one.reason = "waits for its turn in its job";
      }
    }
  }
  return open;
}

void require_no_open_jobs(const fs::path& out) {
  const SubmittedJobs jobs = submitted_jobs(out);
  if (!jobs.no_answer.empty()) {
    if (open_runs(out, jobs).empty()) return;
    throw Error(fmt::format(
        "{}: jobs of Slurm may be at work here, but it does not answer ({}); expected an answer, or a folder "
        "without {} once the jobs have ended",
        out.string(), jobs.no_answer, (out / "slurm").string()));
  }
  if (const auto live = std::ranges::count_if(jobs.tasks, &SlurmTask::live); live > 0)
    throw Error(fmt::format(
        "{}: {} jobs of Slurm are at work here; `proxbench run CONFIG --launcher slurm --wait` waits "
        "for them, `proxbench cancel {}` ends them",
        out.string(), live, out.string()));
}

}  // namespace proxbench
