/// Compares SAG-NUS with the same steps on dense arrays, without lazy updates and without a tree of sums.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::every_sample;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;
using test::smooth_optimum;
using test::smooth_specs;

/// The loss of one instance, and its dense gradient.
class Losses {
 public:
  explicit Losses(const Problem& problem) : problem_(problem), objective_(problem.objective()) {}

  double at(Index i, const std::vector<double>& w, std::vector<double>& g) {
    const DesignMatrix& x = problem_.data().x;
    const Index outputs = objective_.outputs(), begin = problem_.oracle().begin()[i];
    const std::size_t n = problem_.oracle().begin()[i + 1] - begin,
                      extras = problem_.oracle().extra_weights();
    const std::size_t width = padded(outputs), unary = w.size() - extras;
    std::vector<double> rows(n * width, 0.0), residual(rows.size()), extra(extras);
    const auto each = [&](const auto& body) {
      for (std::size_t t = 0; t < n; ++t)
        for (std::size_t e = 0; e < x.row(begin + static_cast<Index>(t)).size(); ++e)
          for (Index k = 0; k < outputs; ++k)
            body(x.row(begin + static_cast<Index>(t))[e] * outputs + k, t * width + k,
                 x.binary() ? 1.0 : x.row_values(begin + static_cast<Index>(t))[e]);
    };
    each([&](std::size_t c, std::size_t r, double value) { rows[r] += value * w[c]; });
    const double loss = problem_.oracle().instance()->infer_instance(
        i, rows.data(), std::span(w).last(extras), residual.data(), extra);
    g.assign(w.size(), 0.0);
    each([&](std::size_t c, std::size_t r, double value) { g[c] += value * residual[r]; });
    std::copy(extra.begin(), extra.end(), g.begin() + static_cast<std::ptrdiff_t>(unary));
    return loss;
  }

 private:
  const Problem& problem_;
  Objective objective_;
};

/// Some steps of Schmidt et al. 2015, as described at the top of sag_nus.cpp.
std::vector<double> dense_sag(const Problem& problem, std::vector<double> w, int steps, bool skipping,
                              std::uint64_t seed) {
  Losses losses(problem);
  Random random(seed);
  const std::size_t n = problem.oracle().instances(), dimension = w.size();
  const double share = problem.spec().mu / static_cast<double>(n);
  std::vector<double> l(n, 1.0), d(dimension, 0.0), g, there(dimension), ignored;
  std::vector<int> good(n, 0), skip(n, 0);
  std::vector<std::vector<double>> kept(n);
  for (int step = 0; step < steps; ++step) {
    Index i;
    if (random.uniform() < 0.5) {
      i = static_cast<Index>(random.below(n));
    } else {
      double total = 0.0;
      for (const double x : l) total += x;
      double at = random.uniform() * total;
      for (i = 0; at >= l[i]; ++i) at -= l[i];
    }
    double mean = 0.0, seen = 0.0, largest = 0.0;
    const auto look = [&] {
      mean = seen = largest = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        if (kept[j].empty()) continue;
        seen += 1.0;
        mean += l[j];
        largest = std::max(largest, l[j]);
      }
      mean /= seen;
    };
    look();
    const double loss = losses.at(i, w, g);
    if (skipping && skip[i] > 0) {
      --skip[i];
    } else {
      l[i] = std::max(share, !kept[i].empty() ? 0.9 * l[i] : seen > 0.0 ? 0.5 * mean : 1.0);
      double squares = 0.0;
      for (const double x : g) squares += x * x;
      bool doubled = false;
      while (squares > 1e-8) {
        for (std::size_t c = 0; c < dimension; ++c) there[c] = w[c] - g[c] / l[i];
        if (losses.at(i, there, ignored) <= loss - squares / (2.0 * l[i])) break;
        l[i] *= 2.0;
        doubled = true;
      }
      if (squares <= 1e-8) l[i] = std::max(l[i], squares / (2.0 * loss));
      good[i] = doubled ? 0 : std::min(good[i] + 1, 4);
      skip[i] = good[i] > 0 ? 1 << (good[i] - 1) : 0;
    }
    for (std::size_t c = 0; c < dimension; ++c) d[c] += g[c] - (kept[i].empty() ? 0.0 : kept[i][c]);
    kept[i] = g;
    look();
    const double alpha = 0.5 * (1.0 / (largest + share) + 1.0 / (mean + share));
    for (std::size_t c = 0; c < dimension; ++c) w[c] = (1.0 - alpha * share) * w[c] - alpha / seen * d[c];
  }
  return w;
}

