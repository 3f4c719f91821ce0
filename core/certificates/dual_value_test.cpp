/// Compares D of a solver's dual point with the objective.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/certificates/dual_points.h"
#include "core/monitor/monitor.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::Problem;
using test::ProblemSpec;
using Tree = ProblemSpec::Tree;

/// Beliefs given by a function.
class Beliefs final : public BeliefPoint {
 public:
  using Rule = std::function<void(Index instance, double* log_beliefs)>;
  explicit Beliefs(Rule rule) : rule_(std::move(rule)) {}
  void beliefs(const BeliefOracle&, Index instance, double* log_beliefs) const override {
    rule_(instance, log_beliefs);
  }

 private:
  Rule rule_;
};

SparseVector random_weights(const Objective& objective, double size, Random& random) {
  SparseVector w;
  for (Coord c = 0; c < objective.dimension(); ++c) w.push_back(c, size * random.normal());
  return w;
}

/// The beliefs of the model at w.
Beliefs model(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  objective.scores(w, scores);
  return Beliefs([&objective, scores](Index i, double* log_beliefs) {
    const auto begin = objective.oracle().begin();
    const std::size_t width = padded(objective.outputs()), n = begin[i + 1] - begin[i];
    std::vector<double> rows(n * width, 0.0);
    for (std::size_t t = 0; t < n; ++t)
      for (Index k = 0; k < objective.outputs(); ++k) {
        const Index column = scores.column_index(k);
        rows[t * width + k] = column == Scores::kNoColumn ? 0.0 : scores.column(column)[begin[i] + t];
      }
    objective.oracle().beliefs()->infer_beliefs(i, rows.data(), scores.extra, log_beliefs);
  });
}

/// A mixture of two consistent points, with a different share for each instance.
Beliefs mixture(const Objective& objective, const Beliefs& a, const Beliefs& b, std::vector<double> share) {
  return Beliefs([&objective, &a, &b, share](Index i, double* log_beliefs) {
    std::vector<double> other(objective.oracle().beliefs()->belief_size(i).all());
    a.beliefs(*objective.oracle().beliefs(), i, log_beliefs);
    b.beliefs(*objective.oracle().beliefs(), i, other.data());
    for (std::size_t c = 0; c < other.size(); ++c)
      log_beliefs[c] = std::log(share[i] * std::exp(log_beliefs[c]) + (1 - share[i]) * std::exp(other[c]));
  });
}

struct Primal {
  double value, squared_gradient, model_bound;
};

/// F, ||grad F||^2 (lambda = 0), and the entropy of the model minus the penalty term of its features.
Primal primal(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  const double value = objective.infer({scores}, &residual) + objective.penalty().l1(w.value) +
                       objective.penalty().l2(w.value);
  std::vector<double> dense(objective.dimension(), 0.0), g(dense.size());
  for (std::size_t i = 0; i < w.nnz(); ++i) dense[w.index[i]] = w.value[i];
  objective.gradient(residual, dense, g);
  double squares = 0.0, excess = 0.0;
  for (std::size_t c = 0; c < g.size(); ++c) {
    squares += g[c] * g[c];
    const double over = std::max(std::abs(g[c] - objective.mu() * dense[c]) - objective.lambda(), 0.0);
    excess += over * over;
  }
  std::vector<InstanceTerms> terms(objective.instances());
  objective.oracle().sum()->instance_terms(scores, terms, objective.parallel());
  double entropy = 0.0;
  for (const InstanceTerms& term : terms) entropy += term.entropy;
  return {value, squares, entropy - excess / (2.0 * objective.mu())};
}

std::vector<ProblemSpec> specs() {
  std::vector<ProblemSpec> out;
  for (const double lambda : {0.0, 0.3}) {
    out.push_back({.name = "chain",
                   .labels = 3,
                   .features = 8,
                   .sequences = 8,
                   .lambda = lambda,
                   .mu = 0.5,
                   .seed = 81});
    out.push_back({.name = "chain, real values",
                   .labels = 5,
                   .features = 8,
                   .sequences = 8,
                   .bias = true,
                   .real = true,
                   .lambda = lambda,
                   .mu = 0.1,
                   .seed = 82});
    out.push_back({.name = "tree",
                   .labels = 12,
                   .features = 8,
                   .sequences = 20,
                   .real = true,
                   .lambda = lambda,
                   .mu = 0.5,
                   .seed = 83,
                   .tree = Tree::kNested});
    out.push_back({.name = "flat",
                   .labels = 4,
                   .features = 8,
                   .sequences = 20,
                   .lambda = lambda,
                   .mu = 2.0,
                   .seed = 84,
                   .tree = Tree::kFlat});
  }
  return out;
}

TEST(DualValue, LiesBelowEveryObjective) {
  for (const ProblemSpec& spec : specs()) {
    SCOPED_TRACE(testing::Message() << spec.name << ", lambda = " << spec.lambda);
    const Problem problem(spec);
    Objective objective = problem.objective();
    const double optimum =
        test::run(solver_registry().find("prox-newton"), problem, {.tol = 1e-10}).certificate.objective;
    Random random(1);
    const Beliefs gold(
        [&](Index i, double* logs) { objective.oracle().beliefs()->gold_beliefs(i, 3.0, logs); });
    double best = -std::numeric_limits<double>::infinity();
    for (const double size : {0.0, 0.01, 0.1, 0.5, 2.0, 20.0}) {
      const Beliefs at = model(objective, random_weights(objective, size, random));
      std::vector<double> share(objective.instances());
      for (double& x : share) x = random.uniform();
      for (const double value :
           {at.value(objective), gold.value(objective), mixture(objective, at, gold, share).value(objective)})
        best = std::max(best, value);
    }
    EXPECT_LE(best, optimum * (1 + 1e-12));
    EXPECT_TRUE(std::isfinite(best));
  }
}

