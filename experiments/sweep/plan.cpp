#include "experiments/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/random.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/config/config_rules.h"
#include "experiments/config/trainers.h"
#include "experiments/run/adapter.h"
#include "experiments/run/job.h"
#include "experiments/run/plugins.h"
#include "experiments/run/training.h"
#include "experiments/sweep/run_key.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Returns the number of path points in the folder of a run, however the run ended.
std::int64_t stored_points(const fs::path& folder) {
  const std::string text = text_of(folder / "path.csv");
  return std::max<std::int64_t>(std::count(text.begin(), text.end(), '\n') - 1, 0);
}

/// Returns why a stored run is not complete, or "" if it is.
std::string unfinished_text(const Run& stored) {
  const std::string& reason = stored.result.reason;
  if (stored.status() == kDoesNotFit) return "";
  if (stored.failed()) return fmt::format("failed before: {}", stored.status());
  return reason.empty() ? "" : fmt::format("not complete: {}", reason);
}

/// Returns in which settings a stored run differs from the run that is asked for.
std::vector<std::string> other_settings(const Run& stored, const Run& asked, bool comparable) {
  std::vector<std::string> out = changes_from(stored, asked);
  if (comparable && !stored.timing.comparable)
    out.insert(out.begin(), fmt::format("not comparable: {}", stored.timing.not_comparable_because));
  return out;
}

void make_absolute(std::string& file) {
  if (!file.empty()) file = fs::absolute(file).lexically_normal().string();
}

/// Returns the settings that all jobs on a data set share.
RunParameters job_on(const ExperimentConfig& config, const DataConfig& data) {
  RunParameters job;
  static_cast<RunSettings&>(job) = config;
  static_cast<RunData&>(job) = data;
  job.name = job.dataset = data.name;
  job.experiment = config.name;
  job.data_options = option_texts(data.options);
  for (std::string* file : named_files(job, data.options.table(), job.data_options)) make_absolute(*file);
  job.threads = resolved_threads(config.threads);
  for (const LoadedPlugin& plugin : loaded_plugins()) job.plugins.push_back(plugin.file.string());
  return job;
}

/// Returns the name that an earlier version gave a run: with mu if the config had several, else without.
std::string earlier_name(const RunParameters& job) {
  const std::string problem = problem_name(job), end = job.name.substr(problem.size()),
                    mu = fmt::format("-mu{}", job.penalty.mu);
  return (problem.ends_with(mu) ? problem.substr(0, problem.size() - mu.size()) : problem + mu) + end;
}

/// Stands for the digest of data that are gone.
constexpr const char* kNoData = "unknown";

/// Checks which runs are stored. Each data file is read once.
class Inspector {
 public:
  Inspector(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options)
      : config_(config),
        out_(out),
        options_(options),
        comparable_(options.jobs == 1 && options.shared == 0) {}

  SweepProblem problem_of(const RunParameters& cell) {
    SweepProblem problem;
    problem.name = problem_name(cell);
    if (cell.path || !config_.has_reference()) return problem;
    problem.reference = asked(reference_job(config_, cell), 0.0);
    std::string ignored;  // the next lines find the same problem
    lend_data(find_record(reference_file(out_, problem.name), ignored), *problem.reference);
    try {
      problem.known_reference = find_reference(out_, problem.name, *problem.reference);
    } catch (const Error& error) {  // the record has another version or is damaged
      problem.unread = error.what();
    }
    if (problem.known_reference && !serves(*problem.known_reference, config_))
      problem.known_reference.reset();
    problem.lacks_reference = options_.force || !problem.known_reference;
    return problem;
  }

  void add(SweepProblem& problem, const RunParameters& job) {
    Cell cell{.run = asked(job, config_.stop_at),
              .skipped = skip_reason(job),
              .why = {},
              .changes = {},
              .wall_seconds = kNaN,
              .turn = {}};
    std::string missing;
    const fs::path folder = out_ / "runs" / job.name;
    if (const std::optional<Run> stored = find_record(folder / kManifestFile, missing)) {
      lend_data(stored, cell.run);
      const std::string unfinished = unfinished_text(*stored);
      const std::vector<std::string> others = other_settings(*stored, cell.run, comparable_);
      if (!unfinished.empty()) cell.why.push_back(unfinished);
      cell.why.insert(cell.why.end(), others.begin(), others.end());
      if (unfinished.empty() && !stored->failed()) cell.changes = others;
      cell.wall_seconds = stored->result.wall_seconds;
    } else if (const std::string name = earlier_name(job); holds(name, job)) {
      cell.why = cell.changes = {fmt::format("name: an earlier version stored it as {}", name)};
    } else {
      cell.why.push_back(missing);
    }
    if (cell.why.empty() && options_.force) cell.why.emplace_back("forced");
    cell.stored = cell.why.empty();
    if (job.path && !cell.stored) add_points(folder, cell);
    if (std::isnan(cell.wall_seconds) && job.time_limit > 0) cell.wall_seconds = job.time_limit;
    problem.cells.push_back(std::move(cell));
  }

