#include "experiments/results/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/base/text.h"
#include "experiments/config/trainers.h"
#include "experiments/results/field_csv.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// An external trainer may fail before it gives its name and version. Copies them from other runs with the
/// same label, so that a label looks the same everywhere.
void name_trainers(std::vector<Run>& runs) {
  std::map<std::string, std::string> trainers;
  for (const Run& run : runs)
    if (!run.result.trainer.empty()) trainers[run.parameters.label] = run.result.trainer;
  for (Run& run : runs)
    if (run.parameters.solver == kExternal) run.result.trainer = trainers[run.parameters.label];
}

/// Makes the run's seconds count from the start of its process.
void add_start(Run& run) {
  if (run.is_path()) return;
  double start = 0.0;
  for (const double seconds : {run.result.load_seconds, run.result.setup_seconds})
    if (!std::isnan(seconds)) start += seconds;
  run.result.seconds += start;
  for (Sample& sample : run.trace) sample.seconds += start;
}

/// Takes f* from OUT/references if it is there.
void use_stored_reference(const fs::path& out, Run& run) {
  if (run.is_path()) return;
  if (const auto reference = find_reference(out, problem_name(run.parameters), run))
    run.best = best_of(*reference);
}

bool lacks(const std::vector<std::string>& names, const std::string& name) {
  return !names.empty() && place_in(names, name) == names.size();
}

/// The key by which runs are sorted.
auto order_of(const Run& run, const Presentation& presentation) {
  const RunParameters& p = run.parameters;
  return std::tuple(place_in(presentation.datasets, p.dataset), problem_of(run),
                    place_in(presentation.labels, p.label), p.label, p.repetition);
}

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
  return {p.dataset, p.path, p.lambda, p.mu, p.loss.text()};
}

std::string penalty_text(const RunParameters& run) {
  if (run.path.empty())
    return (run.loss.hinge() ? run.loss.text() + ", " : "") + Penalty{run.lambda, run.mu}.text();
  const double fixed = run.path_of_mu ? run.lambda : run.mu;
  const std::string path = (run.path_of_mu ? "mu = " : "lambda = ") + run.path;
  if (fixed == 0.0) return path;
  return run.path_of_mu ? fmt::format("lambda = {}, {}", fixed, path)
                        : fmt::format("{}, mu = {}", path, fixed);
}

std::string run_name(const Run& run) {
  if (run.folder.has_filename()) return run.folder.filename().string();
  return fmt::format("{}-lambda{}-{}-rep{}", run.parameters.dataset, run.parameters.lambda,
                     run.parameters.label, run.parameters.repetition);
}

bool several_machines(const Runs& runs) {
  return distinct(runs, [](const Run& run) { return run.provenance.machine; }).size() > 1;
}

std::string machine_name(const Run& run) {
  return run.provenance.machine.empty() ? "unknown machine" : run.provenance.machine;
}

bool is_skipped(const Run& run) {
  return run.result.failure.starts_with("skipped");
}

std::string shown_label(const Run& run) {
  const std::string &label = run.parameters.label, &trainer = run.result.trainer;
  return trainer.empty() ? label : fmt::format("{} [{}]", label, trainer);
}

std::string series_name(const Run& run, bool among_several_machines) {
  return shown_label(run) + (among_several_machines ? " @ " + machine_name(run) : "");
}

void require_comparable(const std::vector<Run>& runs, const std::string& instead) {
  std::vector<std::string> names;
  for (const Run& run : runs)
    if (!run.timing.comparable) names.push_back(run_name(run));
  if (names.empty()) return;
  throw Error::usage(fmt::format("the timings of {} of {} runs are not comparable: {}; expected {}",
                                 names.size(), runs.size(), joined(names), instead));
}

void require_labels(const std::vector<Run>& runs, const std::vector<std::string>& labels) {
  for (const std::string& label : labels)
    require_known("solvers", label, distinct(runs, label_of), "labels of the results:");
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
  run.folder = folder;
  // A run that failed may have ended before it wrote this file.
  const auto read = [&](const char* file, const auto& fields, auto& records) {
    if (std::error_code ignored; run.failed() && !fs::exists(folder / file, ignored)) return;
    try {
      records = read_csv(fields, folder / file);
    } catch (const Error& error) {
      throw Error(fmt::format("{}; delete {}, and `proxbench run` makes the run again", error.what(),
                              folder.string()),
                  error.kind());
    }
  };
  read("trace.csv", trace_columns(), run.trace);
  if (run.is_path()) read("path.csv", path_columns(), run.points);
  use_stored_reference(out, run);
  return run;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure))
    if (!entry.path().filename().string().starts_with('.')) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

