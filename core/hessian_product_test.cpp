/// Compares Curvature::product() with finite differences of the gradient, and with the dense Hessian
/// from covariances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/curvature.h"
#include "core/hessian.h"
#include "core/objective.h"
#include "solvers/shared/test_problems.h"

namespace proxbench {
namespace {

/// A random w with about the given share of nonzeros.
SparseVector random_weights(Coord d, double density, std::uint64_t seed) {
  Random random(seed);
  SparseVector w;
  for (Coord c = 0; c < d; ++c)
    if (random.uniform() < density) w.push_back(c, random.normal());
  return w;
}

std::vector<double> dense(const SparseVector& w, Coord d) {
  std::vector<double> out(d, 0.0);
  for (std::size_t i = 0; i < w.nnz(); ++i) out[w.index[i]] = w.value[i];
  return out;
}

/// Compares H v for a random w and v, on the support of v and on all coordinates.
void expect_products_of_the_hessian(const test::Problem& problem, double point_density, double set_density) {
  Objective objective = problem.objective(Parallel(2));
  SparseVector w = random_weights(objective.dimension(), point_density, 6);
  for (double& v : w.value) v *= 0.5;
  const SparseVector v = random_weights(objective.dimension(), set_density, 7);
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  Curvature curvature(objective);
  curvature.infer({scores}, residual);
  std::vector<double> product(v.nnz()), whole(objective.dimension());
  curvature.product(v.index, v.value, product);
  curvature.product(dense(v, objective.dimension()), whole);
  EXPECT_EQ(objective.counts().passes(), 3.0);

  constexpr double kStep = 1e-3;
  const auto gradient = [&](double alpha) {
    std::vector<double> at = dense(w, objective.dimension()), g(at.size());
    for (std::size_t i = 0; i < v.nnz(); ++i) at[v.index[i]] += alpha * v.value[i];
    objective.scores(SparseVector::from_dense(at), scores);
    objective.infer({scores}, &residual);
    objective.gradient(residual, at, g);
    return g;
  };
  const std::vector<double> a = gradient(kStep), b = gradient(-kStep), c = gradient(2 * kStep),
                            d = gradient(-2 * kStep);
  double size = 1.0;
  for (const double x : whole) size = std::max(size, std::abs(x));
  for (Coord i = 0; i < objective.dimension(); ++i)
    ASSERT_NEAR(whole[i], (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * kStep), 1e-7 * size) << i;
  for (std::size_t i = 0; i < v.nnz(); ++i) ASSERT_NEAR(product[i], whole[v.index[i]], 1e-12 * size) << i;

  if (!has_hessian(objective) || v.nnz() == 0) return;
  objective.scores(w, scores);
  std::vector<double> hessian(v.nnz() * v.nnz());
  ASSERT_TRUE(proxbench::hessian(objective, scores, v.index, hessian.data(), v.nnz()));
  for (std::size_t i = 0; i < v.nnz(); ++i) {
    double expected = 0.0;
    for (std::size_t j = 0; j < v.nnz(); ++j) expected += hessian[i * v.nnz() + j] * v.value[j];
    ASSERT_NEAR(product[i], expected, 1e-10 * size) << i;
  }
}

/// Covers sets and points whose scores have columns for none, some or all of the outputs.
TEST(HessianProduct, IsTheDerivativeOfTheGradientAndThatOfCovariances) {
  for (test::ProblemSpec spec : test::problem_specs()) {
    spec.mu = 0.25;
    const test::Problem problem(spec);
    for (const double point : {0.0, 0.02, 0.5, 1.0})
      for (const double set : {0.0, 0.02, 0.3, 1.0}) {
        SCOPED_TRACE(testing::Message() << spec.name << ", point " << point << ", set " << set);
        expect_products_of_the_hessian(problem, point, set);
      }
  }
}

/// Takes other directions, another point, and then the first point again: the stored messages do not degrade.
TEST(HessianProduct, IsTheSameAfterOthers) {
  for (const test::ProblemSpec& spec : {test::problem_specs()[1], test::problem_specs()[13]}) {
    SCOPED_TRACE(spec.name);
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    const Coord d = objective.dimension();
    Curvature curvature(objective);
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    const auto go_to = [&](const SparseVector& w) {
      objective.scores(w, scores);
      curvature.infer({scores}, residual);
    };
    const auto product = [&](const std::vector<double>& v) {
      std::vector<double> out(d);
      curvature.product(v, out);
      return out;
    };
    const SparseVector here = random_weights(d, 0.1, 1), there = random_weights(d, 0.6, 2);
    const std::vector<double> some = dense(random_weights(d, 0.02, 3), d),
                              all = dense(random_weights(d, 1.0, 4), d);
    go_to(here);
    const std::vector<double> first = product(some), second = product(all);
    go_to(there);
    EXPECT_NE(product(some), first);
    go_to(here);
    EXPECT_EQ(product(all), second);
    EXPECT_EQ(product(some), first);
    // The Hessian is symmetric, and positive along `all`.
    double a = 0.0, b = 0.0, c = 0.0;
    for (Coord i = 0; i < d; ++i) {
      a += all[i] * first[i];
      b += some[i] * second[i];
      c += all[i] * second[i];
    }
    EXPECT_NEAR(a, b, 1e-12 * (std::abs(a) + c));
    EXPECT_GT(c, 0.0);
  }
}

TEST(HessianProduct, SameBitsForAnyThreadsAndBackEnd) {
  for (const test::ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    SCOPED_TRACE(spec.name);
    const test::Problem problem(spec);
    const auto product = [&](const Parallel& parallel) {
      Objective objective = problem.objective(parallel);
      const Coord d = objective.dimension();
      Curvature curvature(objective);
      Scores scores = objective.make_scores();
      Residual residual = objective.make_residual();
      objective.scores(random_weights(d, 0.05, 1), scores);
      curvature.infer({scores}, residual);
      std::vector<double> out(d);
      curvature.product(dense(random_weights(d, 0.3, 2), d), out);
      return out;
    };
    const std::vector<double> first = product(Parallel());
    for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
      for (const int threads : {2, 3, 5}) EXPECT_EQ(product(Parallel(threads, backend)), first);
  }
}

}  // namespace
}  // namespace proxbench
