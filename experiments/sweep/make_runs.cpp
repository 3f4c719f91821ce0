#include "experiments/sweep/make_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/csv.h"
#include "experiments/results/results.h"
#include "experiments/run/training.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/provenance.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

/// Returns e.g. "5 s", "12 min" or "1.5 h".
std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// Warns if a reference is less exact than the config asks, and says how exact it is. Also warns if the time
/// limit ended the reference.
void warn_if_loose(const Run& reference, const ExperimentConfig& config, const Progress& progress) {
  const RunParameters& job = reference.parameters;
  const BestKnown best = best_of(reference);
  if (best.relative_kkt > config.reference_tol ||
      (std::isnan(best.relative_kkt) && best.relative_gap > config.reference_gap))
    progress.warn(fmt::format(
        "{}: {}; f* may be up to {:.1e} (relative) too high: asked for kkt <= {:g} of its start and "
        "a relative gap of {:g}",
        job.name, reference.status(), best.relative_bound, config.reference_tol, config.reference_gap));
  if (ended_by_time_limit(reference))
    progress.warn(
        fmt::format("{}: ended by its time limit of {:g} s, so that another sweep may "
                    "find another f*; a longer reference_time_limit lets it end by itself",
                    job.name, job.time_limit));
}

class LocalSweep {
 public:
  LocalSweep(const Sweep& sweep, SweepResult& result)
      : sweep_(sweep), config_(sweep.config), progress_(sweep.progress), result_(result) {
    const auto shared = static_cast<std::size_t>(sweep.options.shared);
    if (shared == 0 || usable_cpus().size() <= shared) cpus_ = usable_cpus();
    if (shared > 0) not_comparable_because_ = "others may have used this machine";
    if (sweep.options.jobs > 1)
      not_comparable_because_ = fmt::format("{} runs were made at a time", sweep.options.jobs);
    for (const SweepProblem& problem : sweep.problems) {
      if (problem.lacks_reference) left_[problem.name] = kNaN;  // its limit says little of its time
      for (const Cell* cell : problem.missing()) {
        left_[cell->name()] = cell->wall_seconds / sweep.options.jobs;
        ++total_;
      }
    }
  }

  void run() {
    warn_of_hazards();
    for (const SweepProblem& problem : sweep_.problems)
      if (!progress_.stop() && !problem.complete()) run_problem(problem);
  }

 private:
  /// The time between two checks of the trace of a process.
  static constexpr std::chrono::milliseconds kSlice{500};

  /// A run in progress. `slot` is its number among the runs that are made at the same time.
  struct Active {
    const Cell* cell;
    fs::path folder;
    std::size_t slot;
    std::unique_ptr<JobProcess> child;
  };

  void warn_of_hazards() const {
    if (total_ == 0) return;
    const int threads = resolved_threads(config_.threads) * config_.processes, jobs = sweep_.options.jobs;
    for (const std::string& hazard : timing_hazards(threads, jobs)) progress_.warn("timings: " + hazard);
    if (const auto cpus = usable_cpus().size(); config_.pin && threads * jobs > static_cast<int>(cpus))
      progress_.warn(fmt::format("{} runs of {} threads cannot be bound to {} CPUs, so they are not", jobs,
                                 threads, cpus));
  }

  /// Stores runs that were not started.
  void skip(const std::vector<const Cell*>& cells, const std::string& status, const std::string& reason) {
    for (const Cell* cell : cells) {
      ++started_;
      const fs::path folder = start_folder(sweep_.out / "runs" / cell->name());
      Run run = begun(cell->run);
      run.set_status(status);
      run.result.reason = reason;
      complete(run, folder);
      store(run, folder);
    }
  }

  void run_problem(const SweepProblem& problem) {
    left_.erase(problem.name);
    const std::vector<const Cell*> missing = problem.missing();
    const std::string name = missing.empty() ? problem.name : missing.front()->name();
    describe(problem.cells.front().run.parameters.dataset, name);
    if (progress_.stop()) return;
    if (!facts_.reason.empty())
      return skip(missing,
                  data_status_ == kOracleMismatch ? kOracleMismatch : "failed(the data cannot be read)",
                  facts_.reason);
    reference_.reset();
    if (problem.reference) take_reference(problem, name);
    if (progress_.stop()) return;
    if (!reference_ && config_.stop_at > 0)
      return skip(missing, "failed(no f* to stop at)", "the reference run failed");
    const OracleInfo& oracle = oracle_registry().find(facts_.oracle);
    std::vector<const Cell*> fitting;
    for (const Cell* cell : missing)
      if (const std::string unmet = skip_reason(cell->run.parameters, &oracle); unmet.empty())
        fitting.push_back(cell);
      else
        skip({cell}, kDoesNotFit, unmet);
    run_cells(fitting);
  }

