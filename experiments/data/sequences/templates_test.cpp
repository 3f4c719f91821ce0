#include "experiments/data/sequences/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "experiments/base/test_file.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Templates parse(const std::string& text) {
  return Templates(LineReader(text, "t"));
}

std::string error_in(const std::string& text) {
  return error_of([&] { parse(text); });
}

constexpr std::int64_t kAsFarAsTemplatesReach = std::numeric_limits<std::int64_t>::max();
const Padding kNumbered{kAsFarAsTemplatesReach, true, "_B", "_B"};

/// Returns the attributes of a token in "He PRP / ate VBD / it PRP".
std::vector<std::string> attributes(const std::string& text, std::size_t position,
                                    const Padding& padding = kNumbered) {
  Templates templates = parse(text);
  for (Templates::Column& column : templates.columns())
    column.place = column.name == "1" || column.name == "pos" ? 1 : 0;
  const Sentence sentence{2, {"He", "PRP", "ate", "VBD", "it", "PRP"}};
  std::vector<std::string> out;
  templates.attributes(sentence, position, padding, [&](std::string_view name) { out.emplace_back(name); });
  return out;
}

TEST(Templates, MacrosStandForCells) {
  EXPECT_THAT(attributes("U00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nU02:%x[1,1]|\n", 1),
              ElementsAre("00:ate", "01:He/VBD", "02:PRP|"));
  EXPECT_THAT(attributes("Uw=%x[0,word]\nUp=%x[ +1 , pos ]\n", 0), ElementsAre("w=He", "p=VBD"));
  EXPECT_THAT(attributes("u:%X[0,0]%x[0,0]\n", 0), ElementsAre(":heHe")) << "%X is in lower case";
}

TEST(Templates, CommentsAndBlankLinesSayNothing) {
  EXPECT_THAT(attributes("# Unigram\n\n  \t\nU00:%x[0,0]  # the word\n  U01:#%x[0,1] \nB\n", 0),
              ElementsAre("00:He", "01:#PRP"));
}

TEST(Templates, LinesWithoutMacrosAreOneAttributeOfEveryToken) {
  EXPECT_THAT(attributes("U\nUalways\n", 1), ElementsAre("bias", "always"));
  EXPECT_THAT(attributes("*\n", 1), ElementsAre("bias")) << "and the transitions, as in Wapiti";
  EXPECT_THAT(attributes("*one\n", 1), ElementsAre("one"));
}

TEST(Templates, RowsBeyondTheSentenceAreNumberedAsInCrfPlusPlus) {
  const char* text = "U0:%x[-2,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%x[1,0]/%x[2,0]/%x[3,0]\n";
  EXPECT_THAT(attributes(text, 0), ElementsAre("0:_B-2", "1:_B-1/He", "2:ate/it/_B+1"));
  EXPECT_THAT(attributes(text, 2), ElementsAre("0:He", "1:ate/it", "2:_B+1/_B+2/_B+3"));
}

TEST(Templates, SymbolsOfOnesOwnStandForAllRowsOfThePadding) {
  const char* text = "U0:%x[-2,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%x[1,0]/%x[2,0]/%x[3,0]\n";
  const Padding two{2, false, "<s>", "</s>"};
  EXPECT_THAT(attributes(text, 0, two), ElementsAre("0:<s>", "1:<s>/He", "2:ate/it/</s>"));
  EXPECT_THAT(attributes(text, 2, two), ElementsAre("0:He", "1:ate/it"))
      << "the third would reach 3 tokens on";
}

TEST(Templates, ThoseThatReachBeyondThePaddingGiveNothing) {
  const char* text = "U0:%x[-2,0]\nU1:%x[-1,0]\nU2:%x[0,0]\nU3:%x[0,0]|%x[3,0]\n";
  EXPECT_THAT(attributes(text, 0, {1, false, "<s>", "</s>"}), ElementsAre("1:<s>", "2:He", "3:He|</s>"));
  EXPECT_THAT(attributes(text, 0, {}), ElementsAre("2:He"));
  EXPECT_THAT(attributes("U:%x[-1000,0]%x[1000,0]\n", 1), ElementsAre(":_B-999_B+999"));
}

TEST(Templates, WhatAChainCannotExpressIsAnError) {
  EXPECT_EQ(error_in("U\nB01:%x[0,0]\n"),
            "t:2: found 'B01:%x[0,0]': weights of pairs of labels for each attribute, expected B without "
            "%x[ROW,COLUMN]: a chain has one weight for each pair of labels");
  EXPECT_THAT(error_in("*:%x[0,0]\n"), HasSubstr("expected * without %x[ROW,COLUMN]"));
  EXPECT_EQ(
      error_in("U\nB\n\nB02\n"),
      "t:4: found 'B02': a second line for pairs of labels, expected one: a chain has one weight for each "
      "pair of labels");
  EXPECT_THAT(error_in("B%t[0,0,\"\\u\"]\n"), HasSubstr("weights of pairs of labels for each attribute"));
}

