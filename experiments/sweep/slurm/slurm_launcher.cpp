#include "experiments/sweep/slurm/slurm_launcher.h"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/slurm/slurm_batches.h"
#include "experiments/sweep/slurm/slurm_jobs.h"
#include "experiments/sweep/slurm/slurm_task.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Seconds. How long a probe that waits in the queue is waited for, how often the tasks' files are looked at,
/// and how often squeue is asked: less and less often while nothing ends.
constexpr double kProbePatience = 15.0, kProbeLook = 0.2, kLook = 0.5, kAskFirst = 2.0, kAskLast = 30.0,
                 kAskGrowth = 1.5;

std::string job_digest(const Json& json) {
  const std::string text = json.dump();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

void doze(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

class SlurmSweep {
 public:
  SlurmSweep(const SweepWork& work, SweepResult& result)
      : work_(work), result_(result), hooks_(work.hooks), batches_(work.out, work.config, work.digests) {}

  void run() {
    if (work_.problems.empty()) return;
    refresh_or_throw();
    collect();
    if (!todo_.empty()) {
      batches_.check_limits(work_.problems);
      if (live().empty()) batches_.remove_all();
      submit();
    }
    announce();
    if (work_.options.wait) wait();
    finish();
  }

 private:
  /// Runs of a problem that are in no queue.
  struct Todo {
    const SweepProblem* problem;
    std::vector<const CellState*> cells;
  };

  void refresh_or_throw() {
    std::string problem;
    if (!refresh(problem))
      throw Error(
          fmt::format("Slurm does not answer ({}), and jobs of {} may be in its queue; nothing was submitted",
                      problem, work_.out.string()));
  }

  /// Asks squeue, then reads the tasks' files. False where Slurm does not answer; the files count then. Only
  /// the holder of the lock knows that a batch without a job is not about to get one.
  bool refresh(std::string& problem, bool locked = true) {
    batches_.read();
    queue_.reset();
    try {
      queue_ = queue_of(batches_.all());
      if (locked) batches_.note_jobs(*queue_);
    } catch (const Error& error) {
      problem = error.what();
    }
    states_ = task_states(batches_.all(), queue_);
    return queue_.has_value();
  }

  std::vector<TaskStatus> live() const {
    std::vector<TaskStatus> out;
    for (const auto& [name, task] : states_)
      if (task.live()) out.push_back(task);
    return out;
  }
  const TaskStatus* state_of(const std::string& name) const {
    const auto found = states_.find(name);
    return found == states_.end() ? nullptr : &found->second;
  }

  /// todo_, and the runs of this sweep that are in the queue.
  void collect() {
    std::vector<std::string> others;
    for (const SweepProblem& problem : work_.problems) {
      Todo todo{&problem, {}};
      for (const CellState* cell : problem.missing) {
        const TaskStatus* task = state_of(cell->run.parameters.name);
        awaited_.insert(cell->run.parameters.name);
        if (task == nullptr || !task->live())
          todo.cells.push_back(cell);
        else if (task->key != cell->run.key.digest)
          others.push_back(fmt::format("{} ({})", task->name, task->job));
      }
      const TaskStatus* same = state_of(problem.name());
      const bool reference_alone = problem.missing.empty() && !(same != nullptr && same->live());
      if (problem.missing.empty()) awaited_.insert(problem.name());
      if (!todo.cells.empty() || reference_alone) todo_.push_back(std::move(todo));
    }
    if (!others.empty())
      throw Error(
          fmt::format("in the queue with another config, data or build: {}; `proxbench cancel {}` ends them",
                      fmt::join(others, ", "), work_.out.string()));
  }

  /// A job that looks for OUT and the program from a node, before anything else is submitted. False where it
  /// finds no place in the queue.
  bool probe() {
    const double end = wall_seconds() + kProbePatience;
    const Submission submission = batches_.submit_probe();
    if (!accepted(submission)) return false;
    while (wall_seconds() < end && !hooks_.stop()) {
      if (batches_.probe_succeeded(submission.job)) return true;
      doze(kProbeLook);
    }
    probe_ = submission.job;
    hooks_.tell(
        fmt::format("job {} looks whether the nodes see {}; it waits in the queue, and all others for it",
                    probe_, work_.out.string()));
    return true;
  }

  /// Throws Error where it was refused.
  bool accepted(const Submission& submission) {
    if (submission.outcome == Submission::Outcome::kRefused)
      throw Error(
          fmt::format("sbatch: {}{}", submission.text, submitted_.empty() ? "; nothing was submitted" : ""));
    const bool full = submission.outcome == Submission::Outcome::kFull;
    why_unsubmitted_ = full ? "the queue is full" : "Slurm does not answer";
    return submission.outcome == Submission::Outcome::kAccepted;
  }

  std::string reference_key(const SlurmTask& task) const {
    return job_digest({task.to_json()["data_job"], task.to_json()["reference"], task.source_digest,
                       task.program_digest, task.rules, task.force});
  }

  // ---- submission

  /// Submits what it can of todo_; what finds no place stays there.
  void submit() {
    if (!probed_) probed_ = probe();
    if (!probed_) return;
    std::vector<Batches::NewTask> references;
    for (const Todo& todo : todo_) {
      SlurmTask task = batches_.problem_task(work_, *todo.problem);
      const std::string key = reference_key(task), name = todo.problem->name();
      if (const TaskStatus* same = state_of(name);
          same != nullptr && same->key == key && (same->live() || usable(*same) || failed_now(*same)))
        continue;
      references.push_back({name, key, std::move(task)});
    }
    bool room = submit_all(references, true, "", probe_ > 0 ? std::to_string(probe_) : "");
    for (Todo& todo : todo_) {
      const TaskStatus* reference = state_of(todo.problem->name());
      if (!room || reference == nullptr) break;
      room = submit_runs(todo, *reference);
    }
    std::erase_if(todo_, [&](const Todo& todo) {
      return todo.cells.empty() && state_of(todo.problem->name()) != nullptr;
    });
  }

  /// Whether f* and facts of a task that has ended are there to be used.
  bool usable(const TaskStatus& reference) const {
    return reference.state == TaskState::kDone && fs::exists(reference.files().facts) &&
           (!work_.options.force || submitted_.contains(reference.name));
  }
  /// A reference of this very sweep is not tried again.
  bool failed_now(const TaskStatus& reference) const {
    return reference.state == TaskState::kFailed && submitted_.contains(reference.name);
  }

  /// False where not all found a place.
  bool submit_runs(Todo& todo, const TaskStatus& reference) {
    if (reference.live() && reference.job.empty()) return false;  // nothing could be told to wait for it
    std::erase_if(todo.cells, [&](const CellState* cell) {
      // Accepted although sbatch got no answer.
      const TaskStatus* task = state_of(cell->run.parameters.name);
      return task != nullptr && task->live() && task->key == cell->run.key.digest;
    });
    std::vector<Batches::NewTask> runs;
    for (const CellState* cell : todo.cells)
      runs.push_back({cell->run.parameters.name, cell->run.key.digest,
                      batches_.run_task(work_, *todo.problem, *cell, reference.files().facts)});
    if (failed_now(reference)) {  // before these found a place in the queue; its task stored them as skipped
      todo.cells.clear();
      return true;
    }
    const std::string job = reference.live() ? reference.job : "";
    const std::string name = reference.name;
    const bool room = submit_all(runs, false, name, job);  // which reads all states anew
    std::erase_if(todo.cells, [&](const CellState* cell) { return submitted_.contains(cell->run.parameters.name); });
    return room;
  }

  /// As arrays as large as may be. False where the queue is full.
  bool submit_all(const std::vector<Batches::NewTask>& tasks, bool problems, const std::string& waits_for,
                  const std::string& dependency) {
    std::size_t next = 0, most = static_cast<std::size_t>(tasks.empty() ? 1 : batches_.array_size());
    while (next < tasks.size() && !hooks_.stop()) {
      const std::size_t count = std::min(most, tasks.size() - next);
      const std::vector<Batches::NewTask> some(tasks.begin() + static_cast<std::ptrdiff_t>(next),
                                               tasks.begin() + static_cast<std::ptrdiff_t>(next + count));
      const Submission submission = batches_.submit(some, problems, waits_for, dependency);
      if (accepted(submission)) {
        for (const Batches::NewTask& task : some) submitted_.insert(task.name);
        next += count;
        continue;
      }
      if (count == 1 || submission.outcome == Submission::Outcome::kUnreachable) break;
      most = count / 2;  // there may be room for fewer
    }
    std::string problem;
    if (next > 0) refresh(problem);
    return next == tasks.size();
  }

  /// A reference that no run waits for counts as one.
  std::size_t unsubmitted() const {
    std::size_t count = 0;
    for (const Todo& todo : todo_) count += std::max<std::size_t>(todo.cells.size(), 1);
    return count;
  }

  // ---- waiting

  void announce() {
    std::size_t queued = 0, running = 0;
    for (const std::string& name : awaited_)
      if (const TaskStatus* task = state_of(name); task != nullptr && task->live())
        ++(task->state == TaskState::kRunning ? running : queued);
    hooks_.tell(fmt::format("{} runs wait in the queue, {} are running", queued, running));
    if (unsubmitted() > 0)
      hooks_.warn(
          fmt::format("{}: {} runs were not submitted{}", why_unsubmitted_, unsubmitted(),
                      work_.options.wait ? " yet" : "; the same command submits them when there is room"));
  }

  void wait() {
    // What has ended before is no result of this sweep.
    for (const std::string& name : awaited_)
      if (const TaskStatus* task = state_of(name);
          task != nullptr && !task->live() && !submitted_.contains(name))
        old_ends_.insert(name);
    total_ = awaited_.size();
    double interval = kAskFirst, asked = wall_seconds();
    bool answers = true;
    work_.lock.release();
    while (!hooks_.stop()) {
      states_ = task_states(batches_.all(), queue_);
      if (report() > 0) interval = kAskFirst;
      if (ended_.size() == total_) break;
      doze(kLook);
      if (wall_seconds() - asked < interval) continue;
      std::string problem;
      const bool answer = refresh(problem, false);
      if (answer != answers)
        hooks_.warn(
            answer ? "Slurm answers again"
                   : fmt::format("Slurm does not answer ({}); the jobs go on, and their files tell of them",
                                 problem));
      answers = answer;
      if (answer && !todo_.empty()) submit_rest();
      asked = wall_seconds();
      interval = std::min(interval * kAskGrowth, kAskLast);
    }
    work_.lock.take(slurm_launcher_info().patience_seconds);
  }

  void submit_rest() {
    work_.lock.take(slurm_launcher_info().patience_seconds);
    std::string problem;
    if (refresh(problem)) submit();
    work_.lock.release();
  }

  /// Tells of tasks that have ended since the last call, and of samples of those that run. The number of
  /// ends.
  std::size_t report() {
    std::size_t ends = 0;
    for (const std::string& name : awaited_) {
      if (ended_.contains(name)) continue;
      const TaskStatus* task = state_of(name);
      if (task == nullptr) {
        if (const std::optional<TaskStatus> end = end_without_task(name)) {
          tell_end(name, *end);
          ++ends;
        }
        continue;
      }
      if (task->live()) {
        tell_sample(*task);
        continue;
      }
      if (old_ends_.contains(name) && !submitted_.contains(name)) continue;
      tell_end(name, *task);
      ++ends;
    }
    return ends;
  }

  /// Of a run or reference without a task: its reference failed before it was submitted, or another sweep has
  /// cleared the folder of jobs. None: it waits for a place in the queue.
  std::optional<TaskStatus> end_without_task(const std::string& name) const {
    for (const SweepProblem& problem : work_.problems)
      for (const CellState* cell : problem.missing)
        if (const TaskStatus* reference = state_of(problem.name());
            cell->run.parameters.name == name && reference != nullptr && failed_now(*reference))
          return *reference;
    for (const Todo& todo : todo_) {
      if (todo.problem->name() == name) return std::nullopt;
      for (const CellState* cell : todo.cells)
        if (cell->run.parameters.name == name) return std::nullopt;
    }
    return TaskStatus{.name = name,
                      .key = "",
                      .job = "",
                      .problem = false,
                      .state = TaskState::kFailed,
                      .reason = "another sweep has cleared the folder of its jobs",
                      .node = "",
                      .folder = "",
                      .index = 0};
  }

  void tell_end(const std::string& name, const TaskStatus& task) {
    ended_.insert(name);
    const auto state = std::find_if(work_.states.begin(), work_.states.end(),
                                    [&](const CellState& one) { return one.run.parameters.name == name; });
    if (state == work_.states.end()) {  // a reference
      if (task.state == TaskState::kFailed) hooks_.warn(fmt::format("{}: {}", name, task.reason));
      return;
    }
    ++result_.done;
    const std::string place = fmt::format("[{}/{}] {}", ended_.size(), total_, name);
    const fs::path file = work_.out / "runs" / name / kManifestFile;
    const std::optional<Run> run = fs::exists(file) ? std::optional(read_record(file)) : std::nullopt;
    const bool stored = run && run->key.digest == state->run.key.digest;
    if (!run || (task.state == TaskState::kFailed && !stored)) {
      ++result_.failed;
      hooks_.warn(fmt::format("{}: failed: {}", name, task.reason));
      return;
    }
    hooks_.tell(fmt::format("{}: {}{}", place, run->status(), task.node.empty() ? "" : " on " + task.node));
    if (failed_run(*run)) ++result_.failed;
    for (const std::string& warning : run_warnings(*run, reference_of(*run))) hooks_.warn(warning);
  }

  std::optional<Run> reference_of(const Run& run) const {
    // A run that was skipped may know no data.
    if (run.is_path() || run.result.data_digest.empty()) return std::nullopt;
    const fs::path file = reference_file(work_.out, run.result.data_digest, run.parameters);
    return fs::exists(file) ? std::optional(read_record(file)) : std::nullopt;
  }

  void tell_sample(const TaskStatus& task) {
    if (!hooks_.on_sample || task.state != TaskState::kRunning) return;
    const std::string text = text_of(task.files().work / "trace.csv");
    const std::size_t end = text.find_last_of('\n');
    const std::size_t begin =
        end == std::string::npos || end == 0 ? std::string::npos : text.find_last_of('\n', end - 1);
    if (begin == std::string::npos) return;  // no line behind the header
    hooks_.on_sample(
        fmt::format("[{}/{}] {}", ended_.size(), total_, task.name),
        parse_trace_line(text.substr(begin + 1, end - begin - 1), task.files().work / "trace.csv", 0));
  }

  void finish() {
    for (const std::string& name : awaited_)
      if (const TaskStatus* task = state_of(name); task != nullptr && task->live()) ++result_.outstanding;
    result_.unsubmitted = unsubmitted();
  }

  const SweepWork& work_;
  SweepResult& result_;
  const SweepHooks& hooks_;
  Batches batches_;
  Queue queue_;
  std::map<std::string, TaskStatus> states_;
  std::vector<Todo> todo_;
  std::set<std::string> awaited_;    ///< runs of this sweep that are missing, and references without runs
  std::set<std::string> submitted_;  ///< by this process
  std::set<std::string> old_ends_, ended_;
  std::size_t total_ = 0;
  std::int64_t probe_ = 0;  ///< job that everything waits for; 0: none
  bool probed_ = false;
  std::string why_unsubmitted_;
};

class SlurmLauncher : public Launcher {
 public:
  void prepare(const SweepWork& work) override {
    if (work.options.jobs != 1)
      throw Error::usage(
          fmt::format("--jobs {}: expected 1, or --launcher local: Slurm decides how many jobs run at a time",
                      work.options.jobs));
    recover_tasks(work.out);
  }
  void launch(const SweepWork& work, SweepResult& result) override { SlurmSweep(work, result).run(); }
};

}  // namespace

LauncherInfo slurm_launcher_info() {
  return {"slurm", "jobs of a Slurm cluster", 300.0,
          []() -> std::unique_ptr<Launcher> { return std::make_unique<SlurmLauncher>(); }};
}

}  // namespace proxbench
