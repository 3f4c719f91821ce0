/// Rounding onto marginals gives feasible weights and moves them no further than it must.

#include "solvers/gdmm/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/random.h"

namespace proxbench {
namespace {

std::vector<LabelWeight> random_marginal(Index labels, Random& random) {
  std::vector<LabelWeight> out;
  double sum = 0.0;
  for (Index k = 0; k < labels; ++k)
    if (random.uniform() < 0.6 || (k + 1 == labels && out.empty())) out.push_back({k, random.uniform()});
  for (const LabelWeight& one : out) sum += one.weight;
  for (LabelWeight& one : out) one.weight /= sum;
  return out;
}

double distance(const std::vector<PairWeight>& pairs, const std::vector<LabelWeight>& target,
                Index PairWeight::*end) {
  std::map<Index, double> sum;
  for (const PairWeight& pair : pairs) sum[pair.*end] += pair.weight;
  for (const LabelWeight& one : target) sum[one.label] -= one.weight;
  double total = 0.0;
  for (const auto& [label, difference] : sum) total += std::abs(difference);
  return total;
}

TEST(Rounding, GivesTheMarginalsAndStaysNear) {
  Random random(1);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const auto labels = static_cast<Index>(1 + random.below(6));
    const std::vector<LabelWeight> left = random_marginal(labels, random),
                                   right = random_marginal(labels, random);
    std::vector<PairWeight> pairs;
    for (Index a = 0; a < labels; ++a)
      for (Index b = 0; b < labels; ++b)
        if (random.uniform() < 0.4) pairs.push_back({a, b, random.uniform()});
    double sum = 0.0;
    for (const PairWeight& pair : pairs) sum += pair.weight;
    for (PairWeight& pair : pairs) pair.weight /= sum;
    const std::vector<PairWeight> before = pairs;
    const double off =
        distance(before, left, &PairWeight::left) + distance(before, right, &PairWeight::right);
    round_onto(left, right, pairs);
    EXPECT_NEAR(distance(pairs, left, &PairWeight::left), 0.0, 1e-12);
    EXPECT_NEAR(distance(pairs, right, &PairWeight::right), 0.0, 1e-12);
    std::map<std::pair<Index, Index>, double> moved;
    for (const PairWeight& pair : pairs) {
      EXPECT_GT(pair.weight, 0.0);
      EXPECT_TRUE(moved.emplace(std::pair(pair.left, pair.right), pair.weight).second) << "each pair once";
    }
    for (const PairWeight& pair : before) moved[{pair.left, pair.right}] -= pair.weight;
    double change = 0.0;
    for (const auto& [pair, difference] : moved) change += std::abs(difference);
    EXPECT_LE(change, 2.0 * off + 1e-12) << "Altschuler, Weed, Rigollet 2017, lemma 7";
  }
}

TEST(Rounding, LeavesWhatAgreesAsItIs) {
  std::vector<PairWeight> pairs{{0, 1, 0.25}, {2, 1, 0.5}, {2, 0, 0.25}};
  round_onto(std::vector<LabelWeight>{{0, 0.25}, {2, 0.75}}, std::vector<LabelWeight>{{1, 0.75}, {0, 0.25}},
             pairs);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_DOUBLE_EQ(pairs[0].weight, 0.25);
  EXPECT_DOUBLE_EQ(pairs[1].weight, 0.5);
  EXPECT_DOUBLE_EQ(pairs[2].weight, 0.25);
}

}  // namespace
}  // namespace proxbench