  /// Makes a run that other runs wait for, in a folder that no other task on any machine uses.
  Run made_alone(const Run& run, const std::string& folder_name) {
    const ScratchFolder folder(start_folder(sweep_.out / "runs" / folder_name));
    JobProcess child(run, folder.path, config_, cpus_, 0, sweep_.options.jobs);
    while (!child.watch(kSlice, progress_.stop())) report_samples(child, run.parameters.name);
    return child.result();
  }

  /// Sets facts_ if they are not known yet. They get a reason if the data cannot be read, or if their oracle
  /// cannot serve them.
  void describe(const std::string& dataset, const std::string& name) {
    if (dataset == described_) return;
    described_ = dataset;
    progress_.inform("reading data set " + dataset);
    Run run;
    run.parameters = data_job(config_, dataset);
    run = made_alone(run, "data-" + name);
    facts_ = run.result;
    data_status_ = run.status();
    if (!facts_.reason.empty()) return;
    progress_.inform(facts_.description);
    for (const auto& [what, count] : facts_.notes) progress_.inform(fmt::format("{}: {}", what, count));
    for (const std::string& warning : facts_.warnings)
      progress_.warn(fmt::format("data set {}: {}", dataset, warning));
  }

  /// Sets reference_ from what is stored, or by making a run. It stays empty if that fails.
  void take_reference(const SweepProblem& problem, const std::string& name) {
    const fs::path file = reference_file(sweep_.out, problem.name);
    if (problem.lacks_reference) {
      if (!problem.unread.empty()) progress_.warn(problem.unread + "; the reference is made again");
      make_reference(*problem.reference, name);
      if (reference_) write_record(file, *reference_);
    } else if (problem.known_reference) {
      reference_ = problem.known_reference;
      progress_.inform(
          fmt::format("reusing f* = {} from {}", reference_->result.certificate.objective, file.string()));
    }
    if (reference_) warn_if_loose(*reference_, config_, progress_);
  }

  void make_reference(const Run& asked, const std::string& name) {
    const RunParameters& job = asked.parameters;
    progress_.inform(fmt::format("{}: {} to {}", job.name, job.solver,
                                 job.gap_target > 0.0 ? fmt::format("a relative gap of {:g}", job.gap_target)
                                                      : fmt::format("kkt <= {:g} of its start", job.tol)));
    Run made = made_alone(begun(asked), "reference-" + name);
    const RunFigures& end = made.result;
    count_end(end.wall_seconds);
    if (made.failed() || !end.reason.empty() || std::isnan(end.certificate.objective)) {
      if (end.status != Status::kInterrupted)
        progress_.warn(fmt::format("{}: {}: {}; there is no f* to compare with", job.name, made.status(),
                                   end.reason.empty() ? "no optimum" : end.reason));
      return;
    }
    progress_.inform(fmt::format("{}: f* = {}, proven to {:.1e} (relative), nnz {}, {} after {:.1f} s",
                                 job.name, end.certificate.objective, relative_bound(made),
                                 end.certificate.nnz, made.status(), end.seconds));
    reference_ = std::move(made);
  }

  void run_cells(const std::vector<const Cell*>& cells) {
    std::size_t next = 0;
    std::vector<Active> active;
    while (!active.empty() || (next < cells.size() && !progress_.stop())) {
      while (next < cells.size() && !progress_.stop() &&
             static_cast<int>(active.size()) < sweep_.options.jobs)
        active.push_back(start(*cells[next++], active));
      for (auto one = active.begin(); one != active.end();) {
        const bool ended = one->child->watch(kSlice / static_cast<int>(active.size()), progress_.stop());
        report_samples(*one->child, progress_text(one->cell->name(), one->child->seconds()));
        if (!ended) {
          ++one;
          continue;
        }
        finish(*one);
        one = active.erase(one);
      }
    }
  }