TEST(DualValue, OfTheModelIsTheBoundOfItsGradient) {
  for (const ProblemSpec& spec : specs()) {
    SCOPED_TRACE(testing::Message() << spec.name << ", lambda = " << spec.lambda);
    const Problem problem(spec);
    Objective objective = problem.objective();
    Random random(2);
    for (const double size : {0.0, 0.1, 1.0}) {
      const SparseVector w = random_weights(objective, size, random);
      const Primal p = primal(objective, w);
      const double dual = model(objective, w).value(objective),
                   scale = 1.0 + std::abs(p.value) + std::abs(dual);
      EXPECT_NEAR(dual, p.model_bound, 1e-12 * scale) << "the bound of the gradient at t = 1";
      // Le Priol et al. 2018, equation 8.
      if (spec.lambda == 0.0) {
        EXPECT_NEAR(p.value - dual, p.squared_gradient / (2.0 * spec.mu), 1e-12 * scale);
      }
      // The bound uses the best t, so it is not lower.
      EXPECT_GE(certify(objective, w).dual, dual - 1e-10 * scale);
    }
  }
}

TEST(DualValue, MeetsTheObjectiveAtTheOptimum) {
  for (const ProblemSpec& spec : specs()) {
    SCOPED_TRACE(testing::Message() << spec.name << ", lambda = " << spec.lambda);
    const Problem problem(spec);
    Objective objective = problem.objective();
    const test::Outcome r = test::run(solver_registry().find("prox-newton"), problem, {.tol = 1e-10});
    EXPECT_NEAR(model(objective, r.result.w).value(objective), r.certificate.objective,
                1e-9 * r.certificate.objective);
  }
}

TEST(DualValue, RefusesWhatIsNoDistribution) {
  for (const ProblemSpec& spec : specs()) {
    const Problem problem(spec);
    Objective objective = problem.objective();
    const auto with = [&](double change) {
      return Beliefs([&objective, change](Index i, double* logs) {
        objective.oracle().beliefs()->gold_beliefs(i, 1.0, logs);
        if (i == 3) logs[0] += change;
      });
    };
    EXPECT_NO_THROW(with(0.0).value(objective));
    for (const double change : {1e-6, -1e-6, std::numeric_limits<double>::quiet_NaN()}) {
      try {
        with(change).value(objective);
        ADD_FAILURE() << spec.name << ", changed by " << change;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("instance 3: the dual point's marginals disagree by"));
        EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("0.000000")));
      }
    }
  }
}

TEST(DualValue, IsABoundOfWhatTheToleranceAccepts) {
  // If the masses of beliefs differed from 1, D would change by a multiple of log Z. For one sign of the
  // change, D would exceed the optimum.
  for (const ProblemSpec& spec : specs()) {
    const Problem problem(spec);
    Objective objective = problem.objective();
    const test::Outcome r = test::run(solver_registry().find("prox-newton"), problem, {.tol = 1e-11});
    const Beliefs exact = model(objective, r.result.w);
    for (const double change : {4e-10, -4e-10}) {
      const Beliefs scaled([&](Index i, double* logs) {
        exact.beliefs(*objective.oracle().beliefs(), i, logs);
        for (std::size_t c = 0; c < objective.oracle().beliefs()->belief_size(i).all(); ++c)
          if (logs[c] < 0.0) logs[c] += change;
      });
      EXPECT_LE(scaled.value(objective), r.certificate.objective * (1.0 + 1e-13)) << spec.name;
      EXPECT_NEAR(scaled.value(objective), r.certificate.objective, 1e-9 * r.certificate.objective);
    }
  }
}

TEST(DualValue, SameBitsForAnyThreadsAndBackEnd) {
  for (ProblemSpec spec : {test::large_spec(), test::large_tree_spec()}) {
    spec.mu = 0.1;
    const Problem problem(spec);
    const auto value = [&](const Parallel& parallel) {
      Objective objective = problem.objective(parallel);
      return Beliefs([&](Index i, double* logs) { objective.oracle().beliefs()->gold_beliefs(i, 2.0, logs); })
          .value(objective);
    };
    const double expected = value(Parallel());
    for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
      for (const int threads : {2, 3}) EXPECT_EQ(value(Parallel(threads, backend)), expected) << spec.name;
  }
}

TEST(Monitor, AWatchedPointRaisesTheBoundAndIsInTheTrace) {
  const Problem problem({.name = "chain", .labels = 3, .features = 8, .lambda = 0.0, .mu = 0.5, .seed = 85});
  Objective objective = problem.objective(), evaluator = problem.objective();
  const SparseVector optimum =
      test::run(solver_registry().find("prox-newton"), problem, {.tol = 1e-10}).result.w;
  Monitor monitor(evaluator, objective, {.sample_kkt = true});
  monitor.start({});
  EXPECT_TRUE(std::isnan(monitor.trace().back().dual_gap)) << "there is no point yet";
  // The bound from the model at w = 0 is poor. That of the watched point is tight.
  const double before = monitor.lower_bound();
  monitor.watch(std::make_shared<Beliefs>(model(objective, optimum)));
  monitor.step(SparseVector{});
  const Sample& sample = monitor.trace().back();
  const double dual = model(objective, optimum).value(objective);
  EXPECT_GT(dual, before);
  EXPECT_EQ(monitor.lower_bound(), dual);
  EXPECT_EQ(sample.dual_gap, sample.objective - dual);
  EXPECT_EQ(sample.gap, sample.objective - dual);
  EXPECT_TRUE(std::isnan(sample.estimated_gap)) << "the point has no estimate";
  monitor.finish({});
}

}  // namespace
}  // namespace proxbench
