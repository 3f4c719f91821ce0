/// Proximal gradient descent, w <- soft_threshold(w - g/a, lambda/a). An iteration starts with the curvature
/// a along the last step (Barzilai and Borwein, IMA J. Numer. Anal. 1988), and doubles a until F falls by
/// sigma * a/2 * ||step||^2, up to the rounding of F.
#include <core/plugin.h>

using namespace proxbench;

struct Settings {
  double sigma;
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& f = problem.objective;
  SmoothState at = f.make_state(), to = at;  // scores, residual and loss
  SparseVector w = problem.start, next;
  Objective::Selection active;  // all other weights and steps are 0

  if (!problem.monitor.start(w)) return {problem.monitor.stop_status(), w};
  double now = f.evaluate(w, at), squared = 0.0, a = 0.5;
  do {
    f.select_gradient(at.residual, w, f.lambda(), active);
    if (active.kkt_max <= problem.kkt_target()) return {Status::kConverged, w};
    do {
      squared = proximal_step(active, a *= 2, f.lambda(), next);
    } while (!(f.evaluate(next, to) <= now - settings.sigma * a / 2 * squared + 1e-15 * now));
    if (squared == 0) return {Status::kStalled, w};
    a = (f.map().inner(to.residual, at.residual, to.scores, {at.scores}) / squared + f.mu()) / 2 + 1e-8;
    std::swap(w, next);
    std::swap(at, to);
    now = f.value(at.loss, w.value);
  } while (problem.monitor.step(w, at.loss, active.index.size()));
  return {problem.monitor.stop_status(), w};
}

PROXBENCH_PLUGIN(plugin) {
  const auto sigma = option(&Settings::sigma, "sigma", "0.01", "share of the predicted decrease", {0, 1});
  plugin.solvers.add(stateless(sigma, solve, {"prox-bb", "proximal gradient", "Barzilai, Borwein 1988"}));
}
