#include "experiments/ini.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proxbench {
namespace {

using testing::ElementsAre;

TEST(Ini, KeepsSectionsKeysValuesAndLines) {
  Problems problems;
  const Ini ini =
      parse_ini("# first\n[a]\nx = 1 ; why\n  y=2#3 \n\n[ b.c ]\r\nlist = p, q\r\n", "f.ini", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(ini.sections.size(), 2u);
  EXPECT_EQ(ini.find("a")->find("x")->value, "1");
  EXPECT_EQ(ini.find("a")->find("x")->where.text(), "f.ini:3");
  EXPECT_EQ(ini.find("a")->find("y")->value, "2#3");  // a comment needs white space before it
  EXPECT_EQ(ini.find("b.c")->find("list")->where.line, 7u);
  EXPECT_EQ(ini.find("z"), nullptr);
  EXPECT_EQ(ini.find("a")->find("z"), nullptr);
}

TEST(Ini, ABackslashAtTheEndOfALineJoinsTheNext) {
  Problems problems;
  const Ini ini =
      parse_ini("[a]\nx = one \\ ; why\n   two\\\n\ny = 2 # no more \\\nz = last \\", "f.ini", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(ini.find("a")->find("x")->value, "one two");
  EXPECT_EQ(ini.find("a")->find("y")->value, "2");
  EXPECT_EQ(ini.find("a")->find("y")->where.line, 5u);
  EXPECT_EQ(ini.find("a")->find("z")->value, "last");
}

TEST(Ini, ReportsEverythingThatIsWrongAtOnce) {
  Problems problems;
  parse_ini("early = 1\n[a]\nx = 1\njunk\nx = 2\n[a]\n[broken\nlost = 1\n[]\n= 3\n", "f.ini", problems);
  EXPECT_THAT(problems.lines(),
              ElementsAre("f.ini:1: found key 'early' outside a section, expected [section] first",
                          "f.ini:4: found 'junk', expected [section] or key = value",
                          "f.ini:5: found key 'x' again in [a], expected it once (first at line 3)",
                          "f.ini:6: found section [a] again, expected it once (first at line 2)",
                          "f.ini:7: found '[broken', expected [section] or [section.name]",
                          "f.ini:9: found '[]', expected [section] or [section.name]",
                          "f.ini:10: found '= 3', expected [section] or key = value"));
}

TEST(Ini, ManySectionsAndKeysTakeNoQuadraticTime) {
  constexpr std::size_t kMany = 200'000;
  std::string sections, keys = "[a]\n";
  for (std::size_t i = 0; i < kMany; ++i) {
    sections += fmt::format("[s{}]\n", i);
    keys += fmt::format("k{}=\n", i);
  }
  Problems problems;
  EXPECT_EQ(parse_ini(sections, "f.ini", problems).sections.size(), kMany);
  EXPECT_EQ(parse_ini(keys, "f.ini", problems).sections[0].entries.size(), kMany);
  EXPECT_TRUE(problems.empty());
}

TEST(Ini, LongNamesAreCutInMessages) {
  Problems problems;
  std::string text = "[" + std::string(10'000, 's') + "]\nk=\n";
  for (int i = 0; i < 1000; ++i) text += "k=\n";
  parse_ini(text, "f.ini", problems);
  ASSERT_EQ(problems.lines().size(), 1000u);
  EXPECT_EQ(problems.lines()[0], "f.ini:3: found key 'k' again in [" + std::string(60, 's') +
                                     "...], expected it once (first at line 2)");
}

TEST(Ini, OverridesReplaceAndAdd) {
  Problems problems;
  Ini ini = parse_ini("[solver.a.b]\nm = 1\n", "f.ini", problems);
  apply_override(ini, "solver.a.b.m=2", problems);
  apply_override(ini, "plot.x = y=z", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(ini.find("solver.a.b")->find("m")->value, "2");
  EXPECT_EQ(ini.find("solver.a.b")->find("m")->where.text(), "--set solver.a.b.m=2");
  EXPECT_EQ(ini.find("plot")->find("x")->value, "y=z");
}

TEST(Ini, RefusesOverridesWithoutSectionKeyOrValue) {
  for (const char* bad : {"nothing", "x=1", ".x=1", "a.=1", "a.x=1 # no"}) {
    Problems problems;
    Ini ini;
    apply_override(ini, bad, problems);
    ASSERT_EQ(problems.lines().size(), 1u) << bad;
    EXPECT_THAT(problems.lines()[0], testing::HasSubstr(std::string("--set ") + bad + ": found ")) << bad;
    EXPECT_TRUE(ini.sections.empty()) << bad;
  }
}

TEST(Ini, ListsAreSplitAtCommas) {
  EXPECT_THAT(split_list(" a, b ,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_list("a,,"), ElementsAre("a", "", ""));
  EXPECT_THAT(split_list("  "), ElementsAre());
}

TEST(Problems, AreSortedByLineAndThrownTogether) {
  Problems problems;
  problems.add({"f", 0}, "whole");
  problems.add({"f", 9}, "late");
  problems.add({"f", 2}, "early");
  try {
    problems.throw_if_any("f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "f: 3 errors\nf:2: early\nf:9: late\nf: whole");
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace proxbench
