#include "core/solver.h"

#include "core/base/error.h"

namespace proxbench {

SolveResult solve_within_limits(Solver& solver, const SolveProblem& problem) {
  try {
    const StopScope scope = problem.monitor.within_solver();
    return solver.solve(problem);
  } catch (const Stopped&) {
    SparseVector last = problem.monitor.kept();
    return {problem.monitor.stop_status(), std::move(last)};
  }
}

std::string unmet_needs(const SolverInfo& solver, const Penalty& penalty, Loss::Kind loss) {
  const std::string name = "solver '" + solver.name + "' ";
  if (solver.needs.loss != loss)
    return all_parts(name, "minimises the ", loss_name(solver.needs.loss),
                     " loss: found loss = ", loss_name(loss));
  if (solver.needs.l1 && penalty.lambda == 0.0)
    return name + "needs an l1 penalty: found lambda = 0, expected lambda > 0";
  if (solver.needs.l2 && penalty.mu == 0.0)
    return name + "needs an l2 penalty: found mu = 0, expected mu > 0";
  if (solver.needs.smooth && penalty.lambda != 0.0)
    return name + "needs a smooth objective: found an l1 penalty, expected lambda = 0";
  return "";
}

std::string unmet_needs(const SolverInfo& solver, const Penalty& penalty, Loss::Kind loss,
                        const OracleInfo& oracle) {
  for (const Capability needed : solver.needs.capabilities)
    if (!has_capability(oracle, needed))
      return all_parts("solver '", solver.name, "' needs an oracle with '", capability_name(needed),
                       "', which oracle '", oracle.name, "' has not");
  return unmet_needs(solver, penalty, loss);
}

}  // namespace proxbench
