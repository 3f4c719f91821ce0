/// Truncated Newton with conjugate gradients and no matrix (Nocedal and Wright 2006, algorithm 7.1; Lin, Weng
/// and Keerthi, JMLR 2008, for logistic regression) for a smooth objective: lambda = 0, so that
///
///     F(w) = l(w) + (mu/2)*||w||^2,   H = X^T (derivative of the residual) X + mu*I.
///
///     H p = -grad F(w), up to ||H p + grad F|| <= eta * ||grad F||    by preconditioned conjugate gradients
///     w+ = w + alpha*p                                                Armijo's rule from alpha = 1
///
/// A product with H maps p to scores, differentiates inference along them, and maps back. The derivative uses
/// the messages that the last trial of the line search has kept (core/oracle.h). Each trial costs one
/// inference at S + alpha*S_p.
///
/// L-BFGS (solvers/shared/lbfgs_steps.h) runs first, until F falls slowly: far from the optimum the quadratic
/// model is not worth its products. eta is constant, so no system is solved to needless accuracy. The
/// preconditioner is L-BFGS with pairs (p, H p) spread evenly over the previous iteration (Morales and
/// Nocedal, SIAM J. Optim. 2000). With few features, its initial matrix is the rough Hessian with blocks
/// (solvers/shared/rough_hessian.h). Otherwise it is a multiple of I: with many rare features most
/// eigenvalues of H are about mu, and a diagonal would scatter them. H is positive definite for mu > 0. Only
/// rounding can make a direction without positive curvature. Such a direction ends the conjugate gradients at
/// their current point.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/schema.h"
#include "core/curvature.h"
#include "core/quasi_newton/line_search.h"
#include "core/stateless.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/lbfgs_memory.h"
#include "solvers/shared/lbfgs_steps.h"
#include "solvers/shared/rough_hessian.h"
#include "solvers/shared/score_line.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// No system is solved further than to this share of the target of kkt.
constexpr double kBelowTarget = 0.1;
/// Pairs of the L-BFGS that runs first.
constexpr std::size_t kStartPairs = 10;

/// The most products with the Hessian in an iteration. A run has stalled after kPatience iterations without a
/// new minimum of F or kkt.
constexpr int kMostProducts = 1000;
constexpr std::int64_t kPatience = 20;

struct Settings {
  std::size_t memory;
  double start, forcing;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::memory, "memory", "10",
              "pairs of the iteration before that the preconditioner is made of", {1, 1000}),
       option(&Settings::start, "start", "1e-3",
              "L-BFGS begins, until F falls by less than this share of itself in an iteration, averaged over "
              "the last five",
              above(0, 1)),
       option(&Settings::forcing, "forcing", "0.1",
              "eta: systems are solved to this share of the norm of the gradient", inside(0, 1))});
}

/// M^-1, an approximation of H^-1.
class Preconditioner {
 public:
  Preconditioner(std::size_t pairs, const Objective& objective)
      : pairs_(pairs),
        rough_(objective),
        has_rough_(rough_.has_blocks()),
        identity_(std::ldexp(1.0, -2 * std::ilogb(objective.map().typical_value()))),
        memory_(pairs, objective.dimension(), objective.parallel()) {}
  /// Rebuilds M at the point where `residual` was inferred. Pairs taken since the last call replace the
  /// stored ones.
  void update(const Residual& residual) {
    if (has_rough_) rough_.build(residual);
    if (taken_.empty()) return;
    memory_.clear();
    for (const auto& [s, y] : taken_) memory_.update(s, y);
    taken_.clear();
    stride_ = 1;
    seen_ = 0;
  }

  /// Takes every stride_-th pair. When there are too many, it drops every second one and doubles stride_.
  void take(const std::vector<double>& s, const std::vector<double>& y) {
    if (seen_++ % stride_ != 0) return;
    if (taken_.size() == pairs_) {
      for (std::size_t i = 0; 2 * i < taken_.size(); ++i) taken_[i].swap(taken_[2 * i]);
      taken_.resize((taken_.size() + 1) / 2);
      stride_ *= 2;
      if ((seen_ - 1) % stride_ != 0) return;
    }
    taken_.emplace_back(s, y);
  }

  /// r := M^-1 r.
  void apply(std::span<double> r) {
    if (!memory_.empty())
      return has_rough_ ? memory_.apply(r, [&](std::span<double> v) { rough_.solve(v); }) : memory_.apply(r);
    if (has_rough_)
      rough_.solve(r);
    else
      for (double& x : r) x *= identity_;
  }

 private:
  std::size_t pairs_;
  dense::RoughHessian rough_;
  bool has_rough_;
  double identity_;  ///< M^-1 without both: a power of 2, so that no product under- or overflows in any unit
  dense::LbfgsMemory memory_;
  std::vector<std::pair<std::vector<double>, std::vector<double>>> taken_;
  std::size_t stride_ = 1, seen_ = 0;
};

