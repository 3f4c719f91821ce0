#include "experiments/results/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/results/csv.h"

namespace proxbench {
namespace {

/// Returns how the search for the certified gap ended.
std::optional<Status> gap_status(const Run& reference) {
  return reference.result.tighten ? reference.result.tighten->status : reference.result.status;
}

double wanted_gap(const RunParameters& p) {
  return std::max(p.tighten, p.gap_target);
}

}  // namespace

std::string problem_name(const RunParameters& run) {
  return run.name.substr(0, run.name.rfind(fmt::format("-{}-rep{}", run.label, run.repetition)));
}

fs::path reference_file(const fs::path& out, const std::string& problem) {
  return out / "references" / (problem + ".json");
}

std::optional<Run> find_reference(const fs::path& out, const std::string& problem, const Run& run) {
  const fs::path file = reference_file(out, problem);
  if (std::error_code ignored; !fs::exists(file, ignored)) return std::nullopt;
  Run found = read_record(file);
  const bool same = found.key.data == run.key.data && problem_of(found) == problem_of(run);
  return same ? std::optional(std::move(found)) : std::nullopt;
}

ProblemKey problem_of(const Run& run) {
  const RunParameters& p = run.parameters;
  return {p.dataset, p.penalty, p.loss};
}

Run read_record(const fs::path& file) {
  return run_from(nlohmann::json::parse(read_file(file, kStoredResult), nullptr, false), file.string());
}

std::optional<Run> find_record(const fs::path& file, std::string& problem) {
  problem = "missing";
  if (std::error_code ignored; !fs::exists(file, ignored)) return std::nullopt;
  try {
    return read_record(file);
  } catch (const Error& error) {  // the record has another version or is damaged
    problem = error.what();
    return std::nullopt;
  }
}

void write_record(const fs::path& file, const Run& run) {
  write_json(file, run_json(run));
}

Run read_run(const fs::path& out, const fs::path& folder) {
  Run run = read_record(folder / kManifestFile);
  if (run.is_path()) return run;
  if (const auto reference = find_reference(out, problem_name(run.parameters), run))
    run.best = best_of(*reference);
  return run;
}

std::vector<fs::path> run_folders(const fs::path& out) {
  std::vector<fs::path> folders;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "runs", failure))
    if (entry.is_directory() && !entry.path().filename().string().starts_with('.'))
      folders.push_back(entry.path());
  std::ranges::sort(folders);
  return folders;
}

std::vector<Sample> read_trace(const fs::path& file) {
  return read_csv(trace_columns(), file);
}

BestKnown best_of(const Run& reference) {
  const Certificate& c = reference.result.certificate;
  return {c.objective, reference.result.relative_kkt(), c.relative_gap(), reference.result.kkt_at_zero,
          relative_bound(reference)};
}

double slack(const Run& reference) {
  const Certificate& c = reference.result.certificate;
  const double lambda = reference.parameters.penalty.lambda;
  const double by_kkt =
      lambda > 0.0 && !std::isnan(c.kkt) ? c.kkt * (c.l1 + c.objective / lambda) : kInfinity;
  return std::isnan(c.dual) ? by_kkt : std::min(by_kkt, std::max(c.objective - c.dual, 0.0));
}

double relative_bound(const Run& reference) {
  return slack(reference) / reference.result.certificate.objective;
}

bool ended_by_time_limit(const Run& reference) {
  return reference.result.status == Status::kTimeLimit || gap_status(reference) == Status::kTimeLimit;
}

bool serves(const Run& reference, const ExperimentConfig& config) {
  const RunParameters& was = reference.parameters;
  const bool as_long = was.time_limit == 0 ||
                       (config.reference_time_limit > 0 && config.reference_time_limit <= was.time_limit);
  const auto ends = [&](std::optional<Status> how) {
    return how == Status::kStalled || (how == Status::kTimeLimit && as_long);
  };
  const double relative_kkt = reference.result.relative_kkt();
  const bool kkt_serves = std::isnan(relative_kkt) || relative_kkt <= config.reference_tol ||
                          (was.tol <= config.reference_tol && ends(reference.result.status));
  const bool gap_serves =
      config.reference_gap == 0 || reference.result.certificate.relative_gap() <= config.reference_gap ||
      (wanted_gap(was) > 0 && wanted_gap(was) <= config.reference_gap && ends(gap_status(reference)));
  return kkt_serves && gap_serves;
}

}  // namespace proxbench
