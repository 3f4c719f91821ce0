#include "experiments/sweep/slurm/slurm_task.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"
#include "experiments/run/plugins.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/cache.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/slurm/slurm_jobs.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Another holder of the lock has it for moments; a run that took a day waits for it as long as it takes.
constexpr double kForAsLongAsItTakes = 1e9;

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// How a task ended, as its end.json says.
struct TaskEnd {
  bool failed = false;
  std::string status = "done", reason = "";
};

class TaskRunner {
 public:
  TaskRunner(const fs::path& folder, int index, const SweepHooks& hooks)
      : out_(folder.parent_path().parent_path()),
        slurm_(folder.parent_path()),
        files_(folder, index),
        hooks_(hooks),
        node_(environment_text("SLURMD_NODENAME")) {}

  bool run() {
    // What an earlier try left: this one starts clean.
    for (const fs::path& old : {files_.end, files_.work, files_.facts}) fs::remove_all(old);
    where_ = {{"job", environment_text("SLURM_ARRAY_JOB_ID") + "_" + environment_text("SLURM_ARRAY_TASK_ID")},
              {"node", node_},
              {"partition", environment_text("SLURM_JOB_PARTITION")},
              {"restarts", environment_text("SLURM_RESTART_COUNT")}};
    Json begin = where_;
    begin["time"] = provenance().time;
    write_json(files_.begin, begin);
    TaskEnd end;
    try {
      end = do_task();
    } catch (const std::exception& error) {
      end = {true, "failed", error.what()};
    }
    if (end.failed) hooks_.warn(fmt::format("{}: {}", end.status, end.reason));
    write_json(files_.end,
               {{"failed", end.failed}, {"status", end.status}, {"reason", end.reason}, {"node", node_}});
    return !end.failed;
  }

 private:
  TaskEnd do_task() {
    const SlurmTask task = SlurmTask::from(json_of(files_.job));
    for (const std::string& plugin : task.data_job.plugins) load_plugin(plugin);
    ProcessRules rules(task.rules);
    where_.get_to(rules.slurm);
    const std::vector<int> cpus = usable_cpus();
    // Where Slurm does not bind jobs to their CPUs, nobody knows which of the node's are this job's.
    std::int64_t given = 0;
    if (!task.exclusive && parse_integer(environment_text("SLURM_CPUS_ON_NODE"), given) &&
        static_cast<std::size_t>(given) < cpus.size())
      rules.pin = false;
    ProblemRunner runner(out_, rules, cpus, hooks_);
    if (const std::string other = difference(task); !other.empty())
      return refuse(runner, task, "failed", other);
    return task.problem ? do_problem(runner, task) : do_run(runner, task);
  }

  /// What makes this node another than the one where the sweep was planned; empty: nothing.
  std::string difference(const SlurmTask& task) const {
    const RunParameters& job = task.data_job;
    if (program_digest(worker_program(), job.plugins) != task.program_digest)
      return fmt::format("{}: node {} has another build or other plug-ins than {}", worker_program().string(),
                         node_, task.submit_host);
    if (source_digest(job.format, job.oracle, job.files, job.data_options) != task.source_digest)
      return fmt::format("data set {}: the files have other bytes on node {} than on {}: {}", job.dataset,
                         node_, task.submit_host, fmt::join(job.files.train, ", "));
    return "";
  }

  /// Ends all runs of the task without starting them.
  TaskEnd refuse(const ProblemRunner& runner, const SlurmTask& task, const std::string& status,
                 const std::string& reason) {
    for (const Run& run : task.runs) {
      fs::remove_all(files_.work);
      make_folder(files_.work);
      runner.skip(run, files_.work, status, reason);
      place(run);
    }
    return {true, status, reason};
  }

  TaskEnd do_problem(ProblemRunner& runner, const SlurmTask& task) {
    const double begin = wall_seconds();
    make_folder(files_.work);
    runner.describe(task.data_job, files_.work);
    runner.shorten(wall_seconds() - begin);
    Run facts;
    facts.result = runner.facts();
    if (hooks_.stop()) return stopped();
    if (!facts.result.reason.empty())
      return refuse(runner, task, runner.skipped_status(), facts.result.reason);
    write_record(files_.facts, facts);
    if (!task.reference || (!task.force && runner.find_reference(task.reference->parameters))) return {};
    make_folder(files_.work);
    const std::optional<Run> made = runner.make_reference(*task.reference, files_.work);
    if (hooks_.stop()) return stopped();
    if (!made)
      return refuse(runner, task, "skipped(the reference failed)", runner.reference_problem());
    const OutLock lock(out_, kForAsLongAsItTakes);
    write_record(runner.reference_file_of(made->parameters), *made);
    return {};
  }

