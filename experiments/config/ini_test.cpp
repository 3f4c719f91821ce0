#include "experiments/config/ini.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::ElementsAre;

TEST(Ini, KeepsSectionsKeysValuesAndLines) {
  Problems problems;
  const Ini ini =
      parse_ini("# first\n[a]\nx = 1 ; why\n  y=2#3 \n\n[ b.c ]\r\nlist = p, q\r\n", "f.ini", "", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(ini.sections.size(), 2u);
  EXPECT_EQ(ini.find("a", "x")->value, "1");
  EXPECT_EQ(ini.find("a", "x")->where.text(), "f.ini:3:1");
  EXPECT_EQ(ini.find("a", "x")->at().text(), "f.ini:3:5");
  EXPECT_EQ(ini.find("a", "y")->where.text(), "f.ini:4:3");
  EXPECT_EQ(ini.sections.find("b.c")->where.text(), "f.ini:6:3");
  EXPECT_EQ(ini.find("a", "y")->value, "2#3");  // a comment needs white space before it
  EXPECT_EQ(ini.find("b.c", "list")->where.line, 7u);
  EXPECT_EQ(ini.sections.find("z"), nullptr);
  EXPECT_EQ(ini.find("a", "z"), nullptr);
}

TEST(Ini, ABackslashAtTheEndOfALineJoinsTheNext) {
  Problems problems;
  const Ini ini =
      parse_ini("[a]\nx = one \\ ; why\n   two\\\n\ny = 2 # no more \\\nz = last \\", "f.ini", "", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(ini.find("a", "x")->value, "one two");
  EXPECT_EQ(ini.find("a", "y")->value, "2");
  EXPECT_EQ(ini.find("a", "y")->where.line, 5u);
  EXPECT_EQ(ini.find("a", "z")->value, "last");
}

TEST(Ini, ReportsEverythingThatIsWrongAtOnce) {
  Problems problems;
  parse_ini("early = 1\n[a]\nx = 1\njunk\nx = 2\n[a]\n[broken\nlost = 1\n[]\n= 3\n", "f.ini", "", problems);
  EXPECT_THAT(problems.lines(),
              ElementsAre("f.ini:1:1: found key 'early' outside a section, expected [section] first",
                          "f.ini:4:1: found 'junk', expected [section] or key = value",
                          "f.ini:5:1: found key 'x' again in [a], expected it once (first at line 3)",
                          "f.ini:6:2: found section [a] again, expected it once (first at line 2)",
                          "f.ini:7:1: found '[broken', expected [section] or [section.name]",
                          "f.ini:9:1: found '[]', expected [section] or [section.name]",
                          "f.ini:10:1: found '= 3', expected [section] or key = value"));
}

TEST(Ini, EveryByteOfAValueHasALineAndAColumn) {
  Problems problems;
  const Ini ini =
      parse_ini("\xEF\xBB\xBF[a]\n\tx = one, \\ ; why\n   two\ny =\nz = \\\n  late\n", "f.ini", "", problems);
  ASSERT_TRUE(problems.empty());
  const IniEntry& x = *ini.find("a", "x");
  const std::vector<ListPart> parts = list_parts(x.value);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(x.where.text(), "f.ini:2:2");
  EXPECT_EQ(x.at(parts[0].offset).text(), "f.ini:2:6");
  EXPECT_EQ(x.at(parts[1].offset).text(), "f.ini:3:4");
  EXPECT_EQ(x.at(parts[1].offset + 2).text(), "f.ini:3:6");
  EXPECT_EQ(ini.find("a", "y")->at().text(), "f.ini:4:4");
  EXPECT_EQ(ini.find("a", "z")->at().text(), "f.ini:6:3");
}

TEST(Ini, LongAndUnprintableTextIsShownCut) {
  Problems problems;
  parse_ini(std::string(1000, 'k') + "=1\na\x01z\n", "f.ini", "", problems);
  EXPECT_THAT(problems.lines(), ElementsAre("f.ini:1:1: found key '" + std::string(60, 'k') +
                                                "...' outside a section, expected [section] first",
                                            "f.ini:2:1: found 'a\\x01z', expected [section] or key = value"));
}

TEST(Ini, IncludedFilesComeFirstAndAreOverriddenKeyByKey) {
  const TestFolder folder;
  folder.write("common/base.ini", "[a]\nx = base\ny = base\n[b]\nx = base\n");
  folder.write("common/more.ini", "include = base.ini\n[c]\nz = more\n[b]\nx = more\n");
  const auto file = folder.write(
      "main.ini", "include = common/base.ini, \\\n  common/more.ini\n[d]\n[a]\ny = main\nz = main\n");
  Problems problems;
  const Ini ini = read_ini(file, problems);
  EXPECT_THAT(problems.lines(), ElementsAre());
  std::vector<std::string> names;
  for (const IniSection& section : ini.sections) names.push_back(section.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(ini.find("a", "x")->value, "base");
  EXPECT_EQ(ini.find("a", "y")->value, "main");
  EXPECT_EQ(ini.find("a", "z")->value, "main");
  EXPECT_EQ(ini.find("b", "x")->value, "more");
  EXPECT_EQ(ini.find("a", "y")->at().text(), file.string() + ":5:5");
  EXPECT_EQ(ini.find("a", "x")->at().text(), (folder / "common/base.ini").string() + ":2:5");
  EXPECT_EQ(ini.folder_of(ini.find("a", "x")->where), folder / "common");
  EXPECT_EQ(ini.folder_of(ini.find("a", "y")->where), folder.path());
  std::vector<std::string> files;
  for (const IniFile& read : ini.files) files.push_back(read.name);
  EXPECT_THAT(files, ElementsAre(file.string(), (folder / "common/base.ini").string(),
                                 (folder / "common/more.ini").string()));
}

/// Returns the errors in main.ini, without the name of the folder.
std::vector<std::string> problems_of_main(const TestFolder& folder) {
  Problems problems;
  read_ini(folder / "main.ini", problems);
  std::vector<std::string> lines = problems.lines();
  const std::string prefix = folder.path().string() + "/";
  for (std::string& line : lines)
    for (std::size_t at = line.find(prefix); at != line.npos; at = line.find(prefix))
      line.erase(at, prefix.size());
  return lines;
}

TEST(Ini, IncludesThatCannotBeReadAreErrorsWithTheChainThatLeadsToThem) {
  const TestFolder folder;
  folder.write("main.ini", "include = sub/a.ini, none.ini, sub, , /dev/null\n[s]\ninclude = b.ini\n");
  folder.write("sub/a.ini", "include = ../none.ini, ../main.ini, a.ini\nbad\n");
  EXPECT_THAT(
      problems_of_main(folder),
      ElementsAre(
          "main.ini:1:22: include: found 'none.ini', expected a config file, but there is none of this name "
          "(main.ini -> none.ini)",
          "main.ini:1:32: include: found 'sub', expected a config file, but it is a folder (main.ini -> sub)",
          "main.ini:1:37: include: found nothing between commas, expected a file",
          "main.ini:1:39: include: found '/dev/null', expected a config file that can be read (main.ini -> "
          "/dev/null)",
          "main.ini:3:1: found 'include' in a section, expected it in front of the first one",
          "sub/a.ini:1:11: include: found '../none.ini', expected a config file, but there is none of this "
          "name "
          "(main.ini -> sub/a.ini -> none.ini)",
          "sub/a.ini:1:24: include: found '../main.ini', expected no file that includes itself "
          "(main.ini -> sub/a.ini -> main.ini)",
          "sub/a.ini:1:37: include: found 'a.ini', expected no file that includes itself "
          "(main.ini -> sub/a.ini -> sub/a.ini)",
          "sub/a.ini:2:1: found 'bad', expected [section] or key = value"));
}

TEST(Ini, ACycleIsFoundThroughLinksToo) {
  const TestFolder folder;
  folder.write("main.ini", "include = link.ini\n");
  std::filesystem::create_symlink(folder / "main.ini", folder / "link.ini");
  EXPECT_THAT(problems_of_main(folder),
              ElementsAre("main.ini:1:11: include: found 'link.ini', expected no file that includes itself "
                          "(main.ini -> link.ini)"));
}

TEST(Ini, IncludesThatShareFilesAreReadOnce) {
  const TestFolder folder;
  constexpr int kFiles = 40;  // reading a file once per chain of includes would take 2^40 reads
  for (int i = 0; i < kFiles; ++i) {
    const std::string next = std::to_string(i + 1) + ".ini";
    folder.write(std::to_string(i) + ".ini", "include = " + next + ", ./" + next + "\n");
  }
  folder.write(std::to_string(kFiles) + ".ini", "[a]\n");
  folder.write("main.ini", "include = 0.ini\n");
  Problems problems;
  EXPECT_EQ(read_ini(folder / "main.ini", problems).files.size(), kFiles + 2u);
  EXPECT_TRUE(problems.empty());
}

TEST(Ini, TextInMemoryIncludesNothingUnlessAFolderIsGiven) {
  const TestFolder folder;
  folder.write("a.ini", "[a]\nx = 1\n");
  Problems problems, refused;
  EXPECT_EQ(parse_ini("include = a.ini\n", "memory", "", refused).sections.size(), 0u);
  EXPECT_THAT(refused.lines(), ElementsAre("memory:1:11: include: found 'a.ini', expected no include in a "
                                           "text that stands in no folder"));
  const Ini ini = parse_ini("include = a.ini\n", "memory", folder.path(), problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(ini.find("a", "x")->value, "1");
}

TEST(Ini, ManySectionsAndKeysTakeNoQuadraticTime) {
  constexpr std::size_t kMany = 200'000;
  std::string sections, keys = "[a]\n";
  for (std::size_t i = 0; i < kMany; ++i) {
    sections += fmt::format("[s{}]\n", i);
    keys += fmt::format("k{}=\n", i);
  }
  Problems problems;
  EXPECT_EQ(parse_ini(sections, "f.ini", "", problems).sections.size(), kMany);
  EXPECT_EQ(parse_ini(keys, "f.ini", "", problems).sections.find("a")->entries.size(), kMany);
  EXPECT_TRUE(problems.empty());
}

TEST(Ini, LongNamesAreCutInMessages) {
  Problems problems;
  std::string text = "[" + std::string(10'000, 's') + "]\nk=\n";
  for (int i = 0; i < 1000; ++i) text += "k=\n";
  parse_ini(text, "f.ini", "", problems);
  ASSERT_EQ(problems.lines().size(), 1000u);
  EXPECT_EQ(problems.lines()[0], "f.ini:3:1: found key 'k' again in [" + std::string(60, 's') +
                                     "...], expected it once (first at line 2)");
}

TEST(Ini, OverridesReplaceAndAdd) {
  Problems problems;
  Ini ini = parse_ini("[solver.a.b]\nm = 1\n", "f.ini", "", problems);
  apply_override(ini, "solver.a.b.m=2", problems);
  apply_override(ini, "plot.x = y=z", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(ini.find("solver.a.b", "m")->value, "2");
  EXPECT_EQ(ini.find("solver.a.b", "m")->where.text(), "--set solver.a.b.m=2");
  EXPECT_EQ(ini.find("plot", "x")->value, "y=z");
}

TEST(Ini, RefusesOverridesWithoutSectionKeyOrValue) {
  for (const char* bad : {"nothing", "x=1", ".x=1", "a.=1", "a.x=1 # no"}) {
    Problems problems;
    Ini ini;
    apply_override(ini, bad, problems);
    ASSERT_EQ(problems.lines().size(), 1u) << bad;
    EXPECT_THAT(problems.lines()[0], testing::HasSubstr(std::string("--set ") + bad + ": found ")) << bad;
    EXPECT_EQ(ini.sections.size(), 0u) << bad;
  }
}

TEST(Ini, ListsAreSplitAtCommas) {
  EXPECT_THAT(split_list(" a, b ,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_list("a,,"), ElementsAre("a", "", ""));
  EXPECT_THAT(split_list("  "), ElementsAre());
  EXPECT_THAT(split_list("1, path(9, 1, 4), path(2"), ElementsAre("1", "path(9, 1, 4)", "path(2"));
  const std::vector<ListPart> parts = list_parts(" a,  ,bc");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].offset, 1u);
  EXPECT_EQ(parts[1].offset, 5u);
  EXPECT_EQ(parts[2].offset, 6u);
}

TEST(Problems, AreSortedByFileLineAndColumnAndThrownTogether) {
  Problems problems;
  problems.add({"f", 0}, "whole");
  problems.add({"--set", 0, 0, Location::kNoFile}, "flag");
  problems.add({"g", 1, 1, 1}, "included");
  problems.add({"f", 9, 12}, "later");
  problems.add({"f", 9, 3}, "late");
  problems.add({"f", 2}, "early");
  try {
    problems.throw_if_any("f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "f: 6 errors\nf:2: early\nf:9:3: late\nf:9:12: later\nf: whole\ng:1:1: included\n--set: flag");
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace proxbench
