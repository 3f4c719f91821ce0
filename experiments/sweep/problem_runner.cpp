#include "experiments/sweep/problem_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/numbers.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/provenance.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Relative differences of F this small are rounding of its sums.
constexpr double kRounding = 1e-10;

}  // namespace

ProcessRules::ProcessRules(const ExperimentConfig& config, int runs_at_a_time)
    : wall_limit(config.wall_limit),
      kill_grace(config.kill_grace),
      memory_limit(config.memory_limit),
      pin(config.pin),
      jobs(runs_at_a_time),
      stop_at(config.stop_at),
      wanted{config.reference_tol, config.reference_gap, config.reference_time_limit} {
  if (jobs > 1) not_comparable_because = fmt::format("{} runs were made at a time", jobs);
}

JobLimits ProcessRules::limits(double time_limit) const {
  const double automatic = time_limit > 0 ? 60.0 + 3.0 * time_limit : 0.0;
  const double own = std::isnan(wall_limit) ? automatic : wall_limit;
  JobLimits limits = until_the_end();
  if (own > 0 && (limits.wall == 0 || own < limits.wall)) limits.wall = own;
  return limits;
}

JobLimits ProcessRules::until_the_end() const {
  constexpr double kLeast = 1.0;  // 0 would be no limit
  return {std::isinf(ends_at) ? 0.0 : std::max(kLeast, ends_at - wall_seconds()), kill_grace};
}

ProblemRunner::ProblemRunner(const fs::path& out, ProcessRules rules, std::vector<int> cpus,
                             const SweepHooks& hooks)
    : out_(out), rules_(std::move(rules)), cpus_(std::move(cpus)), hooks_(hooks) {}

void ProblemRunner::describe(const RunParameters& data_job, const fs::path& folder) {
  hooks_.tell("reading data set " + data_job.dataset);
  Run run;
  run.parameters = data_job;
  JobProcess child(run, folder, settings(data_job, 0), rules_.until_the_end());
  while (!child.watch(kSlice, hooks_.stop())) {
  }
  facts_ = child.result().result;
  fs::remove_all(folder);
  if (!facts_.reason.empty()) return;
  hooks_.tell(facts_.description);
  for (const auto& [what, count] : facts_.notes) hooks_.tell(fmt::format("{}: {}", what, count));
}

std::string ProblemRunner::skipped_status() const {
  return facts_.failure == kOracleMisfit ? kOracleMisfit : "skipped(the data cannot be read)";
}

fs::path ProblemRunner::reference_file_of(const RunParameters& job) const {
  return reference_file(out_, facts_.data_digest, job);
}

bool ProblemRunner::find_reference(const RunParameters& job) {
  const fs::path file = reference_file_of(job);
  std::string problem;
  reference_ = find_record(file, problem);
  if (!reference_ && fs::exists(file)) hooks_.warn(problem + "; the reference is made again");
  if (reference_ && !serves(*reference_, rules_.wanted)) reference_.reset();
  if (!reference_) return false;
  hooks_.tell(
      fmt::format("reusing f* = {} from {}", reference_->result.certificate.objective, file.string()));
  warn_if_loose();
  return true;
}

std::optional<Run> ProblemRunner::make_reference(Run run, const fs::path& folder) {
  const RunParameters& job = run.parameters;
  reference_.reset();
  hooks_.tell(fmt::format("{}: {} to {}", job.name, job.solver,
                          job.gap_target > 0.0 ? fmt::format("a relative gap of {:g}", job.gap_target)
                                               : fmt::format("kkt <= {:g} of its start", job.tol)));
  begin(run);
  JobProcess child(run, folder, settings(job, 0), rules_.limits(job.time_limit));
  while (!child.watch(kSlice, hooks_.stop())) report_samples(child, job.name);
  const Run made = child.result();
  fs::remove_all(folder);
  const RunFigures& end = made.result;
  if (made.failed() || !end.reason.empty() || end.status == Status::kDiverged ||
      std::isnan(end.certificate.objective)) {
    if (end.status != Status::kInterrupted)
      hooks_.warn(fmt::format("{}: {}: {}; there is no f* to compare with", job.name, made.status(),
                              end.reason.empty() ? "no optimum" : end.reason));
    return std::nullopt;
  }
  reference_ = made;
  hooks_.tell(fmt::format("{}: f* = {}, proven to {:.1e} (relative), nnz {}, {} after {:.1f} s", job.name,
                          end.certificate.objective, slack(made) / end.certificate.objective,
                          end.certificate.nnz, made.status(), end.seconds));
  warn_if_loose();
  return reference_;
}

