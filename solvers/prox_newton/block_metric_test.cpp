#include "solvers/prox_newton/block_metric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/quasi_newton/lbfgs.h"
#include "solvers/prox_newton/test_point.h"

namespace proxbench::prox_newton {
namespace {

std::vector<double> product(BlockMetric& metric, std::size_t n, std::size_t j) {
  std::vector<double> d(n, 0.0), out;
  d[j] = 1.0;
  metric.multiply(d, out);
  return out;
}

/// There are so few positions that the sample holds all. Every entry is exact except those without any
/// spread. Large weights leave most entries without spread, and then the rows are shorter than the columns.
TEST(BlockMetric, HoldsTheSecondDerivativesByOutput) {
  for (const test::ProblemSpec& spec : test::problem_specs())
    for (const double size : {0.4, 20.0}) {
      const test::Problem problem(spec);
      Point point(problem, size);
      const std::size_t n = point.w.index.size();
      BlockMetric metric;
      metric.build(point.objective, point.residual, point.w.index);
      double ridge = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        const std::vector<double> row = product(metric, n, j);
        EXPECT_NEAR(row[j], metric.diagonal(j), 1e-12 * metric.diagonal(j));
        if (point.w.index[j] >= point.objective.unary_weights()) continue;
        for (std::size_t i = 0; i < n; ++i) {
          if (point.w.index[i] >= point.objective.unary_weights()) {
            EXPECT_EQ(row[i], 0.0);
            continue;
          }
          const double exact = point.entry(point.w.index[j], point.w.index[i]);
          if (i != j) {
            EXPECT_NEAR(row[i], exact, 1e-3 * (1.0 + std::abs(exact))) << spec.name;
          } else if (ridge == 0.0) {
            ridge = row[j] - exact;
            EXPECT_GE(ridge, spec.mu);
          } else {
            EXPECT_NEAR(row[j] - exact, ridge, 1e-3 * (1.0 + exact)) << spec.name;
          }
        }
      }
    }
}

TEST(BlockMetric, IsTheSameForAnyNumberOfThreadsAndSymmetric) {
  const test::Problem problem(test::large_spec());
  Point point(problem);
  std::vector<Coord> index(point.w.index.begin(), point.w.index.begin() + 600);
  std::vector<std::vector<double>> rows;
  for (const int threads : {1, 3}) {
    Objective objective = problem.objective(Parallel(threads));
    BlockMetric metric;
    metric.build(objective, point.residual, index);
    for (const std::size_t j : {0u, 17u, 599u}) rows.push_back(product(metric, index.size(), j));
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[i], rows[i + 3]);
  EXPECT_EQ(rows[0][17], rows[1][0]);
  EXPECT_EQ(rows[1][599], rows[2][17]);
}

TEST(BlockMetric, KeepsItsEntriesForAnotherWorkingSet) {
  const test::Problem problem(test::problem_specs().front());
  Point point(problem);
  const std::vector<Coord>& all = point.w.index;
  ASSERT_GE(all.size(), 8u);
  // The coordinates 1 and 4 leave and then return.
  std::vector<Coord> some;
  std::vector<std::uint32_t> kept, from;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (i != 1 && i != 4) {
      from.push_back(static_cast<std::uint32_t>(kept.size()));
      kept.push_back(i);
      some.push_back(all[i]);
    } else {
      from.push_back(CompactLbfgs::kNew);
    }
  }
  BlockMetric metric;
  metric.build(point.objective, point.residual, all);
  const std::vector<double> before = product(metric, all.size(), 0);
  const double own = metric.diagonal(4);
  metric.keep_rows(kept);
  const std::vector<double> between = product(metric, some.size(), 0);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(between[i], before[kept[i]]);
  metric.take_rows(point.objective, point.residual, all, from);
  const std::vector<double> after = product(metric, all.size(), 0), back = product(metric, all.size(), 4);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(after[i], i == 1 || i == 4 ? 0.0 : before[i]);
    EXPECT_NEAR(back[i], i == 4 ? own : 0.0, 1e-12 * own);
  }
}

/// Holds also after rows have left and returned, and for repeated calls.
TEST(BlockMetric, MultipliesSeveralVectorsAsItDoesOne) {
  for (const test::ProblemSpec& spec : {test::large_spec(), test::problem_specs().front()}) {
    const test::Problem problem(spec);
    Point point(problem);
    const std::size_t n = std::min<std::size_t>(point.w.index.size(), 500);
    BlockMetric metric;
    metric.build(point.objective, point.residual, std::span(point.w.index).first(n));
    Random random(8);
    std::vector<std::vector<double>> d(5, std::vector<double>(n));
    for (std::vector<double>& each : d)
      for (double& x : each) x = random.uniform() < 0.3 ? 0.0 : random.normal();
    const std::vector<std::vector<double>> products = metric.multiply(d, Parallel(2));
    for (std::size_t i = 0; i < d.size(); ++i) {
      std::vector<double> one;
      metric.multiply(d[i], one);
      EXPECT_EQ(products[i], one) << spec.name;
    }
  }
}

}  // namespace
}  // namespace proxbench::prox_newton
