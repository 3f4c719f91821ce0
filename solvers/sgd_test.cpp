/// Compares stochastic gradient descent with the paper's own steps, written without lazy updates.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "core/base/random.h"
#include "core/kernels/test_instruction_sets.h"
#include "solvers/sgd_kernels.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::optimum;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;

/// SGD with cumulative penalty as the paper prints it: every step charges all weights. Each gradient is that
/// of the whole objective at the residual of one instance.
SparseVector eager_sgd(const Problem& problem, const SparseVector& start, double eta0, int passes,
                       std::uint64_t seed) {
  Objective objective = problem.objective();
  const DesignMatrix& x = problem.data().x;
  const auto begin = problem.oracle().begin();
  const Index outputs = objective.outputs();
  const auto instances = static_cast<double>(objective.instances());
  const std::size_t d = objective.dimension(), unary = objective.unary_weights();
  auto features_of = [&](Index i) {
    std::set<Index> features;
    for (Index p = begin[i]; p < begin[i + 1]; ++p) features.insert(x.row(p).begin(), x.row(p).end());
    return features;
  };
  std::map<Index, double> carriers;
  for (Index i = 0; i < objective.instances(); ++i)
    for (const Index j : features_of(i)) carriers[j] += 1.0;

  std::vector<double> w(d, 0.0), q(d, 0.0), g(d);
  for (std::size_t i = 0; i < start.nnz(); ++i) w[start.index[i]] = start.value[i];
  std::vector<Index> order(objective.instances());
  for (Index i = 0; i < order.size(); ++i) order[i] = i;
  Random random(seed);
  Scores all(outputs, x.positions(), d - unary);
  double u = 0.0, k = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    random.shuffle(std::span(order));
    for (const Index i : order) {
      objective.scores(SparseVector::from_dense(w), all);
      const std::size_t n = begin[i + 1] - begin[i];
      Scores scores(outputs, n, all.extra.size());
      Residual residual(outputs, n, all.extra.size());
      for (Index o = 0; o < outputs; ++o) std::copy_n(all.column(o) + begin[i], n, scores.column(o));
      scores.extra = all.extra;
      objective.infer_some({&i, 1}, {scores}, &residual);
      std::fill(g.begin(), g.end(), 0.0);
      for (std::size_t p = 0; p < n; ++p) {
        const auto row = x.row(static_cast<Index>(begin[i] + p));
        const auto values = x.row_values(static_cast<Index>(begin[i] + p));
        for (std::size_t e = 0; e < row.size(); ++e)
          for (Index o = 0; o < outputs; ++o)
            g[row[e] * outputs + o] +=
                (values.empty() ? 1.0 : values[e]) * residual.column(residual.column_index(o))[p];
      }
      std::copy(residual.extra.begin(), residual.extra.end(), g.begin() + static_cast<std::ptrdiff_t>(unary));
      for (const Index j : features_of(i))
        for (std::size_t c = j * outputs; c < (j + std::size_t{1}) * outputs; ++c)
          g[c] += objective.mu() / carriers[j] * w[c];
      for (std::size_t c = unary; c < d; ++c) g[c] += objective.mu() / instances * w[c];

      const double eta = eta0 / (1.0 + k / instances);
      k += 1.0;
      u += eta * objective.lambda() / instances;
      for (std::size_t c = 0; c < d; ++c) {
        w[c] -= eta * g[c];
        const double z = w[c];
        if (w[c] > 0) w[c] = std::max(0.0, w[c] - (u + q[c]));
        if (w[c] < 0) w[c] = std::min(0.0, w[c] + (u - q[c]));
        q[c] += w[c] - z;
      }
    }
  }
  return SparseVector::from_dense(w);
}

TEST(Sgd, LazyUpdatesAreTheEagerOnesOfThePaper) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    Objective objective = problem.objective();
    SparseVector start;
    Random random(9);
    for (Coord c = 0; c < objective.dimension(); c += 2) start.push_back(c, random.normal());
    for (const SparseVector& from : {SparseVector{}, start}) {
      const Outcome r = run("sgd", problem,
                            {.monitor = {.max_iterations = 15},
                             .options = {{"eta0", "0.25"}, {"reports", "3"}},
                             .start = from});
      ASSERT_EQ(r.iterations, 15);
      const SparseVector expected = eager_sgd(problem, from, 0.25, 5, 7);
      EXPECT_EQ(r.result.w.index, expected.index);
      ASSERT_EQ(r.result.w.nnz(), expected.nnz());
      for (std::size_t i = 0; i < expected.nnz(); ++i)
        EXPECT_NEAR(r.result.w.value[i], expected.value[i], 1e-12);
    }
  }
}

