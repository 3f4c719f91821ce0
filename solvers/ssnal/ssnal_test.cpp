/// Compares ssnal with bcfw, and its matrix with the oracle's scores of structures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "solvers/shared/instances/weight_rows.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/ssnal/planes.h"

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

Outcome solve(const char* solver, const Problem& problem, double tol, const Parallel& parallel = Parallel()) {
  return run(solver, problem, {.tol = tol, .parallel = parallel, .monitor = every_sample(20000)});
}

/// Adds random structures to each instance.
void add_structures(const Objective& objective, int count, Random& random, MixtureStore& store) {
  std::vector<Index> y;
  for (Index i = 0; i < objective.instances(); ++i) {
    y.resize(objective.oracle().length(i));
    for (int a = 0; a < count; ++a) {
      for (Index& label : y) label = static_cast<Index>(random.below(objective.outputs()));
      store[i].add(y, 1.0);
    }
  }
}

TEST(Ssnal, MapsWeightsToTheScoresOfStructuresAndBack) {
  ProblemSpec all_features = dense_specs()[1];  // one of them, the bias, is always 1
  all_features.density = 1.0;
  all_features.bias = true;
  for (const ProblemSpec& spec : {dense_specs()[0], dense_specs()[1], all_features}) {
    SCOPED_TRACE(spec.name + " with density " + std::to_string(spec.density));
    const Problem problem(spec);
    const Objective objective = problem.objective();
    const std::size_t J = objective.map().features(), K = objective.outputs();
    Random random(5);
    std::vector<double> w(objective.dimension());
    for (double& x : w) x = random.normal();
    WeightRows rows(objective);
    for (Index j = 0; j < J; ++j)
      for (std::size_t k = 0; k < K; ++k) rows.row(j)[k] = w[k * J + j];
    for (std::size_t e = 0; e < K * K; ++e) rows.extra_row()[e] = w[K * J + e];

    MixtureStore store(objective.instances());
    add_structures(objective, 3, random, store);
    std::vector<double> expected;
    AlignedVector<double> scores;
    for (Index i = 0; i < objective.instances(); ++i) {
      rows.scores(i, scores);
      for (std::size_t a = 0; a < store[i].atoms(); ++a) {
        double score;
        objective.oracle().instance_max()->scores_of(i, scores.data(), rows.extra(), store[i].structure(a),
                                                     {&score, 1});
        expected.push_back(score);
      }
    }
    const ssnal::Planes planes(objective, store);
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
}

TEST(Ssnal, SomeRowsHaveTheSameDifferencesWithinAnInstance) {
  const Problem problem(dense_specs()[0]);
  const Objective objective = problem.objective();
  Random random(7);
  MixtureStore store(objective.instances());
  add_structures(objective, 6, random, store);
  const ssnal::Planes all(objective, store);
  // Every second instance has three wanted rows, and the weights of these rows sum to 0.
  std::vector<bool> wanted(all.size(), false);
  std::vector<double> weight(all.size(), 0.0), of_wanted;
  for (std::size_t i = 0; i < objective.instances(); ++i) {
    if (i % 2 == 1) continue;
    const double a = random.normal(), b = random.normal(), of_row[] = {a, b, -a - b};
    for (std::size_t r = 0; r < 3; ++r) {
      const std::size_t y = all.begin()[i] + 2 * r;
      wanted[y] = true;
      weight[y] = of_row[r];
      of_wanted.push_back(of_row[r]);
    }
  }
  const ssnal::Planes some(all, wanted);
  ASSERT_EQ(some.size(), of_wanted.size());

  std::vector<double> v(objective.dimension()), of_all, of_some;
  for (double& x : v) x = random.normal();
  all.values(v, of_all);
  some.values(v, of_some);
  for (std::size_t i = 0; i < objective.instances(); ++i) {
    const std::size_t first = all.begin()[i], here = some.begin()[i];
    for (std::size_t r = 1; r < some.begin()[i + 1] - here; ++r)
      EXPECT_NEAR(of_some[here + r] - of_some[here], of_all[first + 2 * r] - of_all[first], 1e-11) << i;
  }
  std::vector<double> expected, found;
  all.features(weight, expected);
  some.features(of_wanted, found);
  for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], 1e-11) << j;
}

