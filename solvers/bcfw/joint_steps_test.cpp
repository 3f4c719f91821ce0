/// Compares joint steps with bcfw without them, and their matrix with the oracle's scores of structures.

#include "solvers/bcfw/joint_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::every_sample;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;

/// Problems with many positions for each weight: sequences, single positions of a tree, and candidates.
std::vector<ProblemSpec> dense_specs() {
  std::vector<ProblemSpec> out{
      {.name = "chain", .features = 8, .sequences = 200, .density = 0.5, .bias = true, .seed = 201},
      {.name = "real", .features = 8, .sequences = 200, .real = true, .seed = 202},
      {.name = "tree",
       .labels = 7,
       .features = 8,
       .sequences = 500,
       .density = 0.6,
       .seed = 203,
       .tree = ProblemSpec::Tree::kNested},
      {.name = "candidates", .labels = 1, .sequences = 200, .seed = 204, .candidates = true}};
  for (ProblemSpec& spec : out) {
    spec.lambda = 0.0;
    spec.mu = 1.0;
    spec.loss = {Loss::Kind::kHinge, Cost::kHamming};
  }
  return out;
}

Outcome solve(const Problem& problem, const char* joint, double tol, const Parallel& parallel = Parallel()) {
  return run(
      "bcfw", problem,
      {.tol = tol, .parallel = parallel, .monitor = every_sample(20000), .options = {{"joint", joint}}});
}

TEST(JointSteps, PayIfXHasManyNonzerosForEachWeight) {
  for (const ProblemSpec& spec : dense_specs())
    EXPECT_TRUE(bcfw::JointSteps::pay(Problem(spec).objective())) << spec.name;
  EXPECT_FALSE(bcfw::JointSteps::pay(Problem(test::large_spec()).objective()));
}

TEST(JointSteps, MapWeightsToTheScoresOfStructuresAndBack) {
  const Problem problem(dense_specs()[0]);
  const Objective objective = problem.objective();
  const std::size_t J = objective.map().features(), K = objective.outputs();
  Random random(5);
  std::vector<double> w(objective.dimension());
  for (double& x : w) x = random.normal();
  WeightRows rows(objective);
  for (Index j = 0; j < J; ++j)
    for (std::size_t k = 0; k < K; ++k) rows.row(j)[k] = w[k * J + j];
  for (std::size_t e = 0; e < K * K; ++e) rows.extra_row()[e] = w[K * J + e];

  bcfw::MixtureStore store(objective.instances());
  std::vector<double> expected;
  AlignedVector<double> scores;
  for (Index i = 0; i < objective.instances(); ++i) {
    const std::size_t n = objective.oracle().length(i);
    std::vector<Index> y(n);
    for (int a = 0; a < 3; ++a) {
      for (Index& label : y) label = static_cast<Index>(random.below(K));
      store[i].add(y, 1.0);
      rows.scores(i, scores);
      double score;
      objective.oracle().instance_max()->scores_of(i, scores.data(), rows.extra(), y, {&score, 1});
      expected.push_back(score);
    }
  }
  const bcfw::Planes planes(objective, store);
  std::vector<double> found, weight(planes.size()), features;
  planes.values(w, found);
  ASSERT_EQ(found.size(), expected.size());
  double forward = 0.0, back = 0.0;
  for (std::size_t y = 0; y < found.size(); ++y) {
    EXPECT_NEAR(found[y], expected[y], 1e-11) << y;
    weight[y] = random.normal();
    forward += weight[y] * found[y];
  }
  planes.features(weight, features);
  for (std::size_t j = 0; j < w.size(); ++j) back += features[j] * w[j];
  EXPECT_NEAR(forward, back, 1e-9 * std::abs(forward) + 1e-9);
}

TEST(JointSteps, ReachTheSameOptimumInFewerPasses) {
  double with = 0.0, without = 0.0;
  for (const ProblemSpec& spec : dense_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const Outcome joint = solve(problem, "true", 1e-5), plain = solve(problem, "false", 1e-5);
    EXPECT_EQ(joint.result.status, Status::kConverged);
    EXPECT_NEAR(joint.certificate.objective, plain.certificate.objective, 2e-5 * plain.certificate.objective);
    double before = 0.0;
    for (const Sample& sample : joint.trace) {
      if (std::isnan(sample.dual_gap)) continue;
      EXPECT_GE(test::dual_of(sample), before * (1 - 1e-12)) << sample.iteration;
      before = test::dual_of(sample);
    }
    EXPECT_LE(before, plain.certificate.objective * (1 + 1e-12));
    with += joint.trace.back().passes;
    without += plain.trace.back().passes;
  }
  EXPECT_LT(with, 0.7 * without);
}

TEST(JointSteps, SameBitsForAnyThreads) {
  const Problem problem(dense_specs()[0]);
  const SparseVector expected = solve(problem, "true", 1e-5).result.w;
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB}) {
    const SparseVector found = solve(problem, "true", 1e-5, Parallel(3, backend)).result.w;
    EXPECT_EQ(found.index, expected.index);
    EXPECT_EQ(found.value, expected.value);
  }
}

}  // namespace
}  // namespace proxbench
