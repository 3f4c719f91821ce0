#include "experiments/sweep/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/config/ini.h"
#include "experiments/config/trainers.h"
#include "experiments/results/results.h"
#include "experiments/sweep/cache.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/provenance.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// More threads than this are a slip of the finger.
constexpr std::int64_t kMostThreads = 4096;

class Measurement {
 public:
  Measurement(const ExperimentConfig& config, const ScalingOptions& options, const fs::path& scratch,
              const Hooks& hooks)
      : config_(config), options_(options), scratch_(scratch), hooks_(hooks), cpus_(usable_cpus()) {}

  Scaling run() {
    Scaling out;
    out.name = config_.name;
    out.title = config_.title;
    out.threads = options_.threads;
    out.backends = options_.backends;
    out.cpus = static_cast<int>(cpus_.size());
    Run here;
    here.provenance = provenance();
    out.provenance = run_json(here).at("provenance");
    announce();
    const std::vector<RunParameters> problems = planned();
    total_ = problems.size() * options_.threads.size() * options_.backends.size() *
             static_cast<std::size_t>(options_.repetitions);
    for (const RunParameters& cell : problems) out.problems.push_back(measure(cell));
    return out;
  }

 private:
  void announce() const {
    const int most = options_.threads.back(), cpus = static_cast<int>(cpus_.size());
    if (most > cpus)
      hooks_.warn(fmt::format(
          "oversubscribed: {} threads on {} CPUs are not bound to CPUs and wait for each other", most, cpus));
    for (const std::string& hazard : timing_hazards(std::min(most, cpus), 1))
      hooks_.warn("timings: " + hazard);
  }

  /// One cell for each problem.
  std::vector<RunParameters> planned() const {
    std::vector<RunParameters> out;
    for (const RunParameters& cell : plan_runs(config_))
      if (cell.repetition == 1 && std::ranges::find(options_.solvers, cell.label) != options_.solvers.end())
        out.push_back(cell);
    return out;
  }

  ScalingProblem measure(const RunParameters& cell) {
    if (const std::string unmet = unmet_needs(cell); !unmet.empty())
      throw Error::usage(fmt::format("{}: {}", cell.name, unmet));
    ScalingProblem problem;
    problem.dataset = cell.dataset;
    problem.label = cell.label;
    problem.lambda = cell.lambda;
    for (int repetition = 1; repetition <= options_.repetitions; ++repetition)
      for (const int threads : options_.threads)
        for (const std::string& backend : options_.backends) {
          RunParameters job = job_of(cell);
          const bool processes = backend == kProcessesBackend;
          (processes ? job.processes : job.threads) = threads;
          (processes ? job.threads : job.processes) = 1;
          if (!processes) job.backend = backend;
          const char* const word =
              processes ? (threads == 1 ? "process" : "processes") : (threads == 1 ? "thread" : "threads");
          job.name =
              fmt::format("{}: {} {}, {}, repetition {}", problem.name(), threads, word, backend, repetition);
          add(problem, job, {.backend = backend, .threads = threads, .repetition = repetition, .phases = {}});
        }
    return problem;
  }

  /// The same work in every run: no clock decides where it ends.
  RunParameters job_of(const RunParameters& cell) const {
    RunParameters job = cell;
    job.max_iterations = options_.iterations;
    job.time_limit = 0.0;
    job.gap_target = 0.0;
    job.sample_kkt = false;
    job.sampling_budget = 0.0;
    job.profile = true;
    return job;
  }

