/// The theory of Zhong et al. (2014) made visible on the run of a job.json: how fast a solver's iterates
/// converge off the null space of the Hessian (Theorem 1), and that null space itself (Theorem 3).
///
/// The error of w_t is e_t = ||m(w_t) - m(w*)||, m the marginals of all outputs at all positions: it vanishes
/// where w_t and w* differ by a vector of the null space alone. With exact inner solutions and a unit step
/// s_t the subgradient at w_{t+1} is (H - B_t) s_t up to second order: its max norm over ||m(w_{t+1}) -
/// m(w_t)|| is the Dennis-More ratio, up to the norms that it is in.
///
/// Prints a CSV line for each iteration, and what they come to as `# key=value` lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/monitor.h"
#include "core/wrapped_oracle.h"
#include "experiments/bench/job_program.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// All marginals, an output after the other.
using Marginals = std::vector<double>;

double distance(const Marginals& a, const Marginals& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// Keeps the marginals of the last inference with a residual: those at the iterate that a solver hands over.
class MarginalsOracle final : public WrappedOracle {
 public:
  using WrappedOracle::WrappedOracle;
  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    const double loss = WrappedOracle::infer(at, residual, parallel);
    if (residual != nullptr) keep(*residual);
    return loss;
  }
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override {
    const double loss = WrappedOracle::infer_and_keep(at, residual, kept, parallel);
    keep(residual);
    return loss;
  }
  const Marginals& last() const { return last_; }

 private:
  void keep(const Residual& residual) const {
    const std::size_t n = positions();
    last_.assign(n * outputs(), 0.0);
    for (Index k = 0; k < outputs(); ++k) {
      const double* column = residual.find(k);
      const double share = residual.owns(k) ? 1.0 : residual.share[k];
      for (std::size_t p = 0; p < n; ++p) last_[k * n + p] = share * column[p];
    }
    for (std::size_t p = 0; p < n; ++p)
      for (const Index k : gold_outputs(static_cast<Index>(p)))
        if (residual.owns(k)) last_[k * n + p] += 1.0;
  }

  mutable Marginals last_;
};

struct Point {
  Sample sample;
  double error;  ///< e_t
  double step;   ///< ||m(w_t) - m(w_{t-1})||
};

/// ||H v|| / ||v|| at w.
double stretch(Objective& objective, Objective::Curvature& at, const std::vector<double>& v) {
  std::vector<double> product(v.size());
  objective.hessian_product(at, v, product);
  double above = 0.0, below = 0.0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    above += product[i] * product[i];
    below += v[i] * v[i];
  }
  return std::sqrt(above / below);
}

/// Of Theorem 3's directions, where the problem is small enough for dense ones.
void print_null_space(Objective& objective, const SparseVector& w) {
  constexpr Coord kMostWeights = 100'000'000;
  if (objective.dimension() > kMostWeights || !objective.has(Capability::kDerivative)) return;
  const std::size_t d = objective.dimension(), outputs = objective.outputs();
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  Objective::Curvature curvature = objective.make_curvature();
  objective.scores(w, scores);
  objective.infer({scores}, residual, curvature);
  Random random(1);
  std::vector<double> v(d, 0.0);
  for (const Coord c : w.index) v[c] = random.normal();
  fmt::print("# stretch_of_random_on_support={}\n", stretch(objective, curvature, v));
  // An output that is on everywhere, as the root of a tree; where there is none exactly one is on at a
  // position.
  std::vector<std::size_t> on(outputs, 0);
  for (Index p = 0; p < objective.structure().positions(); ++p)
    for (const Index k : objective.structure().gold_outputs(p)) ++on[k];
  const auto everywhere = std::find(on.begin(), on.end(), objective.structure().positions());
  std::fill(v.begin(), v.end(), 0.0);
  for (Index j = 0; j < objective.features(); ++j) {
    const double x = random.normal();
    for (std::size_t k = 0; k < outputs; ++k)
      if (everywhere == on.end() || k == static_cast<std::size_t>(everywhere - on.begin()))
        v[j * outputs + k] = x;
  }
  fmt::print("# stretch_of_constant_over_outputs={}\n", stretch(objective, curvature, v));
  if (objective.unary_weights() == d) return;
  std::fill(v.begin(), v.end(), 0.0);
  std::fill(v.begin() + static_cast<std::ptrdiff_t>(objective.unary_weights()), v.end(), 1.0);
  fmt::print("# stretch_of_constant_transitions={}\n", stretch(objective, curvature, v));
}