TEST(Ssnal, SpreadIsTheDiagonalOfTheHessianOfEachOutput) {
  const Problem problem(dense_specs()[0]);
  const Objective objective = problem.objective();
  const DesignMatrix& x = objective.map().x();
  const std::size_t J = objective.map().features(), K = objective.outputs();
  Random random(6);
  MixtureStore store(objective.instances());
  add_structures(objective, 4, random, store);
  const ssnal::Planes planes(objective, store);
  EXPECT_TRUE(planes.balanced());
  const ssnal::Planes::Spread spread = planes.spread(0.5);
  std::vector<double> v(objective.dimension()), z;
  for (std::size_t e = 0; e < K * K; ++e) {
    std::ranges::fill(v, 0.0);
    v[J * K + e] = 1.0;
    planes.values(v, z);
    double expected = 0.0;
    for (std::size_t i = 0; i + 1 < planes.begin().size(); ++i) {
      double sum = 0.0, square = 0.0;
      for (std::size_t a = planes.begin()[i]; a < planes.begin()[i + 1]; ++a) {
        sum += z[a];
        square += z[a] * z[a];
      }
      expected += 0.5 * (square - sum * sum / 4.0);
    }
    EXPECT_NEAR(spread.extra[e], expected, 1e-10 * (1.0 + expected)) << e;
  }
  // One instance, one position, by hand: the squares of the numbers of atoms with the output, minus gold's.
  const Index p = objective.oracle().begin()[3];
  std::vector<Index> gold(objective.oracle().length(3));
  objective.oracle().instance_max()->gold_structure(3, gold);
  ASSERT_GT(x.row(p).size(), 0u);
  for (Index k = 0; k < K; ++k) {
    std::vector<double> count;
    for (std::size_t a = 0; a < 4; ++a)
      count.push_back((store[3].structure(a)[0] == k ? 1.0 : 0.0) - (gold[0] == k ? 1.0 : 0.0));
    double mean = 0.0, expected = 0.0;
    for (const double c : count) mean += c / 4.0;
    for (const double c : count) expected += 0.5 * (c - mean) * (c - mean);
    EXPECT_NEAR(spread.unary[k][p], expected, 1e-12) << k;
  }
}

TEST(Ssnal, ReachesTheOptimumOfBcfwInFewerPasses) {
  double of_ssnal = 0.0, of_bcfw = 0.0;
  for (const ProblemSpec& spec : dense_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const Outcome found = solve("ssnal", problem, 1e-6), expected = solve("bcfw", problem, 1e-5);
    EXPECT_EQ(found.result.status, Status::kConverged);
    EXPECT_NEAR(found.certificate.objective, expected.certificate.objective,
                2e-5 * expected.certificate.objective);
    double before = 0.0, least = kInfinity;
    for (const Sample& sample : found.trace) {
      EXPECT_LE(sample.objective, least) << sample.iteration;
      least = sample.objective;
      if (std::isnan(sample.dual_gap)) continue;
      EXPECT_GE(test::dual_of(sample), before * (1 - 1e-12)) << sample.iteration;
      before = test::dual_of(sample);
    }
    EXPECT_LE(before, expected.certificate.objective * (1 + 1e-12));
    EXPECT_GE(before, found.certificate.objective * (1 - 2e-6));
    of_ssnal += found.trace.back().passes;
    of_bcfw += expected.trace.back().passes;
  }
  EXPECT_LT(of_ssnal, 0.7 * of_bcfw);
}

TEST(Ssnal, EndsWithFewStructuresKept) {
  const Problem problem(dense_specs()[0]);
  const Outcome all = solve("ssnal", problem, 1e-5);
  for (const char* cache : {"1", "8"}) {
    const Outcome few =
        run("ssnal", problem, {.tol = 1e-5, .monitor = every_sample(20000), .options = {{"cache", cache}}});
    EXPECT_EQ(few.result.status, Status::kConverged) << cache;
    EXPECT_NEAR(few.certificate.objective, all.certificate.objective, 2e-5 * all.certificate.objective);
  }
}

/// There are more weights than positions, so some w has no loss. Along most directions the Hessian is mu*I.
TEST(Ssnal, EndsOnSeparableDataAndForAnyMu) {
  for (const double mu : {1e-3, 1.0, 1e20}) {
    ProblemSpec spec = dense_specs()[0];
    spec.features = 200;
    spec.sequences = 40;
    spec.mu = mu;
    const Problem problem(spec);
    const Outcome found = solve("ssnal", problem, 1e-5);
    EXPECT_EQ(found.result.status, Status::kConverged) << mu;
    // The monitor computes the gap from the structures and their weights alone.
    EXPECT_LE(found.trace.back().dual_gap, 1.1e-5 * found.certificate.objective) << mu;
  }
}

TEST(Ssnal, SameBitsForAnyThreads) {
  const Problem problem(dense_specs()[0]);
  const SparseVector expected = solve("ssnal", problem, 1e-5).result.w;
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB}) {
    const SparseVector found = solve("ssnal", problem, 1e-5, Parallel(3, backend)).result.w;
    EXPECT_EQ(found.index, expected.index);
    EXPECT_EQ(found.value, expected.value);
  }
}

}  // namespace
}  // namespace proxbench
