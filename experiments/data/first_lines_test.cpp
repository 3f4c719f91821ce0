#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "experiments/data/files.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

std::string repeated(const std::string& text) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += text;
  return out;
}

/// A typical file of each text format.
const std::map<std::string, std::string> kFiles{
    {"crfsuite", "B\tw=the\tpos=DT\tbias\nI\tw=cat\tbias\n\nO\tw=sat\tw[-1]=cat\tpos=VB\tbias\n"},
    {"conll", "the DT B-NP\ncat NN I-NP\nsat VBD B-VP\n\non IN B-PP\nmats NNS B-NP\n"},
    {"crfsparse", "B 1:1 7:1\nI 3:1 9:0.5 11:1\n\nO 2:1\nB 4:1 5:1\n"},
    {"lshtc", "33 0:1 5:2 8:1\n12 0:2 6:1\n33 0:3 7:4 9:1 12:1\n"},
    {"libsvm", repeated("+1 3:1 11:0.5\n-1 2:1\n+1 3:1 4:1 19:1\n")},
    {"rerank", "0.95\tbase:-3.5\tx=1\n1.0\tbase:-4\ty\n\n0.5\tbase:-1\n0.25\tbase:-2\tz\n"},
    {"arff", "@relation words\n@attribute a {0,1}\n@attribute l {0,1}\n@data\n1,0\n0,1\n"},
};

TEST(FirstLines, NoFileIsTakenForAnotherFormatThanItsOwn) {
  for (const auto& [format, text] : kFiles) {
    const TempFile file(text);
    EXPECT_EQ(other_format(format, file.path()), "") << format;
  }
}

/// Checks the message of `train --format ASKED` for a file of `format`.
TEST(FirstLines, EveryPairOfFormatsIsToldInOneSentence) {
  // The lines fit the asked format as well.
  const std::set<std::pair<std::string, std::string>> silent{
      {"crfsuite", "rerank"}, {"lshtc", "libsvm"}, {"lshtc", "crfsparse"}};
  for (const auto& [asked, unused] : kFiles)
    for (const auto& [format, text] : kFiles) {
      if (asked == format || silent.contains({asked, format})) continue;
      SCOPED_TRACE(asked + " on a file of " + format);
      const TempFile file(text), tree("1 33\n1 12\n");
      const Settings options = asked == "arff" ? Settings{{"label_count", "1"}} : Settings{};
      std::string said;
      try {
        const DataPair pair =
            read_data(asked, {{file.path()}, {}, asked == "lshtc" ? tree.path() : ""}, options);
        ASSERT_FALSE(pair.train.doubts.empty());
        said = pair.train.doubts.front() + "?";
      } catch (const Error& error) {
        said = error.what();
        EXPECT_THAT(said, EndsWith("?"));
      }
      EXPECT_THAT(said, HasSubstr("`--format " + format + "`"));
      EXPECT_THAT(said, HasSubstr(file.path()));
    }
}

TEST(FirstLines, AFileWithoutTabIsNoCrfsuiteFile) {
  EXPECT_EQ(error_in_text("crfsuite", "\n" + kFiles.at("conll")),
            " line 2 has no TAB; is this `--format conll`?");
  EXPECT_EQ(error_in_text("crfsuite", "the cat sat\non the mats at home\n"),
            " line 1 has no TAB, expected label TAB attribute[:value] TAB ...");
  const TempFile good("A\tx\nB\ty\n"), bad("the DT B\n");
  EXPECT_THAT(error_of([&] {
                read_data("crfsuite", {{good.path()}, {bad.path()}, ""});
              }),
              HasSubstr(bad.path() + ": line 1 has no TAB"));
}

