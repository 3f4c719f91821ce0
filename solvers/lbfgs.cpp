/// Limited-memory BFGS (Liu and Nocedal 1989; Nocedal and Wright 2006, algorithm 7.5) for a smooth objective:
/// lambda = 0, so that
///
///     F(w) = l(w) + (mu/2)*||w||^2.
///
///     p = -H grad F(w)       H from the newest pairs (s, y) and H_0
///     w+ = w + alpha*p       strong Wolfe conditions (solvers/shared/strong_wolfe.h)
///
/// Scores are linear in w, so each trial costs one inference at S + alpha*S_p, which gives F and its slope.
/// An iteration maps the direction once and forms one gradient, whatever its number of trials.
/// solvers/shared/lbfgs_steps.h describes H_0 and the recovery from a failed search.

#include <vector>

#include "core/base/schema.h"
#include "core/stateless.h"
#include "solvers/shared/lbfgs_steps.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

struct Settings {
  std::size_t memory;
  bool blocks;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::memory, "memory", "10", "pairs (s, y) kept, m", {1, 1000}),
       choice(&Settings::blocks, "start", "blocks",
              "H_0: blocks: the inverse of the Hessian's blocks by output where there are at most "
              "512 features, else as identity; identity: (y^T s / y^T y) I",
              {{"blocks", true}, {"identity", false}}, "identity")});
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  dense::Point now(objective, problem.start);
  std::vector<double> g(objective.dimension());
  dense::LbfgsSteps steps(objective, settings.memory, settings.blocks);
  dense::Run run(problem);
  if (!run.open(now, g)) return run.result(now);
  return run.iterate(now, g, [&] { return steps.step(problem.monitor, now, g); });
}

}  // namespace

SolverInfo lbfgs_info() {
  return stateless(
      rows(), solve,
      {
          .name = "lbfgs",
          .help = "L-BFGS with a strong Wolfe line search in the space of scores (lambda = 0)",
          .paper = "Liu and Nocedal, On the limited memory BFGS method for large scale optimization, Math. "
                   "Programming 1989",
          .needs = {.smooth = true},
          .shares_instances = true,
          .scale_free = true,
          .bytes_per_weight = 280,
      });
}

}  // namespace proxbench
