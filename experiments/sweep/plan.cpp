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
namespace {

/// Points of the path in a folder of a run, whatever became of it.
std::int64_t stored_points(const fs::path& folder) {
  const std::string text = text_of(folder / "path.csv");
  return std::max<std::int64_t>(std::count(text.begin(), text.end(), '\n') - 1, 0);
}

/// What a stored run says of whether it is the one that is asked for.
std::vector<std::string> reasons_to_run(const Run& stored, const Run& asked, bool comparable) {
  std::vector<std::string> why;
  const std::string &failure = stored.result.failure, &reason = stored.result.reason;
  if (failure != kDoesNotFit) {
    if (stored.failed())
      why.push_back(fmt::format("failed before: {}", stored.status()));
    else if (!reason.empty())
      why.push_back(fmt::format("not complete: {}", reason));
  }
  if (comparable && !stored.timing.comparable)
    why.push_back(fmt::format("not comparable: {}", stored.timing.not_comparable_because));
  for (std::string& change : changes_from(stored, asked)) why.push_back(std::move(change));
  return why;
}

std::string absolute(const std::string& file) {
  return file.empty() ? "" : fs::absolute(file).lexically_normal().string();
}

}  // namespace

std::string unmet_needs(const RunParameters& job, const OracleInfo* oracle) {
  // All values of a path are above 0, and which they are changes nothing.
  Penalty penalty{job.lambda, job.mu};
  if (!job.path.empty()) (job.path_of_mu ? penalty.mu : penalty.lambda) = 1.0;
  const SolverInfo& info = solver_registry().find(job.solver);
  if (std::string unmet = unmet_start(info, job.start); !unmet.empty()) return unmet;
  const Options options = options_from(info.options, job.solver_options);
  return oracle != nullptr ? unmet_needs(info, penalty, job.loss.kind, *oracle)
                           : unmet_needs(info, penalty, job.loss.kind);
}

std::vector<RunParameters> plan_runs(const ExperimentConfig& config) {
  std::vector<RunParameters> plan;
  std::set<std::string> names;
  const auto add = [&](const DataConfig& data, double lambda, const PathGrid* path) {
    const bool of_lambda = path != nullptr && path->of == PathOf::kLambda;
    std::string problem = of_lambda ? path->file_text() : fmt::format("lambda{}", lambda);
    if (path != nullptr && !of_lambda) problem += "-" + path->file_text();
    for (const SolverConfig& solver : config.solvers)
      for (int repetition = 1; repetition <= config.repetitions; ++repetition) {
        RunParameters& job = plan.emplace_back(data_job(config, data));
        job.name = fmt::format("{}-{}-{}-rep{}", data.name, problem, solver.label, repetition);
        if (!names.insert(job.name).second)
          throw Error::usage("two runs would both be named " + job.name +
                             ": expected names of data and solvers that tell them apart");
        job.label = solver.label;
        job.repetition = repetition;
        job.solver = solver.solver;
        job.solver_options = option_texts(solver.options);
        job.start = absolute(data.start);
        job.lambda = lambda;
        if (path != nullptr) job.path = path->text();
        job.path_of_mu = path != nullptr && !of_lambda;
        job.tol = solver.tol;
        job.gap_target = solver.gap;
        job.time_limit = solver.time_limit;
        job.max_iterations = solver.max_iterations;
        job.sample_kkt = config.sample_kkt;
        job.profile = config.profile;
        job.seed = config.seed + static_cast<std::uint64_t>(repetition) - 1;
      }
  };
  for (const DataConfig& data : config.data) {
    for (double lambda : config.lambdas) add(data, lambda, config.mu_path ? &*config.mu_path : nullptr);
    for (const PathGrid& path : config.paths) add(data, 0.0, &path);
  }
  return plan;
}

std::string problem_name(const RunParameters& job) {
  return job.name.substr(0, job.name.size() - fmt::format("-{}-rep{}", job.label, job.repetition).size());
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
  for (const std::string& file : data.files.train) job.files.train.push_back(absolute(file));
  for (const std::string& file : data.files.test) job.files.test.push_back(absolute(file));
  job.files.hierarchy = absolute(data.files.hierarchy);
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

RunParameters data_job(const ExperimentConfig& config, const RunParameters& cell) {
  return data_job(config, *std::ranges::find(config.data, cell.dataset, &DataConfig::name));
}

RunParameters reference_job(const ExperimentConfig& config, const RunParameters& cell) {
  RunParameters job = data_job(config, cell);
  job.name = fmt::format("reference {}-lambda{}", cell.dataset, cell.lambda);
  const SolverInfo& solver = solver_registry().find(config.reference_solver);
  job.solver = solver.name;
  job.lambda = cell.lambda;
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
    : program_(program_digest(worker_program(), data_job(config, config.data.front()).plugins)) {}

const std::string& Digests::source(const RunParameters& job) {
  std::string& known = sources_[job.dataset];
  if (known.empty()) known = source_digest(job.format, job.oracle, job.files, job.data_options);
  return known;
}

CellState inspect_cell(const ExperimentConfig& config, const fs::path& out, const RunParameters& cell,
                       const SweepOptions& options, Digests& digests) {
  CellState state{.run = {}, .skipped = unmet_needs(cell), .why = {}, .wall_seconds = kNaN};
  state.run.parameters = cell;
  state.run.key = key_of(cell, config.stop_at, digests.source(cell), digests.program());
  const fs::path folder = out / "runs" / cell.name, file = folder / kManifestFile;
  const bool shares_nodes = options.launcher == "slurm" && !config.whole_nodes();
  std::string problem;
  if (const std::optional<Run> stored = find_record(file, problem)) {
    state.why = reasons_to_run(*stored, state.run, options.jobs == 1 && !shares_nodes);
    state.wall_seconds = stored->result.wall_seconds;
  } else {
    state.why.push_back(problem);
  }
  if (state.why.empty() && options.force) state.why.emplace_back("forced");
  state.stored = state.why.empty();
  if (!cell.path.empty() && !state.stored) {
    const std::int64_t points = stored_points(folder);
    const auto all = parse_path(cell.path, cell.path_of_mu ? PathOf::kMu : PathOf::kLambda, "path").count;
    state.begins_anew = 0 < points && points < all;
    if (state.begins_anew)
      state.why.push_back(fmt::format("a path begins anew: {} of its {} points were done", points, all));
  }
  if (std::isnan(state.wall_seconds) && cell.time_limit > 0) state.wall_seconds = cell.time_limit;
  return state;
}

std::vector<CellState> inspect_cells(const ExperimentConfig& config, const fs::path& out,
                                     const SweepOptions& options) {
  Digests digests(config);
  std::vector<CellState> states;
  for (const RunParameters& cell : plan_runs(config))
    states.push_back(inspect_cell(config, out, cell, options, digests));
  return states;
}

}  // namespace proxbench
