/// Accelerated proximal gradient: FISTA with backtracking and adaptive restart. Minimises
///
///     F(w) = f(w) + lambda*||w||_1,   f(w) = l(w) + (mu/2)*||w||^2,   by
///
///     y  = w_k + theta * (w_k - w_{k-1}),   theta = (t_{k-1} - 1)/t_k,   t_k = (1 + sqrt(1 + 4 t_{k-1}^2))/2
///     w_{k+1} = soft_threshold(y - grad f(y)/L, lambda/L)
///
/// (Beck and Teboulle, SIAM J. Imaging Sci. 2009, section 4). The momentum is dropped (t = 1) when
/// (y - w_{k+1})^T (w_{k+1} - w_k) > 0 (restart = gradient) or F(w_{k+1}) > F(w_k) (restart = function):
/// O'Donoghue and Candes, "Adaptive restart for accelerated gradient schemes", Found. Comput. Math. 2015,
/// section 3.2. Between restarts L only rises, as the theory demands. At a restart it is multiplied by
/// kGrowth <= 1.
///
/// Cost: scores are linear in w, so the scores at y are a combination of two that are already known. An
/// iteration costs an inference and a full gradient at y, then the scores and an inference at each trial
/// w_{k+1}.
///
/// Stopping: the test needs kkt at the iterate, but the gradient is known only at y. Let r = L*||w+ -
/// y||_inf. Since grad f(w+) - grad f(y) - L*(w+ - y) is a subgradient of F at w+, kkt(w+) <= ||grad f(w+) -
/// grad f(y)||_inf + r, where the first term is at most about as large as r. So the exact kkt at the iterate
/// is computed only if r <= the target. (r is known before the inference, which then gives the residual too.)
/// If that check fails, the threshold on r is lowered by the factor that was missing. The check is also made
/// every 25 iterations whatever r is, and whenever y = w_k, where it is free. Only this exact kkt shows
/// convergence.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/stateless.h"
#include "solvers/shared/prox_step.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

enum class Restart { kGradient, kFunction, kNone };

/// L is multiplied by this at each restart.
constexpr double kGrowth = 0.5;
/// The most iterations between two evaluations of kkt at the iterate.
constexpr std::int64_t kIterationsBetweenChecks = 25;
/// A run has stalled after this many iterations without a new minimum of F or kkt.
constexpr std::int64_t kPatience = 500;

struct Settings {
  dense::ProxStepSettings step;
  Restart restart;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {part(&Settings::step, dense::prox_step_rows()),
       choice(&Settings::restart, "restart", "gradient",
              "condition that restarts the momentum; none: as Beck and Teboulle have it",
              {{"gradient", Restart::kGradient}, {"function", Restart::kFunction}, {"none", Restart::kNone}},
              "none")});
}

/// Decides from the bound r when to compute kkt at the iterate.
class KktCheck {
 public:
  explicit KktCheck(double target) : target_(target), threshold_(target) {}

  bool due(double bound) const { return bound <= threshold_ || since_ + 1 >= kIterationsBetweenChecks; }
  void skipped() { ++since_; }
  void failed(double bound, double kkt) {
    since_ = 0;
    // The threshold is at most halved, so that one unlucky check does not delay the next for long.
    if (bound <= threshold_) threshold_ = bound * std::clamp(target_ / kkt, 0.5, 0.9);
  }

 private:
  double target_, threshold_;
  std::int64_t since_ = 0;
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  const Parallel& parallel = objective.parallel();
  const double target = problem.kkt_target();
  const std::size_t d = objective.dimension();

  dense::Point previous(objective, problem.start), now(objective, problem.start),
      next(objective, problem.start);
  Residual residual_y = objective.make_residual();
  std::vector<double> y(d), g(d), g_now(d);
  dense::ProxStep step(settings.step);
  KktCheck check(target);
  dense::Run run(problem, 0.0, kPatience);
  const StopToken stop = problem.monitor.stop_token();
  if (!run.open(now, g_now)) return run.result(now);
  step.initialise(objective, {now.w, g_now, now.smooth, {now.scores}, now.residual}, next);

  bool gradient_known = true;  // at `now`, in g_now
  double t = 1.0, theta = 0.0;
  while (true) {
    if (theta == 0.0 && !gradient_known) {
      objective.infer({now.scores}, &now.residual);
      objective.gradient(now.residual, now.w, g_now);
      if (run.kkt(now, g_now) <= target) return run.result(now, Status::kConverged);
    }

    bool moved;
    double bound = 0.0;
    auto wants_residual = [&](double r) {
      bound = r;
      return check.due(r);
    };
    if (theta == 0.0) {
      y = now.w;
      moved = step.take(objective, {y, g_now, now.smooth, {now.scores}, now.residual}, next, wants_residual,
                        stop);
    } else {
      dense::for_all(parallel, d,
                     [&](std::size_t i) { y[i] = now.w[i] + theta * (now.w[i] - previous.w[i]); });
      // previous.scores become S(w_{k-1}) - S(w_k). They are not needed again.
      objective.map().advance(previous.scores, -1.0, now.scores);
      const ScorePoint at{now.scores, &previous.scores, -theta};
      const double smooth = objective.infer(at, &residual_y) + objective.penalty().l2(y);
      objective.gradient(residual_y, y, g);
      moved = std::isfinite(smooth) &&
              step.take(objective, {y, g, smooth, at, residual_y}, next, wants_residual, stop);
    }
    if (!moved) {
      if (theta == 0.0 || stop.requested()) return run.stuck(now);
      t = 1.0;
      theta = 0.0;
      continue;
    }

    bool restart = false;
    if (settings.restart == Restart::kFunction) restart = next.value() > now.value();
    if (settings.restart == Restart::kGradient)
      restart = dense::sum_all(parallel, d, [&](std::size_t i) {
                  return (y[i] - next.w[i]) * (next.w[i] - now.w[i]);
                }) > 0.0;
    if (restart) {
      t = 1.0;
      theta = 0.0;
      step.lipschitz *= kGrowth;
    } else {
      const double t_next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
      theta = (t - 1.0) / t_next;
      t = t_next;
    }

    std::swap(previous, now);
    std::swap(now, next);
    gradient_known = step.has_residual();
    double kkt = kInfinity;
    if (gradient_known) {
      objective.gradient(now.residual, now.w, g_now);
      kkt = run.kkt(now, g_now);
      check.failed(bound, kkt);
    } else {
      check.skipped();
    }
    if (!run.step(now, kkt)) return run.result(now);
  }
}

}  // namespace

SolverInfo prox_gd_acc_info() {
  return stateless(
      rows(), solve,
      {
          .name = "prox-gd-acc",
          .help = "accelerated proximal gradient (FISTA) with backtracking and adaptive restart",
          .paper = "Beck and Teboulle, SIAM J. Imaging Sci. 2009; O'Donoghue and Candes, Adaptive restart "
                   "for accelerated gradient schemes, Found. Comput. Math. 2015",
          .shares_instances = true,
          .scale_free = true,
          .bytes_per_weight = 140,
      });
}

}  // namespace proxbench
