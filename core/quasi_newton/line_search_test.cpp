#include "core/quasi_newton/line_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace proxbench {
namespace {

TEST(Armijo, TakesTheFirstStepThatDecreasesEnough) {
  // F(alpha) = (alpha - 1)^2: a full step from 0 reaches the minimum.
  auto f = [](double a) { return (a - 1) * (a - 1); };
  const ArmijoResult r = armijo(f(0), -2.0, 1.0, {}, f);
  EXPECT_TRUE(r.accepted);
  EXPECT_EQ(r.alpha, 1.0);
  EXPECT_EQ(r.value, 0.0);
  EXPECT_EQ(r.trials, 1);
}

TEST(Armijo, BacktracksByBetaUntilTheConditionHolds) {
  // From alpha0 = 16 on (alpha - 1)^2 with sigma = 0.25: F(a) - 1 = a^2 - 2a <= -0.5a exactly when a <= 1.5.
  std::vector<double> tried;
  auto f = [&](double a) {
    tried.push_back(a);
    return (a - 1) * (a - 1);
  };
  ArmijoOptions options;
  options.sigma = 0.25;
  const ArmijoResult r = armijo(1.0, -2.0, 16.0, options, f);
  EXPECT_TRUE(r.accepted);
  EXPECT_EQ(tried, (std::vector<double>{16, 8, 4, 2, 1}));
  EXPECT_EQ(r.trials, 5);
  EXPECT_EQ(r.alpha, 1.0);
}

TEST(Armijo, ADecreaseBelowTheSharePromisedIsNotEnough) {
  // F decreases at every step, but only by 1e-4 of the predicted decrease.
  auto f = [](double a) { return 1.0 - 1e-4 * a; };
  const ArmijoResult r = armijo(1.0, -1.0, 1.0, {}, f);
  EXPECT_TRUE(r.accepted) << "tiny steps end within the rounding allowance";
  EXPECT_LT(r.alpha, 1e-11);
  ArmijoOptions exact;
  exact.rounding = 0.0;
  exact.max_trials = 20;
  EXPECT_FALSE(armijo(1.0, -1.0, 1.0, exact, f).accepted);
}

TEST(Armijo, GivesUpAfterMaxTrials) {
  ArmijoOptions options;
  options.max_trials = 7;
  int calls = 0;
  const ArmijoResult r = armijo(1.0, -1.0, 1.0, options, [&](double) {
    ++calls;
    return 2.0;
  });
  EXPECT_FALSE(r.accepted);
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(r.trials, 7);
  EXPECT_EQ(r.alpha, std::ldexp(1.0, -6));
  EXPECT_EQ(r.value, 2.0);
}

TEST(Armijo, RejectsValuesThatAreNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{nan, inf, -inf, 0.0};
  std::size_t next = 0;
  const ArmijoResult r = armijo(1.0, -1.0, 1.0, {}, [&](double) { return values[next++]; });
  EXPECT_TRUE(r.accepted);
  EXPECT_EQ(r.trials, 4);
  EXPECT_EQ(r.alpha, 0.125);
}

TEST(Armijo, AllowsForRoundingButForNoMore) {
  const double f0 = 1e6, ulps = std::numeric_limits<double>::epsilon() * f0;
  ArmijoOptions options;
  options.max_trials = 1;
  EXPECT_TRUE(armijo(f0, -1e-14, 1.0, options, [&](double) { return f0 + 3 * ulps; }).accepted);
  EXPECT_FALSE(armijo(f0, -1e-14, 1.0, options, [&](double) { return f0 + 6 * ulps; }).accepted);
  EXPECT_TRUE(armijo(-f0, -1e-14, 1.0, options, [&](double) { return -f0 + 3 * ulps; }).accepted);
  options.rounding = 0.0;
  EXPECT_FALSE(armijo(f0, -1e-14, 1.0, options, [&](double) { return f0 + 3 * ulps; }).accepted);
}

TEST(Backtrack, UsesThePredictionOfEachTrial) {
  // F decreases by alpha up to alpha = 1 and then stays, as on a projected path. The predicted change also
  // stops there.
  ArmijoOptions options;
  options.sigma = 0.5;
  auto trial = [](double a) {
    const double moved = std::min(a, 1.0);
    return ArmijoTrial{10.0 - moved, -moved};
  };
  const ArmijoResult curved = backtrack(10.0, 8.0, options, trial);
  EXPECT_EQ(curved.trials, 1) << "the decrease of 1 is the whole of the promise";
  const ArmijoResult straight = armijo(10.0, -1.0, 8.0, options, [&](double a) { return trial(a).value; });
  EXPECT_EQ(straight.alpha, 2.0) << "against a promise of alpha, 8 and 4 fall short of half";
}

}  // namespace
}  // namespace proxbench
