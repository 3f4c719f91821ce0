/// Proximal gradient descent: w <- soft_threshold(w - g/a, lambda/a) with g the gradient of the smooth part
/// of F. An iteration begins with the curvature a along the last step (Barzilai and Borwein, IMA J. Numer.
/// Anal. 1988) and doubles it until F falls by sigma * a/2 * ||step||^2, give or take its rounding.
#include <core/plugin.h>

#include <algorithm>
#include <cmath>

using namespace proxbench;

class ProxBb final : public Solver {
 public:
  explicit ProxBb(const Options& options) : sigma_(options.real("sigma")) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& f = problem.objective;
    Point now{problem.start, f.make_scores(), f.make_residual()}, next = now;
    Objective::Selection active;  // beside these, weights and steps are 0
    std::int64_t iterations = 0;
    const auto end = [&](Status s) { return SolveResult{s, now.w, iterations, active.index.size()}; };
    problem.monitor.start(now.w);
    now.evaluate(f);
    if (!std::isfinite(now.value)) return end(Status::kDiverged);
    for (double a = 1.0, squared;;) {
      f.select_gradient(now.residual, now.w, f.lambda(), active);
      if (active.kkt_max <= problem.kkt_target()) return end(Status::kConverged);
      for (;; a *= 2) {
        squared = next.step_from(active, a, f.lambda());
        if (squared == 0.0) return end(Status::kStalled);
        next.evaluate(f);
        if (next.value <= now.value - sigma_ * a / 2 * squared + 1e-15 * now.value) break;
      }
      a = f.inner(next.residual, now.residual, next.scores, {now.scores}) / squared + f.mu();
      a = std::clamp(a, 1e-8, 1e8);
      std::swap(now, next);
      if (!problem.monitor.step(++iterations, now.w, active.index.size()))
        return end(problem.monitor.stop_status());
    }
  }

 private:
  struct Point {
    SparseVector w;
    Scores scores;
    Residual residual;
    double value = 0.0;  // F

    void evaluate(Objective& f) {
      f.scores(w, scores);
      value = f.infer({scores}, &residual) + f.l1(w.value) + f.l2(w.value);
    }
    /// Returns ||step||^2.
    double step_from(const Objective::Selection& from, double a, double lambda) {
      double squared = 0.0;
      w.clear();
      for (std::size_t i = 0; i < from.index.size(); ++i) {
        const double moved = soft_threshold(from.weight[i] - from.gradient[i] / a, lambda / a);
        squared += (moved - from.weight[i]) * (moved - from.weight[i]);
        if (moved != 0.0) w.push_back(from.index[i], moved);
      }
      return squared;
    }
  };
  double sigma_;
};

PROXBENCH_PLUGIN(plugin) {
  plugin.solvers.add({
      .name = "prox-bb",
      .help = "proximal gradient descent with steps by the curvature of the last one",
      .paper = "Barzilai and Borwein, Two-point step size gradient methods, IMA J. Numer. Anal. 1988",
      .options = {{"sigma", OptionType::kReal, "0.01", "share of the predicted decrease asked for", 0, 1}},
      .make = [](const Options& options) { return std::make_unique<ProxBb>(options); },
  });
}
