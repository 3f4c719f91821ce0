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
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/run/plugins.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm/slurm_jobs.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Seconds between two checks of the queue and of stored runs. They grow from kLookFirst to kLookLast while
/// no run ends. kStopSlice limits the delay until a Ctrl-C is noticed.
constexpr double kLookFirst = 0.5, kLookLast = 30.0, kLookGrowth = 1.5, kStopSlice = 0.2;
/// Seconds to wait for a lock that another process holds.
constexpr double kLockPatience = 300.0;
/// MiB that a job gets in addition to the private memory of its process.
constexpr double kOwnMemory = 256.0;

/// Returns the script of a task. It works in this process's folder because names of data files may be
/// relative.
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
  /// `jobs` is the state of the jobs before the sweep looked at stored runs.
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
    if (!jobs_.no_answer.empty())
      throw Error(
          fmt::format("Slurm does not answer ({}), and jobs of {} may be in its queue; nothing was submitted",
                      jobs_.no_answer, sweep_.out.string()));
    note_live();
    if (left() > 0) check_limits();
    if (left() > 0 && !any_in_queue()) clear();
    submit();
    if (waiting() > 0) hooks_.tell(fmt::format("{} runs wait in the queue or are running", waiting()));
    if (left() > 0)
      hooks_.warn(
          fmt::format("{}: {} runs were not submitted{}", why_unsubmitted_, left(),
                      sweep_.options.wait ? " yet" : "; the same command submits them when there is room"));
    if (sweep_.options.wait) wait();
    result_.unsubmitted = left();
    result_.outstanding = waiting();
  }

 private:
  /// A task as this sweep asks for it, with its missing runs.
  struct Asked : SlurmTask {
    double seconds;          ///< the sum of its time limits; infinite if one is missing
    std::string waits_for;   ///< name of the task that finds its f*; empty: none
    bool submitted = false;  ///< by this process or an earlier one
    std::string job = "";    ///< "12_3"; empty: it is in no queue

    bool wanted() const { return !runs.empty() && !submitted; }
    void set_job(const std::string& id) {
      job = id;
      submitted = true;
    }
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
      asked.runs.push_back(cell->name());
    }
    if (share.lacks_reference) add(*share.reference);
    if (share.lacks_reference && asked.runs.empty()) asked.runs = {asked.reference()};
    asked_.push_back(std::move(asked));
  }

  /// Returns how many runs are missing from the tasks that were (or were not) submitted.
  std::size_t missing(bool submitted) const {
    std::size_t runs = 0;
    for (const Asked& asked : asked_)
      if (asked.submitted == submitted) runs += asked.runs.size();
    return runs;
  }
  std::size_t left() const { return missing(false); }
  std::size_t waiting() const { return missing(true); }

  bool any_in_queue() const {
    return std::ranges::any_of(asked_, [](const Asked& asked) { return !asked.job.empty(); });
  }

  /// Notes which tasks are in the queue. Throws Error if a queued task does not match this sweep's config,
  /// data or build.
  void note_live() {
    for (Asked& asked : asked_) asked.job.clear();
    std::vector<std::string> others;
    for (const SlurmTask& task : jobs_.tasks) {
      if (!task.live()) continue;
      const auto same = std::ranges::find_if(
          asked_, [&](const Asked& asked) { return asked.name() == task.name() && asked.key == task.key; });
      if (same == asked_.end())
        others.push_back(fmt::format("{} ({})", task.name(), task.queued->id()));
      else
        same->set_job(task.queued->id());
    }
    if (!others.empty())
      throw Error(
          fmt::format("in the queue with another config, data or build: {}; `proxbench cancel {}` ends them",
                      fmt::join(others, ", "), sweep_.out.string()));
  }

  /// Removes the files of earlier jobs by one rename, because others read them without the lock.
  void clear() {
    const fs::path removed = out_ / fmt::format(".slurm-{}", getpid());
    if (fs::exists(out_ / "slurm")) fs::rename(out_ / "slurm", removed);
    fs::remove_all(removed);
    jobs_.tasks.clear();
  }

  /// Returns the time that a job with this sum of limits asks for; 0: the partition's limit.
  double time_of(double seconds) const {
    return slurm_seconds(config_.slurm.time).value_or(std::isinf(seconds) ? 0.0 : seconds);
  }

  int cpus() const {
    return config_.slurm.cpus > 0 ? config_.slurm.cpus
                                  : resolved_threads(config_.threads) * config_.processes;
  }
  /// Returns 0 for all memory of an exclusive node, or for the partition's default.
  double memory_mib() const { return config_.memory_limit > 0 ? config_.memory_limit + kOwnMemory : 0.0; }

  /// Returns the arguments of sbatch.
  std::vector<std::string> arguments(double seconds) const {
    const SlurmConfig& asked = config_.slurm;
    std::vector<std::string> out{"--nodes=1", "--ntasks=1", fmt::format("--cpus-per-task={}", cpus())};
    if (!asked.partition.empty()) out.push_back("--partition=" + asked.partition);
    if (!asked.constraint.empty()) out.push_back("--constraint=" + asked.constraint);
    if (config_.whole_nodes()) out.emplace_back("--exclusive");
    if (const double time = time_of(seconds); time > 0)
      out.push_back(fmt::format("--time={:.0f}", std::ceil(time / 60)));
    if (memory_mib() > 0 || config_.whole_nodes()) out.push_back(fmt::format("--mem={:.0f}M", memory_mib()));
    return out;
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
    check_size(config_.slurm, time_of(longest), cpus(), memory_mib());
  }

  /// Submits as many tasks as the queue takes: one array of the tasks that find f* or need none, then for
  /// each f* an array of the tasks that wait for it.
  void submit() {
    sweep_.write_config();
    std::map<std::string, std::vector<Asked*>> arrays;
    for (Asked& asked : asked_)
      if (asked.wanted()) arrays[asked.waits_for].push_back(&asked);
    for (const auto& [reference, tasks] : arrays) {
      const auto finder = std::ranges::find(asked_, reference, &SlurmTask::name);
      if (!submit_all(tasks, finder == asked_.end() ? "" : finder->job)) break;
    }
  }

  /// Submits the tasks in arrays as large as the queue allows. Returns false if not all found a place.
  bool submit_all(std::span<Asked* const> tasks, const std::string& waits_for_job) {
    std::size_t most = tasks.size();
    while (!tasks.empty() && !hooks_.stop()) {
      const std::span<Asked* const> some = tasks.first(std::min(most, tasks.size()));
      const Submission submission = submit_array(some, waits_for_job);
      if (submission.outcome == Submission::Outcome::kAccepted) {
        for (std::size_t i = 0; i < some.size(); ++i)
          some[i]->set_job(fmt::format("{}_{}", submission.job, i));
        tasks = tasks.subspan(some.size());
        continue;
      }
      const bool full = submission.outcome == Submission::Outcome::kFull;
      why_unsubmitted_ = full ? "the queue is full" : "Slurm does not answer";
      if (!full || some.size() == 1) break;
      most = some.size() / 2;  // there may be room for fewer tasks
    }
    return tasks.empty();
  }

  /// Throws Error if Slurm refuses the array. The folder stays behind only if Slurm does not answer, since
  /// the array may be in the queue then.
  Submission submit_array(std::span<Asked* const> tasks, const std::string& waits_for_job) {
    make_folder(out_ / "slurm");
    const auto number = std::distance(fs::directory_iterator(out_ / "slurm"), fs::directory_iterator());
    const std::string name = fmt::format("proxbench-{:06}-{:08x}-{}", number, std::random_device{}(),
                                         file_name_part(config_.name));
    const fs::path folder = out_ / "slurm" / name, script = folder / "script";
    double seconds = 0.0;
    Json array;
    for (const Asked* asked : tasks) {
      array.push_back(static_cast<const SlurmTask&>(*asked));
      seconds = std::max(seconds, asked->seconds);
    }
    make_folder(folder);
    write_file_atomically(script, script_of(folder));
    write_json(folder / kArrayFile, array);
    std::vector<std::string> asked_for = arguments(seconds);
    if (!waits_for_job.empty()) asked_for.push_back("--dependency=afterany:" + waits_for_job);
    // On a node without these folders, the script must be able to start and report it.
    for (const std::string& argument : {"--job-name=" + name, fmt::format("--array=0-{}", tasks.size() - 1),
                                        std::string("--output=/dev/null"), std::string("--chdir=/"),
                                        std::string("--requeue"), script.string()})
      asked_for.push_back(argument);
    const Submission submission = submit_job(asked_for);
    using enum Submission::Outcome;
    if (submission.outcome == kFull || submission.outcome == kRefused) fs::remove_all(folder);
    if (submission.outcome == kRefused)
      throw Error(
          fmt::format("sbatch: {}{}", submission.text, any_in_queue() ? "" : "; nothing was submitted"));
    return submission;
  }

  void wait() {
    double interval = kLookFirst;
    bool answers = true;
    sweep_.lock.release();
    while (!hooks_.stop()) {
      jobs_ = submitted_jobs(out_);
      if (jobs_.no_answer.empty() != answers) {
        answers = !answers;
        hooks_.warn(
            answers ? "Slurm answers again"
                    : fmt::format("Slurm does not answer ({}); the jobs go on, and stored runs tell of them",
                                  jobs_.no_answer));
      }
      if (answers && left() > 0) submit_rest();
      interval = tell_ends() ? kLookFirst : std::min(interval * kLookGrowth, kLookLast);
      if (waiting() + left() == 0) break;
      for (const double begin = wall_seconds(); wall_seconds() < begin + interval && !hooks_.stop();)
        std::this_thread::sleep_for(std::chrono::duration<double>(kStopSlice));
    }
    sweep_.lock.take(kLockPatience);
  }

  /// Checks the queue first, since another sweep may have submitted some of the rest.
  void submit_rest() {
    sweep_.lock.take(kLockPatience);
    jobs_ = submitted_jobs(out_);
    if (jobs_.no_answer.empty()) {
      note_live();
      submit();
      jobs_ = submitted_jobs(out_);
    }
    sweep_.lock.release();
  }

  /// Reports runs that have ended since the last call; returns false if there are none.
  bool tell_ends() {
    const std::map<std::string, RunState> open = open_runs(out_, jobs_);
    std::size_t ended = 0;
    for (Asked& asked : asked_)
      if (asked.submitted)
        ended += std::erase_if(asked.runs, [&](const std::string& run) {
          const auto found = open.find(run);
          if (found != open.end() && found->second.live()) return false;
          tell_end(run, run == asked.reference(), found == open.end() ? "" : found->second.reason);
          return true;
        });
    return ended > 0;
  }

  /// Reports the end of a run. `reason` is why the run was not made, and empty if it was made.
  void tell_end(const std::string& name, bool is_reference, std::string reason) {
    ++ended_;
    if (is_reference) {
      if (!reason.empty()) hooks_.warn(fmt::format("{}: {}", name, reason));
      return;
    }
    ++result_.done;
    std::string problem;
    const std::optional<Run> run = find_record(out_ / "runs" / name / kManifestFile, problem);
    if (!run && reason.empty()) reason = "another sweep has cleared the folder of its jobs";
    if (!reason.empty() || failed_run(*run)) ++result_.failed;
    if (!reason.empty()) return hooks_.warn(fmt::format("{}: failed: {}", name, reason));
    const auto node = run->provenance.slurm.find("node");
    hooks_.tell(fmt::format("[{}/{}] {}: {}{}", ended_, all_, name, run->status(),
                            node == run->provenance.slurm.end() ? "" : " on " + node->second));
    warn_of_run(*run, find_reference(out_, problem_name(run->parameters), *run), hooks_);
  }

  Sweep& sweep_;
  const ExperimentConfig& config_;
  const Hooks& hooks_;
  SweepResult& result_;
  fs::path out_;
  std::vector<Asked> asked_;
  SubmittedJobs jobs_;
  std::size_t all_ = 0, ended_ = 0;  ///< runs of this sweep, and how many of them have ended
  std::string why_unsubmitted_;
};

void run_by_jobs(Sweep& sweep, SweepResult& result) {
  if (sweep.options.jobs != 1)
    throw Error::usage(
        fmt::format("--jobs {}: expected 1, or --launcher local: Slurm decides how many jobs run at a time",
                    sweep.options.jobs));
  const SubmittedJobs jobs = submitted_jobs(sweep.out);
  // If a task is at work, it recovers its own runs.
  if (OutLock problems(sweep.out, OutLock::kAllProblems); problems.try_take()) recover(sweep.out);
  sweep.find_missing();
  SlurmSweep(sweep, result, jobs).run();
}

}  // namespace

LauncherInfo slurm_launcher_info() {
  return {"slurm", "jobs of a Slurm cluster", kLockPatience, run_by_jobs, require_no_open_jobs};
}

}  // namespace proxbench
