#include "solvers/prox_newton/newton_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/hessian.h"
#include "solvers/shared/test_problems.h"

namespace proxbench::prox_newton {
namespace {

/// A point, its gradient, and the Hessian there on some of the coordinates.
struct Point {
  Point(const test::Problem& problem, double share, std::uint64_t seed, int threads)
      : objective(problem.objective(Parallel(threads))) {
    Random random(seed);
    SparseVector point;
    for (Coord c = 0; c < objective.dimension(); ++c) {
      if (random.uniform() < 0.2) continue;
      index.push_back(c);
      w.push_back(random.uniform() < share ? 0.3 * random.normal() : 0.0);
      if (w.back() != 0.0) point.push_back(c, w.back());
    }
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(point, scores);
    objective.infer({scores}, &residual);
    g.resize(index.size());
    objective.partial_gradient(residual, index, w, g);
    hessian.resize(index.size() * index.size());
    proxbench::hessian(objective, scores, index, hessian.data(), index.size());
    proximal::WorkingSet set;
    set.index = index;
    set.w = w;
    set.mu.assign(index.size(), objective.mu());
    model.build(objective, scores, set);
  }
  double solve(double lambda, std::vector<double>& d) {
    return model.solve(w, g, lambda, 50, objective.parallel(), d);
  }
  /// The change of the inner problem's objective, given that of its linear part and of the penalty.
  double model_change(double linear, const std::vector<double>& d) const {
    for (std::size_t i = 0; i < d.size(); ++i)
      for (std::size_t j = 0; j < d.size(); ++j) linear += 0.5 * d[i] * hessian[i * d.size() + j] * d[j];
    return linear;
  }
  /// The largest entry of the minimum-norm subgradient of the inner problem.
  double kkt(double lambda, const std::vector<double>& d) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      double gradient = g[i];
      for (std::size_t j = 0; j < d.size(); ++j) gradient += hessian[i * d.size() + j] * d[j];
      largest = std::max(largest, std::abs(minimum_norm_subgradient(w[i] + d[i], gradient, lambda)));
    }
    return largest;
  }

  Objective objective;
  std::vector<Coord> index;
  std::vector<double> w, g, hessian;
  NewtonModel model;
};

TEST(NewtonModel, SolvesTheInnerProblem) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    if (spec.tree != test::ProblemSpec::Tree::kNone) continue;
    const test::Problem problem(spec);
    for (const double share : {0.0, 0.3, 1.0}) {
      Point point(problem, share, 7, 1), threaded(problem, share, 7, 3);
      for (const double lambda : {3.0, 1.0, 0.02}) {
        std::vector<double> d, again;
        const double change = point.solve(lambda, d);
        EXPECT_LT(change, 0.0);
        EXPECT_LT(point.model_change(change, d), 0.0) << spec.name << ", " << share << ", " << lambda;
        // Far from the solution, and if coordinates are collinear, signs need not settle.
        if (lambda > 1.0 || (!spec.collinear && lambda == 1.0)) {
          EXPECT_LT(point.kkt(lambda, d), 1e-6) << spec.name << ", " << share << ", " << lambda;
        }
        EXPECT_EQ(threaded.solve(lambda, again), change);
        EXPECT_EQ(again, d);
      }
      EXPECT_GE(point.model.systems(), 3.0);
    }
  }
}

/// On a quadratic model, the step from the model's own solution is 0.
TEST(NewtonModel, HasNothingToDoAtTheSolution) {
  const test::Problem problem(test::problem_specs()[1]);
  Point point(problem, 0.3, 3, 1);
  std::vector<double> d, again;
  point.solve(0.5, d);
  const std::size_t n = d.size();
  for (std::size_t i = 0; i < n; ++i) {
    point.w[i] += d[i];
    for (std::size_t j = 0; j < n; ++j) point.g[i] += point.hessian[i * n + j] * d[j];
  }
  EXPECT_NEAR(point.solve(0.5, again), 0.0, 1e-14);
  for (const double x : again) EXPECT_NEAR(x, 0.0, 1e-9);
}

TEST(NewtonModel, TakesMoreWorkForMoreCoordinates) {
  const test::Problem problem(test::problem_specs()[0]);
  const Objective objective = problem.objective();
  std::vector<Coord> index{0, 1, 2, objective.unary_weights()};
  const double few = NewtonModel::work(objective, index);
  EXPECT_GT(few, 0.0);
  index.insert(index.begin() + 3, {3, 4, 5, 6});
  EXPECT_GT(NewtonModel::work(objective, index), few);
}

}  // namespace
}  // namespace proxbench::prox_newton
