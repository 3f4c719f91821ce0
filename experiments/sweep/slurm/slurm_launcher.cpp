#include "experiments/sweep/slurm/slurm_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/files.h"
#include "experiments/config/slurm_time.h"
#include "experiments/results/results.h"
#include "experiments/run/plugins.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/slurm/slurm_task.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Seconds between two looks at the queue and at stored runs, more and more while nothing ends; and how soon
/// a Ctrl-C is seen.
constexpr double kLookFirst = 0.5, kLookLast = 30.0, kLookGrowth = 1.5, kStopSlice = 0.2;
/// For a lock that another process holds.
constexpr double kLockPatience = 300.0;
/// MiB that a job has beyond the private memory of its process.
constexpr double kOwnMemory = 256.0;

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

class SlurmSweep {
 public:
  /// `jobs`: as they were before the sweep looked at what is stored.
  SlurmSweep(const SweepWork& work, SweepResult& result, SubmittedJobs jobs)
      : work_(work),
        result_(result),
        hooks_(work.hooks),
        out_(fs::canonical(work.out)),
        jobs_(std::move(jobs)) {
    for (const SweepProblem& problem : work.problems) add_tasks(problem);
    for (const Asked& asked : asked_) {
      if (!asked.needed) continue;
      for (const std::string& run : asked.task.runs) awaited_[run] = &asked;
      if (asked.task.runs.empty()) awaited_["reference " + asked.task.problem] = &asked;
    }
  }

  void run() {
    if (awaited_.empty() && text_of(out_ / "config.ini") == work_.config.to_ini()) return;
    if (!jobs_.queue)
      throw Error(
          fmt::format("Slurm does not answer ({}), and jobs of {} may be in its queue; nothing was submitted",
                      jobs_.no_answer, work_.out.string()));
    note_live();
    if (left() > 0) check_limits();
    if (left() > 0 && live_.empty()) clear();
    submit();
    if (!awaited_.empty())
      hooks_.tell(fmt::format("{} runs wait in the queue or are running", awaited_.size() - left()));
    if (left() > 0)
      hooks_.warn(
          fmt::format("{}: {} runs were not submitted{}", why_unsubmitted_, left(),
                      work_.options.wait ? " yet" : "; the same command submits them when there is room"));
    if (work_.options.wait) wait();
    result_.unsubmitted = left();
    result_.outstanding = awaited_.size() - ended_.size() - left();
  }

 private:
  /// A task, as this sweep asks for it.
  struct Asked {
    SlurmTask task;
    double seconds;          ///< the sum of its limits; infinite where one has none
    bool needed;             ///< something of it is missing
    std::string waits_for;   ///< name of the task that finds its f*; empty: it needs none
    bool submitted = false;  ///< by this process or an earlier one
  };

  void add_tasks(const SweepProblem& problem) {
    if (work_.config.slurm.split == "problem") return add_task(problem, "", "");
    const bool reference = problem.lacks_reference || (work_.options.force && !problem.no_reference);
    if (reference) add_task(problem, "", "");
    for (const SolverConfig& solver : work_.config.solvers)
      add_task(problem, solver.label, reference ? problem.name : "");
  }

  void add_task(SweepProblem share, const std::string& solver, const std::string& waits_for) {
    restrict_to(share, solver, work_.config.slurm);
    SlurmTask task{.problem = share.name, .solver = solver, .key = task_key(share), .runs = {}};
    double seconds = kJobMargin + kReadingData;
    const auto add = [&](const RunParameters& job) {
      const JobLimits limits = ProcessRules(work_.config).limits(job.time_limit);
      seconds += limits.wall > 0 ? limits.wall + limits.grace : std::numeric_limits<double>::infinity();
    };
    const bool finds_reference = !share.no_reference && share.may_make_reference;
    if (finds_reference) add(work_.reference_of(share).parameters);
    for (const CellState* state : share.missing) {
      add(state->run.parameters);
      task.runs.push_back(state->run.parameters.name);
    }
    const bool needed = !share.missing.empty() || (share.lacks_reference && finds_reference);
    asked_.push_back({std::move(task), seconds, needed, waits_for});
  }

