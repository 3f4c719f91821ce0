#include "core/monitor/end_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace proxbench {
namespace {

/// The passes at which the rule asks for a bound, until gap_at() is at most 1.
template <class Gap>
std::vector<double> bounds_of(const Gap& gap_at) {
  GapRule rule;
  std::vector<double> bounds;
  for (double p = 1.0; bounds.empty() || gap_at(bounds.back()) > 1.0; p += 1.0) {
    if (p > 1e6) throw std::runtime_error("no bound after the target was reached");
    if (!rule.due(p)) continue;
    bounds.push_back(p);
    rule.checked(p, gap_at(p));
  }
  return bounds;
}

TEST(GapRule, SpendsLittleOnBoundsAndBeyondATargetThatComesByChance) {
  for (const double passes : {100.0, 1000.0, 10000.0}) {
    const std::vector<double> bounds = bounds_of([&](double p) { return p < passes ? kInfinity : 0.5; });
    EXPECT_LE(3.0 * static_cast<double>(bounds.size()), 3.5 * std::sqrt(passes));
    EXPECT_LE(bounds.back() - passes, 2.0 * std::sqrt(passes) + 1.0);
  }
}

TEST(GapRule, EndsSoonAfterATargetThatIsApproachedGeometricallyOrFaster) {
  for (const double passes : {30.0, 100.0, 1000.0, 10000.0})
    for (const double power : {1.0, 2.0}) {
      const std::vector<double> bounds =
          bounds_of([&](double p) { return std::exp(10.0 * (1.0 - std::pow(p / passes, power))); });
      EXPECT_LE(bounds.back(), passes + 0.5 * std::sqrt(passes) + 1.0) << power;
      EXPECT_LE(static_cast<double>(bounds.size()), 1.0 * std::sqrt(passes) + 6.0) << passes << ' ' << power;
    }
}

TEST(GapRule, TakesTheLongestStepWhileTheGapGrowsOrIsUnknown) {
  for (const double second : {kInfinity, kNaN, 20.0, 10.0}) {
    GapRule rule;
    EXPECT_TRUE(rule.due(0.0));
    rule.checked(0.0, 10.0);
    EXPECT_FALSE(rule.due(1.9));
    EXPECT_TRUE(rule.due(2.0));
    rule.checked(4.0, second);
    EXPECT_FALSE(rule.due(7.9)) << second;
    EXPECT_TRUE(rule.due(8.0)) << second;
    if (second <= 20.0) continue;
    rule.checked(16.0, 9.0);
    EXPECT_FALSE(rule.due(23.9)) << second;
  }
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
