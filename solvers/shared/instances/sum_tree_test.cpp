/// Compares draws from a sum tree with a walk over all weights.

#include "solvers/shared/instances/sum_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/random.h"

namespace proxbench {
namespace {

/// The expected result of find(). Weights are whole numbers, so sums are exact in any order.
std::size_t walk(const std::vector<double>& weight, double at) {
  std::size_t i = 0;
  while (at >= weight[i]) at -= weight[i++];
  return i;
}

TEST(SumTree, FindsWhatAWalkFinds) {
  Random random(1);
  for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 13u, 64u, 100u}) {
    SumTree tree(n, 1.0);
    std::vector<double> weight(n, 1.0);
    for (int change = 0; change < 300; ++change) {
      const std::size_t i = random.below(n);
      weight[i] = static_cast<double>(random.below(4));
      tree.set(i, weight[i]);
      EXPECT_EQ(tree[i], weight[i]);
      const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
      ASSERT_EQ(tree.total(), total);
      for (double at = 0.0; at < total; at += 0.5)
        ASSERT_EQ(tree.find(at), walk(weight, at)) << n << ", " << at;
    }
  }
}

TEST(SumTree, BeginsAsTold) {
  EXPECT_EQ(SumTree(7).total(), 0.0);
  const SumTree tree(7, 0.5);
  EXPECT_EQ(tree.total(), 3.5);
  EXPECT_EQ(tree.find(3.25), 6u);
}

TEST(SumTree, NeverFindsAnIndexOfNoWeight) {
  // Sums are rounded, so the remainder of `at` may lie beyond the last weight of a branch.
  Random random(2);
  for (const std::size_t n : {2u, 3u, 7u, 50u}) {
    SumTree tree(n);
    for (int repeat = 0; repeat < 2000; ++repeat) {
      tree.set(random.below(n), random.below(2) == 0 ? 0.0 : std::exp(40.0 * random.normal()));
      if (tree.total() == 0.0) continue;
      for (const double share : {0.0, random.uniform(), 1.0 - 0x1.0p-53}) {
        const std::size_t found = tree.find(share * tree.total());
        ASSERT_LT(found, n);
        ASSERT_GT(tree[found], 0.0);
      }
    }
  }
}

TEST(SumTree, DrawsInProportion) {
  Random random(3);
  constexpr std::size_t kIndices = 11, kDraws = 200000;
  SumTree tree(kIndices);
  std::vector<double> weight(kIndices), count(kIndices, 0.0);
  for (std::size_t i = 0; i < kIndices; ++i) tree.set(i, weight[i] = i == 4 ? 0.0 : random.uniform());
  for (std::size_t draw = 0; draw < kDraws; ++draw) count[tree.find(random.uniform() * tree.total())] += 1.0;
  for (std::size_t i = 0; i < kIndices; ++i) {
    const double expected = kDraws * weight[i] / tree.total();
    EXPECT_NEAR(count[i], expected, 5.0 * std::sqrt(expected)) << i;
  }
}

}  // namespace
}  // namespace proxbench
