/// Proximal gradient descent, w <- soft_threshold(w - g/a, lambda/a). An iteration starts with the curvature
/// a along the last step (Barzilai and Borwein, IMA J. Numer. Anal. 1988), and doubles a until F falls by
/// sigma * a/2 * ||step||^2, up to the rounding of F.
#include <core/plugin.h>
using namespace proxbench;

struct Settings { double sigma; };

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& f = problem.objective;
  SmoothState at = f.make_state(), to = at;  // scores, residual and loss
  SparseVector w = problem.start, next;
  Objective::Selection active;  // all other weights and steps are 0
  std::int64_t iterations = 0;
  const auto end = [&](Status status) { return SolveResult{status, w, iterations, active.index.size()}; };

  problem.monitor.start(w);
  double now = f.evaluate(w, at), then = now, squared = 0.0, a = 0.5;
  for (bool go_on = std::isfinite(now); go_on;) {
    f.select_gradient(at.residual, w, f.lambda(), active);
    if (active.kkt_max <= problem.kkt_target()) return end(Status::kConverged);
    do {
      squared = proximal_step(active, a *= 2, f.lambda(), next);
      then = f.evaluate(next, to);
    } while (squared > 0 && !(then <= now - settings.sigma * a / 2 * squared + 1e-15 * now));
    if (squared == 0) return end(Status::kStalled);
    a = (f.map().inner(to.residual, at.residual, to.scores, {at.scores}) / squared + f.mu()) / 2 + 1e-8;
    std::swap(w, next), std::swap(at, to), std::swap(now, then);
    go_on = problem.monitor.step(++iterations, w, active.index.size(), at.loss);
  }
  return end(problem.monitor.stop_status());
}

PROXBENCH_PLUGIN(plugin) {
  const auto sigma = option(&Settings::sigma, "sigma", "0.01", "share of the predicted decrease", {0, 1});
  plugin.solvers.add(stateless(sigma, solve, {"prox-bb", "proximal gradient", "Barzilai, Borwein 1988"}));
}
