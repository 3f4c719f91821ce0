#include "core/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::Pair;

OptionTable table() {
  OptionSpec sigma{"sigma", OptionType::kReal, "1e-3", "sufficient decrease", 0, 1};
  sigma.min_open = sigma.max_open = true;
  OptionSpec split{"split", OptionType::kString, "random", "how to split"};
  split.choices = {"random", "fold", "none"};
  return {{"memory", OptionType::kInt, "10", "pairs kept", 1, 1000},
          sigma,
          {"shrink", OptionType::kBool, "true", "leave coordinates out"},
          split,
          {"seed", OptionType::kInt, "1", "of the random numbers", 0},
          {"template", OptionType::kString, "", "a file"}};
}

/// Returns the message of the error that set(name, text) throws, or "" if it throws none.
std::string refusal(std::string_view name, std::string_view text) {
  Options options(table());
  try {
    options.set(name, text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUsage);
    return e.what();
  }
  return "";
}

TEST(Options, StartAtTheirDefaults) {
  const Options options(table());
  EXPECT_EQ(options.integer("memory"), 10);
  EXPECT_EQ(options.real("sigma"), 0.001);
  EXPECT_TRUE(options.boolean("shrink"));
  EXPECT_EQ(options.string("split"), "random");
}

TEST(Options, SetValuesAreKeptAndListedInTableOrder) {
  Options options(table());
  options.set("split", "fold");
  options.set("memory", "1000");
  options.set("shrink", "off");
  options.set("sigma", "2.5e-1");
  EXPECT_EQ(options.integer("memory"), 1000);
  EXPECT_EQ(options.real("sigma"), 0.25);
  EXPECT_FALSE(options.boolean("shrink"));
  EXPECT_THAT(options.items(),
              ElementsAre(Pair("memory", "1000"), Pair("sigma", "2.5e-1"), Pair("shrink", "off"),
                          Pair("split", "fold"), Pair("seed", "1"), Pair("template", "")));
}

TEST(Options, ErrorsNameTheViolatedConstraint) {
  EXPECT_EQ(refusal("sigma", "2"), "option sigma = 2: expected a finite real, 0 < sigma < 1");
  EXPECT_EQ(refusal("sigma", "0"), "option sigma = 0: expected a finite real, 0 < sigma < 1");
  EXPECT_EQ(refusal("sigma", "1"), "option sigma = 1: expected a finite real, 0 < sigma < 1");
  EXPECT_EQ(refusal("memory", "0"), "option memory = 0: expected an integer, 1 <= memory <= 1000");
  EXPECT_EQ(refusal("memory", "1001"), "option memory = 1001: expected an integer, 1 <= memory <= 1000");
  EXPECT_EQ(refusal("seed", "-1"), "option seed = -1: expected an integer, 0 <= seed");
  EXPECT_EQ(refusal("memory", "1"), "");
}

TEST(Options, ErrorsSayWhatKindOfValueWasExpected) {
  EXPECT_EQ(refusal("memory", "ten"), "option memory = ten: expected an integer, 1 <= memory <= 1000");
  EXPECT_EQ(refusal("memory", "1.5"), "option memory = 1.5: expected an integer, 1 <= memory <= 1000");
  EXPECT_EQ(refusal("memory", ""), "option memory = : expected an integer, 1 <= memory <= 1000");
  EXPECT_EQ(refusal("sigma", "nan"), "option sigma = nan: expected a finite real, 0 < sigma < 1");
  EXPECT_EQ(refusal("sigma", "0.5x"), "option sigma = 0.5x: expected a finite real, 0 < sigma < 1");
  EXPECT_EQ(refusal("shrink", "maybe"), "option shrink = maybe: expected true or false");
  EXPECT_EQ(refusal("split", "rnadom"),
            "option split = rnadom: expected one of random, fold, none (did you mean 'random'?)");
}

TEST(Options, UnknownNamesGetASuggestion) {
  EXPECT_EQ(
      refusal("memroy", "3"),
      "option: found 'memroy' (did you mean 'memory'?), expected one of memory, sigma, shrink, split, seed, "
      "template");
  EXPECT_THROW(Options().set("x", "1"), Error);
}

TEST(Options, AFailedSetLeavesTheOldValue) {
  Options options(table());
  EXPECT_THROW(options.set("memory", "0"), Error);
  EXPECT_EQ(options.integer("memory"), 10);
}

TEST(Options, ReadingAsTheWrongTypeIsAnError) {
  const Options options(table());
  EXPECT_THROW(options.integer("sigma"), Error);
  EXPECT_THROW(options.real("split"), Error);
  EXPECT_THROW(options.boolean("memory"), Error);
  EXPECT_THROW(options.string("nothing"), Error);
}

TEST(OptionSpec, SaysItsTypeAndConstraint) {
  const OptionTable t = table();
  EXPECT_EQ(t[0].type_name(), "integer");
  EXPECT_EQ(t[1].type_name(), "real");
  EXPECT_EQ(t[2].type_name(), "bool");
  EXPECT_EQ(t[3].type_name(), "string");
  EXPECT_EQ(t[0].constraint(), "1 <= memory <= 1000");
  EXPECT_EQ(t[2].constraint(), "true or false");
  EXPECT_EQ(t[3].constraint(), "one of random, fold, none");
  EXPECT_EQ(t[5].constraint(), "any text");
  EXPECT_EQ((OptionSpec{"x", OptionType::kReal, "0", ""}).constraint(), "any real");
}

