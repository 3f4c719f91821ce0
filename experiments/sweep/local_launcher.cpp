#include "experiments/sweep/local_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm/slurm_jobs.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

class LocalSweep {
 public:
  LocalSweep(const SweepWork& work, const ProcessRules& rules, SweepResult& result)
      : work_(work),
        result_(result),
        ends_at_(rules.ends_at),
        runner_(work.out, rules, usable_cpus(), work.hooks) {
    for (const SweepProblem& problem : work_.problems) total_ += problem.missing.size();
  }

  void run() {
    warn_of_hazards();
    for (const SweepProblem& problem : work_.problems)
      if (!stop() && (problem.lacks_reference || !problem.missing.empty())) run_problem(problem);
    if (wall_seconds() >= ends_at_ && result_.done < total_)
      work_.hooks.warn(fmt::format("{} runs are left: the job is out of time", total_ - result_.done));
  }

  void refuse(const std::string& reason) {
    for (const SweepProblem& problem : work_.problems) skip(problem.missing, "failed", reason);
  }

 private:
  struct Active {
    const CellState* state;
    ProblemRunner::Running run;
  };

  bool stop() const { return work_.hooks.stop() || wall_seconds() >= ends_at_; }

  void warn_of_hazards() const {
    if (total_ == 0) return;
    const int threads = resolved_threads(work_.config.threads) * work_.config.processes,
              jobs = work_.options.jobs;
    for (const std::string& hazard : timing_hazards(threads, jobs)) work_.hooks.warn("timings: " + hazard);
    const std::size_t cpus = usable_cpus().size();
    if (work_.config.pin && threads * jobs > static_cast<int>(cpus))
      work_.hooks.warn(fmt::format("{} runs of {} threads cannot be bound to {} CPUs, so they are not", jobs,
                                   threads, cpus));
  }

  void run_problem(const SweepProblem& problem) {
    const std::string& dataset = problem.job().dataset;
    if (dataset != described_) {
      runner_.describe(data_job(work_.config, problem.job()), scratch("data-", problem));
      described_ = dataset;
    }
    if (stop()) return;
    if (const std::string& reason = runner_.facts().reason; !reason.empty())
      return skip(problem.missing, runner_.skipped_status(), reason);
    runner_.clear_reference();
    if (!problem.no_reference) set_reference(problem);
    if (stop()) return;
    if (!runner_.reference() && work_.config.stop_at > 0)
      skip(problem.missing, "skipped(no f* to stop at)", "the reference run failed");
    else
      run_cells(fitting(problem.missing));
  }

  /// A folder that no other task has, on whatever machine.
  fs::path scratch(const char* what, const SweepProblem& problem) const {
    const std::string name =
        problem.missing.empty() ? problem.name : problem.missing.front()->run.parameters.name;
    return start_folder(work_.out / "runs" / (what + name));
  }

  void set_reference(const SweepProblem& problem) {
    const Run asked = work_.reference_of(problem);
    const bool again = work_.options.force && problem.may_make_reference;
    if ((!again && runner_.find_reference(asked.parameters)) || !problem.may_make_reference) return;
    if (const std::optional<Run> made = runner_.make_reference(asked, scratch("reference-", problem)))
      write_record(runner_.reference_file_of(made->parameters), *made);
  }

  /// Those of the cells whose solver can run; the others are stored as skipped.
  std::vector<const CellState*> fitting(const std::vector<const CellState*>& cells) {
    std::vector<const CellState*> out;
    for (const CellState* state : cells) {
      const std::string unmet = runner_.unmet(state->run.parameters);
      if (unmet.empty())
        out.push_back(state);
      else
        skip({state}, kDoesNotFit, unmet);
    }
    return out;
  }

  void run_cells(const std::vector<const CellState*>& cells) {
    std::size_t next = 0;
    std::vector<Active> active;
    while (!active.empty() || (next < cells.size() && !stop())) {
      while (next < cells.size() && !stop() && static_cast<int>(active.size()) < work_.options.jobs)
        active.push_back(start(*cells[next++], active));
      for (auto one = active.begin(); one != active.end();) {
        const bool ended = one->run.child->watch(ProblemRunner::kSlice / static_cast<int>(active.size()),
                                                 work_.hooks.stop());
        runner_.report_samples(*one->run.child, progress_name(*one));
        if (!ended) {
          ++one;
          continue;
        }
        finish(*one);
        one = active.erase(one);
      }
    }
  }

