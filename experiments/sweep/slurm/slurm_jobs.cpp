#include "experiments/sweep/slurm/slurm_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/sweep/out_folder.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

std::string text_in(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

Batch read_batch(const fs::path& folder) {
  const nlohmann::json json = read_json(folder / "batch.json", "a batch of `proxbench run --launcher slurm`");
  try {
    Batch batch{.folder = folder,
                .job_name = json.at("job_name"),
                .job = json.at("job").get<std::int64_t>(),
                .problems = json.at("problems"),
                .waits_for = json.at("waits_for"),
                .tasks = {}};
    for (const auto& task : json.at("tasks")) batch.tasks.push_back({task.at("name"), task.at("key")});
    return batch;
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file((folder / "batch.json").string(), 0, error.what(),
                         "a batch of `proxbench run --launcher slurm`");
  }
}

/// Of a task that Slurm no longer has, or has as ended, and that left no end of its own.
std::string reason_without_end(const QueuedTask* queued, bool begun, bool problem) {
  if (queued != nullptr && queued->reason == "DependencyNeverSatisfied")
    return problem
               ? "the probe job failed: a node does not see this folder, cannot write to it or cannot run "
                 "the program"
               : "what it waits for failed";
  if (queued != nullptr && queued->state == "FAILED" && queued->reason == "NonZeroExitCode" && !begun)
    return "failed before it began: the program cannot run on its node, or the node does not see this folder";
  const std::string slurm = queued == nullptr
                                ? "no longer in the queue"
                                : fmt::format("Slurm says {}{}", queued->state,
                                              queued->reason == "None" ? "" : " (" + queued->reason + ")");
  return begun ? "ended without a result: killed, or its node failed; " + slurm
               : "ended before it began: cancelled, or its node does not see this folder; " + slurm;
}

/// `queued`: what squeue says of the task; null: nothing.
void set_state(TaskStatus& task, const QueuedTask* queued, bool queue_known) {
  const TaskFiles files = task.files();
  const Json begin = json_of(files.begin), end = json_of(files.end);
  task.node = queued != nullptr && !queued->node.empty() && queued->node != " " ? queued->node
                                                                                : text_in(begin, "node");
  const bool waits =
      queued != nullptr && queued->live() && queued->state != "RUNNING" && queued->state != "COMPLETING";
  // A task that was stopped and put back has the end of its last try until it begins again.
  const bool may_begin_again = text_in(end, "status") == "interrupted" && queued != nullptr && queued->live();
  if (end.is_object() && !may_begin_again) {
    task.state = end.value("failed", true) ? TaskState::kFailed : TaskState::kDone;
    task.reason = text_in(end, "reason");
    return;
  }
  if (!queue_known) {
    task.state = begin.is_object() ? TaskState::kRunning : TaskState::kQueued;
    return;
  }
  // Its end is on its way to this machine.
  const bool ending = queued != nullptr && (queued->state == "COMPLETED" || queued->state == "COMPLETING");
  if (queued != nullptr && (queued->live() || ending)) {
    task.state = waits ? TaskState::kQueued : TaskState::kRunning;
    if (waits) task.reason = queued->reason;
    return;
  }
  task.state = TaskState::kFailed;
  task.reason = reason_without_end(queued, begin.is_object(), task.problem);
}

}  // namespace

TaskFiles::TaskFiles(const fs::path& folder, int index)
    : job(folder / fmt::format("task-{}.json", index)),
      begin(folder / fmt::format("{}.begin.json", index)),
      end(folder / fmt::format("{}.end.json", index)),
      log(folder / fmt::format("{}.log", index)),
      work(folder / fmt::format("{}.work", index)),
      facts(folder / fmt::format("{}.facts.json", index)) {}

Json Batch::to_json() const {
  Json json{{"job_name", job_name}, {"job", job}, {"problems", problems}, {"waits_for", waits_for}};
  for (const Task& task : tasks) json["tasks"].push_back({{"name", task.name}, {"key", task.key}});
  return json;
}

std::vector<Batch> read_batches(const fs::path& out) {
  std::vector<Batch> batches;
  std::error_code none;  // no folder: no jobs
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "slurm", none))
    if (!entry.path().filename().string().starts_with('.') && fs::exists(entry.path() / "batch.json"))
      batches.push_back(read_batch(entry.path()));
  std::sort(batches.begin(), batches.end(),
            [](const Batch& a, const Batch& b) { return a.folder < b.folder; });
  return batches;
}