  Active start(const Cell& cell, const std::vector<Active>& active) {
    std::size_t slot = 0;
    while (std::ranges::find(active, slot, &Active::slot) != active.end()) ++slot;
    ++started_;
    progress_.inform(progress_text(cell.name(), 0.0));
    Run run = begun(cell.run);
    if (config_.stop_at > 0)
      run.parameters.objective_target = run.best.objective + config_.stop_at * std::abs(run.best.objective);
    const fs::path folder = start_folder(sweep_.out / "runs" / cell.name());
    return {&cell, folder, slot,
            std::make_unique<JobProcess>(std::move(run), folder, config_, cpus_, slot, sweep_.options.jobs)};
  }

  /// Returns the record of a run before it starts.
  Run begun(Run run) const {
    run.provenance = provenance();
    run.timing.comparable = not_comparable_because_.empty();
    run.timing.not_comparable_because = not_comparable_because_;
    if (reference_) run.best = best_of(*reference_);
    return run;
  }

  void report_samples(JobProcess& child, const std::string& name) const {
    if (!progress_.on_sample) return;
    if (const std::optional<Sample> sample = child.newest_sample()) progress_.on_sample(name, *sample);
  }

  /// Returns "[3/8, about 5 min left] NAME". The time is shown once durations of runs are known, and includes
  /// references. `elapsed` is the time of the current run.
  std::string progress_text(const std::string& name, double elapsed) const {
    double known = -elapsed / sweep_.options.jobs, unknown = 0.0;
    for (const auto& [run, seconds] : left_) std::isnan(seconds) ? unknown += 1.0 : known += seconds;
    std::string left;
    if (unknown == 0.0 || ended_ > 0.0)
      left = fmt::format(", about {} left", duration_text(std::max(0.0, known + unknown * mean_)));
    return fmt::format("[{}/{}{}] {}", started_, total_, left, name);
  }

  void count_end(double seconds) {
    ended_ += 1.0;
    mean_ += (seconds - mean_) / ended_;
  }

  void finish(const Active& one) {
    Run run = one.child->result();
    if (text_of(one.folder / "log.txt").empty()) fs::remove(one.folder / "log.txt");
    complete(run, one.folder);
    fs::remove(one.folder / kJobFile);  // the manifest has all its contents, and the run is complete
    count_end(run.result.wall_seconds / sweep_.options.jobs);
    if (run.result.status == Status::kInterrupted && is_complete(one.cell->name()))
      fs::remove_all(one.folder);
    else
      store(run, one.folder);
  }

  /// Whether a complete run of this name is stored.
  bool is_complete(const std::string& name) const {
    std::string ignored;
    const std::optional<Run> stored = find_record(sweep_.out / "runs" / name / kManifestFile, ignored);
    return stored && !stored->failed();
  }

  /// Adds facts that a failed run cannot record itself, and writes the manifest.
  void complete(Run& run, const fs::path& folder) const {
    RunFigures& figures = run.result;
    if (figures.data_digest.empty()) {
      figures.data_digest = facts_.data_digest;
      figures.description = facts_.description;
      figures.d = facts_.d;
      figures.instances = facts_.instances;
      figures.positions = facts_.positions;
    }
    repair_csv(csv_header(trace_columns()), folder / "trace.csv");
    if (run.is_path()) repair_csv(csv_header(path_columns()), folder / "path.csv");
    if (!figures.iterations) add_last_sample(figures, folder / "trace.csv");
    write_record(folder / kManifestFile, run);
  }

  void store(const Run& run, const fs::path& folder) {
    left_.erase(run.parameters.name);
    publish(folder, sweep_.out / "runs" / run.parameters.name);
    ++result_.done;
    if (failed_run(run)) ++result_.failed;
    warn_of_run(run, reference_, progress_);
  }

  const Sweep& sweep_;
  const ExperimentConfig& config_;
  const Progress& progress_;
  SweepResult& result_;
  std::string not_comparable_because_;  ///< empty: timings are comparable
  std::vector<int> cpus_;               ///< CPUs that processes may be bound to
  std::string described_;               ///< the data set of facts_
  RunFigures facts_;
  std::string data_status_;       ///< of the job that made facts_
  std::optional<Run> reference_;  ///< of the current problem
  /// Runs and references that have not ended, with the time that they are expected to add to the sweep, or
  /// NaN. References have the names of their problems.
  std::map<std::string, double> left_;
  double ended_ = 0.0, mean_ = 0.0;      ///< the number that have ended, and the mean time that they added
  std::size_t total_ = 0, started_ = 0;  ///< runs
};

}  // namespace

void make_runs(const Sweep& sweep, SweepResult& result) {
  LocalSweep(sweep, result).run();
}

}  // namespace proxbench
