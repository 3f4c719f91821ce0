#include "experiments/sweep/slurm/slurm_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
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

/// Seconds: how often stored runs are looked at, and how often squeue is asked, less and less often while
/// nothing ends.
constexpr double kLook = 0.5, kAskFirst = 2.0, kAskLast = 30.0, kAskGrowth = 1.5;
/// MiB that a job has beyond the private memory of its process.
constexpr double kOwnMemory = 256.0;

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string this_host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this machine";
}

class SlurmSweep {
 public:
  SlurmSweep(const SweepWork& work, SweepResult& result)
      : work_(work), result_(result), hooks_(work.hooks), out_(fs::canonical(work.out)) {
    for (const SweepProblem& problem : work.problems) add_tasks(problem);
    for (const Asked& asked : asked_) {
      if (!asked.needed) continue;
      for (const std::string& run : asked.task.runs) awaited_[run] = &asked;
      if (asked.task.runs.empty()) awaited_["reference " + asked.task.problem] = &asked;
    }
  }

  void run() {
    if (awaited_.empty() && text_of(out_ / "config.ini") == work_.config.to_ini()) return;
    if (const std::string problem = refresh(); !problem.empty())
      throw Error(
          fmt::format("Slurm does not answer ({}), and jobs of {} may be in its queue; nothing was submitted",
                      problem, work_.out.string()));
    require_same();
    if (left() > 0) check_limits();
    if (left() > 0 && live_.empty()) clear();
    work_.write_config();
    submit();
    if (!awaited_.empty()) announce();
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

  // ---- what there is to do

  void add_tasks(const SweepProblem& problem) {
    if (work_.config.slurm.split == "problem") return add_task(problem, "", "");
    const bool reference = problem.lacks_reference || (work_.options.force && !problem.no_reference);
    if (reference) add_task(problem, "", "");
    for (const SolverConfig& solver : work_.config.solvers)
      add_task(problem, solver.label, reference ? asked_.back().task.problem : "");
  }

  void add_task(SweepProblem share, const std::string& solver, const std::string& waits_for) {
    restrict_to(share, solver, work_.config.slurm);
    SlurmTask task{.problem = share.name,
                   .solver = solver,
                   .key = task_key(share),
                   .source = work_.digests.source(share.job()),
                   .runs = {}};
    for (const CellState* state : share.missing) task.runs.push_back(state->run.parameters.name);
    const bool needed = !share.missing.empty() || (share.lacks_reference && share.may_make_reference);
    asked_.push_back({std::move(task), seconds_of(share), needed, waits_for});
  }

  double seconds_of(const SweepProblem& share) const {
    const ProcessRules rules(work_.config);
    double sum = kJobMargin + kReadingData;
    const auto add = [&](const RunParameters& job) {
      const JobLimits limits = rules.limits(job.time_limit);
      sum += limits.wall > 0 ? limits.wall + limits.grace : std::numeric_limits<double>::infinity();
    };
    if (!share.no_reference && share.may_make_reference) add(work_.reference_of(share).parameters);
    for (const CellState* state : share.missing) add(state->run.parameters);
    return sum;
  }

  /// How much of this sweep is in no queue.
  std::size_t left() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(awaited_, [](const auto& one) { return !one.second->submitted; }));
  }

  // ---- the queue

  /// Reads what has been submitted, and asks squeue. Returns why Slurm does not answer; empty: it does.
  std::string refresh() {
    arrays_ = read_arrays(out_);
    queue_.reset();
    try {
      queue_ = queue_of(arrays_);
    } catch (const Error& error) {
      return error.what();
    }
    live_.clear();
    for (const SlurmArray& array : arrays_)
      for (std::size_t index = 0; index < array.tasks.size(); ++index)
        if (const QueuedTask* task = find_task(queue_, array, index); task != nullptr && task->live())
          live_[array.tasks[index].name()] = {fmt::format("{}_{}", task->job, index), array.tasks[index].key};
    for (Asked& asked : asked_)
      if (live_.contains(asked.task.name())) asked.submitted = true;
    return "";
  }

  /// Throws Error where a task in the queue would make something else with the config of this sweep.
  void require_same() const {
    std::vector<std::string> others;
    for (const auto& [name, live] : live_) {
      const auto same = std::ranges::find_if(asked_, [&](const Asked& asked) {
        return asked.task.name() == name && asked.task.key == live.key;
      });
      if (same == asked_.end()) others.push_back(fmt::format("{} ({})", name, live.job));
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
    arrays_.clear();
  }

  // ---- submission

  JobRequest request(double seconds) const {
    const ExperimentConfig& config = work_.config;
    JobRequest out;
    out.cpus =
        config.slurm.cpus > 0 ? config.slurm.cpus : resolved_threads(config.threads) * config.processes;
    out.seconds = slurm_seconds(config.slurm.time).value_or(std::isinf(seconds) ? 0.0 : seconds);
    if (config.memory_limit > 0) out.memory_mib = config.memory_limit + kOwnMemory;
    out.exclusive = config.whole_nodes();
    return out;
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
    std::map<std::string, std::vector<Asked*>> arrays;
    for (Asked& asked : asked_)
      if (asked.needed && !asked.submitted) arrays[asked.waits_for].push_back(&asked);
    for (const auto& [reference, tasks] : arrays)
      if (!submit_all(tasks, live_.contains(reference) ? live_.at(reference).job : "")) break;
  }

  /// As arrays as large as may be. False where not all found a place.
  bool submit_all(const std::vector<Asked*>& tasks, const std::string& waits_for_job) {
    std::size_t next = 0, most = tasks.size();
    while (next < tasks.size() && !hooks_.stop()) {
      const std::size_t count = std::min(most, tasks.size() - next);
      const auto begin = tasks.begin() + static_cast<std::ptrdiff_t>(next);
      const std::vector<Asked*> some(begin, begin + static_cast<std::ptrdiff_t>(count));
      const Submission submission = submit_array(some, waits_for_job);
      if (submission.outcome == Submission::Outcome::kAccepted) {
        for (std::size_t i = 0; i < count; ++i) {
          some[i]->submitted = true;
          live_[some[i]->task.name()] = {fmt::format("{}_{}", submission.job, i), some[i]->task.key};
        }
        next += count;
        continue;
      }
      const bool full = submission.outcome == Submission::Outcome::kFull;
      why_unsubmitted_ = full ? "the queue is full" : "Slurm does not answer";
      if (!full || count == 1) break;
      most = count / 2;  // there may be room for fewer
    }
    return next == tasks.size();
  }

  /// Throws Error where it is refused. Only without an answer the folder stays behind, since the array may be
  /// in the queue.
  Submission submit_array(const std::vector<Asked*>& tasks, const std::string& waits_for_job) {
    make_folder(out_ / "slurm");
    const auto number = std::distance(fs::directory_iterator(out_ / "slurm"), fs::directory_iterator());
    SlurmArray array{.folder = out_ / "slurm" /
                               fmt::format("proxbench-{:06}-{:08x}-{}", number, std::random_device{}(),
                                           file_name_part(work_.config.name)),
                     .host = this_host(),
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
    for (std::string& argument : request_arguments(work_.config.slurm, request(seconds)))
      arguments.push_back(std::move(argument));
    if (!waits_for_job.empty()) arguments.push_back("--dependency=afterany:" + waits_for_job);
    arguments.push_back((array.folder / "script").string());
    const Submission submission = submit_job(arguments);
    if (submission.outcome == Submission::Outcome::kAccepted) arrays_.push_back(array);
    if (submission.outcome == Submission::Outcome::kFull ||
        submission.outcome == Submission::Outcome::kRefused)
      fs::remove_all(array.folder);
    if (submission.outcome == Submission::Outcome::kRefused)
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

  // ---- waiting

  void announce() {
    std::size_t queued = 0, running = 0;
    const std::map<std::string, OpenRun> open = open_runs(out_, arrays_, queue_);
    for (const auto& [name, asked] : awaited_)
      if (asked->submitted) ++(open.contains(name) && open.at(name).state == "running" ? running : queued);
    hooks_.tell(fmt::format("{} runs wait in the queue, {} are running", queued, running));
    if (left() > 0)
      hooks_.warn(
          fmt::format("{}: {} runs were not submitted{}", why_unsubmitted_, left(),
                      work_.options.wait ? " yet" : "; the same command submits them when there is room"));
  }

  void wait() {
    const double patience = slurm_launcher_info().patience_seconds;
    double interval = kAskFirst, asked = 0.0;
    bool answers = true;
    work_.lock.release();
    while (!hooks_.stop()) {
      const double begin = wall_seconds();
      if (begin - asked >= interval) {
        const std::string problem = refresh();
        const bool answer = problem.empty();
        if (answer != answers)
          hooks_.warn(
              answer ? "Slurm answers again"
                     : fmt::format("Slurm does not answer ({}); the jobs go on, and stored runs tell of them",
                                   problem));
        answers = answer;
        if (answer && left() > 0) submit_rest(patience);
        asked = begin;
        interval = std::min(interval * kAskGrowth, kAskLast);
      }
      if (report() > 0) interval = kAskFirst;
      if (ended_.size() == awaited_.size()) break;
      const double looked = wall_seconds() - begin;
      std::this_thread::sleep_for(std::chrono::duration<double>(std::max(kLook, 5 * looked)));
    }
    work_.lock.take(patience);
  }

  /// Another sweep may have submitted some of it since.
  void submit_rest(double patience) {
    work_.lock.take(patience);
    if (refresh().empty()) {
      require_same();
      work_.write_config();
      submit();
      refresh();
    }
    work_.lock.release();
  }

  /// Tells of runs that have ended since the last call, and of samples of those that go on. The number of
  /// ends.
  std::size_t report() {
    const std::size_t before = ended_.size();
    const std::map<std::string, OpenRun> open = open_runs(out_, arrays_, queue_);
    for (const auto& [name, asked] : awaited_) {
      if (ended_.contains(name) || !asked->submitted) continue;
      const auto found = open.find(name);
      if (found == open.end())
        tell_end(name, "");
      else if (!found->second.live())
        tell_end(name, found->second.reason);
      else if (!found->second.folder.empty())
        tell_sample(name, found->second.folder);
    }
    return ended_.size() - before;
  }

  /// `reason`: why the run was not made; empty: it was.
  void tell_end(const std::string& name, std::string reason) {
    ended_.insert(name);
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
    if (!reason.empty() && !(stored && !failed_run(*run))) {
      ++result_.failed;
      hooks_.warn(fmt::format("{}: failed: {}", name, reason));
      return;
    }
    const auto node = run->provenance.slurm.find("node");
    hooks_.tell(fmt::format("[{}/{}] {}: {}{}", ended_.size(), awaited_.size(), name, run->status(),
                            node == run->provenance.slurm.end() ? "" : " on " + node->second));
    if (failed_run(*run)) ++result_.failed;
    for (const std::string& warning : run_warnings(*run, reference_of(*run))) hooks_.warn(warning);
  }

  std::optional<Run> reference_of(const Run& run) const {
    // A run that was skipped may know no data.
    if (run.is_path() || run.result.data_digest.empty()) return std::nullopt;
    std::string problem;
    return find_record(reference_file(out_, run.result.data_digest, run.parameters), problem);
  }

  void tell_sample(const std::string& name, const fs::path& folder) const {
    if (!hooks_.on_sample) return;
    const std::string text = text_of(folder / "trace.csv");
    const std::size_t end = text.rfind('\n'), begin = text.rfind('\n', end - 1);
    if (end == std::string::npos || begin >= end) return;  // no line behind the header
    hooks_.on_sample(fmt::format("[{}/{}] {}", ended_.size(), awaited_.size(), name),
                     parse_trace_line(text.substr(begin + 1, end - begin - 1), folder / "trace.csv", 0));
  }

  struct Live {
    std::string job, key;  ///< "12_3"; SlurmTask::key
  };

  const SweepWork& work_;
  SweepResult& result_;
  const SweepHooks& hooks_;
  fs::path out_;
  std::vector<Asked> asked_;
  std::vector<SlurmArray> arrays_;
  Queue queue_;
  std::map<std::string, Live> live_;             ///< tasks in the queue, by name
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
    // While a task is at work it recovers what is its own.
    if (OutLock problems(work.out, OutLock::kAllProblems); problems.try_take()) recover(work.out);
  }
  void launch(const SweepWork& work, SweepResult& result) override { SlurmSweep(work, result).run(); }
};

}  // namespace

LauncherInfo slurm_launcher_info() {
  return {"slurm", "jobs of a Slurm cluster", 300.0,
          []() -> std::unique_ptr<Launcher> { return std::make_unique<SlurmLauncher>(); }};
}

}  // namespace proxbench
