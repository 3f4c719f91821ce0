#include "experiments/sweep/slurm/slurm_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <thread>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/files.h"
#include "experiments/config/slurm_time.h"
#include "experiments/results/results.h"
#include "experiments/run/plugins.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/provenance.h"
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

/// What a task runs. Works where this process does, for the relative names of data files.
std::string script_of(const fs::path& array_folder) {
  std::string program = shell_word((worker_program().parent_path() / "proxbench").string());
  for (const LoadedPlugin& plugin : loaded_plugins())
    program += " --plugin " + shell_word(plugin.file.string());
  return fmt::format(
      "#!/bin/sh\n"
      "exec >{0}/\"$SLURM_ARRAY_TASK_ID\".log 2>&1\n"
      "cd {1}\n"
      "export PROXBENCH_ISA={2}\n"
      "exec {3} slurm-task {0} \"$SLURM_ARRAY_TASK_ID\"\n",
      shell_word(array_folder.string()), shell_word(fs::current_path().string()),
      instruction_set_name(instruction_set()), program);
}

class SlurmSweep {
 public:
  /// `jobs`: as they were before the sweep looked at what is stored.
  SlurmSweep(Sweep& sweep, SweepResult& result, SubmittedJobs jobs)
      : sweep_(sweep),
        config_(sweep.config),
        hooks_(sweep.hooks),
        result_(result),
        out_(fs::canonical(sweep.out)),
        jobs_(std::move(jobs)) {
    for (const SweepProblem& problem : sweep.problems) add_tasks(problem);
    all_ = left();
  }

  void run() {
    if (left() == 0 && text_of(out_ / "config.ini") == config_.to_ini()) return;
    if (!jobs_.queue)
      throw Error(
          fmt::format("Slurm does not answer ({}), and jobs of {} may be in its queue; nothing was submitted",
                      jobs_.no_answer, sweep_.out.string()));
    note_live();
    if (left() > 0) check_limits();
    if (left() > 0 && live_.empty()) clear();
    submit();
    if (!waiting_.empty())
      hooks_.tell(fmt::format("{} runs wait in the queue or are running", waiting_.size()));
    if (left() > 0)
      hooks_.warn(
          fmt::format("{}: {} runs were not submitted{}", why_unsubmitted_, left(),
                      sweep_.options.wait ? " yet" : "; the same command submits them when there is room"));
    if (sweep_.options.wait) wait();
    result_.unsubmitted = left();
    result_.outstanding = waiting_.size();
  }

 private:
  /// A task, as this sweep asks for it; without runs where nothing of it is missing.
  struct Asked : SlurmTask {
    double seconds;          ///< the sum of its limits; infinite where one has none
    std::string waits_for;   ///< name of the task that finds its f*; empty: it needs none
    bool submitted = false;  ///< by this process or an earlier one

    bool wanted() const { return !runs.empty() && !submitted; }
  };

  void add_tasks(const SweepProblem& problem) {
    const bool whole = config_.slurm.split == "problem";
    if (whole || problem.lacks_reference) add_task(problem, "", "");
    if (whole) return;
    for (const SolverConfig& solver : config_.solvers)
      add_task(problem, solver.label, problem.lacks_reference ? problem.name : "");
  }

  void add_task(SweepProblem share, const std::string& solver, const std::string& waits_for) {
    restrict_to(share, solver, config_.slurm);
    Asked asked{{share.name, solver, task_key(share), sweep_.options.force, {}},
                kJobMargin + kReadingData,
                waits_for};
    const auto add = [&](const Run& run) {
      const JobLimits limits = job_limits(config_, run.parameters);
      asked.seconds += limits.wall > 0 ? limits.wall + limits.grace : kInfinity;
    };
    for (const Cell* cell : share.missing()) {
      add(cell->run);
      asked.runs[cell->name()] = cell->run.key.digest;
    }
    if (share.reference && share.may_make_reference) add(*share.reference);
    if (share.lacks_reference && asked.runs.empty()) asked.runs[asked.reference()] = "";
    asked_.push_back(std::move(asked));
  }

  /// How many runs of this sweep are in no queue.
  std::size_t left() const {
    std::size_t runs = 0;
    for (const Asked& asked : asked_)
      if (asked.wanted()) runs += asked.runs.size();
    return runs;
  }

  void note_submitted(Asked& asked, const std::string& job) {
    live_[asked.name()] = job;
    if (!asked.submitted) waiting_.insert(asked.runs.begin(), asked.runs.end());
    asked.submitted = true;
  }

