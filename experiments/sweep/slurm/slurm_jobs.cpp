#include "experiments/sweep/slurm/slurm_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"
#include "experiments/sweep/out_folder.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

constexpr const char* kJobs = "jobs.json";
constexpr const char* kExpected = "jobs of `proxbench run --launcher slurm`";

/// Whether a job of this name has stored the run. One that was stopped and is in the queue again has not.
bool stored_by(const fs::path& out, const std::string& run, const std::string& job_name, bool live) {
  std::string problem;  // of another version: an earlier run
  const std::optional<Run> stored = find_record(out / "runs" / run / kManifestFile, problem);
  if (!stored || (live && stored->result.status == Status::kInterrupted)) return false;
  const auto name = stored->provenance.slurm.find("name");
  return name != stored->provenance.slurm.end() && name->second == job_name;
}

/// Why a task that has ended left something out. `queued`: what squeue still says of it; null: nothing.
std::string reason_of_end(const QueuedTask* queued, const fs::path& log) {
  const std::string slurm = queued == nullptr
                                ? "no longer in the queue"
                                : fmt::format("Slurm says {}{}", queued->state,
                                              queued->reason == "None" ? "" : " (" + queued->reason + ")");
  if (!fs::exists(log))
    return "ended before it began: cancelled, or its node does not see this folder or cannot run the "
           "program; " +
           slurm;
  return "ended without a result: killed, stopped by Slurm, or its node failed; " + slurm;
}

OpenRun task_status(const SlurmArray& array, std::size_t index, const Queue& queue) {
  const QueuedTask* task = find_task(queue, array, index);
  OpenRun status{.state = "queued",
                 .job = task == nullptr ? "" : fmt::format("{}_{}", task->job, index),
                 .reason = "",
                 .node = task == nullptr || task->node == " " ? "" : task->node,
                 .log = array.log(index),
                 .folder = ""};
  // What a task that is about to end has stored may be on its way to this machine.
  const bool ending = task != nullptr && (task->state == "COMPLETED" || task->state == "COMPLETING");
  if (task != nullptr && (task->state == "RUNNING" || ending)) {
    status.state = "running";
  } else if (task != nullptr && task->live()) {
    status.reason = task->reason;
  } else if (queue) {
    status.state = "failed";
    status.reason = reason_of_end(task, status.log);
  }
  return status;
}

}  // namespace

void SlurmArray::write() const {
  Json json{{"host", host}, {"force", force}, {"tasks", Json::array()}};
  for (const SlurmTask& task : tasks)
    json["tasks"].push_back({{"problem", task.problem},
                             {"solver", task.solver},
                             {"key", task.key},
                             {"source", task.source},
                             {"runs", task.runs}});
  write_json(folder / kJobs, json);
}

SlurmArray read_array(const fs::path& folder) {
  const nlohmann::json json = read_json(folder / kJobs, kExpected);
  try {
    SlurmArray array{.folder = folder, .host = json.at("host"), .force = json.at("force"), .tasks = {}};
    for (const auto& task : json.at("tasks"))
      array.tasks.push_back({.problem = task.at("problem"),
                             .solver = task.at("solver"),
                             .key = task.at("key"),
                             .source = task.at("source"),
                             .runs = task.at("runs")});
    return array;
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file((folder / kJobs).string(), 0, error.what(), kExpected);
  }
}

std::vector<SlurmArray> read_arrays(const fs::path& out) {
  std::vector<SlurmArray> arrays;
  std::error_code none;  // no folder: no jobs
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "slurm", none))
    if (fs::exists(entry.path() / kJobs)) arrays.push_back(read_array(entry.path()));
  std::ranges::sort(arrays, {}, &SlurmArray::folder);
  return arrays;
}

std::vector<QueuedTask> queue_of(const std::vector<SlurmArray>& arrays) {
  std::vector<std::string> names;
  for (const SlurmArray& array : arrays) names.push_back(array.name());
  return queued_tasks(names);
}

const QueuedTask* find_task(const Queue& queue, const SlurmArray& array, std::size_t index) {
  if (!queue) return nullptr;
  const auto found = std::ranges::find_if(*queue, [&](const QueuedTask& task) {
    return task.name == array.name() && static_cast<std::size_t>(task.index) == index;
  });
  return found == queue->end() ? nullptr : &*found;
}

std::map<std::string, OpenRun> open_runs(const fs::path& out, const std::vector<SlurmArray>& arrays,
                                         const Queue& queue) {
  const std::map<std::string, fs::path> unfinished = unfinished_runs(out);
  std::map<std::string, OpenRun> open;
  for (const SlurmArray& array : arrays)
    for (std::size_t index = 0; index < array.tasks.size(); ++index) {
      const SlurmTask& task = array.tasks[index];
      const OpenRun status = task_status(array, index, queue);
      const QueuedTask* queued = find_task(queue, array, index);
      // A task for f* alone has succeeded unless Slurm says otherwise.
      const bool has_reference = queue && (queued == nullptr || queued->state == "COMPLETED");
      const std::string reference = "reference " + task.problem;
      if (task.solver.empty()) open.erase(reference);
      if (task.runs.empty() && !has_reference) open.emplace(reference, status);
      for (const std::string& run : task.runs) {
        open.erase(run);  // what an earlier task was asked for
        if (stored_by(out, run, array.name(), status.live())) continue;
        OpenRun& one = open.emplace(run, status).first->second;
        const auto folder = unfinished.find(run);
        const bool runs = folder != unfinished.end();
        if (status.state == "running" && !runs) {
          one.state = "queued";
          one.reason = "waits for its turn in its job";
        } else if (runs && status.live()) {
          one.state = "running";
          one.folder = folder->second;
        }
      }
    }
  return open;
}

void require_no_open_jobs(const fs::path& out) {
  const std::vector<SlurmArray> arrays = read_arrays(out);
  if (open_runs(out, arrays, std::nullopt).empty()) return;
  Queue queue;
  try {
    queue = queue_of(arrays);
  } catch (const Error& error) {
    throw Error(fmt::format(
        "{}: jobs of Slurm may be at work here, but it does not answer ({}); expected an answer, or a folder "
        "without {} once the jobs have ended",
        out.string(), error.what(), (out / "slurm").string()));
  }
  constexpr std::size_t kShown = 5;
  std::vector<std::string> live;
  for (const QueuedTask& task : *queue)
    if (task.live()) live.push_back(fmt::format("{}_{}", task.job, task.index));
  if (live.empty()) return;
  const std::size_t count = live.size();
  if (count > kShown) {
    live.resize(kShown);
    live.emplace_back("...");
  }
  throw Error(
      fmt::format("{}: {} jobs of Slurm are at work here ({}); `proxbench run CONFIG --launcher slurm "
                  "--wait` waits for them, "
                  "`proxbench cancel {}` ends them",
                  out.string(), count, fmt::join(live, ", "), out.string()));
}

}  // namespace proxbench
