/// `status`: shows the states of a folder's runs.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/results/results.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace {

constexpr const char* kResults = "results of `proxbench run`";

/// The state of a run.
struct RunState {
  std::string state;          ///< one of kStates
  fs::path log = {};          ///< of a stored run
  std::string job = "";       ///< "12_3"
  std::string reason = "";    ///< why the run waits, failed or is missing
  std::string node = "";      ///< the machine that made or makes the run
  std::string revision = "";  ///< of the proxbench that made a stored run

  bool ended() const { return state == "done" || state == "skipped"; }
};

/// Returns the state of a run by its record.
RunState stored_state(const fs::path& folder) {
  RunState out{.state = "failed", .log = folder / "log.txt"};
  if (const std::optional<Run> run = find_record(folder / kManifestFile, out.reason)) {
    out.node = run->provenance.machine;
    out.revision = run->provenance.git_revision;
    out.state = !run->failed()                               ? "done"
                : !failed_run(*run)                          ? "skipped"
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
/// The last line names the other states only if there are such runs.
constexpr std::size_t kAlwaysShown = 4;

/// The runs that OUT/config.ini asks for, and the tasks of its problems in the queue.
struct Plan {
  std::vector<RunParameters> runs = {};
  std::vector<std::string> problems = {};
  std::string job_name = "";  ///< empty: no cluster works here
  std::map<std::size_t, QueuedTask> queued = {};
  std::string no_answer = "";  ///< why the queue is not known
};

/// Warns if the config or the queue cannot be read.
Plan plan_of(const fs::path& out) {
  Plan plan;
  try {
    const ExperimentConfig config = load_config(out / "config.ini", {}, require_plugin, false);
    plan.runs = plan_runs(config);
    plan.problems = problem_names(plan.runs);
    if (fs::exists(out / "slurm")) plan.job_name = job_name(config, out);
  } catch (const Error& error) {
    spdlog::warn("which runs are missing is not known: {}", error.what());
  }
  try {
    if (!plan.job_name.empty()) plan.queued = queued_tasks(plan.job_name);
  } catch (const Error& error) {
    plan.no_answer = error.what();
    spdlog::warn("{}: the states below come from stored runs only", plan.no_answer);
  }
  return plan;
}

/// Returns what the last task of a problem printed at its end, or "" if it had none.
std::string end_of_task(const fs::path& out, const Plan& plan, std::size_t number) {
  const std::vector<std::string> line =
      last_lines(text_of(task_log(out, plan.job_name, std::to_string(number))), 1);
  return plan.job_name.empty() || line.empty() ? "" : "its task ended after: " + line.front();
}

RunState queued_state(const QueuedTask& task, bool made_now) {
  const bool pending = task.state == "PENDING";
  return {.state = made_now ? "running" : "queued",
          .job = task.job,
          .reason = made_now  ? ""
                    : pending ? task.reason
                              : "waits for its turn in its job",
          .node = task.node};
}

/// Returns the state of a run of the plan that is not stored and not queued. It has a temporary folder while
/// it is made, and if its sweep was killed.
RunState unstored_state(bool unfinished, bool made_now) {
  if (!unfinished) return {.state = "missing"};
  if (made_now) return {.state = "running"};
  return {.state = "interrupted", .reason = "its sweep was killed; the next one makes it again"};
}

/// Sets the states of the plan's runs that are made, wait or are missing.
void add_planned(const fs::path& out, const Plan& plan, std::map<std::string, RunState>& states) {
  const std::set<std::string> unfinished = unfinished_runs(out);
  for (const RunParameters& run : plan.runs) {
    const std::string problem = problem_name(run);
    const auto number =
        static_cast<std::size_t>(std::ranges::find(plan.problems, problem) - plan.problems.begin());
    const auto task = plan.queued.find(number);
    const bool waits = task != plan.queued.end(), is_stored = states.contains(run.name),
               begun = unfinished.contains(run.name),
               made_now = begun && OutLock::is_held(out, OutLock::problem(problem));
    RunState& state = states[run.name];
    if (waits && (made_now || !is_stored || (task->second.state == "PENDING" && !state.ended())))
      state = queued_state(task->second, made_now);
    else if (made_now || !is_stored)
      state = unstored_state(begun, made_now);
    if (!waits && (state.state == "missing" || state.state == "interrupted"))
      if (const std::string end = end_of_task(out, plan, number); !end.empty())
        state.reason += (state.reason.empty() ? "" : "; ") + end;
  }
}

struct StatusCommand {
  std::string out;
  bool all = false;
  JsonFlag json;

  void add_to(CLI::App& command) {
    command.add_option("dir", out, kResults)->required()->type_name("DIR");
    command.add_flag("--all", all, "show what is done, too");
    json.add_to(command);
  }

  void execute() const {
    if (!fs::is_directory(fs::path(out) / "runs"))
      throw Error(fmt::format("{}: found no folder 'runs', expected the {}", out, kResults));
    const Plan plan = plan_of(out);
    const std::string revision = provenance().git_revision;
    std::vector<std::string> others;
    std::map<std::string, RunState> states;
    for (const fs::path& folder : run_folders(out)) {
      const std::string name = folder.filename().string();
      const RunState& run = states[name] = stored_state(folder);
      if (!run.revision.empty() && run.revision != revision) others.push_back(name);
    }
    add_planned(out, plan, states);
    Json tasks = Json::array();
    std::map<std::string, std::size_t> counts;
    std::string text;
    for (const auto& [name, run] : states) {
      ++counts[run.state];
      std::vector<std::string> log;
      if (run.state == "failed" || run.state == "skipped") log = last_lines(text_of(run.log), 3);
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
      if (const std::size_t count = counts[kStates[i]]; count > 0 || i < kAlwaysShown)
        parts.push_back(fmt::format("{} {}", count, kStates[i]));
    if (prints()) fmt::print("{}{}\n", text, joined(parts));
    Json summary{{"out", out}, {"slurm", plan.no_answer.empty() ? Json() : Json(plan.no_answer)}};
    for (const char* state : kStates) summary[state] = counts[state];
    summary["other_revision"] = others;
    summary["tasks"] = tasks;
    json.write(summary);
  }
};

}  // namespace

void add_status_command(CLI::App& app) {
  add_command<StatusCommand>(app, "status",
                             "Show which runs wait, run, are done, failed, interrupted or missing, and why");
}

}  // namespace proxbench
