#include "experiments/results/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/numbers.h"

namespace proxbench {
namespace {

using testing::ElementsAre;

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  // h = (n - 1)*p = 3*0.25 = 0.75 between 1 and 2; 3*0.5 = 1.5 between 2 and 4; 3*0.75 = 2.25 from 4 to 8.
  const std::vector<double> values{8, 1, 4, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 3.0);
  EXPECT_DOUBLE_EQ(quantile(values, 0.75), 5.0);
  EXPECT_DOUBLE_EQ(quantile(values, 1.0), 8.0);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.25), 7.0);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Quantile, NeverIsTheWorst) {
  EXPECT_DOUBLE_EQ(quantile({kInfinity, 3, 1}, 0.5), 3.0);
  EXPECT_DOUBLE_EQ(quantile({kInfinity, 3, 1}, 0.25), 2.0);
  EXPECT_EQ(quantile({kInfinity, 3, 1}, 0.75), kInfinity) << "half way to infinity";
  EXPECT_EQ(quantile({kInfinity, 1}, 0.5), kInfinity);
  EXPECT_EQ(quantile({kInfinity, kInfinity, kInfinity, 1}, 0.5), kInfinity);
  EXPECT_DOUBLE_EQ(quantile({kInfinity, 5, 4, 3, 2}, 0.75), 5.0) << "exactly at a value";
}

TEST(Spread, LeavesOutWhatWasNotMeasured) {
  const Spread spread = spread_of({kNaN, 30, 10, kNaN, 20, 50, 40});
  EXPECT_EQ(spread.n, 5);
  EXPECT_DOUBLE_EQ(spread.min, 10);
  EXPECT_DOUBLE_EQ(spread.q25, 20);
  EXPECT_DOUBLE_EQ(spread.median, 30);
  EXPECT_DOUBLE_EQ(spread.q75, 40);
  EXPECT_DOUBLE_EQ(spread.max, 50);
  EXPECT_EQ(spread_of({kNaN}).n, 0);
  EXPECT_TRUE(std::isnan(spread_of({kNaN}).median));
}

TEST(ShiftedGeometricMean, IsTheGeometricMeanOfShiftedValues) {
  EXPECT_NEAR(shifted_geometric_mean({2, 8}, 0), 4.0, 1e-14);
  EXPECT_NEAR(shifted_geometric_mean({0, 3, 15}, 1), std::cbrt(1.0 * 4.0 * 16.0) - 1.0, 1e-14);  // 3
  EXPECT_NEAR(shifted_geometric_mean({7, 7, 7}, 10), 7.0, 1e-13);
  EXPECT_EQ(shifted_geometric_mean({1, kInfinity}, 1), kInfinity);
  EXPECT_TRUE(std::isnan(shifted_geometric_mean({}, 1)));
}

TEST(PerformanceProfile, OfThreeSolversOnThreeProblems) {
  // Solver:            a  b          c
  const auto ratios = performance_ratios({{1, 2, 4},          // a is the best
                                          {6, 3, kInfinity},  // b is the best, c fails
                                          {5, 10, 5}});       // a and c are the best
  EXPECT_THAT(ratios[0], ElementsAre(1, 2, 4));
  EXPECT_THAT(ratios[1], ElementsAre(2, 1, kInfinity));
  EXPECT_THAT(ratios[2], ElementsAre(1, 2, 1));
  const auto profile = [&](std::size_t solver) {
    std::vector<std::pair<double, double>> steps;
    for (const Step& step : distribution_of({ratios[0][solver], ratios[1][solver], ratios[2][solver]}))
      steps.emplace_back(step.x, 3 * step.share);
    return steps;
  };
  EXPECT_THAT(profile(0), ElementsAre(std::pair(1.0, 2.0), std::pair(2.0, 3.0)));
  EXPECT_THAT(profile(1), ElementsAre(std::pair(1.0, 1.0), std::pair(2.0, 3.0)));
  EXPECT_THAT(profile(2), ElementsAre(std::pair(1.0, 1.0), std::pair(4.0, 2.0))) << "never gets to 1";
}

TEST(PerformanceProfile, WhereAllFailOrTheBestCostsNothing) {
  const auto ratios = performance_ratios({{kInfinity, kInfinity}, {0, 0}, {0, 1}});
  EXPECT_THAT(ratios[0], ElementsAre(kInfinity, kInfinity));
  EXPECT_THAT(ratios[1], ElementsAre(1, 1));
  EXPECT_THAT(ratios[2], ElementsAre(1, kInfinity));
}

TEST(Distribution, CountsWhatWasNeverReachedAmongAll) {
  const std::vector<Step> steps = distribution_of({3, kInfinity, 1, 3});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].x, 1);
  EXPECT_EQ(steps[0].share, 0.25);
  EXPECT_EQ(steps[1].x, 3);
  EXPECT_EQ(steps[1].share, 0.75);
  EXPECT_TRUE(distribution_of({kInfinity}).empty());
}

}  // namespace
}  // namespace proxbench
