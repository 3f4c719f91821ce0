#include "experiments/data/weight_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace proxbench {
namespace {

using testing::ElementsAre;
using Entries = WeightTable::Builder::Entries;

Entries entries_of(const WeightTable& table, const std::string& name) {
  Entries out;
  const Index place = table.find(name);
  if (place == WeightTable::kNone) return {{WeightTable::kNone, 0.0}};
  table.row(place).for_each([&](Index k, double weight) { out.emplace_back(k, weight); });
  return out;
}

TEST(WeightTable, FindsTheRowsOfNames) {
  std::mt19937_64 random(1);
  std::vector<std::pair<std::string, Entries>> rows{{"", {{0, 1.0}}}};
  for (int i = 0; i < 5000; ++i) {
    Entries row;
    for (Index k = 0; k < 9; ++k)
      if (random() % 9 >= static_cast<unsigned>(i) % 10)
        row.emplace_back(k, static_cast<double>(random() % 7) - 2.5);
    rows.emplace_back(std::string(random() % 20, 'x') + std::to_string(i), row);
  }
  WeightTable::Builder builder;
  EXPECT_EQ(builder.view().find("x"), WeightTable::kNone);
  for (const auto& [name, row] : rows) builder.add(name, row);
  const WeightTable copy = std::move(builder).finish();
  const WeightTable table = copy;
  for (const auto& [name, row] : rows) {
    EXPECT_EQ(entries_of(table, name), row) << name;
    std::vector<double> sums(9, 1.0), expected(9, 1.0);
    table.row(table.find(name)).add_to(sums.data(), 0.3);
    for (const auto& [k, weight] : row) expected[k] += 0.3 * weight;
    EXPECT_EQ(sums, expected);
  }
  EXPECT_EQ(table.find("absent"), WeightTable::kNone);
  std::size_t number = 0;
  Index last = 0;
  table.for_each([&](Index place, const WeightTable::Row& row) {
    EXPECT_TRUE(number == 0 || place > last) << "places ascend";
    last = place;
    EXPECT_EQ(row.name, rows[number++].first) << "in the order of add()";
  });
  EXPECT_EQ(number, rows.size());
}

TEST(WeightTable, StoresOutputsOnlyWhereThatTakesLess) {
  WeightTable::Builder builder;
  builder.add("all", {{0, 1.0}, {1, 2.0}, {2, 3.0}});
  builder.add("most", {{0, 1.0}, {1, 2.0}, {3, 3.0}});
  builder.add("few", {{7, 1.0}});
  const WeightTable table = std::move(builder).finish();
  EXPECT_THAT(table.row(table.find("all")).output, ElementsAre());
  EXPECT_THAT(table.row(table.find("most")).value, ElementsAre(1.0, 2.0, 0.0, 3.0));
  EXPECT_THAT(entries_of(table, "most"),
              ElementsAre(std::pair(0u, 1.0), std::pair(1u, 2.0), std::pair(3u, 3.0)));
  EXPECT_THAT(table.row(table.find("few")).output, ElementsAre(7));
}

}  // namespace
}  // namespace proxbench
