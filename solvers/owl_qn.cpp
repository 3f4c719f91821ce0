#include "solvers/owl_qn.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/quasi_newton/line_search.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/lbfgs_memory.h"
#include "solvers/solvers.h"

namespace proxbench {

OwlQn::OwlQn(const Options& options)
    : memory_(static_cast<std::size_t>(options.integer("memory"))),
      max_linesearch_(static_cast<int>(options.integer("max_linesearch"))),
      beta_(options.real("beta")),
      gamma_(options.real("gamma")),
      omega_(options.real("omega")),
      unit_first_step_(options.string("first_step") == "unit"),
      patience_(options.integer("patience")),
      change_(options.real("change")) {}

SolveResult OwlQn::solve(const SolveProblem& problem) {
  Objective& objective = problem.objective;
  const Parallel& parallel = objective.parallel();
  const double lambda = objective.lambda();
  const std::size_t d = objective.dimension();

  dense::Point now(objective, problem.start), next(objective, problem.start);
  std::vector<double> g(d), g_next(d), v(d), p(d);
  dense::LbfgsMemory memory(memory_, d, parallel);
  dense::Run run(problem, patience_, change_);
  if (!run.open(now, g)) return run.result(now);

  const double unit = objective.map().typical_value(), omega = omega_ / (unit * unit);

  // With lambda = 0 there are no orthants, and both projections do nothing: L-BFGS.
  const bool orthants = lambda > 0.0;
  /// p = pi(H v; v).
  auto find_direction = [&] {
    p = v;
    memory.apply(p);
    if (!orthants) return;
    dense::for_range(parallel, d, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (!(p[i] * v[i] > 0.0)) p[i] = 0.0;
    });
  };
  /// next = pi(now + alpha*p; xi), with F there; false when no trial was accepted.
  auto search = [&] {
    const double first = 1.0 / (unit * (unit_first_step_ ? unit : std::sqrt(dense::dot(parallel, v, v))));
    const double alpha0 = memory.scale() != 0.0 ? 1.0 : first;
    const ArmijoOptions options{.sigma = gamma_, .beta = beta_, .max_trials = max_linesearch_};
    return backtrack(now.value(), alpha0, options,
                     [&](double alpha) {
                       if (problem.monitor.out_of_time())
                         return ArmijoTrial{std::numeric_limits<double>::quiet_NaN(), 0.0};
                       const double promised =
                           dense::sum_range(parallel, d, [&](std::size_t begin, std::size_t end) {
                             double sum = 0.0;
                             for (std::size_t i = begin; i < end; ++i) {
                               const double x = now.w[i] + alpha * p[i];
                               // v has the sign of xi where w is 0.
                               const double xi = now.w[i] != 0.0 ? now.w[i] : v[i];
                               next.w[i] = !orthants || x * xi > 0.0 ? x : 0.0;
                               sum += v[i] * (next.w[i] - now.w[i]);
                             }
                             return sum;
                           });
                       next.evaluate(objective);
                       return ArmijoTrial{next.value(), -promised};
                     })
               .accepted &&
           next.w != now.w;
  };

  while (true) {
    dense::for_range(parallel, d, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) v[i] = -minimum_norm_subgradient(now.w[i], g[i], lambda);
    });
    find_direction();
    bool moved = search();
    if (!moved && !memory.empty() && !problem.monitor.out_of_time()) {
      memory.clear();
      find_direction();
      moved = search();
    }
    if (!moved) return run.result(now, run.without_step());

    objective.gradient(next.residual, next.w, g_next);
    memory.update(next.w, now.w, g_next, g, omega);
    std::swap(now, next);
    std::swap(g, g_next);
    if (!run.step(now, run.kkt(now, g))) return run.result(now);
  }
}

SolverInfo owl_qn_info() {
  return {
      .name = "owl-qn",
      .help = "orthant-wise limited-memory quasi-Newton",
      .paper = "Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML 2007",
      .options =
          {
              {.name = "memory",
               .type = OptionType::kInt,
               .default_value = "10",
               .help = "pairs (s, y) kept by L-BFGS (the paper's m; it used 5)",
               .min = 1,
               .max = 1000},
              {.name = "max_linesearch",
               .type = OptionType::kInt,
               .default_value = "60",
               .help = "trial steps of one line search",
               .min = 1,
               .max = 1000},
              {.name = "beta",
               .type = OptionType::kReal,
               .default_value = "0.5",
               .help = "factor between trial steps",
               .min = 0,
               .max = 1,
               .min_open = true,
               .max_open = true},
              {.name = "gamma",
               .type = OptionType::kReal,
               .default_value = "1e-4",
               .help = "share of the predicted decrease that a step must reach",
               .min = 0,
               .max = 1,
               .min_open = true,
               .max_open = true},
              {.name = "omega",
               .type = OptionType::kReal,
               .default_value = "2.2e-16",
               .help = "curvature floor: updates with y^T s < omega*||y||^2 are skipped; in the units of "
                       "values, over the "
                       "square of their typical size, which is 1 of binary features",
               .min = 0,
               .max = 1,
               .max_open = true},
              {.name = "first_step",
               .default_value = "inverse-norm",
               .help =
                   "first trial step of a line search along the pseudo-gradient alone: 1/||v||, or 1 as the "
                   "paper has it; in the units of values",
               .choices = {"inverse-norm", "unit"}},
              dense::patience_option(100),
              dense::change_option(),
          },
      .make = [](const Options& options) { return std::make_unique<OwlQn>(options); },
      .shares_instances = true,
      .scale_free = true,
  };
}

}  // namespace proxbench
