#include "solvers/shared/instances/passes.h"

#include <algorithm>

#include "core/base/schema.h"

namespace proxbench {

OptionSpec reports_option() {
  return describe("reports", "10", "iterations in a pass; limits are checked and samples taken after each",
                  {1, 1e9});
}

bool begin_passes(const SolveProblem& problem, SolveResult& result) {
  result.w = problem.start;
  const bool finite = problem.monitor.start(problem.start);
  result.status = finite ? Status::kConverged : Status::kDiverged;
  return finite && (problem.start.nnz() > 0 || problem.kkt_at_zero > problem.kkt_target());
}

SolveResult run_passes(const SolveProblem& problem, std::size_t reports, const Passes& passes,
                       SolveResult result) {
  Objective& objective = problem.objective;
  const std::size_t instances = objective.instances();
  reports = std::min(reports, instances);
  const bool shows_convergence = passes.converged ? problem.tol > 0.0 : problem.kkt_target() > 0.0;
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  const auto done = [&](Status status) {
    result.status = status;
    result.w = passes.weights();
    return result;
  };
  for (std::int64_t pass = 1;; ++pass) {
    for (std::size_t report = 0; report < reports; ++report) {
      const bool valid = passes.visit(pass, instances * report / reports, instances * (report + 1) / reports);
      const bool go_on = problem.monitor.step(passes.weights, kNaN, objective.dimension());
      if (!valid) return done(Status::kDiverged);
      if (!go_on) return done(problem.monitor.stop_status());
    }
    if (passes.after) passes.after(pass);
    if (!shows_convergence || pass % kPassesBetweenChecks != 0) continue;
    const SparseVector w = passes.weights();
    objective.scores(w, scores);
    if (passes.converged) {
      if (passes.converged(w, objective.infer({scores}, nullptr))) return done(Status::kConverged);
      continue;
    }
    objective.infer({scores}, &residual);
    Objective::Selection selection;
    objective.select_gradient(residual, w, kInfinity, selection);
    if (selection.kkt_max <= problem.kkt_target()) return done(Status::kConverged);
  }
}

OptionSpec batch_option() {
  return describe("batch", "1",
                  "instances whose steps are prepared in parallel at the same w; 1: the paper's algorithm",
                  {1, 65536});
}

OptionSpec averaging_option(const std::string& best) {
  return describe("averaging", best, "return the average of all w with weights 1, 2, 3, ...; false: the last",
                  {}, best == "true" ? "" : "true");
}

bool visit_in_batches(Monitor& monitor, std::size_t from, std::size_t to, std::size_t batch,
                      const std::function<bool(std::size_t count)>& step) {
  for (std::size_t i = from; i < to && !monitor.out_of_time(); i += batch)
    if (!step(to - i)) return false;
  return true;
}

OptionSpec memory_limit_option() {
  return describe("memory_limit", "auto",
                  "gigabytes that what is kept of the instances may take; auto: this machine's free memory",
                  above(0, 1e9));
}

}  // namespace proxbench