TEST(NumberText, IsThatOfPython) {
  const std::pair<double, const char*> texts[] = {
      {1e-5, "1e-05"},          {1e-4, "0.0001"},      {0.1, "0.1"}, {1e5, "100000"},
      {9999999.5, "9999999.5"}, {-2.5e16, "-2.5e+16"}, {0.0, "0"},   {1e300, "1e+300"}};
  for (const auto& [value, text] : texts) EXPECT_EQ(number_text(value), text);
}

TEST(ParseReal, TakesWholeFiniteNumbersOnly) {
  double x = 7;
  EXPECT_TRUE(parse_real("-1.25e2", x));
  EXPECT_EQ(x, -125.0);
  EXPECT_TRUE(parse_real("+3", x));
  EXPECT_EQ(x, 3.0);
  EXPECT_TRUE(parse_real("1e-400", x)) << "too small for a double reads as zero";
  EXPECT_EQ(x, 0.0);
  x = 7;
  for (const char* bad : {"", "+", "-", "+-1", "++1", "1 ", " 1", "1,5", "nan", "inf", "-inf", "infinity",
                          "1e400", "0x10", "1e", "1.0.0"})
    EXPECT_FALSE(parse_real(bad, x)) << bad;
  EXPECT_EQ(x, 7.0) << "untouched by a failure";
}

TEST(ParseInteger, TakesWhole64BitIntegersOnly) {
  std::int64_t n = 7;
  EXPECT_TRUE(parse_integer("-9223372036854775808", n));
  EXPECT_EQ(n, std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(parse_integer("+12", n));
  EXPECT_EQ(n, 12);
  for (const char* bad : {"", "+", "+-1", "1.0", "1e3", "0x1", "9223372036854775808", "1 "})
    EXPECT_FALSE(parse_integer(bad, n)) << bad;
  EXPECT_EQ(n, 12);
}

TEST(NearestName, FindsNearNamesOnly) {
  const std::vector<std::string> names{"prox-qn", "owl-qn", "prox-gd"};
  EXPECT_EQ(nearest_name("prox-qm", names), "prox-qn");
  EXPECT_EQ(nearest_name("owlqn", names), "owl-qn");
  EXPECT_EQ(nearest_name("newton", names), "");
  // A name of length 7 allows a distance of 1 + 7/3 = 3: three replacements, as in "abcdxyz", but not four.
  EXPECT_EQ(nearest_name("abcdxyz", {"abcdefg"}), "abcdefg");
  EXPECT_EQ(nearest_name("abcwxyz", {"abcdefg"}), "");
  EXPECT_EQ(did_you_mean("newton", names), "");
  EXPECT_EQ(did_you_mean("owlqn", names), " (did you mean 'owl-qn'?)");
}

TEST(NearestName, LongNamesTakeNoQuadraticTime) {
  const std::string word(1'000'000, 'a'), other = word + 'b';
  EXPECT_EQ(nearest_name(word, {other}), "");
  EXPECT_EQ(nearest_name("owlqn", {other, "owl-qn"}), "owl-qn");
}

TEST(Options, AutoMayStandForARealNumberWhereTheTableSaysSo) {
  const OptionTable table = {{.name = "rate",
                              .type = OptionType::kReal,
                              .default_value = "auto",
                              .help = "",
                              .min = 0,
                              .min_open = true,
                              .automatic = true},
                             {.name = "plain", .type = OptionType::kReal, .default_value = "1", .help = ""}};
  Options options(table);
  EXPECT_TRUE(std::isnan(options.real("rate")));
  options.set("rate", "0.5");
  EXPECT_EQ(options.real("rate"), 0.5);
  options.set("rate", "auto");
  EXPECT_TRUE(std::isnan(options.real("rate")));
  EXPECT_EQ(table[0].constraint(), "0 < rate, or auto");
  for (const auto& [name, text] : {std::pair{"plain", "auto"}, {"rate", "automatic"}, {"rate", "0"}})
    EXPECT_THROW(options.set(name, text), Error) << text;
}

TEST(Options, APresetSetsTheDefaultsOfTheOthers) {
  const OptionTable table{
      {.name = "preset", .default_value = "fast", .help = "", .choices = {"fast", "paper"}},
      {.name = "memory",
       .type = OptionType::kInt,
       .default_value = "40",
       .help = "",
       .preset_values = {{"paper", "10"}}},
      {.name = "seed", .type = OptionType::kInt, .default_value = "1", .help = ""}};
  Options options(table);
  EXPECT_EQ(options.integer("memory"), 40);
  options.set("preset", "paper");
  EXPECT_EQ(options.integer("memory"), 10);
  EXPECT_EQ(options.integer("seed"), 1);
  options.set("memory", "7");
  EXPECT_EQ(options.integer("memory"), 7);
  Options other(table);  // values set explicitly stay, even if the preset is set later
  other.set("memory", "40");
  other.set("preset", "paper");
  EXPECT_EQ(other.integer("memory"), 40);
  EXPECT_EQ(other.items(), (std::vector<std::pair<std::string, std::string>>{
                               {"preset", "paper"}, {"memory", "40"}, {"seed", "1"}}));
}

}  // namespace
}  // namespace proxbench
