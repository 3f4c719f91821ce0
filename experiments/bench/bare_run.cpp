/// Makes the run of a manifest without the harness. The monitor samples only the start and the end. There is
/// no trace, no model and no parent process. scripts/overhead compares runs of the harness with it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/monitor/monitor.h"
#include "experiments/bench/job_program.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Prints the wall and CPU seconds on the clock, the number of samples and the final objective as JSON.
void run(std::vector<RunParameters> jobs) {
  const RunParameters& job = jobs.front();
  const LoadedData data = data_of(job);
  const SolverInfo& solver = solver_registry().find(job.solver);
  const LoadedData::Reduced& reduced = data.reduced(job.penalty);
  const auto make_objective = [&] { return data.objective(reduced, job.penalty, job.loss); };
  Objective objective = make_objective(), evaluator = make_objective();
  const SparseVector start;
  const double kkt_at_zero = certify(evaluator, start).kkt;
  for (const double begin = wall_seconds(); wall_seconds() - begin < job.warm_up;) certify(evaluator, start);

  MonitorOptions options;
  options.max_iterations = job.max_iterations;
  options.dense_samples = 0;
  options.sample_growth = kInfinity;
  Monitor monitor(evaluator, objective, options);
  const SolveResult result = solver.make(options_from(solver.options, job.solver_options))
                                 ->solve({objective, monitor, start, job.tol, kkt_at_zero, job.seed});
  monitor.finish(result.w);
  fmt::print("{}\n", nlohmann::json{{"seconds", monitor.seconds()},
                                    {"cpu_seconds", monitor.cpu_seconds()},
                                    {"samples", monitor.trace().size()},
                                    {"objective", monitor.trace().back().objective}}
                         .dump());
}

}  // namespace
}  // namespace proxbench

int main(int argc, char** argv) {
  return proxbench::run_job_files(argc, argv, "proxbench_bare", proxbench::run, 1);
}