TEST(Sgd, AWellChosenRateComesCloseToTheOptimum) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    double reached = std::numeric_limits<double>::infinity();
    for (const std::string eta0 : {"0.4", "0.8", "1.6", "3.2"}) {
      const Outcome r =
          run("sgd", problem,
              {.monitor = {.max_iterations = 300}, .options = {{"eta0", eta0}, {"reports", "1"}}});
      reached = std::min(reached, r.certificate.objective);
    }
    EXPECT_LE(reached, 1.025 * optimum(problem));
  }
}

TEST(Sgd, CalibrationIsAsGoodAsTheBestOfAWideLadder) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    auto reached = [&](const std::string& eta0, std::int64_t iterations) {
      return run("sgd", problem,
                 {.monitor = {.max_iterations = iterations}, .options = {{"eta0", eta0}, {"reports", "1"}}})
          .certificate.objective;
    };
    double best = std::numeric_limits<double>::infinity(), worst = 0.0;
    for (double eta0 = 1e-4; eta0 < 100; eta0 *= 4) {
      best = std::min(best, reached(std::to_string(eta0), 10));
      worst = std::max(worst, reached(std::to_string(eta0), 10));
    }
    // Trials count as iterations. The comparison allows as many passes, and at most twenty trials.
    EXPECT_LE(reached("auto", 30) - best, 0.05 * (worst - best));
  }
}

TEST(Sgd, CalibrationCountsItsPassesAndLeavesTheStart) {
  const Problem problem(test::problem_specs()[1]);
  const Outcome r = run("sgd", problem, {.monitor = {.max_iterations = 2}});
  ASSERT_EQ(r.trace.size(), 3u);
  EXPECT_EQ(r.trace[1].nnz, 0u);
  // One pass over the sample (here all instances) to learn, and one to evaluate.
  EXPECT_NEAR(r.trace[1].passes, 2.0, 1e-12);
  EXPECT_NEAR(r.trace[1].updates, 1.0, 1e-12) << "looking changes no weight";
}

TEST(Sgd, HowOftenItReportsChangesNoBit) {
  const Problem problem(test::problem_specs()[1]);
  auto after_passes = [&](int reports) {
    return run("sgd", problem,
               {.monitor = {.max_iterations = 4 * reports},
                .options = {{"eta0", "0.1"}, {"reports", std::to_string(reports)}}})
        .result.w;
  };
  const SparseVector once = after_passes(1), often = after_passes(6);
  EXPECT_EQ(once.index, often.index);
  EXPECT_EQ(once.value, often.value);
}

class SgdOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(SgdOnEachSet);

TEST_P(SgdOnEachSet, PenaltiesAreChargedUpToZero) {
  AlignedVector<double> weight{1.0, -1.0, 0.05, -0.05, 0.0, 0.3, -0.3, 0.0}, received(kPad, 0.0);
  received[5] = -0.1;  // has been charged 0.1 of the 0.2 that it owes
  sgd_kernels().charge(0.2, weight.data(), received.data(), kPad);
  const double expected[] = {0.8, -0.8, 0.0, 0.0, 0.0, 0.2, -0.1, 0.0};
  for (std::size_t k = 0; k < kPad; ++k) EXPECT_NEAR(weight[k], expected[k], 1e-15) << k;

  AlignedVector<double> gradient(kPad, 1.0), small(kPad, 0.0), none(kPad, 0.0);
  EXPECT_FALSE(
      sgd_kernels().step_and_charge(0.1, 0.0, 0.2, gradient.data(), small.data(), none.data(), kPad));
  EXPECT_TRUE(
      sgd_kernels().step_and_charge(0.1, 0.0, 0.05, gradient.data(), small.data(), none.data(), kPad));
}

}  // namespace
}  // namespace proxbench