void print_convergence(const std::vector<Point>& points, std::uint64_t nnz) {
  fmt::print("iteration,passes,objective,nnz,kkt,error,ratio,order,dennis_more,unit\n");
  std::size_t settled = points.size(), units = 0, after = 0;
  while (settled > 0 && points[settled - 1].sample.nnz == nnz) --settled;
  for (std::size_t t = 0; t < points.size(); ++t) {
    const auto& [s, error, step] = points[t];
    double ratio = kNone, order = kNone, dennis_more = kNone;
    bool unit = false;
    if (t > 0) {
      ratio = error / points[t - 1].error;
      unit = s.passes - points[t - 1].sample.passes == 1.0;
      dennis_more = s.kkt / step;
      if (t > 1) order = std::log(ratio) / std::log(points[t - 1].error / points[t - 2].error);
      after += t >= settled;
      units += t >= settled && unit;
    }
    fmt::print("{},{},{:.17g},{},{:.3g},{:.3g},{:.3g},{:.3g},{:.3g},{}\n", s.iteration, s.passes, s.objective,
               s.nnz, s.kkt, error, ratio, order, dennis_more, unit ? 1 : 0);
  }
  fmt::print("# support_settled_at={}\n# unit_steps_since={}/{}\n",
             settled < points.size() ? std::to_string(points[settled].sample.iteration) : "never", units,
             after);
}

void run(const RunParameters& job) {
  const LoadedData data = data_of(job);
  const LoadedData::Reduced& reduced = data.reduced(job.lambda);
  const DesignMatrix& x = reduced.all ? data.train().x : reduced.x;
  const MarginalsOracle oracle(data.oracle());
  const Penalty penalty{job.lambda, job.mu};
  Objective evaluator = data.objective(reduced, job.lambda, job.mu);
  const double kkt_at_zero = certify(evaluator, {}).kkt;
  const auto solve = [&](const std::string& name, const auto& options, double tol,
                         const std::function<void(const Sample&)>& on_sample) {
    Objective objective(x, oracle, penalty, data.parallel());
    MonitorOptions watch;
    watch.max_iterations = job.max_iterations;
    watch.time_limit = job.time_limit;
    watch.sample_kkt = on_sample != nullptr;
    watch.dense_samples = on_sample != nullptr ? job.max_iterations : 0;
    Monitor monitor(evaluator, objective, watch);
    monitor.on_sample = on_sample;
    const SolverInfo& solver = solver_registry().find(name);
    const SolveResult result = solver.make(options_from(solver.options, options))
                                   ->solve({objective, monitor, {}, tol, kkt_at_zero, job.seed});
    monitor.finish(result.iterations, result.w, result.working_set);
    return result.w;
  };
  const SparseVector w = solve("prox-qn", decltype(job.solver_options){}, 1e-13, nullptr);
  Objective at_best(x, oracle, penalty, data.parallel());
  Scores scores = at_best.make_scores();
  Residual residual = at_best.make_residual();
  at_best.scores(w, scores);
  at_best.infer({scores}, &residual);
  const Marginals best = oracle.last();
  Marginals before;
  std::vector<Point> points;
  solve(job.solver, job.solver_options, job.tol, [&](const Sample& sample) {
    // Before the first step nothing is inferred that is kept; the end may sample an iterate twice.
    if (sample.iteration == 0 || (!points.empty() && points.back().sample.iteration == sample.iteration))
      return;
    points.push_back(
        {sample, distance(oracle.last(), best), before.empty() ? kNone : distance(oracle.last(), before)});
    before = oracle.last();
  });
  print_convergence(points, w.nnz());
  fmt::print("# nnz_of_optimum={}\n# kkt_of_optimum={}\n", w.nnz(), certify(evaluator, w).kkt);
  print_null_space(at_best, w);
}

}  // namespace
}  // namespace proxbench

int main(int argc, char** argv) {
  return proxbench::run_job_file(argc, argv, "proxbench_theory", proxbench::run);
}
