/// `status` and `cancel`: what became of the runs of a folder, and of its jobs; `slurm-task`: what each task
/// of an array runs on its node.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <deque>
#include <fstream>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/results/results.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm/slurm_jobs.h"
#include "experiments/sweep/slurm/slurm_task.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace {

/// A run or reference, stored or in a queue.
struct StatusRow {
  std::string state, name, job = {}, node = {}, reason = {}, log = {};
  std::string revision = {};  ///< of the proxbench that made it; empty: not known

  Json to_json() const {
    return {{"name", name}, {"state", state}, {"job", job}, {"node", node}, {"reason", reason}, {"log", log}};
  }
  std::string text() const {
    std::string out = fmt::format("{:8}{}", state, name);
    if (!job.empty()) out += "  job " + job;
    if (!node.empty()) out += "  on " + node;
    if (!reason.empty()) out += "  " + reason;
    out += '\n';
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) out += "          | " + line + '\n';
    return out;
  }
};

/// The last lines of a log.
std::string end_of(const std::filesystem::path& log) {
  constexpr std::size_t kLines = 3;
  std::deque<std::string> lines;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
    if (lines.size() > kLines) lines.pop_front();
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

StatusRow stored_row(const std::filesystem::path& folder) {
  StatusRow row{.state = "failed", .name = folder.filename().string()};
  if (const std::optional<Run> run = find_record(folder / kManifestFile, row.reason)) {
    row.node = run->provenance.machine;
    row.revision = run->provenance.git_revision;
    row.state = !run->failed() ? "done" : failed_run(*run) ? "failed" : "skipped";
    row.reason = run->result.reason.empty() ? run->status() : run->status() + ": " + run->result.reason;
  }
  if (row.state == "done")
    row.reason.clear();
  else
    row.log = end_of(folder / "log.txt");
  return row;
}

std::map<std::string, StatusRow> status_rows(const std::filesystem::path& out, const SubmittedJobs& jobs) {
  std::map<std::string, StatusRow> rows;
  for (const std::filesystem::path& folder : run_folders(out))
    rows.insert_or_assign(folder.filename().string(), stored_row(folder));
  for (const auto& [name, run] : open_runs(out, jobs))
    rows.insert_or_assign(name, StatusRow{.state = run.state,
                                          .name = name,
                                          .job = run.job,
                                          .node = run.node,
                                          .reason = run.reason,
                                          .log = run.live() ? "" : end_of(run.log)});
  return rows;
}

struct StatusCommand {
  std::string out;
  bool all = false;
  JsonFlag json;

  void add_to(CLI::App& command) {
    add_results(command, out);
    command.add_flag("--all", all, "show what is done, too");
    json.add_to(command);
  }

  void execute() const {
    require_results(out);
    const SubmittedJobs jobs = submitted_jobs(out);
    if (!jobs.queue)
      spdlog::warn("Slurm does not answer ({}): what follows is from stored runs alone", jobs.no_answer);
    const std::string revision = provenance().git_revision;
    std::vector<std::string> others;
    Json tasks = Json::array();
    std::map<std::string, std::size_t> counts;
    std::string text;
    for (const auto& [name, row] : status_rows(out, jobs)) {
      ++counts[row.state];
      if (!row.revision.empty() && row.revision != revision) others.push_back(name);
      tasks.push_back(row.to_json());
      if (row.state != "done" || all) text += row.text();
    }
    if (!others.empty())
      text +=
          fmt::format("of another revision of proxbench than {}: {}\n", revision, fmt::join(others, ", "));
    if (!json.to_stdout())
      fmt::print("{}{} queued, {} running, {} done, {} failed{}\n", text, counts["queued"], counts["running"],
                 counts["done"], counts["failed"],
                 counts["skipped"] > 0 ? fmt::format(", {} skipped", counts["skipped"]) : "");
    Json summary{{"out", out}, {"slurm", jobs.queue ? Json() : Json(jobs.no_answer)}};
    for (const char* state : {"queued", "running", "done", "skipped", "failed"})
      summary[state] = counts[state];
    summary["other_revision"] = others;
    summary["tasks"] = tasks;
    json.write(summary);
  }
};

struct CancelCommand {
  std::string out;

  void add_to(CLI::App& command) { add_results(command, out); }

  void execute() const {
    require_results(out);
    constexpr double kPatience = 60.0;  // seconds: a sweep that submits jobs holds the lock
    const OutLock lock(out, kPatience);
    const SubmittedJobs jobs = submitted_jobs(out);
    if (!jobs.queue) throw Error(jobs.no_answer);
    std::size_t queued = 0, running = 0;
    for (const QueuedTask& task : *jobs.queue)
      if (task.live()) ++(task.state == "PENDING" ? queued : running);
    if (queued + running > 0) cancel_jobs(jobs.names());
    fmt::print("{}: {} queued and {} running tasks cancelled; stored runs stay\n", out, queued, running);
  }
};

struct SlurmTaskCommand {
  std::string folder;
  std::size_t index = 0;

  void add_to(CLI::App& command) {
    command.group("");
    command.add_option("folder", folder, "OUT/slurm/NAME")->required()->type_name("DIR");
    command.add_option("index", index, "number of the task")->required();
  }

  void execute() const {
    ProgressPrinter progress(false);
    Hooks hooks = progress.hooks();
    hooks.on_sample = nullptr;
    stop_cleanly_on_interrupt();
    const SweepResult result = do_slurm_task(folder, index, hooks);
    if (result.interrupted) spdlog::warn("stopped by Slurm: cancelled, pre-empted or out of time");
    if (result.interrupted || result.failed + result.unsubmitted > 0) throw ExitStatus{1};
  }
};

}  // namespace

void add_job_commands(CLI::App& app) {
  add_command<StatusCommand>(app, "status", "Show which runs wait, run, are done and failed, and why");
  add_command<CancelCommand>(app, "cancel", "End the jobs of a folder that wait or run");
  add_command<SlurmTaskCommand>(app, "slurm-task",
                                "Do one task of a job that `run --launcher slurm` submitted");
}

}  // namespace proxbench
