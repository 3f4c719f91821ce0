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
#include "experiments/run/provenance.h"
#include "experiments/sweep/plan.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Relative differences of F this small are rounding of its sums.
constexpr double kRounding = 1e-10;

std::string text_or(const Json& json, const std::string& otherwise) {
  return json.is_string() ? json.get<std::string>() : otherwise;
}

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
    : out_(out), rules_(std::move(rules)), cpus_(std::move(cpus)), hooks_(hooks), provenance_(provenance()) {}

void ProblemRunner::describe(const RunParameters& data_job, const fs::path& folder) {
  hooks_.tell("reading data set " + data_job.dataset);
  JobProcess child(data_job, folder, settings(data_job, 0), rules_.until_the_end());
  while (!child.watch(kSlice, hooks_.stop())) {
  }
  facts_ = child.result();
  if (facts_["reason"].is_null()) facts_.erase("reason");
  fs::remove_all(folder);
  if (facts_.contains("reason")) return;
  hooks_.tell(facts_.at("description").get<std::string>());
  for (const char* set : {"train", "test"})
    for (const auto& [what, count] : facts_.at("notes").at(set).items())
      hooks_.tell(fmt::format("{} data: {}: {}", set[1] == 'r' ? "training" : "test", what,
                              count.get<std::uint64_t>()));
}

std::string ProblemRunner::skipped_status() const {
  return facts_.value("oracle_misfit", false) ? "skipped(the oracle does not fit the data)"
                                              : "skipped(the data cannot be read)";
}

fs::path ProblemRunner::reference_file_of(const RunParameters& job) const {
  return reference_file(out_, facts_.at("data_digest").get<std::string>(), job.lambda, job.mu, job.loss);
}

bool ProblemRunner::find_reference(const RunParameters& job) {
  reference_.reset();
  const fs::path file = reference_file_of(job);
  if (std::error_code ignored; !fs::exists(file, ignored)) return false;
  const Reference stored = read_reference(file);
  if (!stored.serves(rules_.wanted)) return false;
  hooks_.tell(fmt::format("reusing f* = {} from {}", stored.objective, file.string()));
  reference_ = stored;
  warn_if_loose(job);
  return true;
}

Json ProblemRunner::make_reference(const RunParameters& job, const fs::path& folder,
                                   const std::string& source_digest, const std::string& program_digest) {
  reference_.reset();
  hooks_.tell(fmt::format("{}: {} to {}", job.name, job.solver,
                          job.gap_target > 0.0 ? fmt::format("a relative gap of {:g}", job.gap_target)
                                               : fmt::format("kkt <= {:g} of its start", job.tol)));
  JobProcess child(job, folder, settings(job, 0), rules_.limits(job.time_limit));
  while (!child.watch(kSlice, hooks_.stop())) report_samples(child, job.name);
  Json json = child.result();
  fs::remove_all(folder);
  const std::string status = json.value("status", "failed");
  if (status == "interrupted" || !json["reason"].is_null() || status == "diverged" ||
      !json["objective"].is_number()) {
    if (status != "interrupted")
      hooks_.warn(fmt::format("{}: {}: {}; there is no f* to compare with", job.name, status,
                              text_or(json["reason"], "no optimum")));
    return nullptr;
  }
  json.erase("reason");
  json["time_limit"] = job.time_limit;
  json["reference_gap"] = rules_.wanted.gap;
  json["dataset"] = job.dataset;
  json["source_digest"] = source_digest;
  json["program_digest"] = program_digest;
  json["provenance"] = full_provenance(provenance_now());
  reference_ = Reference::from(json);
  json["ended_by_time_limit"] = reference_->ended_by_time_limit();
  hooks_.tell(fmt::format("{}: f* = {}, proven to {:.1e} (relative), nnz {}, {} after {:.1f} s", job.name,
                          reference_->objective, reference_->slack(job.lambda) / reference_->objective,
                          json["nnz"].get<std::uint64_t>(), reference_->status,
                          json["seconds"].get<double>()));
  warn_if_loose(job);
  return json;
}

void ProblemRunner::warn_if_loose(const RunParameters& job) const {
  if (std::isnan(reference_->relative_kkt) && reference_->relative_gap() > rules_.wanted.gap)
    hooks_.warn(fmt::format("reference of {} at {}: proven to a relative gap of {:.1e}, asked for {:g} ({})",
                            job.dataset, Penalty{job.lambda, job.mu}.text(), reference_->relative_gap(),
                            rules_.wanted.gap, reference_->status));
  if (reference_->relative_kkt > rules_.wanted.tol)
    hooks_.warn(fmt::format(
        "reference of {} at {}: kkt is {:.1e} of its start, asked for {:g} ({}); f* may be up "
        "to {:.1e} (relative) too high",
        job.dataset, Penalty{job.lambda, job.mu}.text(), reference_->relative_kkt, rules_.wanted.tol,
        reference_->status, reference_->slack(job.lambda) / reference_->objective));
  if (reference_->ended_by_time_limit())
    hooks_.warn(
        fmt::format("reference of {} at {}: ended by its time limit of {:g} s, so that another sweep may "
                    "find another f*; a longer reference_time_limit lets it end by itself",
                    job.dataset, Penalty{job.lambda, job.mu}.text(), reference_->wanted.time_limit));
}

