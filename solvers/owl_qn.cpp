/// OWL-QN: orthant-wise limited-memory quasi-Newton (Andrew and Gao, "Scalable training of L1-regularized
/// log-linear models", ICML 2007). Minimises
///
///     F(w) = f(w) + lambda*||w||_1,   f(w) = l(w) + (mu/2)*||w||^2   (the paper's ell, and our elastic net),
///
/// with Algorithm 1. Let v be the negative pseudo-gradient of F (equation 4), xi the orthant of w and v
/// (section 3.1), and H the L-BFGS inverse Hessian of f only:
///
///     p = pi(H v; v)                          coordinates that disagree with v are set to 0 (equation 3)
///     w+ = pi(w + alpha*p; xi)                each trial is projected onto the orthant (section 3.2)
///     F(w+) <= F(w) - gamma * v^T (w+ - w)    for the first alpha = alpha0 * beta^n that satisfies it
///
/// If lambda = 0 there are no orthants. Both projections are then the identity, and this is L-BFGS.
///
/// Choices that the paper leaves open, and differences from it:
/// - alpha0 is 1, except 1/||v|| before the first pair (s, y), as in the authors' code. m is 10. preset =
/// paper
///   sets the paper's choices, alpha0 = 1 and m = 5. The paper gives no beta and gamma.
/// - The paper stops by the change of F (option change). Here kkt decides unless the option is set.
/// - Footnote 7 skips updates with y^T s < omega to keep y^T s/||y||^2 away from 0, after Byrd et al. 1995.
///   Steps shrink to nothing near the optimum, so a fixed omega would skip every update there. As in Byrd et
///   al., an update is skipped if y^T s < omega * ||y||^2, the bound that Theorem 1 needs.
/// - The condition allows for rounding in F (core/quasi_newton/line_search.h). If a search fails, the pairs
///   are dropped and the search is repeated once with H = H_0. If it fails again, F can decrease no further,
///   and the run has stalled.

#include <cmath>
#include <utility>
#include <vector>

#include "core/base/schema.h"
#include "core/quasi_newton/line_search.h"
#include "core/stateless.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/lbfgs_memory.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

struct Settings {
  std::size_t memory;
  ArmijoOptions line_search;
  double omega;
  bool unit_first_step;
  double change;
};

Schema<ArmijoOptions> line_search_rows() {
  return Schema<ArmijoOptions>(
      {option(&ArmijoOptions::beta, "beta", "0.5", "factor between trial steps", inside(0, 1)),
       option(&ArmijoOptions::sigma, "gamma", "1e-4",
              "share of the predicted decrease that a step must reach", inside(0, 1))});
}

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::memory, "memory", "10", "pairs (s, y) kept by L-BFGS, the paper's m", {1, 1000},
              "5"),
       part(&Settings::line_search, line_search_rows()),
       option(&Settings::omega, "omega", "2.2e-16",
              "curvature floor: updates with y^T s < omega*||y||^2 are skipped; in the units of "
              "values, over the square of their typical size, which is 1 of binary features",
              {.min = 0, .max = 1, .max_open = true}),
       choice(&Settings::unit_first_step, "first_step", "inverse-norm",
              "first trial step of a line search along the pseudo-gradient alone: 1/||v||, or 1; in "
              "the units of values",
              {{"inverse-norm", false}, {"unit", true}}, "unit"),
       option(&Settings::change, dense::change_option())});
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  const Parallel& parallel = objective.parallel();
  const double lambda = objective.lambda();
  const std::size_t d = objective.dimension();

  dense::Point now(objective, problem.start), next(objective, problem.start);
  std::vector<double> g(d), g_next(d), v(d), p(d);
  dense::LbfgsMemory memory(settings.memory, d, parallel);
  dense::Run run(problem, settings.change);
  if (!run.open(now, g)) return run.result(now);

  const double unit = objective.map().typical_value(), omega = settings.omega / (unit * unit);

  const bool orthants = lambda > 0.0;
  /// p = pi(H v; v).
  auto find_direction = [&] {
    p = v;
    memory.apply(p);
    if (!orthants) return;
    dense::for_all(parallel, d, [&](std::size_t i) {
      if (!(p[i] * v[i] > 0.0)) p[i] = 0.0;
    });
  };
  /// Sets next = pi(now + alpha*p; xi) and evaluates F at `next`. Returns false if no trial was accepted.
  auto search = [&] {
    const double first =
        1.0 / (unit * (settings.unit_first_step ? unit : std::sqrt(dense::dot(parallel, v, v))));
    const double alpha0 = memory.scale() != 0.0 ? 1.0 : first;
    return backtrack(now.value(), alpha0, settings.line_search,
                     [&](double alpha) {
                       if (problem.monitor.out_of_time()) return ArmijoTrial{kNaN, 0.0};
                       const double promised = dense::sum_all(parallel, d, [&](std::size_t i) {
                         const double x = now.w[i] + alpha * p[i];
                         // If w is 0, v has the sign of xi.
                         const double xi = now.w[i] != 0.0 ? now.w[i] : v[i];
                         next.w[i] = !orthants || x * xi > 0.0 ? x : 0.0;
                         return v[i] * (next.w[i] - now.w[i]);
                       });
                       next.evaluate(objective);
                       return ArmijoTrial{next.value(), -promised};
                     })
               .accepted &&
           next.w != now.w;
  };

  return run.iterate(now, g, [&] {
    dense::for_all(parallel, d,
                   [&](std::size_t i) { v[i] = -minimum_norm_subgradient(now.w[i], g[i], lambda); });
    find_direction();
    bool moved = search();
    if (!moved && !memory.empty() && !problem.monitor.out_of_time()) {
      memory.clear();
      find_direction();
      moved = search();
    }
    if (!moved) return false;
    objective.gradient(next.residual, next.w, g_next);
    std::vector<double>&s = memory.spare_s(), &y = memory.spare_y();
    dense::for_all(parallel, d, [&](std::size_t i) {
      s[i] = next.w[i] - now.w[i];
      y[i] = g_next[i] - g[i];
    });
    memory.keep(omega);
    std::swap(now, next);
    std::swap(g, g_next);
    return true;
  });
}

}  // namespace

SolverInfo owl_qn_info() {
  return stateless(
      rows(), solve,
      {
          .name = "owl-qn",
          .help = "orthant-wise limited-memory quasi-Newton",
          .paper = "Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML 2007",
          .shares_instances = true,
          .scale_free = true,
          .bytes_per_weight = 300,
      });
}

}  // namespace proxbench
