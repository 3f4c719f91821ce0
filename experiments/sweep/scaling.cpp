#include "experiments/sweep/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/config/trainers.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/run_key.h"

namespace proxbench {
namespace {

struct Measurement {
  const ExperimentConfig& config;
  const ScalingOptions& options;
  const fs::path& scratch;
  const Progress& progress;
  const Provenance here = provenance();
  const std::vector<int> cpus = usable_cpus();
  std::size_t started = 0, total = 0;

  Scaling run() {
    announce();
    const std::vector<RunParameters> cells = planned();
    total = cells.size() * options.threads.size() * options.backends.size() *
            static_cast<std::size_t>(options.repetitions);
    Scaling out{config.title, {}};
    for (const RunParameters& cell : cells) measure(cell, out.runs);
    return out;
  }

  void announce() const {
    const int most = options.threads.back(), all = static_cast<int>(cpus.size());
    if (most > all)
      progress.warn(fmt::format(
          "oversubscribed: {} threads on {} CPUs are not bound to CPUs and wait for each other", most, all));
    for (const std::string& hazard : timing_hazards(std::min(most, all), 1))
      progress.warn("timings: " + hazard);
  }

  /// Returns one cell for each problem and requested solver.
  std::vector<RunParameters> planned() const {
    std::vector<RunParameters> out;
    for (const RunParameters& cell : plan_runs(config))
      if (cell.repetition == 1 && contains(options.solvers, cell.label)) out.push_back(cell);
    return out;
  }

  void measure(const RunParameters& cell, std::vector<Run>& runs) {
    if (const std::string unmet = skip_reason(cell); !unmet.empty())
      throw Error::usage(fmt::format("{}: {}", cell.name, unmet));
    // By number of processes, the run that others are compared with, and the digest of its model.
    std::map<int, std::pair<std::string, std::string>> models;
    for (int repetition = 1; repetition <= options.repetitions; ++repetition)
      for (const int threads : options.threads)
        for (const std::string& backend : options.backends) {
          const ScratchFolder folder(scratch / "run");
          Run run = made(asked(cell, threads, backend, repetition), folder.path);
          run.parameters.backend = backend;
          const std::string found = file_digest(folder.path / "model.tsv"), &name = run.parameters.name;
          const auto& [first, weights] =
              models.try_emplace(run.parameters.processes, name, found).first->second;
          if (found != weights)
            throw Error(
                fmt::format("{}: ends at other weights than {}: found a model of digest {}, expected {}",
                            name, first, found, weights));
          runs.push_back(std::move(run));
        }
  }

  /// Returns the job of one run. No limit of time or gap ends a run, so all runs do the same work.
  RunParameters asked(const RunParameters& cell, int threads, const std::string& backend,
                      int repetition) const {
    RunParameters job = cell;
    job.max_iterations = options.iterations;
    job.time_limit = 0.0;
    job.gap_target = 0.0;
    job.sample_kkt = false;
    job.sampling_budget = 0.0;
    job.profile = true;
    job.repetition = repetition;
    const bool processes = backend == kProcessesBackend;
    job.processes = processes ? threads : 1;
    job.threads = processes ? 1 : threads;
    if (!processes) job.backend = backend;
    job.name = fmt::format("{}-{}: {} {}{}, {}, repetition {}", problem_name(cell), cell.label, threads,
                           processes ? "process" : "thread",
                           threads == 1 ? ""
                           : processes  ? "es"
                                        : "s",
                           backend, repetition);
    return job;
  }

  Run made(const RunParameters& job, const fs::path& folder) {
    ++started;
    progress.inform(fmt::format("[{}/{}] {}", started, total, job.name));
    const ProcessSettings settings = job_settings(config, job, cpus);
    Run run;
    run.parameters = job;
    run.provenance = here;
    run.timing.cpus = settings.cpus;  // empty: the run is not bound
    JobProcess child(run, folder, settings, job_limits(config, job));
    while (!child.watch(std::chrono::milliseconds(500), progress.stop())) {
    }
    if (progress.stop()) throw Error("interrupted; nothing is stored");
    run = child.result();
    if (!run.result.reason.empty() || run.failed())
      throw Error(fmt::format("{}: {}: {}", job.name, run.status(),
                              run.result.reason.empty() ? "no model" : run.result.reason));
    return run;
  }
};

}  // namespace

Json scaling_json(const Scaling& scaling) {
  Json runs = Json::array();
  for (const Run& run : scaling.runs) runs.push_back(run_json(run));
  return {{"title", scaling.title}, {"runs", runs}};
}

ScalingOptions completed(ScalingOptions options, const ExperimentConfig& config) {
  if (config.has_paths()) {
    const bool of_mu = config.lambdas.paths.empty();
    throw Error::usage(fmt::format("{}: [experiment] {}: found '{}', expected single {}s to measure",
                                   config.name, of_mu ? "mu" : "lambda",
                                   (of_mu ? config.mus : config.lambdas).paths.front().text(),
                                   of_mu ? "mu" : "lambda"));
  }
  std::vector<int>& threads = options.threads;
  if (threads.empty()) {
    threads.resize(std::max<std::size_t>(usable_cpus().size(), 1));
    std::iota(threads.begin(), threads.end(), 1);
  }
  std::vector<std::string> labels;
  for (const SolverConfig& solver : config.solvers)
    if (solver.solver != kExternal) labels.push_back(solver.label);
  if (labels.empty())
    throw Error::usage(config.name +
                       ": found only external trainers, expected a solver whose phases can be measured");
  threads.push_back(1);
  std::ranges::sort(threads);
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  for (const std::string& label : options.solvers)
    require_known("--solver", label, labels, "labels of the config:");
  if (options.solvers.empty()) options.solvers = {labels.front()};
  return options;
}

Scaling run_scaling(const ExperimentConfig& config, const ScalingOptions& options, const fs::path& scratch,
                    const Progress& progress) {
  const ScratchFolder folder(scratch);
  return Measurement{config, options, folder.path, progress}.run();
}

}  // namespace proxbench