std::vector<fs::path> run_folders(const fs::path& out) {
  std::vector<fs::path> folders = entries_of(out / "runs");
  std::erase_if(folders, [](const fs::path& entry) { return !fs::is_directory(entry); });
  return folders;
}

std::vector<Run> read_all_runs(const fs::path& out, const Presentation& presentation, const Warn& warn) {
  std::vector<Run> runs;
  for (const fs::path& folder : run_folders(out)) {
    try {
      runs.push_back(read_run(out, folder));
    } catch (const Error& error) {
      if (!warn) throw;
      warn(fmt::format("{}: left out: {}", folder.string(), error.what()));
      continue;
    }
    if (presentation.plot.with_start) add_start(runs.back());
  }
  name_trainers(runs);
  if (runs.empty())
    throw Error::in_file((out / "runs").string(), 0, "no run", "the results of `proxbench run`");
  std::ranges::sort(runs, {}, [&](const Run& run) { return order_of(run, presentation); });
  return runs;
}

void require_single_penalties(const std::vector<Run>& runs, const fs::path& out) {
  if (runs.empty())
    throw Error::in_file((out / "runs").string(), 0, "paths alone",
                         "runs of single penalties; paths have kinds of their own: --kind path");
}

std::string leave_out_strangers(const fs::path& out, const Presentation& presentation,
                                std::vector<Run>& runs) {
  std::set<std::string> named;
  const std::size_t all = runs.size();
  const std::size_t left_out = std::erase_if(runs, [&](const Run& run) {
    const bool data = lacks(presentation.datasets, run.parameters.dataset);
    const bool solver = lacks(presentation.labels, run.parameters.label);
    if (data) named.insert("data set " + run.parameters.dataset);
    if (solver) named.insert("solver " + run.parameters.label);
    return data || solver;
  });
  if (left_out == 0) return "";
  const std::string config_file = (out / "config.ini").string();
  if (runs.empty())
    throw Error::in_file((out / "runs").string(), 0, fmt::format("only runs of {}", fmt::join(named, ", ")),
                         "runs that " + config_file + " asks for");
  return fmt::format("left out {} of {} stored runs: {} has no {}", left_out, all, config_file,
                     fmt::join(named, ", "));
}

std::vector<Sample> read_trace(const fs::path& file) {
  return read_csv(trace_columns(), file);
}

std::vector<Run> take_paths(std::vector<Run>& runs) {
  const auto first =
      std::stable_partition(runs.begin(), runs.end(), [](const Run& run) { return !run.is_path(); });
  std::vector<Run> paths(std::make_move_iterator(first), std::make_move_iterator(runs.end()));
  runs.erase(first, runs.end());
  return paths;
}

double relative_difference(double objective, double reference) {
  return (objective - reference) / std::abs(reference);
}

double reference_bound(const Run& run) {
  constexpr double kRounding = 1e-15;  // relative, of F
  const double by_kkt = 2.0 * run.best.relative_kkt * run.best.kkt_at_zero / run.parameters.lambda;
  const double bound = std::fmin(by_kkt, run.best.relative_gap);
  return std::isnan(bound) ? bound : std::max(bound, kRounding);
}

bool is_wide(const CostRange& range) {
  constexpr double kWide = 0.1;
  return range.to - range.from > kWide * range.to;
}

CostRange cost_to_target(const Run& run, double target, double (*cost)(const Sample&)) {
  if (std::isnan(run.best.objective)) return {kNaN, kNaN};
  for (std::size_t i = 0; i < run.trace.size(); ++i)
    if (relative_difference(run.trace[i].objective, run.best.objective) <= target)
      return {cost(run.trace[i == 0 ? 0 : i - 1]), cost(run.trace[i])};
  return {kInfinity, kInfinity};
}

double metric_at(const Sample& sample, const std::string& name) {
  const auto found = sample.test_metrics.find(name);
  return found == sample.test_metrics.end() ? kNaN : found->second;
}

BestKnown best_of(const Run& reference) {
  const Certificate& c = reference.result.certificate;
  return {c.objective, reference.result.relative_kkt(), c.relative_gap(), reference.result.kkt_at_zero};
}

double slack(const Run& reference) {
  const Certificate& c = reference.result.certificate;
  const double lambda = reference.parameters.lambda;
  const double by_kkt =
      lambda > 0.0 && !std::isnan(c.kkt) ? c.kkt * (c.l1 + c.objective / lambda) : kInfinity;
  return std::isnan(c.dual) ? by_kkt : std::min(by_kkt, std::max(c.objective - c.dual, 0.0));
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