 private:
  /// Returns the digest of the data of a job, or kNoData if the config is allowed to lack them.
  std::string digest_of(const RunParameters& job) const {
    try {
      return source_digest(job);
    } catch (const Error&) {
      if (config_.missing_files.empty()) throw;
      return kNoData;
    }
  }

  /// Data that are gone count as those of the stored run.
  static void lend_data(const std::optional<Run>& stored, Run& asked) {
    if (stored && asked.key.data == kNoData) asked.key.data = stored->key.data;
  }

  Run asked(const RunParameters& job, double stop_at) {
    std::string& source = sources_[job.dataset];
    if (source.empty()) source = digest_of(job);
    Run run;
    run.parameters = job;
    run.key = key_of(
        job, stop_at, source,
        job.solver == kExternal ? program_digest(files_of(find_trainer(job.solver_options))) : program_);
    return run;
  }

  /// Whether a run of this name with the penalty of the job is stored.
  bool holds(const std::string& name, const RunParameters& job) const {
    std::string ignored;
    const std::optional<Run> stored = find_record(out_ / "runs" / name / kManifestFile, ignored);
    return stored && stored->parameters.file_text() == job.file_text();
  }

  static void add_points(const fs::path& folder, Cell& cell) {
    const RunParameters& job = cell.run.parameters;
    const std::int64_t points = stored_points(folder);
    const int all = job.path->count;
    cell.starts_again = 0 < points && points < all;
    if (cell.starts_again)
      cell.why.push_back(
          fmt::format("a path starts again from its first point: {} of its {} were done", points, all));
  }

  const ExperimentConfig& config_;
  const fs::path& out_;
  const SweepOptions& options_;
  bool comparable_;
  std::string program_ = program_digest();
  std::map<std::string, std::string> sources_;  ///< digests by data set
};

}  // namespace

std::string skip_reason(const RunParameters& job, const OracleInfo* oracle) {
  if (oracle == nullptr) oracle = known_oracle(job);
  if (job.solver == kExternal)
    if (std::string unmet = unmet_trainer(job, oracle); !unmet.empty()) return unmet;
  const SolverInfo& info = solver_or_trainer(job.solver);
  if (std::string unmet = unmet_start(info, job.start); !unmet.empty()) return unmet;
  return oracle != nullptr ? unmet_needs(info, job.penalty, job.loss.kind, *oracle)
                           : unmet_needs(info, job.penalty, job.loss.kind);
}

std::vector<RunParameters> plan_runs(const ExperimentConfig& config) {
  std::vector<RunParameters> plan;
  std::set<std::string> names;
  for (const DataConfig& data : config.data)
    for (const RunPenalty& penalty : config.penalties()) {
      const std::string problem = data.name + "-" + penalty.file_text();
      for (const SolverConfig& solver : config.solvers)
        for (int repetition = 1; repetition <= config.repetitions; ++repetition) {
          RunParameters& job = plan.emplace_back(job_on(config, data));
          job.name = fmt::format("{}-{}-rep{}", problem, solver.label, repetition);
          if (!names.insert(job.name).second)
            throw Error::usage("two runs would both be named " + job.name +
                               ": expected names of data and solvers that tell them apart");
          job.label = solver.label;
          job.repetition = repetition;
          job.solver = solver.solver;
          job.solver_options = option_texts(solver.options);
          if (job.solver == kExternal)
            for (const char* file : {"adapter", "program"})
              if (std::string& name = job.solver_options.at(file); name.find('/') != name.npos)
                make_absolute(name);
          static_cast<RunPenalty&>(job) = penalty;
          static_cast<StopRules&>(job) = solver;
          job.seed += static_cast<std::uint64_t>(repetition) - 1;
        }
    }
  return plan;
}

