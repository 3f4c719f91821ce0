/// Proximal gradient descent, w <- soft_threshold(w - g/a, lambda/a). An iteration starts with the curvature
/// a along the last step (Barzilai and Borwein, IMA J. Numer. Anal. 1988), and doubles a until F falls by
/// sigma * a/2 * ||step||^2.
#include <core/plugin.h>

#include <algorithm>
#include <cmath>

using namespace proxbench;

class ProxBb final : public Solver {
 public:
  explicit ProxBb(const Options& options) : sigma_(options.real("sigma")) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& f = problem.objective;
    Scores scores = f.make_scores(), next_scores = scores;
    Residual residual = f.make_residual(), next_residual = residual;
    SparseVector w = problem.start, next;
    Objective::Selection active;  // all other weights and steps are 0
    std::int64_t iterations = 0;
    double loss = 0.0;  // l at the last call of value()
    const auto end = [&](Status s) { return SolveResult{s, w, iterations, active.index.size()}; };
    const auto value = [&](const SparseVector& at, Scores& s, Residual& r) {  // F
      f.scores(at, s);
      loss = f.infer({s}, &r);
      return loss + f.penalty().l1(at.value) + f.penalty().l2(at.value);
    };
    problem.monitor.start(w);
    double now = value(w, scores, residual), then = now, squared = 0.0;
    if (!std::isfinite(now)) return end(Status::kDiverged);
    for (double a = 1.0;;) {
      f.select_gradient(residual, w, f.lambda(), active);
      if (active.kkt_max <= problem.kkt_target()) return end(Status::kConverged);
      for (;; a *= 2, squared = 0.0) {
        next.clear();
        for (std::size_t i = 0; i < active.index.size(); ++i) {
          const double old = active.weight[i];
          const double moved = soft_threshold(old - active.gradient[i] / a, f.lambda() / a);
          squared += (moved - old) * (moved - old);
          if (moved != 0.0) next.push_back(active.index[i], moved);
        }
        if (squared == 0.0) return end(Status::kStalled);
        if (problem.monitor.out_of_time()) return end(problem.monitor.stop_status());
        then = value(next, next_scores, next_residual);
        if (then <= now - sigma_ * a / 2 * squared + 1e-15 * now) break;  // up to the rounding of F
      }
      a = std::clamp(f.map().inner(next_residual, residual, next_scores, {scores}) / squared + f.mu(), 1e-8, 1e8);
      std::swap(w, next), std::swap(scores, next_scores), std::swap(residual, next_residual);
      now = then, squared = 0.0;
      if (!problem.monitor.step(++iterations, w, active.index.size(), loss)) return end(problem.monitor.stop_status());
    }
  }

 private:
  double sigma_;
};

PROXBENCH_PLUGIN(plugin) {
  plugin.solvers.add({"prox-bb", "proximal gradient descent with steps by the last curvature", "Barzilai, Borwein 1988",
                      {{"sigma", OptionType::kReal, "0.01", "share of the predicted decrease asked for", 0, 1}},
                      [](const Options& options) { return std::make_unique<ProxBb>(options); }});
}