  void add(ScalingProblem& problem, const RunParameters& job, ScalingRun run) {
    ++started_;
    hooks_.tell(fmt::format("[{}/{}] {}", started_, total_, job.name));
    const ScratchFolder folder(scratch_ / "run");
    const ProcessSettings settings = job_settings(config_, job, cpus_);
    Run asked;
    asked.parameters = job;
    JobProcess child(asked, folder.path, settings, job_limits(config_, job));
    while (!child.watch(std::chrono::milliseconds(500), hooks_.stop())) {
    }
    if (hooks_.stop()) throw Error("interrupted; nothing is stored");
    const Run measured = child.result();
    const RunFigures& result = measured.result;
    if (!result.reason.empty() || measured.failed() || result.status == Status::kDiverged)
      throw Error(fmt::format("{}: {}: {}", job.name, measured.status(),
                              result.reason.empty() ? "no model" : result.reason));
    const std::string weights = file_digest(folder.path / "model.tsv");
    if (problem.runs.empty()) {
      problem.description = result.description;
      problem.iterations = *result.iterations;
      problem.status = measured.status();
      problem.nnz = result.certificate.nnz;
      problem.weights = weights;
      first_ = job.name;
    } else if (weights != problem.weights) {
      throw Error(fmt::format("{}: ends at other weights than {}: found a model of digest {}, expected {}",
                              job.name, first_, weights, problem.weights));
    }
    run.pinned = !settings.cpus.empty();
    run.seconds = result.seconds;
    run.phases = result.phases;
    problem.runs.push_back(std::move(run));
  }

  const ExperimentConfig& config_;
  const ScalingOptions& options_;
  const fs::path& scratch_;
  const Hooks& hooks_;
  std::vector<int> cpus_;
  std::size_t started_ = 0, total_ = 0;
  std::string first_;  ///< the run that the others of its problem are compared with
};

std::vector<int> parse_threads(const std::string& text) {
  std::vector<int> out{1};
  for (const std::string& part : split_list(text)) {
    std::int64_t threads = 0;
    if (!parse_integer(part, threads) || threads < 1 || threads > kMostThreads)
      throw Error::usage(fmt::format(
          "--threads: found '{}', expected integers from 1 to {}, separated by commas", part, kMostThreads));
    out.push_back(static_cast<int>(threads));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

ScalingOptions parse_scaling_options(const ExperimentConfig& config, const std::string& threads,
                                     const std::string& backends, const std::string& solvers) {
  ScalingOptions out;
  if (config.solvers.empty())
    throw Error::usage(config.name + ": found no [solver] section, expected one whose runs are measured");
  if (config.has_paths()) {
    const PathGrid& path = config.mu_path ? *config.mu_path : config.paths.front();
    throw Error::usage(fmt::format("{}: [experiment] {}: found '{}', expected single {}s to measure",
                                   config.name, path_of_name(path.of), path.text(), path_of_name(path.of)));
  }
  if (threads.empty()) {
    out.threads.resize(std::max<std::size_t>(usable_cpus().size(), 1));
    std::iota(out.threads.begin(), out.threads.end(), 1);
  } else {
    out.threads = parse_threads(threads);
  }
  if (!backends.empty()) {
    out.backends.clear();
    const std::vector<std::string> known{"openmp", "tbb", kProcessesBackend};
    for (const std::string& name : split_list(backends)) {
      require_known("--backend", name, known, "some of");
      if (std::ranges::find(out.backends, name) == out.backends.end()) out.backends.push_back(name);
    }
    if (out.backends.empty()) throw Error::usage("--backend: found none, expected openmp, tbb or mpi");
  }
  std::vector<std::string> labels;
  for (const SolverConfig& solver : config.solvers)
    if (solver.solver != kExternal) labels.push_back(solver.label);
  if (labels.empty())
    throw Error::usage(config.name +
                       ": found only programs of their own, expected a solver whose phases can be measured");
  out.solvers = split_list(solvers);
  if (out.solvers.empty()) out.solvers = {labels.front()};
  for (const std::string& label : out.solvers)
    require_known("--solver", label, labels, "labels of the config:");
  return out;
}

Scaling run_scaling(const ExperimentConfig& config, const ScalingOptions& options, const fs::path& scratch,
                    const Hooks& hooks) {
  const ScratchFolder folder(scratch);
  return Measurement(config, options, folder.path, hooks).run();
}

}  // namespace proxbench