  Active start(const CellState& state, const std::vector<Active>& active) {
    std::size_t slot = 0;
    while (std::any_of(active.begin(), active.end(),
                       [&](const Active& other) { return other.run.slot == slot; }))
      ++slot;
    ++started_;
    work_.hooks.tell(
        fmt::format("[{}/{}{}] {}", started_, total_, time_left(0.0), state.run.parameters.name));
    return {&state,
            runner_.start(state.run, start_folder(work_.out / "runs" / state.run.parameters.name), slot)};
  }

  std::string progress_name(const Active& one) const {
    return fmt::format("[{}/{}{}] {}", started_, total_, time_left(one.run.child->seconds()),
                       one.state->run.parameters.name);
  }

  /// ", about 3 min left" once something is known of how long runs take; `elapsed`: of the run at hand.
  std::string time_left(double elapsed) const {
    double known = 0.0;
    std::size_t unknown = 0;
    for (const SweepProblem& problem : work_.problems)
      for (const CellState* state : problem.missing) {
        if (finished_.contains(state->run.parameters.name)) continue;
        if (std::isnan(state->wall_seconds))
          ++unknown;
        else
          known += state->wall_seconds;
      }
    if (unknown > 0 && finished_.empty()) return "";
    const double mean = finished_.empty()
                            ? 0.0
                            : std::accumulate(finished_.begin(), finished_.end(), 0.0,
                                              [](double sum, const auto& run) { return sum + run.second; }) /
                                  static_cast<double>(finished_.size());
    return fmt::format(", about {} left",
                       duration_text(std::max(0.0, known + mean * static_cast<double>(unknown) - elapsed) /
                                     work_.options.jobs));
  }

  void finish(const Active& one) {
    const std::string name = one.state->run.parameters.name;
    const Run run = runner_.finish(one.run);
    finished_[name] = one.run.child->seconds();
    if (run.result.status == Status::kInterrupted && complete_run_stored(name)) {
      fs::remove_all(one.run.folder);  // what is there says more
      return;
    }
    store(run, one.run.folder);
  }

  bool complete_run_stored(const std::string& name) const {
    std::string problem;
    const std::optional<Run> stored = find_record(work_.out / "runs" / name / kManifestFile, problem);
    return stored && !stored->failed();
  }

  void skip(const std::vector<const CellState*>& cells, const std::string& status,
            const std::string& reason) {
    for (const CellState* state : cells) {
      ++started_;
      const fs::path folder = start_folder(work_.out / "runs" / state->run.parameters.name);
      finished_[state->run.parameters.name] = 0.0;
      store(runner_.skip(state->run, folder, status, reason), folder);
    }
  }

  void store(const Run& run, const fs::path& folder) {
    publish(folder, work_.out / "runs" / run.parameters.name);
    ++result_.done;
    if (failed_run(run)) ++result_.failed;
    for (const std::string& warning : run_warnings(run, runner_.reference())) work_.hooks.warn(warning);
  }

  const SweepWork& work_;
  SweepResult& result_;
  double ends_at_;  ///< ProcessRules::ends_at
  ProblemRunner runner_;
  std::string described_;  ///< the data set whose facts the runner has
  std::size_t total_ = 0, started_ = 0;
  std::map<std::string, double> finished_;  ///< wall seconds of the runs of this sweep
};

class LocalLauncher : public Launcher {
 public:
  void prepare(const SweepWork& work) override {
    require_no_open_jobs(work.out);
    problems_.emplace(work.out, 0.0, OutLock::kAllProblems);
    recover(work.out);
  }
  void launch(const SweepWork& work, SweepResult& result) override {
    work.write_config();
    make_runs(work, ProcessRules(work.config, work.options.jobs), result);
  }

 private:
  std::optional<OutLock> problems_;
};

}  // namespace

void make_runs(const SweepWork& work, const ProcessRules& rules, SweepResult& result,
               const std::string& refused) {
  LocalSweep sweep(work, rules, result);
  if (refused.empty())
    sweep.run();
  else
    sweep.refuse(refused);
}

LauncherInfo local_launcher_info() {
  return {"local", "processes of this machine", 0.0,
          []() -> std::unique_ptr<Launcher> { return std::make_unique<LocalLauncher>(); }};
}

}  // namespace proxbench