  TaskEnd do_run(ProblemRunner& runner, const SlurmTask& task) {
    const Run& run = task.runs.front();
    const RunParameters& job = run.parameters;
    if (!task.force && is_stored(run)) return {};
    runner.set_facts(read_record(slurm_ / task.facts).result);
    if (!run.is_path() && !runner.find_reference(job))
      throw Error(runner.reference_file_of(job).string() + ": no f* that serves");
    make_folder(files_.work);
    Run ended;
    if (const std::string unmet = runner.unmet(job); !unmet.empty()) {
      ended = runner.skip(run, files_.work, kDoesNotFit, unmet);
    } else {
      for (const std::string& hazard : timing_hazards(job.threads, 1)) hooks_.warn("timings: " + hazard);
      const ProblemRunner::Running running = runner.start(run, files_.work, 0);
      while (!running.child->watch(ProblemRunner::kSlice, hooks_.stop())) {
      }
      ended = runner.finish(running);
    }
    const bool interrupted = ended.result.status == Status::kInterrupted;
    if (interrupted && is_complete(run))
      fs::remove_all(files_.work);  // what is there says more
    else
      place(run);
    if (interrupted) return stopped();
    return {failed_run(ended), ended.status(), ended.result.reason};
  }

  static TaskEnd stopped() {
    return {true, "interrupted", "stopped by Slurm: cancelled, pre-empted or out of time"};
  }

  fs::path manifest_of(const Run& run) const {
    return out_ / "runs" / run.parameters.name / kManifestFile;
  }
  bool is_complete(const Run& run) const {
    return fs::exists(manifest_of(run)) && !read_record(manifest_of(run)).failed();
  }
  /// By an earlier try of this task.
  bool is_stored(const Run& run) const {
    return is_complete(run) && read_record(manifest_of(run)).key.digest == run.key.digest;
  }

  void place(const Run& run) const {
    const OutLock lock(out_, kForAsLongAsItTakes);
    // Another sweep may have put the complete folder in its place already.
    if (fs::exists(files_.work)) publish(files_.work, out_ / "runs" / run.parameters.name);
  }

  fs::path out_, slurm_;
  TaskFiles files_;
  const SweepHooks& hooks_;
  std::string node_;
  Json where_;
};

}  // namespace

Json SlurmTask::to_json() const {
  Run data;
  data.parameters = data_job;
  Json json{{"problem", problem},
            {"rules", rules},
            {"exclusive", exclusive},
            {"force", force},
            {"source_digest", source_digest},
            {"program_digest", program_digest},
            {"submit_host", submit_host},
            {"data_job", run_json(data)},
            {"reference", reference ? run_json(*reference) : Json()},
            {"runs", Json::array()},
            {"facts", facts.string()}};
  for (const Run& run : runs) json["runs"].push_back(run_json(run));
  return json;
}

SlurmTask SlurmTask::from(const Json& json) {
  SlurmTask task{.problem = json.at("problem"),
                 .rules = json.at("rules"),
                 .exclusive = json.at("exclusive"),
                 .force = json.at("force"),
                 .source_digest = json.at("source_digest"),
                 .program_digest = json.at("program_digest"),
                 .submit_host = json.at("submit_host"),
                 .data_job = run_from(json.at("data_job"), "task").parameters,
                 .reference = std::nullopt,
                 .runs = {},
                 .facts = json.at("facts").get<std::string>()};
  if (!json.at("reference").is_null()) task.reference = run_from(json.at("reference"), "task");
  for (const Json& run : json.at("runs")) task.runs.push_back(run_from(run, "task"));
  return task;
}

bool do_slurm_task(const fs::path& batch_folder, int index, const SweepHooks& hooks) {
  return TaskRunner(fs::canonical(batch_folder), index, hooks).run();
}

}  // namespace proxbench
