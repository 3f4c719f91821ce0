#include "core/end_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace proxbench {
namespace {

TEST(GapRule, SpendsAsMuchOnBoundsAsOnPassesBeyondTheTarget) {
  for (const double passes : {100.0, 1000.0, 10000.0}) {
    GapRule rule;
    double bounds = 0.0, largest_step = 0.0, last = 0.0;
    for (double p = 1.0; p <= passes; p += 1.0) {
      if (!rule.due(p)) continue;
      bounds += 1.0;
      largest_step = p - last;
      last = p;
      rule.checked(p);
    }
    const double beyond = largest_step / 2.0;
    EXPECT_NEAR(3.0 * bounds / beyond, 1.0, 0.5) << passes;
    EXPECT_LE(3.0 * bounds + beyond, 4.5 * std::sqrt(passes));
  }
}

TEST(GapRule, LooksAtOnce) {
  GapRule rule;
  EXPECT_TRUE(rule.due(0.0));
  rule.checked(0.0);
  EXPECT_FALSE(rule.due(3.0));
  EXPECT_TRUE(rule.due(3.5));
}

bool stalls(std::size_t positions, const std::vector<double>& objectives) {
  StallRule rule(positions);
  std::int64_t i = 64;
  for (const double objective : objectives) {
    EXPECT_TRUE(rule.due(i));
    EXPECT_FALSE(rule.due(i - 1));
    rule.checked(i, objective);
    i *= 2;
    if (rule.stalled()) return true;
  }
  return false;
}

TEST(StallRule, SeesIterationsThatChangeNothingButNotSlowOrRandomOnes) {
  EXPECT_TRUE(stalls(10, {3.0, 3.0}));
  EXPECT_TRUE(stalls(10, {3.0, 3.0 + 1e-14}));
  EXPECT_TRUE(stalls(1000, {1e-9, 1.0001e-9})) << "no loss of a thousand positions is known that well";
  EXPECT_FALSE(stalls(10, {3.0}));
  EXPECT_FALSE(stalls(10, {3.0, 3.0 - 1e-11, 3.0 - 2e-11, 3.0 - 3e-11}));
  EXPECT_FALSE(stalls(10, {3.0, 3.1, 3.0, 3.05}));
  EXPECT_FALSE(stalls(10, {kNaN, kNaN}));
}

}  // namespace
}  // namespace proxbench