TEST(SagNus, LazyStepsAreTheDenseOnes) {
  for (ProblemSpec spec : smooth_specs())
    for (const double density : {0.3, 0.05})
      for (const bool skipping : {false, true})
        for (const bool from_zero : {true, false}) {
          spec.density = density;
          SCOPED_TRACE(testing::Message()
                       << spec.name << ", density " << density << ", skipping " << skipping);
          const Problem problem(spec);
          Random random(3);
          std::vector<double> start(problem.objective().dimension(), 0.0);
          for (double& w : start) w = from_zero ? 0.0 : 0.3 * random.normal();
          const auto instances = static_cast<int>(problem.oracle().instances());
          for (const int steps : {1, 7, 3 * instances}) {
            const Outcome r = run("sag-nus", problem,
                                  {.tol = 1e-12,
                                   .monitor = {.max_iterations = steps},
                                   .options = {{"reports", std::to_string(instances)},
                                               {"skipping", skipping ? "true" : "false"}},
                                   .start = SparseVector::from_dense(start)});
            const SparseVector expected =
                SparseVector::from_dense(dense_sag(problem, start, steps, skipping, 7));
            ASSERT_EQ(r.result.w.index, expected.index) << steps;
            for (std::size_t c = 0; c < expected.nnz(); ++c)
              ASSERT_NEAR(r.result.w.value[c], expected.value[c], 1e-9 * (1.0 + std::abs(expected.value[c])))
                  << steps;
          }
        }
}

TEST(SagNus, ReachesTheOptimum) {
  for (const ProblemSpec& spec : smooth_specs())
    for (const std::string skipping : {"false", "true"}) {
      if (spec.real) continue;  // its steps are too long there (see the top of sag_nus.cpp)
      SCOPED_TRACE(spec.name + ", skipping " + skipping);
      const Problem problem(spec);
      const double optimum = smooth_optimum(problem);
      const Outcome r =
          run("sag-nus", problem,
              {.tol = 1e-8, .monitor = {.max_iterations = 20000}, .options = {{"skipping", skipping}}});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_NEAR(r.certificate.objective, optimum, 1e-9 * optimum);
    }
}

/// The penalty is so strong that each step scales w to far less than half.
TEST(SagNus, ScalesOftenEnoughWhereThePenaltyIsStrong) {
  ProblemSpec spec = smooth_specs()[0];
  spec.mu = 1e4;
  const Problem problem(spec);
  const Outcome r = run("sag-nus", problem, {.tol = 1e-8, .monitor = {.max_iterations = 20000}});
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_NEAR(r.certificate.objective, smooth_optimum(problem), 1e-9 * r.certificate.objective);
}

TEST(SagNus, BeginsAtTheModelThatItStartsFrom) {
  const Problem problem(smooth_specs()[1]);
  const Outcome best = run("prox-newton", problem, {.tol = 1e-8});
  const Outcome r = run(
      "sag-nus", problem,
      {.tol = 1e-12, .monitor = every_sample(1), .options = {{"reports", "1000"}}, .start = best.result.w});
  EXPECT_NEAR(r.trace[0].objective, best.certificate.objective, 1e-9 * best.certificate.objective);
  // The first step follows the gradient of one instance.
  EXPECT_LT(r.trace[1].objective,
            0.5 * (best.certificate.objective +
                   test::run("prox-newton", problem, {.monitor = {.max_iterations = 1}}).trace[0].objective));
}

TEST(SagNus, StaysAtTheOptimumWhereGradientsAreTooSmallToSearchBy) {
  // Two labels with one feature each. Near the optimum no instance's gradient is above 1e-4. So no L_i is
  // searched for, and only its floors keep it from going to 0.
  constexpr Index kInstances = 20;
  const Problem problem({.name = "separable", .labels = 2, .features = 2, .sequences = kInstances});
  Dataset data;
  DesignMatrix::Builder builder;
  for (Index i = 0; i < kInstances; ++i) {
    builder.add(i % 2, 1.0);
    builder.end_position();
    data.gold.push_back(i % 2);
    data.begin.push_back(i + 1);
  }
  data.x = std::move(builder).build(2);
  data.vocabulary = problem.data().vocabulary;
  const auto oracle = oracle_registry().find("chain").make(data);
  const auto run_on = [&](const std::string& solver, double mu, double tol, std::int64_t iterations) {
    Objective objective(data.x, *oracle, Penalty{0.0, mu}, Parallel()),
        evaluator(data.x, *oracle, Penalty{0.0, mu}, Parallel());
    Monitor monitor(evaluator, objective, {.max_iterations = iterations});
    const SolverInfo& info = solver_registry().find(solver);
    const double kkt_at_zero = certify(evaluator, {}).kkt;
    const SolveResult r =
        info.make(Options(info.options))->solve({objective, monitor, {}, tol, kkt_at_zero, 7});
    return certify(evaluator, r.w);
  };
  for (const double mu : {1e-4, 1e-6, 1e-8}) {
    const double optimum = run_on("newton-cg", mu, 1e-12, 1000).objective;
    for (const std::int64_t iterations : {20000, 80000})
      EXPECT_NEAR(run_on("sag-nus", mu, 0.0, iterations).objective, optimum, 1e-6 * optimum)
          << "mu = " << mu << ", " << iterations << " iterations";
  }
}

}  // namespace
}  // namespace proxbench