std::vector<std::string> problem_names(const std::vector<RunParameters>& plan) {
  std::vector<std::string> names;
  for (const RunParameters& run : plan)
    if (std::string name = problem_name(run); !contains(names, name)) names.push_back(std::move(name));
  return names;
}

RunParameters data_job(const ExperimentConfig& config, const std::string& dataset) {
  return job_on(config, *std::ranges::find(config.data, dataset, &DataConfig::name));
}

RunParameters reference_job(const ExperimentConfig& config, const RunParameters& cell) {
  RunParameters job = data_job(config, cell.dataset);
  job.name = "reference " + problem_name(cell);
  const SolverInfo& solver = solver_registry().find(config.reference_solver);
  job.solver = solver.name;
  job.penalty = cell.penalty;
  static_cast<StopRules&>(job) = {.time_limit = config.reference_time_limit};
  if (solver.as_reference.tightened) {
    job.tol = config.reference_tol;
    job.tighten = config.reference_gap;
  } else {
    job.tol = config.reference_gap > 0.0 ? 0.0 : config.reference_tol;
    job.gap_target = config.reference_gap;
  }
  job.solver_options = option_texts(options_from(solver.options, solver.as_reference.options));
  job.start.clear();
  job.sample_kkt = job.profile = false;
  job.warm_up = 0.0;
  // Nobody reads the trace of a reference.
  job.sampling_budget = std::min(job.sampling_budget, RunParameters{}.sampling_budget);
  return job;
}

std::vector<std::string> notes_of_skipped_solvers(const ExperimentConfig& config, bool must_fit) {
  const std::vector<RunParameters> plan = plan_runs(config);
  std::vector<std::string> out;
  for (const SolverConfig& solver : config.solvers) {
    std::vector<std::string> reasons;
    for (const RunParameters& job : plan)
      if (job.label == solver.label && job.repetition == 1) reasons.push_back(skip_reason(job));
    const std::size_t problems = reasons.size();
    std::erase(reasons, "");
    if (must_fit && reasons.size() == problems)
      throw Error::usage(
          fmt::format("[solver.{}] can run on no problem of the config: {}", solver.label, reasons.front()));
    if (!reasons.empty())
      out.push_back(fmt::format("{} is skipped on {} of {} problems: {}", solver.label, reasons.size(),
                                problems, reasons.front()));
  }
  return out;
}

std::vector<const Cell*> SweepProblem::missing() const {
  std::vector<const Cell*> out;
  for (const Cell& cell : cells)
    if (!cell.stored) out.push_back(&cell);
  std::ranges::stable_sort(out, {}, &Cell::turn);
  return out;
}

std::string replacement_text(const std::vector<SweepProblem>& problems) {
  std::size_t runs = 0;
  std::map<std::string, std::size_t> changes;
  for (const SweepProblem& problem : problems)
    for (const Cell& cell : problem.cells) {
      if (!cell.changes.empty()) ++runs;
      for (const std::string& change : cell.changes) ++changes[change];
    }
  if (runs == 0) return "";
  std::vector<std::string> texts;
  for (const auto& [change, count] : changes) texts.push_back(fmt::format("{} ({})", change, count));
  return fmt::format("{} complete run{} would be replaced. What changed, and in how many of them: {}", runs,
                     runs == 1 ? "" : "s", joined(texts, "; "));
}

std::vector<SweepProblem> inspect(const ExperimentConfig& config, const fs::path& out,
                                  const SweepOptions& options) {
  const std::vector<RunParameters> plan = plan_runs(config);
  if (!options.only.empty()) require_known("--only", options.only, problem_names(plan));
  Inspector inspector(config, out, options);
  // Repetitions run one after the other. The order of solvers within a repetition is drawn at random. So no
  // solver is always first, and a slow phase of the machine affects all solvers alike. Each cell draws a
  // number even if it is stored, so a resumed sweep keeps the order.
  Random random(config.seed);
  std::vector<SweepProblem> problems;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::string name = problem_name(plan[i]);
    if (!options.only.empty() && name != options.only) continue;
    if (problems.empty() || problems.back().name != name) {
      problems.push_back(inspector.problem_of(plan[i]));
      random = Random(config.seed + i);
    }
    inspector.add(problems.back(), plan[i]);
    if (config.order != "grid") problems.back().cells.back().turn = {plan[i].repetition, random.next()};
  }
  return problems;
}

}  // namespace proxbench
