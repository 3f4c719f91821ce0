#include "solvers/shared/proximal/coordinate_descent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/objective.h"

namespace proxbench::proximal {
namespace {

/// Random numbers on a working set of n coordinates. A third of them have w = 0.
struct Point {
  explicit Point(std::size_t n) : random(5), w(n), g(n), lbfgs(4) {
    for (std::size_t j = 0; j < n; ++j) {
      w[j] = j % 3 == 0 ? 0.0 : random.normal();
      g[j] = random.normal();
    }
    lbfgs.reset(n, 2.0);
  }
  /// The largest entry of the minimum-norm subgradient of the model at d.
  double kkt(double lambda, const std::vector<double>& d) const {
    const std::vector<double> product = lbfgs.multiply(d);
    double largest = 0.0;
    for (std::size_t j = 0; j < d.size(); ++j)
      largest = std::max(largest, std::abs(minimum_norm_subgradient(w[j] + d[j], g[j] + product[j], lambda)));
    return largest;
  }

  Random random;
  std::vector<double> w, g;
  CompactLbfgs lbfgs;
};

TEST(CoordinateDescent, WithoutPairsAPassIsOneSoftThreshold) {
  Point at(60);
  at.lbfgs.refresh();
  const double lambda = 0.5;
  std::vector<double> d;
  CoordinateDescent descent;
  descent.begin(at.lbfgs, {}, at.w, at.g, lambda, d);
  EXPECT_GT(descent.pass(at.random), 0.0);
  for (std::size_t j = 0; j < d.size(); ++j) {
    const double c = at.w[j] - at.g[j] / 2.0;
    const double expected = std::copysign(std::max(std::abs(c) - lambda / 2.0, 0.0), c);
    EXPECT_NEAR(at.w[j] + d[j], expected, 1e-13 * (1.0 + std::abs(c)));
    EXPECT_EQ(at.w[j] + d[j] == 0.0, expected == 0.0);
  }
  EXPECT_LT(descent.pass(at.random), 1e-12);
}

TEST(CoordinateDescent, ComesToTheMinimumOfTheModel) {
  Point at(60);
  for (int pair = 0; pair < 4; ++pair) {
    std::vector<double> s(60), y(60);
    for (std::size_t j = 0; j < s.size(); ++j) {
      s[j] = at.random.normal();
      y[j] = (1.0 + at.random.uniform()) * s[j];
    }
    ASSERT_TRUE(at.lbfgs.update(s, y));
  }
  at.lbfgs.refresh();
  for (const double lambda : {0.0, 0.5}) {
    std::vector<double> d;
    CoordinateDescent descent;
    descent.begin(at.lbfgs, {}, at.w, at.g, lambda, d);
    for (int pass = 0; pass < 200; ++pass) descent.pass(at.random);
    EXPECT_LT(at.kkt(lambda, d), 1e-9) << lambda;
    EXPECT_LT(predicted_change(at.w, at.g, d, lambda), 0.0);
  }
}

}  // namespace
}  // namespace proxbench::proximal
