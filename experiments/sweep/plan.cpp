#include "experiments/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/numbers.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/plugins.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/job_process.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Points of the path in a folder of a run, whatever became of it.
std::int64_t stored_points(const fs::path& folder) {
  const std::string text = text_of(folder / "path.csv");
  return std::max<std::int64_t>(std::count(text.begin(), text.end(), '\n') - 1, 0);
}

/// What the manifest of a stored run says of whether it is the one that is asked for.
std::vector<std::string> reasons_to_run(const Json& manifest, const RunKey& key, bool comparable) {
  if (!manifest.is_object()) return {"missing"};
  const std::string status = manifest.value("status", "");
  std::vector<std::string> why;
  const auto text_at = [&](const char* name) {
    return manifest.contains(name) && manifest[name].is_string() ? manifest[name].get<std::string>() : "";
  };
  const bool unfit = status == kDoesNotFit;
  if (failed_status(status) && !unfit)
    why.push_back(fmt::format("failed before: {}", status));
  else if (const std::string reason = text_at("reason"); !reason.empty() && !unfit)
    why.push_back(fmt::format("not complete: {}", reason));
  const Json timing = manifest.value("timing", Json::object());
  if (comparable && !timing.value("comparable", true))
    why.push_back(fmt::format("not comparable: {}", timing.value("not_comparable_because", "")));
  const Json stored = manifest.value("key", Json());
  if (stored.is_object() && stored.value("digest", "") == key.digest()) return why;
  for (std::string& change : key.changes_from(stored)) why.push_back(std::move(change));
  return why;
}

}  // namespace

std::string PlannedRun::problem_name() const {
  const bool lambdas = path && path->of == PathOf::kLambda;
  std::string problem = lambdas ? path->file_text() : fmt::format("lambda{}", lambda);
  if (path && !lambdas) problem += "-" + path->file_text();
  return fmt::format("{}-{}", data->name, problem);
}

std::string PlannedRun::name() const {
  return fmt::format("{}-{}-rep{}", problem_name(), solver->label, repetition);
}

Json PlannedRun::lambda_json() const {
  return path && path->of == PathOf::kLambda ? Json(path->text()) : Json(lambda);
}

Json PlannedRun::mu_json() const {
  return path && path->of == PathOf::kMu ? Json(path->text()) : Json(mu);
}

std::string unmet_needs(const RunParameters& job, const OracleInfo* oracle) {
  // All values of a path are above 0, and which they are changes nothing.
  Penalty penalty{job.lambda, job.mu};
  if (!job.path.empty()) (job.path_of_mu ? penalty.mu : penalty.lambda) = 1.0;
  const SolverInfo& info = solver_registry().find(job.solver);
  if (std::string unmet = unmet_start(info, job.start); !unmet.empty()) return unmet;
  const Options options = options_from(info.options, job.solver_options);
  return oracle != nullptr ? unmet_needs(info, options, penalty, job.loss.kind, *oracle)
                           : unmet_needs(info, options, penalty, job.loss.kind);
}

std::vector<PlannedRun> plan_runs(const ExperimentConfig& config) {
  std::vector<PlannedRun> plan;
  std::set<std::string> names;
  const auto add = [&](const DataConfig& data, double lambda, const PathGrid* path) {
    for (const SolverConfig& solver : config.solvers)
      for (int repetition = 1; repetition <= config.repetitions; ++repetition) {
        plan.push_back({&data, lambda, config.mu, config.loss.kind, &solver, repetition, path});
        if (!names.insert(plan.back().name()).second)
          throw Error::usage("two runs would both be named " + plan.back().name() +
                             ": expected names of data and solvers that tell them apart");
      }
  };
  for (const DataConfig& data : config.data) {
    for (double lambda : config.lambdas) add(data, lambda, config.mu_path ? &*config.mu_path : nullptr);
    for (const PathGrid& path : config.paths) add(data, 0.0, &path);
  }
  return plan;
}

RunParameters data_job(const ExperimentConfig& config, const DataConfig& data) {
  RunParameters job;
  job.name = data.name;
  job.experiment = config.name;
  job.dataset = data.name;
  job.format = data.format;
  job.oracle = data.oracle;
  job.decoding = config.decoding;
  job.data_options = option_texts(data.options);
  const auto absolute = [](const std::string& file) {
    return fs::absolute(file).lexically_normal().string();
  };
  for (const std::string& file : data.files.train) job.files.train.push_back(absolute(file));
  for (const std::string& file : data.files.test) job.files.test.push_back(absolute(file));
  if (!data.files.hierarchy.empty()) job.files.hierarchy = absolute(data.files.hierarchy);
  for (const OptionSpec& spec : data.options.table())
    if (std::string& value = job.data_options.at(spec.name); spec.names_file(value)) value = absolute(value);
  job.threads = resolved_threads(config.threads);
  job.processes = config.processes;
  job.backend = backend_name(config.backend);
  job.mu = config.mu;
  job.loss = config.loss;
  for (const LoadedPlugin& plugin : loaded_plugins()) job.plugins.push_back(plugin.file.string());
  job.sampling_budget = config.sampling_budget;
  job.warm_up = config.warm_up;
  return job;
}

