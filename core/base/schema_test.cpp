#include "core/base/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace proxbench {
namespace {

enum class Order { kRandom, kCyclic };
struct Search {
  double sigma;
  int trials;
};
struct Settings {
  std::size_t memory;
  double rho;
  bool averaging;
  std::string file;
  Order order;
  Search search;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::memory,
              {.name = "memory", .default_value = "40", .help = "", .min = 1, .preset_values = paper("10")}),
       option(&Settings::rho, {.name = "rho", .default_value = "auto", .help = "", .automatic = true}),
       option(&Settings::averaging, {.name = "averaging", .default_value = "false", .help = ""}),
       option(&Settings::file, {.name = "file", .default_value = "", .help = ""}),
       choice(&Settings::order,
              {.name = "order", .default_value = "random", .help = "", .preset_values = paper("cyclic")},
              {{"random", Order::kRandom}, {"cyclic", Order::kCyclic}}),
       part(
           &Settings::search,
           Schema<Search>({option(&Search::sigma, {.name = "sigma", .default_value = "0.5", .help = ""}),
                           option(&Search::trials, {.name = "trials", .default_value = "7", .help = ""})}))});
}

TEST(Schema, TakeTypesAndChoicesFromTheMembers) {
  std::vector<std::string> found;
  for (const OptionSpec& spec : rows().table()) found.push_back(spec.name + " " + spec.type_name());
  EXPECT_THAT(found, testing::ElementsAre("preset string", "memory integer", "rho real", "averaging bool",
                                          "file string", "order string", "sigma real", "trials integer"));
  EXPECT_EQ(rows().table()[5].constraint(), "one of random, cyclic");
}

TEST(Schema, FillTheMembers) {
  Options options(rows().table());
  Settings settings = rows().read(options);
  EXPECT_EQ(settings.memory, 40U);
  EXPECT_TRUE(std::isnan(settings.rho));
  EXPECT_FALSE(settings.averaging);
  EXPECT_EQ(settings.order, Order::kRandom);
  EXPECT_EQ(settings.search.sigma, 0.5);
  EXPECT_EQ(settings.search.trials, 7);
  for (const auto& [name, value] : {std::pair{"rho", "2"},
                                    {"averaging", "true"},
                                    {"file", "a.txt"},
                                    {"order", "cyclic"},
                                    {"trials", "3"}})
    options.set(name, value);
  settings = rows().read(options);
  EXPECT_EQ(settings.rho, 2.0);
  EXPECT_TRUE(settings.averaging);
  EXPECT_EQ(settings.file, "a.txt");
  EXPECT_EQ(settings.order, Order::kCyclic);
  EXPECT_EQ(settings.search.trials, 3);
}

TEST(Schema, ThePresetPaperChangesTheDefaultsThatNameOne) {
  Options options(rows().table());
  options.set("preset", "paper");
  const Settings settings = rows().read(options);
  EXPECT_EQ(settings.memory, 10U);
  EXPECT_EQ(settings.order, Order::kCyclic);
  EXPECT_FALSE(settings.averaging);
}

TEST(Schema, ATableWithoutPresetValuesHasNoPreset) {
  const Schema<Search> plain({option(&Search::sigma, {.name = "sigma", .default_value = "1", .help = ""})});
  ASSERT_EQ(plain.table().size(), 1U);
  EXPECT_EQ(plain.table()[0].name, "sigma");
}

TEST(Schema, MakeAThingFromTheSettings) {
  struct Thing {
    explicit Thing(const Settings& settings) : memory(settings.memory) {}
    std::size_t memory;
  };
  Options options(rows().table());
  options.set("memory", "3");
  EXPECT_EQ(rows().maker<Thing>()(options)->memory, 3U);
}

}  // namespace
}  // namespace proxbench