  /// Which tasks are in the queue. Throws Error where one of them would make something else with the config
  /// of this sweep.
  void note_live() {
    live_.clear();
    std::vector<std::string> others;
    for (const SlurmTask& task : jobs_.tasks) {
      const QueuedTask* queued = jobs_.find(task);
      if (queued == nullptr || !queued->live()) continue;
      const auto same = std::ranges::find_if(
          asked_, [&](const Asked& asked) { return asked.name() == task.name() && asked.key == task.key; });
      if (same == asked_.end())
        others.push_back(fmt::format("{} ({})", task.name(), queued->id()));
      else
        note_submitted(*same, queued->id());
    }
    if (!others.empty())
      throw Error(
          fmt::format("in the queue with another config, data or build: {}; `proxbench cancel {}` ends them",
                      fmt::join(others, ", "), sweep_.out.string()));
  }

  /// Removes what earlier jobs have left, at once for those who read it without the lock.
  void clear() {
    const fs::path removed = out_ / fmt::format(".slurm-{}", getpid());
    if (fs::exists(out_ / "slurm")) fs::rename(out_ / "slurm", removed);
    fs::remove_all(removed);
    jobs_.tasks.clear();
  }

  JobRequest request(double seconds) const {
    const int threads = resolved_threads(config_.threads) * config_.processes;
    return {.cpus = config_.slurm.cpus > 0 ? config_.slurm.cpus : threads,
            .seconds = slurm_seconds(config_.slurm.time).value_or(std::isinf(seconds) ? 0.0 : seconds),
            .memory_mib = config_.memory_limit > 0 ? config_.memory_limit + kOwnMemory : 0.0,
            .exclusive = config_.whole_nodes()};
  }

  void check_limits() const {
    const double own = config_.kill_grace + kJobMargin;
    if (const auto seconds = slurm_seconds(config_.slurm.time); seconds && *seconds <= own)
      throw Error::usage(
          fmt::format("[slurm] time: found {}, expected more than the {:g} s of kill_grace and the {:g} s "
                      "that a job takes to begin and to store its runs",
                      config_.slurm.time, config_.kill_grace, kJobMargin));
    double longest = 0.0;
    for (const Asked& asked : asked_)
      if (asked.wanted()) longest = std::max(longest, asked.seconds);
    check_request(config_.slurm, request(longest));
  }

  /// Submits what has a place in the queue: an array of what finds f* or needs none, then for each f* an
  /// array of what waits for it.
  void submit() {
    sweep_.write_config();
    std::map<std::string, std::vector<Asked*>> arrays;
    for (Asked& asked : asked_)
      if (asked.wanted()) arrays[asked.waits_for].push_back(&asked);
    for (const auto& [reference, tasks] : arrays)
      if (!submit_all(tasks, live_.contains(reference) ? live_.at(reference) : "")) break;
  }

