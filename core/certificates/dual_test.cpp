#include "core/certificates/dual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/certificates/rounding.h"
#include "core/monitor/monitor.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using Tree = test::ProblemSpec::Tree;

SparseVector random_weights(Coord d, double size, Random& random) {
  SparseVector w;
  for (Coord c = 0; c < d; ++c)
    if (random.uniform() < 0.3) w.push_back(c, size * random.normal());
  return w;
}

/// The bound from the gradient at w.
PointBound bound_of(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  return bound_at(objective, w, scores, residual);
}

/// Runs prox-newton from w = 0. `monitor` may set limits.
test::Outcome best_of(const test::Problem& problem, double tol, MonitorOptions monitor = {}) {
  return test::run(solver_registry().find("prox-newton"), problem, {.tol = tol, .monitor = monitor});
}

// ---- Reference values, from a list of all structures

using Features = std::map<Coord, double>;

/// The outputs that are on if the label is k: k itself, or its path in the tree.
std::vector<Index> path_of(const test::Problem& problem, Index k) {
  std::vector<Index> out{k};
  if (const auto& tree = problem.data().hierarchy)
    while (tree->parent(out.back()) != Hierarchy::kNone) out.push_back(tree->parent(out.back()));
  return out;
}

std::vector<Index> labels_of(const test::Problem& problem) {
  std::vector<Index> out;
  for (Index k = 0; k < problem.spec().labels; ++k)
    if (!problem.data().hierarchy || problem.data().hierarchy->leaf(k)) out.push_back(k);
  return out;
}

/// The features of one structure whose positions start at `begin`.
Features features_of(const test::Problem& problem, Index begin, const std::vector<Index>& labels) {
  const Dataset& data = problem.data();
  const Coord outputs = problem.spec().labels;
  Features out;
  for (Index i = 0; i < labels.size(); ++i) {
    const auto row = data.x.row(begin + i);
    const auto values = data.x.row_values(begin + i);
    for (std::size_t e = 0; e < row.size(); ++e)
      for (const Index k : path_of(problem, labels[i]))
        out[row[e] * outputs + k] += values.empty() ? 1.0 : values[e];
    if (i > 0) out[data.x.features() * outputs + labels[i - 1] * outputs + labels[i]] += 1.0;
  }
  return out;
}

std::vector<std::vector<Index>> structures_of(const test::Problem& problem, std::size_t length) {
  std::vector<std::vector<Index>> all{{}};
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<std::vector<Index>> longer;
    for (const auto& one : all)
      for (const Index k : labels_of(problem)) {
        longer.push_back(one);
        longer.back().push_back(k);
      }
    all = std::move(longer);
  }
  return all;
}

struct Enumerated {
  double entropy = 0.0;  ///< of the mixtures, summed over all instances
  Features g;            ///< expected features - gold features
};

Enumerated enumerate(const test::Problem& problem, const SparseVector& w, double t) {
  std::map<Coord, double> weight;
  for (std::size_t i = 0; i < w.nnz(); ++i) weight[w.index[i]] = w.value[i];
  const Dataset& data = problem.data();
  Enumerated out;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    const std::vector<Index> gold(data.gold.begin() + data.begin[i], data.gold.begin() + data.begin[i + 1]);
    const auto all = structures_of(problem, gold.size());
    std::vector<Features> features;
    std::vector<double> score;
    for (const auto& one : all) {
      features.push_back(features_of(problem, data.begin[i], one));
      score.push_back(0.0);
      for (const auto& [c, x] : features.back()) score.back() += weight.contains(c) ? weight[c] * x : 0.0;
    }
    const double top = *std::max_element(score.begin(), score.end());
    double z = 0.0;
    for (const double s : score) z += std::exp(s - top);
    for (std::size_t s = 0; s < all.size(); ++s) {
      const double alpha = t * std::exp(score[s] - top) / z + (all[s] == gold ? 1.0 - t : 0.0);
      if (alpha > 0.0) out.entropy -= alpha * std::log(alpha);
      for (const auto& [c, x] : features[s]) out.g[c] += (alpha - (all[s] == gold ? 1.0 : 0.0)) * x;
    }
  }
  return out;
}

