#include "solvers/shared/instances/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace proxbench {
namespace {

constexpr Scheme kSchemes[] = {Scheme::kUniform, Scheme::kImportance, Scheme::kGap, Scheme::kGapImportance,
                               Scheme::kMax};

std::vector<double> importance(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = 1.0 + static_cast<double>(i);
  return out;
}

TEST(Sampler, WhatIsDrawnIsOutUntilItIsRecorded) {
  for (const Scheme scheme : kSchemes)
    for (const double share : {0.0, 0.5, 1.0}) {
      constexpr std::size_t kInstances = 9;
      Random random(1);
      Sampler sampler(scheme, share, importance(kInstances), kInstances, random);
      for (int round = 0; round < 50; ++round) {
        std::set<Index> drawn;
        while (drawn.size() < kInstances) EXPECT_TRUE(drawn.insert(sampler.draw()).second);
        for (const Index i : drawn) sampler.record(i, random.below(3) == 0 ? 0.0 : random.uniform());
      }
    }
}

TEST(Sampler, DrawsByTheScoresOfItsScheme) {
  constexpr std::size_t kInstances = 6, kDraws = 100000;
  const std::vector<double> gap{0.5, 0.0, 3.0, 1.0, 0.25, 2.0}, c = importance(kInstances);
  for (const Scheme scheme : {Scheme::kUniform, Scheme::kImportance, Scheme::kGap, Scheme::kGapImportance})
    for (const double share : {0.0, 0.8, 1.0}) {
      Random random(2);
      Sampler sampler(scheme, share, c, kInstances, random);
      for (Index i = 0; i < kInstances; ++i) sampler.record(i, gap[i]);
      std::vector<double> score(kInstances, 1.0), count(kInstances, 0.0);
      for (std::size_t i = 0; i < kInstances; ++i) {
        if (scheme == Scheme::kImportance || scheme == Scheme::kGapImportance) score[i] *= c[i];
        if (scheme == Scheme::kGap || scheme == Scheme::kGapImportance) score[i] *= gap[i];
      }
      const double total = std::accumulate(score.begin(), score.end(), 0.0);
      for (std::size_t draw = 0; draw < kDraws; ++draw) {
        const Index i = sampler.draw();
        count[i] += 1.0;
        sampler.put_back(i);
        ASSERT_EQ(sampler.gap(i), gap[i]);
      }
      for (std::size_t i = 0; i < kInstances; ++i) {
        const double expected = kDraws * (share * score[i] / total + (1.0 - share) / kInstances);
        EXPECT_NEAR(count[i], expected, 5.0 * std::sqrt(expected)) << i;
      }
      EXPECT_DOUBLE_EQ(sampler.total_gap(), 6.75);
    }
}

TEST(Sampler, MaxTakesTheLargestThatIsNotOut) {
  Random random(3);
  constexpr std::size_t kInstances = 20;
  Sampler sampler(Scheme::kMax, 1.0, {}, kInstances, random);
  std::vector<double> gap(kInstances, 100.0);
  std::set<Index> out;
  for (int step = 0; step < 2000; ++step) {
    if (out.empty() || (out.size() < kInstances && random.below(2) == 0)) {
      const Index drawn = sampler.draw();
      EXPECT_FALSE(out.contains(drawn));
      for (Index i = 0; i < kInstances; ++i) EXPECT_TRUE(out.contains(i) || gap[i] <= gap[drawn]);
      out.insert(drawn);
    } else {
      // Puts an instance back that is out, or gives a new estimate of one that is not.
      const auto i = static_cast<Index>(random.below(kInstances));
      sampler.record(i, gap[i] = random.below(5) == 0 ? 0.0 : random.uniform());
      out.erase(i);
    }
  }
}

TEST(Sampler, VisitsEveryInstanceBeforeAnyTwiceWhereGapsFall) {
  Random random(4);
  constexpr std::size_t kInstances = 30;
  Sampler sampler(Scheme::kMax, 1.0, {}, kInstances, random);
  std::set<Index> drawn;
  for (std::size_t draw = 0; draw < kInstances; ++draw) {
    const Index i = sampler.draw();
    EXPECT_TRUE(drawn.insert(i).second);
    sampler.record(i, 1.0);
  }
}

}  // namespace
}  // namespace proxbench