TEST(FirstLines, ValidDataAreNeitherRefusedNorDoubted) {
  for (const auto& [format, text] : std::vector<std::pair<const char*, const char*>>{
           {"crfsuite", "O\nB-NP\n\nO\n"},                   // labels without attributes
           {"crfsuite", "O\nB NP\nO\tx\n"},                  // a label with a blank, an attribute later
           {"crfsuite", "1\ta:1\n0\tb:2.5\n0.5\tc\n"},       // labels that are numbers
           {"crfsuite", "a 1:2\tb\nc\td\n"},                 // names with blanks
           {"conll", "the\tDT\tB\ncat\tNN\tI\n"},            // columns after TABs
           {"conll", "1 the a=b|c=d DT B\n2 cat _ NN I\n"},  // morphology
           {"conll", "12:30 0.5 1:2 B\n1 2 3 I\n"},          // times
           {"crfsparse", "B 1:1\nI 2:1\n\n: 2:1\n"},         // a colon as label
           {"libsvm", "1 1:0 2:0\n2 1:0.5 2:1\n\n"},         // dense, and an empty line at the end
           {"libsvm", "1\n2 1:0.5\n"}}) {                    // a row without features
    EXPECT_THAT(read_texts(format, text, "").train.doubts, IsEmpty()) << format << ": " << text;
  }
  EXPECT_THAT(read_texts("libsvm", "1 0:0.5 1:1\n2 0:1 1:2\n3 0:0.5 1:1\n", "", {{"zero_based", "true"}})
                  .train.doubts,
              IsEmpty());
}

TEST(FirstLines, OnlyTheFirstHundredLinesAreJudged) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "O\n";
  const TempFile file(text + "a label of blanks\n");
  EXPECT_EQ(other_format("crfsuite", file.path()), "");
  EXPECT_EQ(other_format("conll", "/dev/null"), "") << "no regular file";
}

TEST(FirstLines, OfAPipeAreThoseThatWait) {
  for (const auto& [format, text] : kFiles) {
    EXPECT_EQ(other_format(format, "/dev/null", text), "") << format;
    if (format == "conll" || format == "crfsuite") continue;  // the attributes of crfsuite may be columns
    EXPECT_EQ(other_format("conll", "/dev/null", text), format);
  }
  EXPECT_THAT(error_of([] { other_format("crfsuite", "-", kFiles.at("conll")); }),
              HasSubstr("standard input: line 1 has no TAB; is this `--format conll`?"));
  EXPECT_EQ(other_format("crfsuite", "-", "the DT B-NP\n"), "") << "one line says too little";
  EXPECT_EQ(other_format("crfsuite", "-", "\x1f\x8b\n...\n"), "") << "it is gzipped";
}

TEST(Doubts, AValueBehindAnEqualsSignIsSaidOnce) {
  const DataPair data = read_texts("crfsuite", "A\tw=12:30\tw=9:15\nB\tw=x:2\n", "A\tw=9:15\n");
  EXPECT_THAT(data.train.doubts,
              ElementsAre("'w=12:30' is read as 'w=12' with the value 30: a colon inside a "
                          "name is written \\:"));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("w=12", "w=9", "w=x"))
      << "they stay what they were";
  EXPECT_THAT(read_texts("crfsuite", "A\tw=x:1\tlength=a:0.5\tx:3\tw=12\\:30\n", "").train.doubts, IsEmpty());
}

TEST(Values, WhoseProductsOverflowAreErrors) {
  const std::string expected =
      ", expected at most 1e+150 in absolute value: products of larger ones overflow";
  EXPECT_EQ(error_in_text("crfsuite", "A\tx\nB\tx:1e151\n"), "2: found a feature value of 1e+151" + expected);
  EXPECT_EQ(error_in_text("crfsuite", "A\tx:6e149\tx:6e149\n"),
            "1: found a feature value of 1.2e+150" + expected);
  EXPECT_EQ(error_in_text("libsvm", "1 1:1\n2 1:-1e308\n"), "2: found a feature value of -1e+308" + expected);
  EXPECT_EQ(error_in_text("crfsparse", "A 1:1\n\nB 1:1e200\n"),
            "3: found a feature value of 1e+200" + expected);
  EXPECT_EQ(error_in_text("rerank", "1\tbase:1e200\n"), "1: found a feature value of 1e+200" + expected);
  EXPECT_EQ(error_in_text("arff", "@relation r\n@attribute a real\n@attribute l {0,1}\n@data\n1e200,1\n",
                          {{"label_count", "1"}}),
            "5: found a feature value of 1e+200" + expected);
  EXPECT_NO_THROW(read_texts("libsvm", "1 1:1e308\n2 1:-1e307\n", "", {{"scale", "max"}}))
      << "at most 1 then";
  EXPECT_NO_THROW(read_texts("crfsuite", "A\tx:1e150\nB\tx:1e-300\n", ""));
}

}  // namespace
}  // namespace proxbench