std::string ProblemRunner::unmet(const RunTask& task) const {
  const OracleInfo& oracle = oracle_registry().find(facts_.at("oracle").get<std::string>());
  return unmet_needs(task.job, &oracle);
}

ProblemRunner::Running ProblemRunner::start(const RunTask& task, const fs::path& folder,
                                            std::size_t slot) const {
  Running run{task, folder, slot, nullptr, provenance_now()};
  RunParameters job = task.job;
  if (rules_.stop_at > 0)
    job.objective_target = reference_->objective + rules_.stop_at * std::abs(reference_->objective);
  run.child = std::make_unique<JobProcess>(job, folder, settings(job, slot), rules_.limits(job.time_limit));
  return run;
}

Json ProblemRunner::finish(const Running& run) const {
  repair_trace(run.folder / "trace.csv");
  Json result = run.child->result();
  Json timing = result.value("timing", Json::object());
  timing["wall_seconds"] = run.child->seconds();
  timing["comparable"] = rules_.not_comparable_because.empty();
  timing["not_comparable_because"] = nullptr;
  if (!rules_.not_comparable_because.empty())
    timing["not_comparable_because"] = rules_.not_comparable_because;
  const ProcessSettings process = settings(run.task.job, run.slot);
  timing["cpus"] = process.cpus.empty() ? cpus_ : process.cpus;
  timing["memory_nodes"] = process.memory_nodes;
  timing["environment"] = process.environment;
  result.erase("timing");
  Json manifest = base_manifest(run.task, result);
  add_missing(manifest, run.folder / "trace.csv");
  manifest["timing"] = timing;
  manifest["key"] = run.task.key;
  manifest["provenance"] = full_provenance(run.now);
  fs::remove(run.folder / kResultFile);
  if (text_of(run.folder / "log.txt").empty()) fs::remove(run.folder / "log.txt");
  write_json(run.folder / "manifest.json", manifest);
  return manifest;
}

Json ProblemRunner::skip(const RunTask& task, const fs::path& folder, const std::string& status,
                         const std::string& reason) const {
  repair_trace(folder / "trace.csv");
  Json manifest = base_manifest(task, {{"status", status}, {"reason", reason}});
  add_missing(manifest, folder / "trace.csv");
  manifest["timing"] = {{"wall_seconds", nullptr}, {"comparable", true}, {"not_comparable_because", nullptr}};
  manifest["key"] = task.key;
  manifest["provenance"] = full_provenance(provenance_now());
  write_json(folder / "manifest.json", manifest);
  return manifest;
}

/// The result of a run, with what it was asked for under "run".
Json ProblemRunner::base_manifest(const RunTask& task, const Json& result) const {
  Json manifest = result;
  manifest.update(summary_parameters(task.job));
  Json& run = manifest["run"];
  run = parameters_json(task.job);
  run["data_digest"] = facts_.value("data_digest", "");
  run["description"] = facts_.value("description", "");
  for (const char* key : {"reference_objective", "reference_kkt", "reference_gap", "kkt_at_zero"})
    run[key] = nullptr;
  if (reference_) {
    run["reference_objective"] = reference_->objective;
    run["reference_kkt"] = number_json(reference_->relative_kkt);
    run["reference_gap"] = number_json(reference_->relative_gap());
    run["kkt_at_zero"] = number_json(reference_->kkt_at_zero);
  }
  return manifest;
}

/// What a run that failed cannot tell of itself: its data's facts, and where its trace ended.
void ProblemRunner::add_missing(Json& manifest, const fs::path& trace) const {
  for (const char* key : {"data_digest", "d", "instances", "positions"})
    if (!manifest.contains(key) && facts_.contains(key)) manifest[key] = facts_[key];
  if (!manifest.contains("objective")) add_last_sample(manifest, trace);
}

Json ProblemRunner::full_provenance(const Json& now) const {
  Json out = provenance_;
  out.update(now);
  return out;
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

bool failed_run(const Json& manifest) {
  const std::string status = manifest.value("status", "failed");
  return failed_status(status) && status != kDoesNotFit;
}

std::vector<std::string> run_warnings(const RunParameters& job, const Json& manifest,
                                      const std::optional<Reference>& reference) {
  std::vector<std::string> out;
  const std::string status = manifest.value("status", "failed"), reason = text_or(manifest["reason"], "");
  if (failed_status(status) || !reason.empty())
    out.push_back(fmt::format("{}: {}{}{}", job.name, status, reason.empty() ? "" : ": ", reason));
  if (status == "diverged") out.push_back(job.name + ": diverged, so no model is stored");
  if (!reference || !manifest["objective"].is_number()) return out;
  const double below = reference->objective - manifest["objective"].get<double>();
  if (!(below > kRounding * std::abs(reference->objective))) return out;
  const double slack = reference->slack(job.lambda);
  out.push_back(fmt::format(
      "{}: ends {:.1e} (relative) below f* = {}, {}", job.name, below / reference->objective,
      reference->objective,
      below <= slack ? "within what is proven of f*: smaller reference_tol and reference_gap give a better f*"
                     : "MORE than is proven of f*: one of both is wrong"));
  return out;
}

}  // namespace proxbench