TEST(Templates, RegularExpressionsAreThoseOfPcre2WithTheClassesOfWapiti) {
  if (error_in("U%t[0,0,\"a\"]").find("built without PCRE2") != std::string::npos) GTEST_SKIP() << "no PCRE2";
  // "He PRP / ate VBD / it PRP", as the manual of Wapiti has it.
  EXPECT_THAT(attributes("Ua:%t[0,0,\"^\\u\"]\nUb:%t[0,0,\"^\\u\\u*$\"]/%t[0,1,\"^\\u\\u*$\"]\n", 0),
              ElementsAre("a:true", "b:false/true"));
  EXPECT_THAT(attributes("U:%m[0,1,\"^.?.?\"]-%M[-1,0,\"^.\"]-%m[0,0,\"[t\\U]+$\"]\n", 1),
              ElementsAre(":VB-h-ate"));
  EXPECT_THAT(attributes("U:%m[0,0,\"\\d\"]|\nU%m[0,0,\"\\d\"]\n", 0), ElementsAre(":|"))
      << "what matches nothing is empty, and an empty attribute is none";
  EXPECT_THAT(attributes("U:%m[-1,0,\"\\p\"]%m[1,0,\"[]%,]|[^a]$\"]\n", 2), ElementsAre(":1"))
      << "symbols of the padding as well: _B+1; and macros may hold brackets, commas and %";
  EXPECT_THAT(attributes("U:%T[0,1,\"prp\"]%t[0,1,\"(?i)prp|\\\"\"]\n", 0), ElementsAre(":falsetrue"));
  EXPECT_EQ(pcre2_pattern("\\a\\D[^]\\l[:digit:]\\W]\\.\\w"),
            "[[:alpha:]][[:^digit:]][^][:lower:][:digit:][:^alnum:]]\\.[[:alnum:]]");
  EXPECT_THAT(error_in("U\nU:%t[0,0,\"(\"]\n"),
              HasSubstr("t:2: found regular expression '(', expected one that PCRE2 takes: missing closing"));
  for (const char* macro : {"%t", "%m", "%T[0,0]", "%M[0,0,]", "%t[0,0,\"x]", "%m[0,0,\"x\""})
    EXPECT_EQ(error_in(std::string("U:") + macro + "\n"),
              std::string("t:1: found '") + macro + "', expected %t[ROW,COLUMN,\"REGEX\"] or %m[...]");
  EXPECT_THAT(error_in("U:%t[0,x,\"x\"]\n"), HasSubstr("found column 'x'"));
}

TEST(Templates, MalformedLinesAreNamed) {
  EXPECT_EQ(error_in("U\nw[0]=%x[0,0]\n"),
            "t:2: found 'w[0]=%x[0,0]', expected U and a template, B, * or a comment after #");
  for (const char* macro : {"%", "%x", "%y[0,0]", "%x[0]", "%x[0,0", "%x(0,0)"})
    EXPECT_EQ(error_in(std::string("U:") + macro + "\n"),
              std::string("t:1: found '") + macro + "', expected %x[ROW,COLUMN]");
  for (const char* row : {"", "a", "@0", "*1", "1001", "-1001", "0.5"})
    EXPECT_EQ(error_in(std::string("U:%x[") + row + ",0]\n"),
              std::string("t:1: found row '") + row + "' in '%x[" + row +
                  ",0]', expected an integer from -1000 to 1000, counted from the token");
  for (const char* column : {"", "-1", "label", "0,0"})
    EXPECT_EQ(error_in(std::string("U:%x[0,") + column + "]\n"),
              std::string("t:1: found column '") + column + "' in '%x[0," + column +
                  "]', expected an integer from 0, word or pos");
}

TEST(Templates, AFileWithoutAttributesIsAnError) {
  for (const char* text : {"", "# nothing\n\n", "B\n"})
    EXPECT_EQ(error_in(text), "t: found no template that makes attributes, expected at least one line U...");
}

TEST(Templates, LowerCaseIsThatOfAscii) {
  std::string text = "A Z[\xC3\x89t\xC3\xA9]@z";
  to_lowercase(text);
  EXPECT_EQ(text, "a z[\xC3\x89t\xC3\xA9]@z");
}

}  // namespace
}  // namespace proxbench
