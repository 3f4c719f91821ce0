/// Proximal gradient descent, w <- soft_threshold(w - g/a, lambda/a). An iteration starts with the curvature
/// a along the last step (Barzilai and Borwein, IMA J. Numer. Anal. 1988), and doubles a until F falls by
/// sigma * a/2 * ||step||^2.
#include <core/plugin.h>
using namespace proxbench;

struct Settings { double sigma; };

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& f = problem.objective;
  SmoothState at = f.make_state(), to = at;  // scores, residual and loss
  SolveResult result{.w = problem.start};
  SparseVector &w = result.w, next;
  Objective::Selection active;  // all other weights and steps are 0
  const auto end = [&](Status status) { return result.status = status, result; };
  problem.monitor.start(w);
  double now = f.evaluate(w, at), then = now, squared = 0.0, a = 1.0;
  for (bool go_on = true; go_on && std::isfinite(now);) {
    f.select_gradient(at.residual, w, f.lambda(), active);
    if (active.kkt_max <= problem.kkt_target()) return end(Status::kConverged);
    for (;; a *= 2) {
      if ((squared = proximal_step(active, a, f.lambda(), next)) == 0.0) return end(Status::kStalled);
      then = f.evaluate(next, to);
      if (then <= now - settings.sigma * a / 2 * squared + 1e-15 * now) break;  // up to the rounding of F
    }
    a = std::clamp(f.map().inner(to.residual, at.residual, to.scores, {at.scores}) / squared + f.mu(), 1e-8, 1e8);
    std::swap(w, next), std::swap(at, to), std::swap(now, then);
    go_on = problem.monitor.step(++result.iterations, w, result.working_set = active.index.size(), at.loss);
  }
  return end(std::isfinite(now) ? problem.monitor.stop_status() : Status::kDiverged);
}

PROXBENCH_PLUGIN(plugin) {
  const auto sigma = option(&Settings::sigma, "sigma", "0.01", "share of the predicted decrease", {0, 1});
  plugin.solvers.add(stateless(sigma, solve, {"prox-bb", "proximal gradient", "Barzilai, Borwein 1988"}));
}
