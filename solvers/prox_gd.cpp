/// Proximal gradient descent with backtracking (ISTA). Minimises
///
///     F(w) = f(w) + lambda*||w||_1,   f(w) = l(w) + (mu/2)*||w||^2,   by
///     w <- soft_threshold(w - grad f(w)/L, lambda/L)
///
/// (Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse problems", SIAM
/// J. Imaging Sci. 2009, section 3; Parikh and Boyd, "Proximal algorithms", 2014, section 4.2). The test that
/// chooses L is in solvers/shared/prox_step.h. After each iteration L is multiplied by kGrowth <= 1, so that
/// it follows the local curvature down as well as up. A trial costs one inference, which also gives the
/// residual. An iteration adds one full gradient.

#include <utility>

#include "core/stateless.h"
#include "solvers/shared/prox_step.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// L is multiplied by this after each iteration, so that steps can grow again.
constexpr double kGrowth = 0.9;
/// A run has stalled after this many iterations without a new minimum of F or kkt.
constexpr std::int64_t kPatience = 200;

SolveResult solve(const SolveProblem& problem, const dense::ProxStepSettings& settings) {
  Objective& objective = problem.objective;

  dense::Point now(objective, problem.start), next(objective, problem.start);
  std::vector<double> g(objective.dimension());
  dense::ProxStep step(settings);
  dense::Run run(problem, 0.0, kPatience);
  const StopToken stop = problem.monitor.stop_token();
  auto anchor = [&] { return dense::Anchor{now.w, g, now.smooth, {now.scores}, now.residual}; };

  if (!run.open(now, g)) return run.result(now);
  step.initialise(objective, anchor(), next);

  return run.iterate(now, g, [&] {
    const auto always = [](double) { return true; };
    if (!step.take(objective, anchor(), next, always, stop)) return false;
    std::swap(now, next);
    objective.gradient(now.residual, now.w, g);
    step.lipschitz *= kGrowth;
    return true;
  });
}

}  // namespace

SolverInfo prox_gd_info() {
  return stateless(dense::prox_step_rows(), solve,
                   {
                       .name = "prox-gd",
                       .help = "proximal gradient descent with backtracking",
                       .paper = "Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm, SIAM "
                                "J. Imaging Sci. 2009",
                       .shares_instances = true,
                       .scale_free = true,
                       .bytes_per_weight = 90,
                   });
}

}  // namespace proxbench
