/// `status` and `cancel`: show the state of a folder's runs and jobs, and end its jobs. `slurm-task`: the
/// command that each task of an array runs on its node.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <fstream>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/results/results.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm/slurm_jobs.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace {

/// The last lines of a log.
std::vector<std::string> end_of(const std::filesystem::path& log) {
  constexpr std::size_t kLines = 3;
  std::vector<std::string> lines;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
    if (lines.size() > kLines) lines.erase(lines.begin());
  }
  return lines;
}

/// Returns the state of a run by its record.
RunState stored_state(const std::filesystem::path& folder) {
  RunState out{.state = "failed", .log = folder / "log.txt"};
  if (const std::optional<Run> run = find_record(folder / kManifestFile, out.reason)) {
    out.node = run->provenance.machine;
    out.revision = run->provenance.git_revision;
    out.state = !run->failed()                               ? "done"
                : is_skipped(*run)                           ? "skipped"
                : run->result.status == Status::kInterrupted ? "interrupted"
                                                             : "failed";
    const std::string& why = run->result.reason;
    out.reason = !run->failed() ? "" : why.empty() ? run->status() : run->status() + ": " + why;
  }
  return out;
}

std::string text_of_state(const std::string& name, const RunState& run, const std::vector<std::string>& log) {
  std::string out = fmt::format("{:<7} {}", run.state, name);
  if (!run.job.empty()) out += "  job " + run.job;
  if (!run.node.empty()) out += "  on " + run.node;
  if (!run.reason.empty()) out += "  " + run.reason;
  out += '\n';
  for (const std::string& line : log) out += "          | " + line + '\n';
  return out;
}

constexpr std::array kStates{"queued", "running", "done", "failed", "skipped", "interrupted", "missing"};
/// The last line tells the other states only if there are such runs.
constexpr std::size_t kAlwaysTold = 4;

/// Returns the names of the runs that OUT/config.ini asks for. Returns none, and warns, if this is not known.
std::vector<std::string> planned_runs(const std::filesystem::path& out) {
  std::vector<std::string> names;
  try {
    for (const RunParameters& run : plan_runs(load_config_without_data(out / "config.ini"), out))
      names.push_back(run.name);
  } catch (const Error& error) {
    spdlog::warn("which runs are missing is not known: {}", error.what());
  }
  return names;
}

/// Returns the state of a run of the plan that is not stored: a temporary folder is that of a running sweep,
/// or was left by one that was killed.
RunState unstored_state(const std::set<std::string>& unfinished, const std::string& name, bool at_work) {
  if (!unfinished.contains(name)) return {.state = "missing", .log = {}};
  if (at_work) return {.state = "running", .log = {}};
  return {.state = "interrupted", .log = {}, .reason = "its sweep was killed; the next one makes it again"};
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
    if (!jobs.no_answer.empty())
      spdlog::warn("Slurm does not answer ({}): the states below come from stored runs only", jobs.no_answer);
    const std::string revision = provenance().git_revision;
    std::vector<std::string> others;
    std::map<std::string, RunState> states = open_runs(out, jobs);
    for (const std::filesystem::path& folder : run_folders(out)) {
      const std::string name = folder.filename().string();
      if (!states.contains(name)) states[name] = stored_state(folder);
      const RunState& run = states[name];
      if (!run.revision.empty() && run.revision != revision) others.push_back(name);
    }
    const std::set<std::string> unfinished = unfinished_runs(out);
    const bool at_work = OutLock::is_held(out, OutLock::kAllProblems);
    for (const std::string& name : planned_runs(out))
      if (!states.contains(name) || (jobs.tasks.empty() && at_work && unfinished.contains(name)))
        states[name] = unstored_state(unfinished, name, at_work);
    Json tasks = Json::array();
    std::map<std::string, std::size_t> counts;
    std::string text;
    for (const auto& [name, run] : states) {
      ++counts[run.state];
      std::vector<std::string> log;
      if (run.state == "failed" || run.state == "skipped") log = end_of(run.log);
      tasks.push_back({{"name", name},
                       {"state", run.state},
                       {"job", run.job},
                       {"node", run.node},
                       {"reason", run.reason},
                       {"log", joined(log, "\n")}});
      if (run.state != "done" || all) text += text_of_state(name, run, log);
    }
    if (!others.empty())
      text += fmt::format("of another revision of proxbench than {}: {}\n", revision, joined(others));
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < kStates.size(); ++i)
      if (const std::size_t count = counts[kStates[i]]; count > 0 || i < kAlwaysTold)
        parts.push_back(fmt::format("{} {}", count, kStates[i]));
    if (prints()) fmt::print("{}{}\n", text, joined(parts));
    Json summary{{"out", out}, {"slurm", jobs.no_answer.empty() ? Json() : Json(jobs.no_answer)}};
    for (const char* state : kStates) summary[state] = counts[state];
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
    constexpr double kPatience = 60.0;  // seconds; a sweep holds the lock while it submits jobs
    const OutLock lock(out, kPatience);
    const SubmittedJobs jobs = submitted_jobs(out);
    if (!jobs.no_answer.empty()) throw Error(jobs.no_answer);
    std::size_t queued = 0, running = 0;
    for (const SlurmTask& task : jobs.tasks)
      if (task.live()) ++(task.queued->state == "PENDING" ? queued : running);
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
  add_command<StatusCommand>(app, "status",
                             "Show which runs wait, run, are done, failed, interrupted or missing, and why");
  add_command<CancelCommand>(app, "cancel", "End the jobs of a folder that wait or run");
  add_command<SlurmTaskCommand>(app, "slurm-task",
                                "Do one task of a job that `run --launcher slurm` submitted");
}

}  // namespace proxbench
