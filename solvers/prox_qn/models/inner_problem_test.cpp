#include "solvers/prox_qn/models/inner_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/data/reduction.h"
#include "solvers/shared/test_problems.h"

namespace proxbench {
namespace {

/// A working set in which most weights are zero, its gradient, its blocks and some pairs.
struct Model {
  explicit Model(const test::Problem& problem, bool blocks) : objective(problem.objective()) {
    Random random(5);
    SparseVector point;
    for (Coord c = 0; c < objective.dimension() && index.size() < 400; ++c) {
      index.push_back(c);
      w.push_back(random.uniform() < 0.3 ? 0.4 * random.normal() : 0.0);
      if (w.back() != 0.0) point.push_back(c, w.back());
    }
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(point, scores);
    objective.infer({scores}, &residual);
    g.resize(index.size());
    objective.partial_gradient(residual, index, w, g);
    metric.build(objective, residual, index);
    if (blocks) start = &metric;
    lbfgs = CompactLbfgs(6, blocks ? GammaRule::kNone : GammaRule::kShort);
    lbfgs.reset(index.size(), 1.5);
    for (int pair = 0; pair < 6; ++pair) {
      std::vector<double> s(index.size()), b(index.size()), y(index.size());
      for (double& x : s) x = random.uniform() < 0.5 ? random.normal() : 0.0;
      metric.multiply(s, b);
      for (std::size_t j = 0; j < s.size(); ++j) y[j] = (0.5 + random.uniform()) * b[j];
      EXPECT_TRUE(blocks ? lbfgs.update(s, y, b) : lbfgs.update(s, y));
    }
    lbfgs.refresh();
  }

  double solve(InnerProblem& inner, double lambda, const InnerLimits& limits, int threads,
               std::vector<double>& d) {
    Random random(9);
    return inner.solve(lbfgs, start, w, g, lambda, limits, random, Parallel(threads), d);
  }
  /// g + B d.
  std::vector<double> gradient(const std::vector<double>& d) {
    std::vector<double> out = lbfgs.multiply(d), product;
    if (start != nullptr) start->multiply(d, product);
    for (std::size_t j = 0; j < d.size(); ++j)
      out[j] += g[j] + (start != nullptr ? lbfgs.gamma() * (product[j] - d[j]) : 0.0);
    return out;
  }
  /// The largest entry of the minimum-norm subgradient of the inner problem.
  double kkt(double lambda, const std::vector<double>& d) {
    const std::vector<double> all = gradient(d);
    double largest = 0.0;
    for (std::size_t j = 0; j < d.size(); ++j)
      largest = std::max(largest, std::abs(minimum_norm_subgradient(w[j] + d[j], all[j], lambda)));
    return largest;
  }

  Objective objective;
  std::vector<Coord> index;
  std::vector<double> w, g;
  BlockMetric metric;
  BlockMetric* start = nullptr;
  CompactLbfgs lbfgs{1};
};

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

TEST(InnerProblem, FindsTheMinimumWithAndWithoutConjugateGradients) {
  for (const test::ProblemSpec& spec : test::problem_specs())
    for (const bool blocks : {false, true}) {
      const test::Problem problem(spec);
      Model model(problem, blocks);
      std::vector<double> descent, subspace;
      InnerProblem a, b;
      const double lambda = spec.lambda;
      const double slope =
          model.solve(a, lambda, {.tolerance = 1e-9, .visits = 40'000'000, .subspace = false}, 1, descent);
      EXPECT_EQ(
          model.solve(a, lambda, {.tolerance = 1e-9, .visits = 40'000'000, .subspace = false}, 1, descent),
          slope);
      model.solve(b, lambda, {.tolerance = 1e-9, .visits = 40'000'000, .subspace = true}, 1, subspace);
      const double start = model.kkt(lambda, std::vector<double>(model.w.size(), 0.0));
      EXPECT_LT(model.kkt(lambda, descent), 1e-6 * start) << spec.name;
      EXPECT_LT(model.kkt(lambda, subspace), 1e-6 * start) << spec.name;
      EXPECT_LT(b.passes(), a.passes()) << spec.name;
      double curvature = 0.0;
      const std::vector<double> all = model.gradient(subspace);
      for (std::size_t j = 0; j < all.size(); ++j) curvature += subspace[j] * (all[j] - model.g[j]);
      EXPECT_NEAR(b.curvature(), curvature, 1e-9 * curvature) << spec.name;
    }
}

/// Half-way, too, the model is below where it was.
TEST(InnerProblem, StopsAtItsLimitsWithTheSameBitsForAnyNumberOfThreads) {
  const test::Problem problem(test::large_spec());
  Model model(problem, true);
  const double lambda = test::large_spec().lambda;
  std::vector<double> one, three;
  InnerProblem a, b;
  const InnerLimits limits{.tolerance = 1e-12, .visits = 12 * model.w.size(), .subspace = true};
  const double slope = model.solve(a, lambda, limits, 1, one);
  EXPECT_EQ(model.solve(b, lambda, limits, 3, three), slope);
  EXPECT_EQ(one, three);
  double l1 = 0.0, linear = 0.0;
  for (std::size_t j = 0; j < one.size(); ++j) {
    linear += model.g[j] * one[j];
    l1 += std::abs(model.w[j] + one[j]) - std::abs(model.w[j]);
  }
  EXPECT_NEAR(slope, linear + lambda * l1, 1e-12 * std::abs(slope));
  EXPECT_LT(slope + 0.5 * a.curvature(), 0.0);
}

TEST(InnerProblem, WithoutPairsOrBlocksIsOneSoftThreshold) {
  const test::Problem problem(test::problem_specs().front());
  Model model(problem, false);
  model.lbfgs.reset(model.w.size(), 2.0);
  InnerProblem inner;
  std::vector<double> d;
  const double lambda = 0.5;
  model.solve(inner, lambda, {.tolerance = 0.03, .visits = kNoLimit, .subspace = true}, 1, d);
  EXPECT_EQ(inner.passes(), 1.0);
  for (std::size_t j = 0; j < d.size(); ++j) {
    const double c = model.w[j] - model.g[j] / 2.0;
    const double expected = std::copysign(std::max(std::abs(c) - lambda / 2.0, 0.0), c);
    EXPECT_NEAR(model.w[j] + d[j], expected, 1e-13 * (1.0 + std::abs(c)));
    if (expected == 0.0) {
      EXPECT_EQ(model.w[j] + d[j], 0.0);
    }
  }
}

}  // namespace
}  // namespace proxbench