std::vector<test::ProblemSpec> tiny_specs() {
  return {{.name = "chain", .labels = 3, .features = 5, .sequences = 6, .longest = 4, .seed = 61},
          {.name = "chain, mu",
           .labels = 3,
           .features = 5,
           .sequences = 6,
           .longest = 4,
           .real = true,
           .lambda = 0.3,
           .mu = 0.2,
           .seed = 62},
          {.name = "chain, l2 alone",
           .labels = 3,
           .features = 5,
           .sequences = 6,
           .longest = 4,
           .lambda = 0.0,
           .mu = 0.5,
           .seed = 66},
          {.name = "tree", .labels = 8, .features = 5, .sequences = 15, .seed = 63, .tree = Tree::kNested},
          {.name = "tree, mu",
           .labels = 8,
           .features = 5,
           .sequences = 15,
           .mu = 0.2,
           .seed = 64,
           .tree = Tree::kNested},
          {.name = "flat", .labels = 3, .features = 5, .sequences = 15, .seed = 65, .tree = Tree::kFlat}};
}

TEST(DualBound, IsTheDualOfTheMixturesThatEnumerationFinds) {
  for (const test::ProblemSpec& spec : tiny_specs()) {
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    Random random(5);
    for (const double size : {0.0, 0.01, 0.3, 1.0, 5.0, 40.0}) {
      SCOPED_TRACE(testing::Message() << spec.name << ", weights of size " << size);
      const SparseVector w = random_weights(objective.dimension(), size, random);
      const PointBound point = bound_of(objective, w);
      const Enumerated truth = enumerate(problem, w, point.scale);
      double expected = truth.entropy, largest = 0.0;
      for (const auto& [c, g] : truth.g) {
        largest = std::max(largest, std::abs(g));
        const double excess = std::max(std::abs(g) - spec.lambda, 0.0);
        if (spec.mu > 0.0) expected -= excess * excess / (2.0 * spec.mu);
      }
      EXPECT_NEAR(point.dual, expected, 1e-9 * (1.0 + std::abs(expected)));
      EXPECT_LE(point.scale, 1.0);
      if (spec.mu > 0.0) {
        // There is no constraint. The bound uses the best t, within the precision of its search.
        for (double t = 0.0; t <= 1.0; t += 1.0 / 64) {
          const Enumerated other = enumerate(problem, w, t);
          double value = other.entropy;
          for (const auto& [c, g] : other.g)
            value -= std::pow(std::max(std::abs(g) - spec.lambda, 0.0), 2) / (2.0 * spec.mu);
          EXPECT_LE(value, point.dual + 1e-6 * (1.0 + std::abs(value))) << "t = " << t;
        }
        continue;
      }
      EXPECT_LE(largest, spec.lambda * (1 + 1e-12)) << "feasible";
      if (point.scale < 1.0) {
        EXPECT_NEAR(largest, spec.lambda, 1e-9) << "and no smaller than need be";
      }
    }
  }
}

TEST(DualBound, WithL2AloneTheGapOfTheModelIsTheSquaredGradient) {
  // F - D = ||grad F||^2 / (2 mu) at t = 1 (Le Priol et al. 2018, equation 8). At the best t the gap can only
  // be smaller.
  for (test::ProblemSpec spec : tiny_specs()) {
    spec.lambda = 0.0;
    spec.mu = 0.7;
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    Random random(9);
    for (const double size : {0.0, 0.1, 1.0}) {
      const SparseVector w = random_weights(objective.dimension(), size, random);
      Scores scores = objective.make_scores();
      Residual residual = objective.make_residual();
      objective.scores(w, scores);
      const double value = objective.infer({scores}, &residual) + objective.penalty().l2(w.value);
      std::vector<double> dense(objective.dimension(), 0.0), g(dense.size());
      for (std::size_t i = 0; i < w.nnz(); ++i) dense[w.index[i]] = w.value[i];
      objective.gradient(residual, dense, g);
      const double expected = squared_norm(g) / (2.0 * spec.mu);
      const Enumerated truth = enumerate(problem, w, 1.0);
      double dual = truth.entropy;
      for (const auto& [c, of_loss] : truth.g) dual -= of_loss * of_loss / (2.0 * spec.mu);
      EXPECT_NEAR(value - dual, expected, 1e-9 * (1.0 + expected)) << spec.name << ", " << size;
      EXPECT_LE(certify(objective, w).gap(), expected * (1.0 + 1e-9) + 1e-9) << spec.name << ", " << size;
    }
  }
}