void ProblemRunner::warn_if_loose() const {
  const RunParameters& job = reference_->parameters;
  const std::string problem =
      fmt::format("reference of {} at {}", job.dataset, Penalty{job.lambda, job.mu}.text());
  const BestKnown best = best_of(*reference_);
  if (std::isnan(best.relative_kkt) && best.relative_gap > rules_.wanted.gap)
    hooks_.warn(fmt::format("{}: proven to a relative gap of {:.1e}, asked for {:g} ({})", problem,
                            best.relative_gap, rules_.wanted.gap, reference_->status()));
  if (best.relative_kkt > rules_.wanted.tol)
    hooks_.warn(
        fmt::format("{}: kkt is {:.1e} of its start, asked for {:g} ({}); f* may be up "
                    "to {:.1e} (relative) too high",
                    problem, best.relative_kkt, rules_.wanted.tol, reference_->status(),
                    slack(*reference_) / best.objective));
  if (ended_by_time_limit(*reference_))
    hooks_.warn(
        fmt::format("{}: ended by its time limit of {:g} s, so that another sweep may "
                    "find another f*; a longer reference_time_limit lets it end by itself",
                    problem, job.time_limit));
}

std::string ProblemRunner::unmet(const RunParameters& job) const {
  const OracleInfo& oracle = oracle_registry().find(facts_.oracle);
  return unmet_needs(job, &oracle);
}

void ProblemRunner::begin(Run& run) const {
  run.provenance = provenance();
  run.timing.comparable = rules_.not_comparable_because.empty();
  run.timing.not_comparable_because = rules_.not_comparable_because;
  if (reference_) run.best = best_of(*reference_);
}

ProblemRunner::Running ProblemRunner::start(Run run, const fs::path& folder, std::size_t slot) const {
  begin(run);
  const ProcessSettings process = settings(run.parameters, slot);
  run.timing.cpus = process.cpus.empty() ? cpus_ : process.cpus;
  run.timing.memory_nodes = process.memory_nodes;
  run.timing.environment = process.environment;
  if (rules_.stop_at > 0)
    run.parameters.objective_target = run.best.objective + rules_.stop_at * std::abs(run.best.objective);
  const JobLimits limits = rules_.limits(run.parameters.time_limit);
  return {folder, slot, std::make_unique<JobProcess>(std::move(run), folder, process, limits)};
}

Run ProblemRunner::finish(const Running& running) const {
  const fs::path& folder = running.folder;
  repair_trace(folder / "trace.csv");
  Run run = running.child->result();
  if (text_of(folder / "log.txt").empty()) fs::remove(folder / "log.txt");
  store(run, folder);
  fs::remove(folder / kJobFile);  // the manifest says all of it, and the run is complete
  return run;
}

Run ProblemRunner::skip(Run run, const fs::path& folder, const std::string& status,
                        const std::string& reason) const {
  repair_trace(folder / "trace.csv");
  begin(run);
  run.result.failure = status;
  run.result.reason = reason;
  store(run, folder);
  return run;
}

void ProblemRunner::store(Run& run, const fs::path& folder) const {
  RunFigures& figures = run.result;
  if (figures.data_digest.empty()) {
    figures.data_digest = facts_.data_digest;
    figures.description = facts_.description;
    figures.d = facts_.d;
    figures.instances = facts_.instances;
    figures.positions = facts_.positions;
  }
  if (!figures.iterations) add_last_sample(figures, folder / "trace.csv");
  write_record(folder / kManifestFile, run);
}

ProcessSettings ProblemRunner::settings(const RunParameters& job, std::size_t slot) const {
  ProcessSettings process;
  process.memory_limit = static_cast<std::uint64_t>(rules_.memory_limit * 1024 * 1024);
  const auto threads = static_cast<std::size_t>(job.threads);
  // Several processes are bound by what launches them.
  if (rules_.pin && job.processes == 1 && threads * static_cast<std::size_t>(rules_.jobs) <= cpus_.size())
    pin(process, cpus_, slot * threads, threads, parse_backend(job.backend));
  return process;
}

void ProblemRunner::report_samples(JobProcess& child, const std::string& name) const {
  if (!hooks_.on_sample) return;
  const std::vector<Sample> samples = child.new_samples();
  if (!samples.empty()) hooks_.on_sample(name, samples.back());
}

bool failed_run(const Run& run) {
  return run.failed() && run.result.failure != kDoesNotFit;
}

std::vector<std::string> run_warnings(const Run& run, const std::optional<Run>& reference) {
  std::vector<std::string> out;
  const std::string &name = run.parameters.name, &reason = run.result.reason;
  if (run.failed() || !reason.empty())
    out.push_back(fmt::format("{}: {}{}{}", name, run.status(), reason.empty() ? "" : ": ", reason));
  if (run.result.status == Status::kDiverged) out.push_back(name + ": diverged, so no model is stored");
  if (!reference) return out;
  const double best = reference->result.certificate.objective,
               below = best - run.result.certificate.objective;
  if (!(below > kRounding * std::abs(best))) return out;
  out.push_back(fmt::format(
      "{}: ends {:.1e} (relative) below f* = {}, {}", name, below / best, best,
      below <= slack(*reference)
          ? "within what is proven of f*: smaller reference_tol and reference_gap give a better f*"
          : "MORE than is proven of f*: one of both is wrong"));
  return out;
}

}  // namespace proxbench
