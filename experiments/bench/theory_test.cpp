#include "core/curvature.h"
#include "experiments/bench/theory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench::theory {
namespace {

using Tree = test::ProblemSpec::Tree;

SparseVector random_weights(Coord d, std::uint64_t seed) {
  Random random(seed);
  SparseVector w;
  for (Coord c = 0; c < d; ++c) w.push_back(c, 0.5 * random.normal());
  return w;
}

std::vector<Coord> all_coordinates(Coord d) {
  std::vector<Coord> out(d);
  for (Coord c = 0; c < d; ++c) out[c] = c;
  return out;
}

/// Returns the probabilities of independent labels: the softmax of their scores, by hand.
std::vector<double> softmax_at(const test::Problem& problem, Index p, const SparseVector& w) {
  const Index labels = problem.spec().labels;
  std::vector<double> probability(labels, 0.0);
  const std::span<const Index> features = problem.data().x.row(p);
  const std::vector<double> values = problem.data().x.row_values(p);
  for (std::size_t i = 0; i < features.size(); ++i)
    for (Index k = 0; k < labels; ++k)
      probability[k] += (values.empty() ? 1.0 : values[i]) * w.value[features[i] * labels + k];
  double sum = 0.0;
  for (double& x : probability) sum += x = std::exp(x);
  for (double& x : probability) x /= sum;
  return probability;
}

/// Returns the sum over positions of x x^T (diag(p) - p p^T).
Eigen::MatrixXd logistic_hessian(const test::Problem& problem, const SparseVector& w) {
  const Index labels = problem.spec().labels;
  const auto d = static_cast<Eigen::Index>(w.nnz());
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(d, d);
  const DesignMatrix& x = problem.data().x;
  for (Index p = 0; p < x.positions(); ++p) {
    const std::vector<double> m = softmax_at(problem, p, w);
    Eigen::VectorXd row = Eigen::VectorXd::Zero(d / labels);
    for (std::size_t i = 0; i < x.row(p).size(); ++i)
      row[x.row(p)[i]] = x.row_values(p).empty() ? 1.0 : x.row_values(p)[i];
    for (Eigen::Index a = 0; a < d; ++a)
      for (Eigen::Index b = 0; b < d; ++b) {
        const auto k = static_cast<std::size_t>(a % labels), l = static_cast<std::size_t>(b % labels);
        out(a, b) += row[a / labels] * row[b / labels] * ((k == l ? m[k] : 0.0) - m[k] * m[l]);
      }
  }
  return out;
}

TEST(Theory, TheHessianOfLabelsSideBySideIsTheSoftmaxs) {
  const test::Problem problem(
      {.name = "softmax", .labels = 3, .features = 4, .real = true, .tree = Tree::kFlat});
  Objective objective = problem.objective();
  const SparseVector w = random_weights(objective.dimension(), 3);
  const Eigen::MatrixXd expected = logistic_hessian(problem, w);
  const Eigen::MatrixXd found = hessian_on(objective, w, all_coordinates(objective.dimension()));
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());
}

/// With n positions, only a bias and w = 0, the Hessian is n*(I/K - 1 1^T/K^2). Its eigenvalues are n/K, with
/// multiplicity K - 1, and 0.
TEST(Theory, TheSpectrumOfABiasIsKnown) {
  const test::Problem problem(
      {.name = "bias", .labels = 4, .features = 0, .sequences = 10, .bias = true, .tree = Tree::kFlat});
  Objective objective = problem.objective();
  const TheoryFace found = spectrum(hessian_on(objective, {}, all_coordinates(4)));
  EXPECT_EQ(found.rank, 3.0);
  EXPECT_NEAR(found.smallest, 2.5, 1e-12);
  EXPECT_NEAR(found.largest, 2.5, 1e-12);
}