  /// How much of this sweep is in no queue.
  std::size_t left() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(awaited_, [](const auto& one) { return !one.second->submitted; }));
  }

  /// Which tasks are in the queue. Throws Error where one of them would make something else with the config
  /// of this sweep.
  void note_live() {
    live_.clear();
    std::vector<std::string> others;
    for (const SlurmArray& array : jobs_.arrays)
      for (std::size_t index = 0; index < array.tasks.size(); ++index) {
        const QueuedTask* queued = jobs_.find(array, index);
        if (queued == nullptr || !queued->live()) continue;
        const SlurmTask& task = array.tasks[index];
        const std::string job = fmt::format("{}_{}", queued->job, index);
        live_[task.name()] = job;
        const auto same = std::ranges::find_if(asked_, [&](const Asked& asked) {
          return asked.task.name() == task.name() && asked.task.key == task.key;
        });
        if (same == asked_.end())
          others.push_back(fmt::format("{} ({})", task.name(), job));
        else
          same->submitted = true;
      }
    if (!others.empty())
      throw Error(
          fmt::format("in the queue with another config, data or build: {}; `proxbench cancel {}` ends them",
                      fmt::join(others, ", "), work_.out.string()));
  }

  /// Removes what earlier jobs have left, at once for those who read it without the lock.
  void clear() {
    const fs::path removed = out_ / fmt::format(".slurm-{}", getpid());
    if (fs::exists(out_ / "slurm")) fs::rename(out_ / "slurm", removed);
    fs::remove_all(removed);
    jobs_.arrays.clear();
  }

  JobRequest request(double seconds) const {
    const ExperimentConfig& config = work_.config;
    const int threads = resolved_threads(config.threads) * config.processes;
    return {.cpus = config.slurm.cpus > 0 ? config.slurm.cpus : threads,
            .seconds = slurm_seconds(config.slurm.time).value_or(std::isinf(seconds) ? 0.0 : seconds),
            .memory_mib = config.memory_limit > 0 ? config.memory_limit + kOwnMemory : 0.0,
            .exclusive = config.whole_nodes()};
  }

  void check_limits() const {
    const SlurmConfig& slurm = work_.config.slurm;
    const double own = work_.config.kill_grace + kJobMargin;
    if (const auto seconds = slurm_seconds(slurm.time); seconds && *seconds <= own)
      throw Error::usage(
          fmt::format("[slurm] time: found {}, expected more than the {:g} s of kill_grace and the {:g} s "
                      "that a job takes to begin and to store its runs",
                      slurm.time, work_.config.kill_grace, kJobMargin));
    double longest = 0.0;
    for (const Asked& asked : asked_)
      if (asked.needed && !asked.submitted) longest = std::max(longest, asked.seconds);
    check_request(slurm, request(longest));
  }

  /// Submits what has a place in the queue: an array of what finds f* or needs none, then for each f* an
  /// array of what waits for it.
  void submit() {
    work_.write_config();
    std::map<std::string, std::vector<Asked*>> arrays;
    for (Asked& asked : asked_)
      if (asked.needed && !asked.submitted) arrays[asked.waits_for].push_back(&asked);
    for (const auto& [reference, tasks] : arrays)
      if (!submit_all(tasks, live_.contains(reference) ? live_.at(reference) : "")) break;
  }

  /// As arrays as large as may be. False where not all found a place.
  bool submit_all(std::vector<Asked*> tasks, const std::string& waits_for_job) {
    std::size_t most = tasks.size();
    while (!tasks.empty() && !hooks_.stop()) {
      const auto end = tasks.begin() + static_cast<std::ptrdiff_t>(std::min(most, tasks.size()));
      const std::vector<Asked*> some(tasks.begin(), end);
      const Submission submission = submit_array(some, waits_for_job);
      if (submission.outcome == Submission::Outcome::kAccepted) {
        for (std::size_t i = 0; i < some.size(); ++i) {
          some[i]->submitted = true;
          live_[some[i]->task.name()] = fmt::format("{}_{}", submission.job, i);
        }
        tasks.erase(tasks.begin(), end);
        continue;
      }
      const bool full = submission.outcome == Submission::Outcome::kFull;
      why_unsubmitted_ = full ? "the queue is full" : "Slurm does not answer";
      if (!full || some.size() == 1) break;
      most = some.size() / 2;  // there may be room for fewer
    }
    return tasks.empty();
  }

  /// Throws Error where it is refused. Only without an answer the folder stays behind, since the array may be
  /// in the queue.
  Submission submit_array(const std::vector<Asked*>& tasks, const std::string& waits_for_job) {
    make_folder(out_ / "slurm");
    const auto number = std::distance(fs::directory_iterator(out_ / "slurm"), fs::directory_iterator());
    SlurmArray array{.folder = out_ / "slurm" /
                               fmt::format("proxbench-{:06}-{:08x}-{}", number, std::random_device{}(),
                                           file_name_part(work_.config.name)),
                     .force = work_.options.force,
                     .tasks = {}};
    double seconds = 0.0;
    for (const Asked* asked : tasks) {
      array.tasks.push_back(asked->task);
      seconds = std::max(seconds, asked->seconds);
    }
    make_folder(array.folder);
    write_file_atomically(array.folder / "script", script_of(array));
    array.write();
    // A node without these folders must not fail before the script can say so.
    std::vector<std::string> arguments{"--job-name=" + array.name(), "--output=/dev/null", "--chdir=/",
                                       "--requeue", fmt::format("--array=0-{}", tasks.size() - 1)};
    for (std::string& argument : request(seconds).arguments(work_.config.slurm))
      arguments.push_back(std::move(argument));
    if (!waits_for_job.empty()) arguments.push_back("--dependency=afterany:" + waits_for_job);
    arguments.push_back((array.folder / "script").string());
    const Submission submission = submit_job(arguments);
    using enum Submission::Outcome;
    if (submission.outcome == kAccepted) jobs_.arrays.push_back(array);
    if (submission.outcome == kFull || submission.outcome == kRefused) fs::remove_all(array.folder);
    if (submission.outcome == kRefused)
      throw Error(
          fmt::format("sbatch: {}{}", submission.text, live_.empty() ? "; nothing was submitted" : ""));
    return submission;
  }

  /// Works where this process does, for the relative names of data files.
  static std::string script_of(const SlurmArray& array) {
    std::string program = shell_quoted((worker_program().parent_path() / "proxbench").string());
    for (const LoadedPlugin& plugin : loaded_plugins())
      program += " --plugin " + shell_quoted(plugin.file.string());
    return fmt::format(
        "#!/bin/sh\n"
        "exec >{0}/\"$SLURM_ARRAY_TASK_ID\".log 2>&1\n"
        "cd {1}\n"
        "export PROXBENCH_ISA={2}\n"
        "exec {3} slurm-task {0} \"$SLURM_ARRAY_TASK_ID\"\n",
        shell_quoted(array.folder.string()), shell_quoted(fs::current_path().string()),
        instruction_set_name(instruction_set()), program);
  }

  void wait() {
    double interval = kLookFirst;
    bool answers = true;
    work_.lock.release();
    while (!hooks_.stop()) {
      jobs_ = submitted_jobs(out_);
      if (jobs_.queue.has_value() != answers) {
        answers = !answers;
        hooks_.warn(
            answers ? "Slurm answers again"
                    : fmt::format("Slurm does not answer ({}); the jobs go on, and stored runs tell of them",
                                  jobs_.no_answer));
      }
      if (answers && left() > 0) submit_rest();
      const std::size_t before = ended_.size();
      report();
      if (ended_.size() == awaited_.size()) break;
      interval = ended_.size() > before ? kLookFirst : std::min(interval * kLookGrowth, kLookLast);
      for (const double begin = wall_seconds(); wall_seconds() < begin + interval && !hooks_.stop();)
        std::this_thread::sleep_for(std::chrono::duration<double>(kStopSlice));
    }
    work_.lock.take(kLockPatience);
  }

  /// Another sweep may have submitted some of it since.
  void submit_rest() {
    work_.lock.take(kLockPatience);
    jobs_ = submitted_jobs(out_);
    if (jobs_.queue) {
      note_live();
      submit();
      jobs_ = submitted_jobs(out_);
    }
    work_.lock.release();
  }

  /// Tells of runs that have ended since the last call.
  void report() {
    const std::map<std::string, OpenRun> open = open_runs(out_, jobs_);
    for (const auto& [name, asked] : awaited_) {
      if (!asked->submitted) continue;
      const auto found = open.find(name);
      const bool ended = found == open.end() || !found->second.live();
      if (ended && ended_.insert(name).second)
        tell_end(name, found == open.end() ? "" : found->second.reason);
    }
  }

  /// `reason`: why the run was not made; empty: it was.
  void tell_end(const std::string& name, std::string reason) {
    const auto state =
        std::ranges::find(work_.states, name, [](const CellState& one) { return one.run.parameters.name; });
    if (state == work_.states.end()) {  // a reference
      if (!reason.empty()) hooks_.warn(fmt::format("{}: {}", name, reason));
      return;
    }
    ++result_.done;
    std::string problem;
    const std::optional<Run> run = find_record(out_ / "runs" / name / kManifestFile, problem);
    const bool stored = run && run->key.digest == state->run.key.digest;
    if (!stored && reason.empty()) reason = "another sweep has cleared the folder of its jobs";
    if (!stored || failed_run(*run)) ++result_.failed;
    if (!reason.empty() && !(stored && !failed_run(*run)))
      return hooks_.warn(fmt::format("{}: failed: {}", name, reason));
    const auto node = run->provenance.slurm.find("node");
    hooks_.tell(fmt::format("[{}/{}] {}: {}{}", ended_.size(), awaited_.size(), name, run->status(),
                            node == run->provenance.slurm.end() ? "" : " on " + node->second));
    std::optional<Run> reference;
    if (!run->is_path() && !run->result.data_digest.empty())  // a run that was skipped may know no data
      reference = find_record(reference_file(out_, run->result.data_digest, run->parameters), problem);
    for (const std::string& warning : run_warnings(*run, reference)) hooks_.warn(warning);
  }

  const SweepWork& work_;
  SweepResult& result_;
  const SweepHooks& hooks_;
  fs::path out_;
  std::vector<Asked> asked_;
  SubmittedJobs jobs_;
  std::map<std::string, std::string> live_;      ///< jobs of the tasks in the queue, by name: "12_3"
  std::map<std::string, const Asked*> awaited_;  ///< missing runs, or "reference PROBLEM", and their tasks
  std::set<std::string> ended_;                  ///< of these
  std::string why_unsubmitted_;
};

class SlurmLauncher : public Launcher {
 public:
  void prepare(const SweepWork& work) override {
    if (work.options.jobs != 1)
      throw Error::usage(
          fmt::format("--jobs {}: expected 1, or --launcher local: Slurm decides how many jobs run at a time",
                      work.options.jobs));
    jobs_ = submitted_jobs(work.out);
    // While a task is at work it recovers what is its own.
    if (OutLock problems(work.out, OutLock::kAllProblems); problems.try_take()) recover(work.out);
  }
  void launch(const SweepWork& work, SweepResult& result) override { SlurmSweep(work, result, jobs_).run(); }

 private:
  SubmittedJobs jobs_;
};

}  // namespace

LauncherInfo slurm_launcher_info() {
  return {"slurm", "jobs of a Slurm cluster", kLockPatience,
          []() -> std::unique_ptr<Launcher> { return std::make_unique<SlurmLauncher>(); }};
}

}  // namespace proxbench
