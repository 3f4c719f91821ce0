/// Proximal gradient descent, w <- soft_threshold(w - g/a, lambda/a). An iteration starts with the curvature
/// a along the last step (Barzilai and Borwein, IMA J. Numer. Anal. 1988), and doubles a until F falls by
/// sigma * a/2 * ||step||^2.
#include <core/plugin.h>

using namespace proxbench;

struct Settings {
  double sigma;
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& f = problem.objective;
  SmoothState at = f.make_state(), trial = at;  // scores, residual and loss
  SparseVector w = problem.start, next;
  Objective::Selection active;  // all other weights and steps are 0
  std::int64_t iterations = 0;
  const auto end = [&](Status s) { return SolveResult{s, w, iterations, active.index.size()}; };
  problem.monitor.start(w);
  double now = f.evaluate(w, at), then = now, squared = 0.0;
  if (!std::isfinite(now)) return end(Status::kDiverged);
  for (double a = 1.0;;) {
    f.select_gradient(at.residual, w, f.lambda(), active);
    if (active.kkt_max <= problem.kkt_target()) return end(Status::kConverged);
    for (;; a *= 2) {
      squared = proximal_step(active, a, f.lambda(), next);
      if (squared == 0.0) return end(Status::kStalled);
      if (problem.monitor.out_of_time()) return end(problem.monitor.stop_status());
      then = f.evaluate(next, trial);
      if (then <= now - settings.sigma * a / 2 * squared + 1e-15 * now) break;  // up to the rounding of F
    }
    a = std::clamp(f.map().inner(trial.residual, at.residual, trial.scores, {at.scores}) / squared + f.mu(), 1e-8, 1e8);
    std::swap(w, next), std::swap(at, trial), std::swap(now, then);
    if (!problem.monitor.step(++iterations, w, active.index.size(), at.loss)) return end(problem.monitor.stop_status());
  }
}

PROXBENCH_PLUGIN(plugin) {
  plugin.solvers.add(stateless(
      option(&Settings::sigma, "sigma", "0.01", "share of the predicted decrease asked for", {0, 1}), solve,
      {.name = "prox-bb", .help = "proximal gradient descent with steps by the last curvature", .paper = "Barzilai, Borwein 1988"}));
}