  /// As arrays as large as may be. False where not all found a place.
  bool submit_all(std::span<Asked* const> tasks, const std::string& waits_for_job) {
    std::size_t most = tasks.size();
    while (!tasks.empty() && !hooks_.stop()) {
      const std::span<Asked* const> some = tasks.first(std::min(most, tasks.size()));
      const Submission submission = submit_array(some, waits_for_job);
      if (submission.outcome == Submission::Outcome::kAccepted) {
        for (std::size_t i = 0; i < some.size(); ++i)
          note_submitted(*some[i], fmt::format("{}_{}", submission.job, i));
        tasks = tasks.subspan(some.size());
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
  Submission submit_array(std::span<Asked* const> tasks, const std::string& waits_for_job) {
    make_folder(out_ / "slurm");
    const auto number = std::distance(fs::directory_iterator(out_ / "slurm"), fs::directory_iterator());
    const std::string name = fmt::format("proxbench-{:06}-{:08x}-{}", number, std::random_device{}(),
                                         file_name_part(config_.name));
    const fs::path folder = out_ / "slurm" / name, script = folder / "script";
    double seconds = 0.0;
    nlohmann::ordered_json array;
    for (const Asked* asked : tasks) {
      array.push_back(static_cast<const SlurmTask&>(*asked));
      seconds = std::max(seconds, asked->seconds);
    }
    make_folder(folder);
    write_file_atomically(script, script_of(folder));
    write_json(folder / kArrayFile, array);
    std::vector<std::string> arguments = request(seconds).arguments(config_.slurm);
    if (!waits_for_job.empty()) arguments.push_back("--dependency=afterany:" + waits_for_job);
    // A node without these folders must not fail before the script can say so.
    for (const std::string& argument : {"--job-name=" + name, fmt::format("--array=0-{}", tasks.size() - 1),
                                        std::string("--output=/dev/null"), std::string("--chdir=/"),
                                        std::string("--requeue"), script.string()})
      arguments.push_back(argument);
    const Submission submission = submit_job(arguments);
    using enum Submission::Outcome;
    if (submission.outcome == kFull || submission.outcome == kRefused) fs::remove_all(folder);
    if (submission.outcome == kRefused)
      throw Error(
          fmt::format("sbatch: {}{}", submission.text, live_.empty() ? "; nothing was submitted" : ""));
    return submission;
  }

  void wait() {
    double interval = kLookFirst;
    bool answers = true;
    sweep_.lock.release();
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
      interval = tell_ends() ? kLookFirst : std::min(interval * kLookGrowth, kLookLast);
      if (waiting_.empty() && left() == 0) break;
      for (const double begin = wall_seconds(); wall_seconds() < begin + interval && !hooks_.stop();)
        std::this_thread::sleep_for(std::chrono::duration<double>(kStopSlice));
    }
    sweep_.lock.take(kLockPatience);
  }

  /// Another sweep may have submitted some of it since.
  void submit_rest() {
    sweep_.lock.take(kLockPatience);
    jobs_ = submitted_jobs(out_);
    if (jobs_.queue) {
      note_live();
      submit();
      jobs_ = submitted_jobs(out_);
    }
    sweep_.lock.release();
  }

  /// Tells of runs that have ended since the last call; false where there are none.
  bool tell_ends() {
    const std::map<std::string, OpenRun> open = open_runs(out_, jobs_);
    return 0 < std::erase_if(waiting_, [&](const auto& one) {
             const auto found = open.find(one.first);
             if (found != open.end() && found->second.live()) return false;
             tell_end(one.first, one.second, found == open.end() ? "" : found->second.reason);
             return true;
           });
  }

  /// `key`: of the run, empty: it is a reference. `reason`: why it was not made; empty: it was.
  void tell_end(const std::string& name, const std::string& key, std::string reason) {
    ++ended_;
    if (key.empty()) {
      if (!reason.empty()) hooks_.warn(fmt::format("{}: {}", name, reason));
      return;
    }
    ++result_.done;
    std::string problem;
    const std::optional<Run> run = find_record(out_ / "runs" / name / kManifestFile, problem);
    const bool stored = run && run->key.digest == key;
    const bool good = stored && !failed_run(*run);
    if (!good) ++result_.failed;
    if (!stored && reason.empty()) reason = "another sweep has cleared the folder of its jobs";
    if (!reason.empty() && !good) return hooks_.warn(fmt::format("{}: failed: {}", name, reason));
    const auto node = run->provenance.slurm.find("node");
    hooks_.tell(fmt::format("[{}/{}] {}: {}{}", ended_, all_, name, run->status(),
                            node == run->provenance.slurm.end() ? "" : " on " + node->second));
    std::optional<Run> reference;
    if (!run->is_path() && !run->result.data_digest.empty())  // a run that was skipped may know no data
      reference = find_record(reference_file(out_, run->result.data_digest, run->parameters), problem);
    warn_of_run(*run, reference, hooks_);
  }

  Sweep& sweep_;
  const ExperimentConfig& config_;
  const Hooks& hooks_;
  SweepResult& result_;
  fs::path out_;
  std::vector<Asked> asked_;
  SubmittedJobs jobs_;
  std::map<std::string, std::string> live_;     ///< jobs of the tasks in the queue, by name: "12_3"
  std::map<std::string, std::string> waiting_;  ///< runs that jobs make, as in SlurmTask::runs
  std::size_t all_ = 0, ended_ = 0;             ///< runs of this sweep, and those of them that have ended
  std::string why_unsubmitted_;
};

void run_by_jobs(Sweep& sweep, SweepResult& result) {
  if (sweep.options.jobs != 1)
    throw Error::usage(
        fmt::format("--jobs {}: expected 1, or --launcher local: Slurm decides how many jobs run at a time",
                    sweep.options.jobs));
  const SubmittedJobs jobs = submitted_jobs(sweep.out);
  // While a task is at work it recovers what is its own.
  if (OutLock problems(sweep.out, OutLock::kAllProblems); problems.try_take()) recover(sweep.out);
  sweep.find_missing();
  SlurmSweep(sweep, result, jobs).run();
}

}  // namespace

LauncherInfo slurm_launcher_info() {
  return {"slurm", "jobs of a Slurm cluster", kLockPatience, run_by_jobs};
}

}  // namespace proxbench