/// Preconditioned conjugate gradients for H p = -g.
class ConjugateGradients {
 public:
  explicit ConjugateGradients(std::size_t d) : r_(d), z_(d), direction_(d), product_(d) {}

  /// Finds p with ||H p + g|| <= tolerance, or comes as close as it can. Returns false if it is out of time.
  bool solve(const SolveProblem& problem, Curvature& curvature, Preconditioner& preconditioner,
             std::span<const double> g, double tolerance, std::span<double> p) {
    const Parallel& parallel = problem.objective.parallel();
    std::ranges::fill(p, 0.0);
    dense::for_all(parallel, r_.size(), [&](std::size_t i) { r_[i] = -g[i]; });
    z_ = r_;
    preconditioner.apply(z_);
    direction_ = z_;
    double rz = dense::dot(parallel, r_, z_);
    for (int i = 0; i < kMostProducts; ++i) {
      if (problem.monitor.out_of_time()) return false;
      curvature.product(direction_, product_);
      ++products_;
      const double curved = dense::dot(parallel, direction_, product_), alpha = rz / curved;
      if (!(curved > 0.0) || !std::isfinite(alpha)) {
        if (i == 0) std::ranges::copy(z_, p.begin());
        return true;
      }
      dense::for_all(parallel, r_.size(), [&](std::size_t j) {
        p[j] += alpha * direction_[j];
        r_[j] -= alpha * product_[j];
      });
      preconditioner.take(direction_, product_);
      if (std::sqrt(dense::dot(parallel, r_, r_)) <= tolerance) return true;
      z_ = r_;
      preconditioner.apply(z_);
      const double rz_next = dense::dot(parallel, r_, z_), beta = rz_next / rz;
      dense::for_all(parallel, r_.size(),
                     [&](std::size_t j) { direction_[j] = z_[j] + beta * direction_[j]; });
      rz = rz_next;
    }
    return true;
  }

  double products() const { return products_; }

 private:
  std::vector<double> r_, z_, direction_, product_;
  double products_ = 0.0;
};

/// Runs L-BFGS until F falls slowly or no further. Returns false if the run is over.
bool begin(const SolveProblem& problem, double slow_change, dense::Run& run, dense::Point& now,
           std::vector<double>& g) {
  dense::LbfgsSteps steps(problem.objective, kStartPairs, true);
  dense::ChangeRule slow(slow_change);
  while (!slow.met(now.value()) && steps.step(problem.monitor, now, g))
    if (!run.step(now, run.kkt(now, g))) return false;
  return true;
}

/// Searches along p with Armijo's rule. Each trial keeps the curvature at its point.
bool search(Monitor& monitor, dense::Point& now, std::span<const double> g, std::span<const double> p,
            Curvature& curvature, dense::ScoreLine& line) {
  line.open(now, g, p);
  const dense::LineValue start = line.start();
  if (!(start.slope < 0.0)) return false;
  return armijo(start.value, start.slope, 1.0, ArmijoOptions{},
                [&](double alpha) { return monitor.out_of_time() ? kNaN : line.value(alpha, &curvature); })
      .accepted;
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  const std::size_t d = objective.dimension();
  dense::Point now(objective, problem.start);
  dense::ScoreLine line(objective);
  std::vector<double> g(d), p(d);
  Curvature curvature(objective);
  Preconditioner preconditioner(settings.memory, objective);
  ConjugateGradients system(d);
  dense::Run run(problem, 0.0, kPatience);
  const auto finish = [&](SolveResult result) {
    result.notes["products"] = system.products();
    return result;
  };
  if (!run.open(now, g) || !begin(problem, settings.start, run, now, g)) return finish(run.result(now));
  curvature.infer({now.scores}, now.residual);
  return finish(run.iterate(now, g, [&] {
    preconditioner.update(now.residual);
    const double norm = std::sqrt(dense::dot(objective.parallel(), g, g));
    const double tolerance = std::max(settings.forcing * norm, kBelowTarget * problem.kkt_target());
    if (!system.solve(problem, curvature, preconditioner, g, tolerance, p) ||
        !search(problem.monitor, now, g, p, curvature, line))
      return false;
    line.move(now, p);
    objective.gradient(now.residual, now.w, g);
    return true;
  }));
}

}  // namespace

SolverInfo newton_cg_info() {
  return stateless(
      rows(), solve,
      {
          .name = "newton-cg",
          .help =
              "truncated Newton: conjugate gradients on products with the Hessian, no matrix (lambda = 0)",
          .paper = "Nocedal and Wright, Numerical Optimization, 2006, section 7.1; Lin, Weng and Keerthi, "
                   "Trust region Newton method for large-scale logistic regression, JMLR 2008",
          .needs = {.capabilities = {Capability::kSum, Capability::kDerivative}, .smooth = true},
          .shares_instances = true,
          .scale_free = true,
          .bytes_per_weight = 520,
      });
}

}  // namespace proxbench
