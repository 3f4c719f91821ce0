/// Synthetic classes: their sizes, and the model that they are drawn from.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

TEST(SyntheticClasses, HaveRealValuesWithoutZeros) {
  const DataPair data = read_data(
      "synthetic-classes", {}, {{"rows", "400"}, {"test_rows", "20"}, {"features", "50"}, {"classes", "7"}});
  EXPECT_EQ(data.oracle, "tree");
  EXPECT_EQ(data.train.instances(), 400u);
  EXPECT_EQ(data.train.positions(), 400u);
  EXPECT_EQ(data.test.instances(), 20u);
  EXPECT_EQ(data.train.outputs(), 7u);
  EXPECT_EQ(data.train.x.nonzeros(), 400u * 50u);
  double sum = 0.0, squares = 0.0;
  for (Index j = 0; j < 50; ++j)
    data.train.x.for_each_in_column(j, [&](std::size_t, double value) {
      sum += value;
      squares += value * value;
    });
  EXPECT_NEAR(sum / 20000.0, 0.0, 0.03);
  EXPECT_NEAR(squares / 20000.0, 1.0, 0.03);
}

TEST(SyntheticClasses, AreSeparableWithoutNoiseAndEvenWithMuch) {
  // With one feature and without noise, all positive values have one class, and so have all negative ones.
  const DataPair clean = read_data("synthetic-classes", {}, {{"features", "1"}, {"noise", "0"}});
  std::map<bool, std::map<Index, int>> classes;
  clean.train.x.for_each_in_column(
      0, [&](std::size_t p, double value) { ++classes[value > 0.0][clean.train.gold[p]]; });
  EXPECT_EQ(classes[true].size(), 1u);
  EXPECT_EQ(classes[false].size(), 1u);
  const DataPair noisy =
      read_data("synthetic-classes", {}, {{"features", "1"}, {"noise", "1000"}, {"classes", "4"}});
  std::map<Index, int> counts;
  for (const Index k : noisy.train.gold) ++counts[k];
  for (const auto& [k, n] : counts) EXPECT_NEAR(n, 1250, 150) << k;
}

TEST(SyntheticClasses, AreFixedByTheirSeed) {
  expect_fixed_by_seed("synthetic-classes", "rows");
}

}  // namespace
}  // namespace proxbench