const char* task_state_name(TaskState state) {
  switch (state) {
    case TaskState::kQueued:
      return "queued";
    case TaskState::kRunning:
      return "running";
    case TaskState::kDone:
      return "done";
    case TaskState::kFailed:
      return "failed";
  }
  return "";
}

std::vector<QueuedTask> queue_of(const std::vector<Batch>& batches) {
  std::vector<std::string> names;
  for (const Batch& batch : batches) names.push_back(batch.job_name);
  return queued_tasks(names);
}

std::map<std::string, TaskStatus> task_states(const std::vector<Batch>& batches, const Queue& queue) {
  std::map<std::pair<std::string, int>, const QueuedTask*> known;
  if (queue)
    for (const QueuedTask& task : *queue) known[{task.name, task.index}] = &task;
  std::map<std::string, TaskStatus> out;
  for (const Batch& batch : batches)
    for (int index = 0; index < static_cast<int>(batch.tasks.size()); ++index) {
      const Batch::Task& task = batch.tasks[static_cast<std::size_t>(index)];
      const auto found = known.find({batch.job_name, index});
      const QueuedTask* queued = found == known.end() ? nullptr : found->second;
      const std::int64_t job = queued != nullptr ? queued->job : batch.job;
      TaskStatus status{.name = task.name,
                        .key = task.key,
                        .job = job > 0 ? fmt::format("{}_{}", job, index) : "",
                        .problem = batch.problems,
                        .state = TaskState::kQueued,
                        .reason = "",
                        .node = "",
                        .folder = batch.folder,
                        .index = index};
      if (batch.job == 0 && queued == nullptr && !fs::exists(status.files().begin))
        status.reason = "being submitted";
      else
        set_state(status, queued, queue.has_value());
      const auto waited_for = out.find(batch.waits_for);
      if (status.state == TaskState::kFailed && !fs::exists(status.files().begin) &&
          waited_for != out.end() && waited_for->second.state == TaskState::kFailed)
        status.reason = fmt::format("{} failed: {}", batch.waits_for, waited_for->second.reason);
      out.insert_or_assign(task.name, std::move(status));
    }
  return out;
}

std::string job_list(const std::vector<TaskStatus>& tasks) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> jobs;
  for (const TaskStatus& task : tasks)
    if (!task.job.empty() && jobs.size() < kShown) jobs.push_back(task.job);
  return fmt::format("{}{}", fmt::join(jobs, ", "), tasks.size() > kShown ? ", ..." : "");
}

void require_no_open_jobs(const fs::path& out) {
  const std::vector<Batch> batches = read_batches(out);
  const auto open_tasks = [&](const Queue& queue) {
    std::vector<TaskStatus> open;
    for (const auto& [name, task] : task_states(batches, queue))
      if (task.live()) open.push_back(task);
    return open;
  };
  if (open_tasks(std::nullopt).empty()) return;
  Queue queue;
  try {
    queue = queue_of(batches);
  } catch (const Error& error) {
    throw Error(fmt::format(
        "{}: jobs of Slurm may be at work here, but it does not answer ({}); expected an answer, or a folder "
        "without {} once the jobs have ended",
        out.string(), error.what(), (out / "slurm").string()));
  }
  if (const std::vector<TaskStatus> open = open_tasks(queue); !open.empty())
    throw Error(
        fmt::format("{}: {} jobs of Slurm are at work here ({}); `proxbench run CONFIG --launcher slurm "
                    "--wait` waits for "
                    "them, `proxbench cancel {}` ends them",
                    out.string(), open.size(), job_list(open), out.string()));
}

void remove_batch(const fs::path& folder) {
  const fs::path hidden = folder.parent_path() / (".removed-" + folder.filename().string());
  fs::rename(folder, hidden);
  fs::remove_all(hidden);
}

void recover_tasks(const fs::path& out) {
  std::error_code none;
  std::vector<fs::path> unfinished;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "slurm", none))
    if (entry.is_directory() && entry.path().filename().string().starts_with('.'))
      unfinished.push_back(entry.path());
  for (const fs::path& folder : unfinished) fs::remove_all(folder);
  for (const Batch& batch : read_batches(out)) {
    if (batch.problems) continue;
    for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
      const fs::path work = TaskFiles(batch.folder, static_cast<int>(i)).work;
      if (fs::exists(work / "manifest.json")) publish(work, out / "runs" / batch.tasks[i].name);
    }
  }
}

}  // namespace proxbench