RunParameters run_job(const ExperimentConfig& config, const PlannedRun& cell) {
  RunParameters job = data_job(config, *cell.data);
  job.name = cell.name();
  job.label = cell.solver->label;
  job.repetition = cell.repetition;
  job.solver = cell.solver->solver;
  job.solver_options = option_texts(cell.solver->options);
  if (!cell.data->start.empty()) job.start = fs::absolute(cell.data->start).lexically_normal().string();
  job.lambda = cell.lambda;
  if (cell.path) job.path = cell.path->text();
  job.path_of_mu = cell.path && cell.path->of == PathOf::kMu;
  job.tol = cell.solver->tol;
  job.gap_target = cell.solver->gap;
  job.time_limit = cell.solver->time_limit;
  job.max_iterations = cell.solver->max_iterations;
  job.sample_kkt = config.sample_kkt;
  job.profile = config.profile;
  job.seed = config.seed + static_cast<std::uint64_t>(cell.repetition) - 1;
  return job;
}

RunParameters reference_job(const ExperimentConfig& config, const DataConfig& data, double lambda) {
  RunParameters job = data_job(config, data);
  job.name = fmt::format("reference {}-lambda{}", data.name, lambda);
  const SolverInfo& solver = solver_registry().find(config.reference_solver);
  job.solver = solver.name;
  job.lambda = lambda;
  if (solver.as_reference.tightened) {
    job.tol = config.reference_tol;
    job.tighten = config.reference_gap;
  } else {
    job.tol = config.reference_gap > 0.0 ? 0.0 : config.reference_tol;
    job.gap_target = config.reference_gap;
    job.gap_by_count = true;
  }
  job.solver_options = option_texts(options_from(solver.options, solver.as_reference.options));
  job.time_limit = config.reference_time_limit;
  job.seed = config.seed;
  job.warm_up = 0.0;
  // Nobody looks at its trace.
  job.sampling_budget = std::min(job.sampling_budget, RunParameters{}.sampling_budget);
  return job;
}

Digests::Digests(const ExperimentConfig& config)
    : config_(config),
      program_(program_digest(worker_program(), data_job(config, config.data.front()).plugins)) {}

const std::string& Digests::source(const DataConfig& data) {
  std::string& known = sources_[data.name];
  if (known.empty()) {
    const RunParameters job = data_job(config_, data);
    known = source_digest(job.format, job.oracle, job.files, job.data_options);
  }
  return known;
}

CellState inspect_cell(const ExperimentConfig& config, const fs::path& out, const PlannedRun& cell,
                       const SweepOptions& options, Digests& digests) {
  const RunParameters job = run_job(config, cell);
  CellState state{.cell = cell,
                  .key = key_of(job, config.stop_at, digests.source(*cell.data), digests.program()),
                  .skipped = unmet_needs(job),
                  .why = {},
                  .wall_seconds = kNaN};
  const fs::path folder = out / "runs" / cell.name();
  const Json manifest = json_of(folder / "manifest.json");
  const bool shares_nodes = options.launcher == "slurm" && !config.slurm.exclusive;
  state.why = reasons_to_run(manifest, state.key, options.jobs == 1 && !shares_nodes);
  if (state.why.empty() && options.force) state.why.emplace_back("forced");
  state.stored = state.why.empty();
  const std::int64_t points = cell.path && !state.stored ? stored_points(folder) : 0;
  state.begins_anew = 0 < points && points < cell.path->count;
  if (state.begins_anew)
    state.why.push_back(
        fmt::format("a path begins anew: {} of its {} points were done", points, cell.path->count));
  state.wall_seconds = number_at(manifest, "/timing/wall_seconds");
  if (std::isnan(state.wall_seconds) && job.time_limit > 0) state.wall_seconds = job.time_limit;
  return state;
}

std::vector<CellState> inspect_cells(const ExperimentConfig& config, const fs::path& out,
                                     const SweepOptions& options) {
  Digests digests(config);
  std::vector<CellState> states;
  for (const PlannedRun& cell : plan_runs(config))
    states.push_back(inspect_cell(config, out, cell, options, digests));
  return states;
}

}  // namespace proxbench