TEST(DualBound, LiesBelowEveryObjective) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    Random random(5);
    double highest_dual = -1e300, lowest_primal = 1e300;
    for (const double size : {0.0, 0.01, 0.1, 0.3, 1.0, 5.0, 50.0}) {
      const Certificate c = certify(objective, random_weights(objective.dimension(), size, random));
      highest_dual = std::max(highest_dual, c.dual);
      lowest_primal = std::min(lowest_primal, c.objective);
    }
    EXPECT_LE(highest_dual, lowest_primal) << spec.name;
  }
}

/// A solver may stall if the rounding of F hides the remaining kkt. The gap must then be as small as kkt
/// allows.
void expect_small_gap(const test::ProblemSpec& spec, const test::Outcome& outcome) {
  const Certificate& c = outcome.certificate;
  const bool converged = outcome.result.status == Status::kConverged;
  const double allowed =
      converged ? 1e-9 * (1.0 + c.objective) : 4.0 * c.kkt * (c.l1 + c.objective / spec.lambda);
  EXPECT_LE(c.gap(), allowed) << spec.name << ": " << status_name(outcome.result.status);
  EXPECT_GE(c.gap(), -1e-12 * (1.0 + c.objective)) << spec.name;
  EXPECT_TRUE(std::isfinite(c.relative_gap()) || c.rounding >= c.objective) << spec.name;
}

TEST(DualBound, MeetsTheObjectiveAtAnOptimum) {
  std::size_t converged = 0;
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Outcome outcome = best_of(test::Problem(spec), 1e-12);
    expect_small_gap(spec, outcome);
    converged += outcome.result.status == Status::kConverged;
  }
  EXPECT_GE(converged, 12u);
  for (const test::ProblemSpec& spec : test::degenerate_specs())
    expect_small_gap(spec, best_of(test::Problem(spec), 1e-12));
}

TEST(DualBound, IsFiniteAndBelowWhereScoresAreHuge) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    const double optimum = best_of(problem, 1e-10).certificate.objective;
    Random random(6);
    for (const double size : {1e3, 1e6, 1e12}) {
      const Certificate c = certify(objective, random_weights(objective.dimension(), size, random));
      EXPECT_TRUE(std::isfinite(c.dual)) << spec.name << ", " << size;
      EXPECT_LE(c.dual, optimum) << spec.name << ", " << size;
    }
  }
}

TEST(DualBound, SameBitsForAnyThreadsAndBackEnd) {
  for (const test::ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    const test::Problem problem(spec);
    const auto bound = [&](const Parallel& parallel) {
      Objective objective = problem.objective(parallel);
      Random random(7);
      return certify(objective, random_weights(objective.dimension(), 0.02, random)).dual;
    };
    const double expected = bound(Parallel());
    for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
      for (const int threads : {2, 3}) EXPECT_EQ(bound(Parallel(threads, backend)), expected) << spec.name;
  }
}

/// The objective is restricted to coordinates with large gradients, including the support of the optimum. So
/// the optimum is the same, and so is the bound.
TEST(DualBound, OfARestrictedObjectiveIsThatOfTheWholeOne) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    if (spec.lambda == 0.0) continue;
    const test::Problem problem(spec);
    const test::Outcome best = best_of(problem, 1e-12);
    Objective restricted = problem.objective();
    Scores scores = restricted.make_scores();
    Residual residual = restricted.make_residual();
    restricted.scores(best.result.w, scores);
    restricted.infer({scores}, &residual);
    Objective::Selection near;
    restricted.select_gradient(residual, best.result.w, 0.5 * spec.lambda, near);
    restricted.restrict_to(near.index);
    const Certificate c = certify(restricted, best.result.w);
    EXPECT_EQ(c.objective, best.certificate.objective) << spec.name;
    EXPECT_LE(c.kkt, best.certificate.kkt + 1e-12) << spec.name;
    EXPECT_NEAR(c.dual, best.certificate.dual, 1e-6 * std::abs(c.dual)) << spec.name;
  }
}

}  // namespace
}  // namespace proxbench
