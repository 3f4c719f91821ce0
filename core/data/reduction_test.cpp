#include "core/data/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/random.h"

namespace proxbench {
namespace {

/// Rows of (feature, value).
DesignMatrix matrix(const std::vector<std::vector<std::pair<Index, double>>>& rows, Index features) {
  DesignMatrix::Builder builder;
  for (const auto& row : rows) {
    for (const auto& [j, x] : row) builder.add(j, x);
    builder.end_position();
  }
  return std::move(builder).build(features);
}

TEST(Reduction, KeepsFeaturesWhoseSumExceedsLambda) {
  const DesignMatrix x = matrix({{{0, 0.5}, {1, -2.0}, {3, 1.0}}, {{0, 0.5}, {2, 0.25}}, {{1, 0.5}}}, 5);
  EXPECT_EQ(needed_features(x, {1.0, 1.0}), (std::vector<Index>{1}));  // the others sum to at most 1
  EXPECT_EQ(needed_features(x, {0.99, 1.0}), (std::vector<Index>{0, 1, 3}));
  EXPECT_EQ(needed_features(x, {2.5, 1.0}), std::vector<Index>{});
  EXPECT_EQ(needed_features(x, {1e-9, 1.0}), (std::vector<Index>{0, 1, 2, 3}));  // 4 is never on
}

TEST(Reduction, CountsWhereAllValuesAreOne) {
  const DesignMatrix x = matrix({{{0, 1.0}, {1, 1.0}}, {{0, 1.0}}, {{0, 1.0}, {2, 1.0}}}, 3);
  ASSERT_TRUE(x.binary());
  EXPECT_EQ(needed_features(x, {1.0, 1.0}), (std::vector<Index>{0}));
}

TEST(Reduction, OneOfEqualColumnsIsEnough) {
  // 2 is as 0, 4 is as 1; 3 has other values than 1, and 5 is on elsewhere.
  const DesignMatrix x = matrix(
      {{{0, 2.0}, {1, 1.0}, {2, 2.0}, {3, 1.0}, {4, 1.0}}, {{1, -1.0}, {3, 1.0}, {4, -1.0}}, {{5, 2.0}}}, 6);
  EXPECT_EQ(needed_features(x, {0.5, 0.0}), (std::vector<Index>{0, 1, 3, 5}));
  EXPECT_EQ(needed_features(x, {2.0, 0.0}), std::vector<Index>{});
  EXPECT_EQ(needed_features(x, {0.5, 1e-9}), (std::vector<Index>{0, 1, 2, 3, 4, 5})) << "weights are shared";
  EXPECT_EQ(needed_features(x, {0.0, 1.0}), (std::vector<Index>{0, 1, 2, 3, 4, 5}));
}

TEST(Reduction, FindsAllCopiesAmongManyColumns) {
  Random random(5);
  std::vector<std::vector<std::pair<Index, double>>> rows(6);
  const Index features = 2000;
  std::map<std::vector<bool>, Index> first;
  for (Index j = 0; j < features; ++j) {
    std::vector<bool> on;
    for (auto& row : rows) {
      on.push_back(random.uniform() < 0.5);
      if (on.back()) row.emplace_back(j, 1.0);
    }
    first.try_emplace(on, j);
  }
  first.erase(std::vector<bool>(rows.size(), false));  // is never on
  std::vector<Index> expected;
  for (const auto& [on, j] : first) expected.push_back(j);
  std::ranges::sort(expected);
  EXPECT_EQ(needed_features(matrix(rows, features), {0.5, 0.0}), expected);
}

TEST(Reduction, SelectedFeaturesAreRenumbered) {
  Random random(3);
  std::vector<std::vector<std::pair<Index, double>>> rows(50);
  for (auto& row : rows)
    for (Index j = 0; j < 20; ++j)
      if (random.uniform() < 0.3) row.emplace_back(j, random.normal());
  const DesignMatrix x = matrix(rows, 20);
  const std::vector<Index> kept{0, 3, 4, 11, 19};
  const DesignMatrix y = x.select_features(kept);
  EXPECT_EQ(y.positions(), 50u);
  EXPECT_EQ(y.features(), 5u);
  std::uint64_t entries = 0;
  for (Index f = 0; f < 5; ++f) {
    EXPECT_EQ(y.column(f), x.column(kept[f]));
    const auto a = y.column_values(f), b = x.column_values(kept[f]);
    EXPECT_EQ(std::vector<double>(a.begin(), a.end()), std::vector<double>(b.begin(), b.end()));
    entries += y.column_size(f);
  }
  EXPECT_EQ(y.nonzeros(), entries);
  EXPECT_EQ(x.select_features({}).positions(), 50u);
}

TEST(Reduction, WeightsGoBackToTheirFeatures) {
  // Features 1 and 4 of 6 are kept, with 3 outputs each. Coordinates from 6 on are extra weights.
  const SparseVector w{{0, 2, 3, 6, 8}, {1, 2, 3, 4, 5}};
  const SparseVector all = expand_features(w, {1, 4}, 6, 3);
  EXPECT_EQ(all.index, (std::vector<Coord>{3, 5, 12, 18, 20}));
  EXPECT_EQ(all.value, w.value);
  const std::optional<SparseVector> back = reduce_features(all, {1, 4}, 6, 3);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->index, w.index);
  EXPECT_EQ(back->value, w.value);
  for (const std::vector<Index>& without : {std::vector<Index>{1}, {1, 5}, {4}})
    EXPECT_FALSE(reduce_features(all, without, 6, 3)) << "a weight of a feature that is not kept";
}

}  // namespace
}  // namespace proxbench