TEST(Theory, DirectionsOfTheoremThreeChangeNeitherGradientNorMarginals) {
  for (const test::ProblemSpec& spec : {test::ProblemSpec{.name = "chain", .real = true},
                                        {.name = "nested", .labels = 7, .tree = Tree::kNested},
                                        {.name = "flat", .tree = Tree::kFlat}}) {
    const test::Problem problem(spec);
    const MarginalsOracle oracle(problem.oracle());
    Objective objective(problem.data().x, oracle, {1.0, 0.0}, Parallel());
    const SparseVector w = random_weights(objective.dimension(), 4);
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    Curvature curvature(objective);
    objective.scores(w, scores);
    curvature.infer({scores}, residual);
    const Marginals before = oracle.last();
    EXPECT_GT(stretch(curvature, w.value), 0.01);
    const auto directions = null_directions(objective, problem.data().hierarchy.get(), 5);
    EXPECT_EQ(directions.size(), objective.unary_weights() < objective.dimension() ? 2u : 1u);
    for (const auto& [name, v] : directions) {
      EXPECT_LT(stretch(curvature, v), 1e-12) << name;
      SparseVector moved = w;
      for (std::size_t i = 0; i < v.size(); ++i) moved.value[i] += v[i];
      objective.scores(moved, scores);
      objective.infer({scores}, &residual);
      EXPECT_LT(distance(oracle.last(), before), 1e-12);
    }
  }
}

TEST(Theory, OrdersOfErrorsAreThoseTheyWereMadeWith) {
  std::vector<TheoryIteration> linear, quadratic;
  for (int t = 0; t < 5; ++t) {
    const auto make = [&](double error) {
      return TheoryIteration{.iteration = t + 1,
                             .passes = 2.0 * t - (t > 3 ? 1.0 : 0.0),
                             .nnz = t < 2 ? 9u : 7u,
                             .error = error};
    };
    linear.push_back(make(std::pow(0.5, t)));
    quadratic.push_back(make(std::pow(0.1, std::pow(2.0, t))));
  }
  const TheoryArm slow = make_arm("slow", linear, 7), fast = make_arm("fast", quadratic, 7);
  EXPECT_TRUE(std::isnan(slow.iterations[0].ratio));
  EXPECT_TRUE(std::isnan(slow.iterations[1].order));
  EXPECT_NEAR(slow.iterations[4].ratio, 0.5, 1e-12);
  EXPECT_NEAR(slow.iterations[4].order, 1.0, 1e-12);
  EXPECT_NEAR(fast.iterations[4].order, 2.0, 1e-12);
  EXPECT_EQ(dennis_more(0.5, {0.75, 1.0}, {0.5, 1.0}), 2.0);
  EXPECT_TRUE(std::isnan(dennis_more(0.5, {0.75, 1.0}, {})));
  EXPECT_EQ(fast.support_settled_at, 3.0);
  EXPECT_EQ(fast.steps_since, 3u);
  EXPECT_EQ(fast.unit_steps, 1u) << "only the last took one pass";
  EXPECT_TRUE(std::isnan(make_arm("slow", linear, 8).support_settled_at));
}

/// Tests a chain, whose Hessian comes from covariances, and a tree, whose Hessian is made of products.
TEST(Theory, NewtonOnTheFaceConvergesQuadratically) {
  for (const Tree tree : {Tree::kNone, Tree::kNested}) {
    const test::Problem problem({.name = "face", .sequences = 30, .lambda = 0.5, .tree = tree});
    const SparseVector best =
        test::run(solver_registry().find("prox-newton"), problem, {.tol = 1e-12}).result.w;
    const MarginalsOracle oracle(problem.oracle());
    Objective objective(problem.data().x, oracle, {problem.spec().lambda, 0.0}, Parallel());
    const std::vector<TheoryIteration> steps = newton_on_face(objective, oracle, best);
    ASSERT_GE(steps.size(), 4u);
    EXPECT_LT(steps.back().error, 1e-8 * steps.front().error);
    double order = 0.0;
    for (const TheoryIteration& step : make_arm("newton", steps, best.nnz()).iterations)
      if (std::isfinite(step.order) && step.error > 1e-10) order = std::max(order, step.order);
    EXPECT_GT(order, 1.5);
  }
}

}  // namespace
}  // namespace proxbench::theory
