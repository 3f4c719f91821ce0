#include "experiments/bench/theory.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/base/numbers.h"
#include "core/base/random.h"
#include "core/hessian.h"

namespace proxbench::theory {
namespace {

/// Eigenvalues below this share of the largest count as rounding errors.
constexpr double kRounding = 1e-10;
/// Added to the diagonal for the Cholesky factor of a singular Hessian, as a share of its largest entry.
constexpr double kRidge = 1e-13;
/// newton_on_face(): the relative noise of its start, and its largest number of steps.
constexpr double kNoise = 0.02;
constexpr std::int64_t kMostSteps = 30;
/// newton_on_face() ends once an error exceeds this fraction of the previous one, because rounding then
/// dominates.
constexpr double kFalls = 0.5;

double norm(std::span<const double> v) {
  double sum = 0.0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace

double MarginalsOracle::infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const {
  const double loss = WrappedOracle::infer(at, residual, parallel);
  if (residual != nullptr) keep(*residual);
  return loss;
}

double MarginalsOracle::infer_and_keep(const ScorePoint& at, Residual& residual,
                                       std::unique_ptr<Messages>& kept, const Parallel& parallel) const {
  const double loss = WrappedOracle::infer_and_keep(at, residual, kept, parallel);
  keep(residual);
  return loss;
}

void MarginalsOracle::keep(const Residual& residual) const {
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

double distance(const Marginals& a, const Marginals& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double dennis_more(double kkt, const Marginals& now, const Marginals& before) {
  return before.empty() ? kNaN : kkt / distance(now, before);
}

TheoryArm make_arm(const std::string& label, std::vector<TheoryIteration> iterations, std::uint64_t nnz) {
  std::size_t settled = iterations.size();
  while (settled > 0 && iterations[settled - 1].nnz == nnz) --settled;
  TheoryArm arm{.label = label, .iterations = std::move(iterations)};
  std::vector<TheoryIteration>& all = arm.iterations;
  if (settled < all.size()) arm.support_settled_at = static_cast<double>(all[settled].iteration);
  for (std::size_t t = 1; t < all.size(); ++t) {
    all[t].ratio = all[t].error / all[t - 1].error;
    all[t].order = std::log(all[t].ratio) / std::log(all[t - 1].ratio);
    if (t < settled) continue;
    ++arm.steps_since;
    if (all[t].passes - all[t - 1].passes == 1.0) ++arm.unit_steps;
  }
  return arm;
}

std::vector<std::pair<std::string, std::vector<double>>> null_directions(const Objective& objective,
                                                                         const Hierarchy* hierarchy,
                                                                         std::uint64_t seed) {
  const Hierarchy tree = hierarchy != nullptr ? *hierarchy : Hierarchy::flat(objective.outputs());
  std::vector<double> v(objective.dimension(), 0.0), r(objective.outputs());
  const auto transitions = v.begin() + static_cast<std::ptrdiff_t>(objective.unary_weights());
  Random random(seed);
  auto weight = v.begin();
  for (Index j = 0; j < objective.map().features(); ++j) {
    const double top = random.normal();
    for (Index k = 0; k < tree.nodes(); ++k) {
      r[k] = tree.leaf(k) ? 0.0 : random.normal();
      *weight++ = (tree.parent(k) == Hierarchy::kNone ? top : r[tree.parent(k)]) - r[k];
    }
  }
  std::vector<std::pair<std::string, std::vector<double>>> out{
      {hierarchy != nullptr ? "from nodes to their children" : "constant over labels", v}};
  if (transitions != v.end()) {
    std::fill(v.begin(), transitions, 0.0);
    std::fill(transitions, v.end(), 1.0);
    out.emplace_back("constant transitions", v);
  }
  return out;
}

double stretch(Curvature& at, const std::vector<double>& v) {
  std::vector<double> product(v.size());
  at.product(v, product);
  return norm(product) / norm(v);
}

Curvature curvature_at(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  Curvature out(objective);
  objective.scores(w, scores);
  out.infer({scores}, residual);
  return out;
}

Eigen::MatrixXd hessian_on(Objective& objective, const SparseVector& w, const std::vector<Coord>& face) {
  const auto n = static_cast<Eigen::Index>(face.size());
  Eigen::MatrixXd out(n, n);
  if (has_hessian(objective)) {
    Scores scores = objective.make_scores();
    objective.scores(w, scores);
    proxbench::hessian(objective, scores, face, out.data(), face.size());
    return out;
  }
  Curvature curvature = curvature_at(objective, w);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(n, i);
    curvature.product(face, {unit.data(), face.size()}, {out.col(i).data(), face.size()});
  }
  return out;
}

TheoryFace spectrum(const Eigen::MatrixXd& hessian) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(hessian, Eigen::EigenvaluesOnly);
  const Eigen::VectorXd& values = solver.eigenvalues();  // ascending
  const double largest = values.size() > 0 ? values[values.size() - 1] : kNaN;
  Eigen::Index rank = 0;
  while (rank < values.size() && values[values.size() - 1 - rank] > kRounding * largest) ++rank;
  return {static_cast<double>(rank), rank > 0 ? values[values.size() - rank] : kNaN, largest};
}

std::vector<TheoryIteration> newton_on_face(Objective& objective, const MarginalsOracle& oracle,
                                            const SparseVector& best) {
  SparseVector w = best;
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  std::vector<double> g(best.nnz());
  // Computes l(w) + penalties, and the gradient g of F on the face, with the signs of w*.
  const auto evaluate = [&] {
    objective.scores(w, scores);
    const double loss = objective.infer({scores}, &residual);
    objective.partial_gradient(residual, w.index, w.value, g);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += std::copysign(objective.lambda(), best.value[i]);
    return objective.value(loss, w.value);
  };
  evaluate();
  const Marginals target = oracle.last();
  Random random(1);
  for (double& x : w.value) x *= 1.0 + kNoise * random.normal();

  std::vector<TheoryIteration> out;
  Marginals before;
  while (static_cast<std::int64_t>(out.size()) <= kMostSteps) {
    const double value = evaluate(), error = distance(oracle.last(), target);
    double kkt = 0.0;
    for (const double x : g) kkt = std::max(kkt, std::abs(x));
    const auto number = static_cast<std::int64_t>(out.size());
    out.push_back({.iteration = number,
                   .passes = static_cast<double>(number),
                   .objective = value,
                   .nnz = w.nnz(),
                   .kkt = kkt,
                   .error = error,
                   .dennis_more = dennis_more(kkt, oracle.last(), before)});
    if (out.size() > 1 && error > kFalls * out[out.size() - 2].error) break;
    before = oracle.last();
    Eigen::MatrixXd hessian = hessian_on(objective, w, best.index);
    hessian.diagonal().array() += kRidge * hessian.diagonal().maxCoeff();
    const Eigen::VectorXd p = Eigen::LDLT<Eigen::MatrixXd>(hessian).solve(
        -Eigen::Map<const Eigen::VectorXd>(g.data(), hessian.rows()));
    for (std::size_t i = 0; i < w.nnz(); ++i) w.value[i] += p[static_cast<Eigen::Index>(i)];
  }
  return out;
}

}  // namespace proxbench::theory
