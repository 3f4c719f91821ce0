#include "core/end_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace proxbench {
namespace {

/// The iterations after which a solver's gap is looked at until it reaches the target, if gap(n) is the
/// relative gap after n iterations.
template <class Gap>
std::vector<std::int64_t> looks(double target, const Gap& gap) {
  GapRule rule;
  std::vector<std::int64_t> out;
  for (std::int64_t i = 1; i < 100000; ++i) {
    if (!rule.due(i)) continue;
    out.push_back(i);
    if (gap(i) <= target) break;
    rule.checked(i, gap(i), target);
  }
  return out;
}

TEST(GapRule, FindsTheEndOfAGeometricRunWithFewLooks) {
  for (const double rate : {0.5, 0.9, 0.99, 0.999}) {
    const auto gap = [&](std::int64_t i) { return std::pow(rate, static_cast<double>(i)); };
    const double needed = std::log(1e-6) / std::log(rate);
    const std::vector<std::int64_t> at = looks(1e-6, gap);
    EXPECT_GE(static_cast<double>(at.back()), needed);
    EXPECT_LE(static_cast<double>(at.back()), 1.15 * needed + 1.0) << rate;
    EXPECT_LE(at.size(), 25u) << rate;
  }
}

TEST(GapRule, IsNotFarTooLateForARunThatEndsSuddenly) {
  const auto newton = [](std::int64_t i) { return i < 30 ? 0.5 : 1e-12; };
  EXPECT_LE(looks(1e-6, newton).back(), 60);
  const auto rises = [](std::int64_t i) { return i < 100 ? static_cast<double>(i) : 1e-9; };
  EXPECT_LE(looks(1e-6, rises).back(), 200) << "a gap that rises tells nothing";
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
