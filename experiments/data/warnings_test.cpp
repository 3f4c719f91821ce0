#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/data/files.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string repeated(const std::string& text) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += text;
  return out;
}

TEST(Warnings, ValidDataAreNeitherRefusedNorWarnedOf) {
  for (const auto& [format, text] : std::vector<std::pair<const char*, const char*>>{
           {"crfsuite", "1\ta:1\n0\tb:2.5\n0.5\tc\n"},       // labels that are numbers
           {"crfsuite", "a 1:2\tb\nc\td\n"},                 // names with blanks
           {"conll", "the\tDT\tB\ncat\tNN\tI\n"},            // columns after TABs
           {"conll", "1 the a=b|c=d DT B\n2 cat _ NN I\n"},  // morphology
           {"conll", "12:30 0.5 1:2 B\n1 2 3 I\n"},          // times
           {"crfsparse", "B 1:1\nI 2:1\n\n: 2:1\n"},         // a colon as label
           {"libsvm", "1 1:0 2:0\n2 1:0.5 2:1\n\n"},         // dense, and an empty line at the end
           {"libsvm", "1\n2 1:0.5\n"}}) {                    // a row without features
    EXPECT_THAT(read_texts(format, text, "").train.warnings, IsEmpty()) << format << ": " << text;
  }
  EXPECT_THAT(read_texts("libsvm", "1 0:0.5 1:1\n2 0:1 1:2\n3 0:0.5 1:1\n", "", {{"zero_based", "true"}})
                  .train.warnings,
              IsEmpty());
}

/// The warnings about training and test text. The paths of the files become FILE.
std::vector<std::string> warnings_of(const std::string& format, const std::string& train,
                                     const std::string& test = "", const Settings& options = {}) {
  const TempFile train_file(train), test_file(test);
  std::vector<std::string> out =
      read_data(format,
                {{train_file.path()},
                 test.empty() ? std::vector<std::string>{} : std::vector{test_file.path()},
                 ""},
                options)
          .train.warnings;
  for (std::string& warning : out)
    for (const TempFile* file : {&train_file, &test_file})
      if (const std::size_t at = warning.find(file->path()); at != warning.npos)
        warning.replace(at, file->path().size(), "FILE");
  return out;
}

TEST(Warnings, AValueBehindAnEqualsSignIsSaidOnceForEachSet) {
  const std::string text = "A\tw=12:30\tw=9:15\nB\tw=x:2\n";
  EXPECT_THAT(
      warnings_of("crfsuite", text, "A\tw=9:15\n"),
      ElementsAre(
          "fields such as 'w=12:30' (FILE:1, 3 in all) are read as an attribute and its value: a colon "
          "inside a name is written \\:",
          "test data: fields such as 'w=9:15' (FILE:1, 1 in all) are read as an attribute and its "
          "value: a colon inside a name is written \\:"));
  EXPECT_THAT(read_texts("crfsuite", text, "").train.vocabulary->features, ElementsAre("w=12", "w=9", "w=x"))
      << "they stay what they were";
  EXPECT_THAT(warnings_of("crfsuite", "A\tw=x:1\tlength=a:0.5\tx:3\tw=12\\:30\n"), IsEmpty());
}

TEST(Warnings, AreOfLinesWithoutTab) {
  EXPECT_THAT(warnings_of("crfsuite", "O\tx\nB\nO\nO\tx\n"),
              ElementsAre("lines without a TAB, such as 'B' (FILE:2, 2 in all), are read as labels without "
                          "attributes"));
}

TEST(Warnings, AreErrorsOfLinesThatNoLabelLooksLike) {
  EXPECT_EQ(error_in_text("crfsuite", "O\tx\nEU NNP B\n"),
            "2: found no TAB in 'EU NNP B', expected label TAB attribute[:value] TAB ...");
}

TEST(Warnings, AreOfLabelsThatDifferOnlyInCaseOrBlanks) {
  EXPECT_THAT(
      warnings_of("crfsuite", "A \tx\nA\tx\nB\ty\nb\ty\nA\tx\n"),
      ElementsAre(
          "labels that differ only in case or blanks (with their positions): 'A ' (1) and 'A' (2); 'B' "
          "(1) and 'b' (1)"));
  EXPECT_THAT(
      warnings_of("crfsuite", "A\tx\nB\ty\n", "A\tx\na\ty\na\ty\nC\tx\n"),
      ElementsAre("test data: labels that differ only in case or blanks (with their positions): 'a' (2) and "
                  "'A'"));
}

TEST(Warnings, AreOfLabelsWithCharactersThatNobodySees) {
  EXPECT_THAT(
      warnings_of("crfsuite", "A\tx\nA\u200B\tx\nA\u3000\tx\nB\ty\nB\ty\nA\ty\nA\tx\nA\tx\n"),
      ElementsAre(
          "labels that differ only in case or blanks (with their positions): 'A' (4) and 'A\u200B' (1) "
          "and 'A\u3000' (1)"));
}

TEST(Warnings, AreOfLinesThatLookLikeCommentsOrHeaders) {
  const std::string text = "the DT B\ncat NN I\n\n";
  EXPECT_THAT(
      warnings_of("conll", "# a z\n" + text + "# c z\n" + text),
      ElementsAre("lines that begin with '#', such as '# a z' (FILE:1, 2 in all), are read as tokens: this "
                  "format has no comments"));
  EXPECT_THAT(warnings_of("conll", "# # B\n" + text), IsEmpty()) << "a token";
  EXPECT_THAT(
      warnings_of("conll", "Word POS Tag\n" + text + text),
      ElementsAre("'Word POS Tag' (FILE:1) looks like a header and is read as a token: remove this line"));
  EXPECT_THAT(warnings_of("conll", "Word NN B\n" + text), IsEmpty());
  EXPECT_THAT(
      warnings_of("crfsparse", "#\n1 1:1\n2 2:1\n\n#\n1 1:1\n2 1:1\n"),
      ElementsAre(
          "lines such as '#' (FILE:1, 2 in all) are read as labels without features: this format has no "
          "comments"));
}

TEST(Warnings, AreOfWordsOfConlluWithoutLabel) {
  const std::string text = "1\ta\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tb\tb\t_\tNN\t_\t0\troot\t_\t_\n\n";
  EXPECT_THAT(
      warnings_of("conllu", text + text),
      ElementsAre("words with the label '_' (FILE:2, 2 in all): '_' means none in CoNLL-U, and is read as a "
                  "label"));
  EXPECT_THAT(warnings_of("conllu", text + text, "", {{"label_column", "5"}}), IsEmpty())
      << "features may be none";
}

TEST(Warnings, AreOfSequencesWithoutBoundaries) {
  std::string endless, single;
  for (int i = 0; i < 21; ++i) {
    endless += "A\tx\n";
    single += "A\tx\n\n";
  }
  EXPECT_THAT(warnings_of("crfsuite", endless),
              ElementsAre("FILE: all 21 positions are one sequence: no empty line separates sequences"));
  EXPECT_THAT(warnings_of("crfsuite", single),
              ElementsAre("each of the 21 sequences has one position: an empty line follows each line"));
  EXPECT_THAT(warnings_of("crfsuite", endless + "\n" + endless), IsEmpty());
  EXPECT_THAT(warnings_of("libsvm", "1 1:1\n" + repeated("2 1:1\n1 2:1\n1 3:1\n")), IsEmpty()) << "documents";
}

TEST(Warnings, AreOfColumnsAfterTabsWithSpaces) {
  EXPECT_THAT(
      warnings_of("conll", "New York\tNNP\tB\nSan Juan\tNNP\tB\n"),
      ElementsAre(
          "lines with TABs and spaces, such as 'New York\\x09NNP\\x09B' (FILE:1, 2 in all): both separate "
          "columns; if only TABs do, give --data-option delimiter=tab"));
  EXPECT_EQ(error_in_text("conll", "in\tIN\tO\nNew York\tNNP\tB\n"),
            "2: found 4 columns, expected 3 columns, as in FILE:1; if only TABs separate columns, give "
            "--data-option "
            "delimiter=tab");
  EXPECT_THAT(warnings_of("conll", "New York\tNNP\tB\n", "", {{"delimiter", "tab"}}), IsEmpty());
  EXPECT_THAT(
      warnings_of("conll", "-DOCSTART- -X- O\n\nthe DT B\n\n-DOCSTART- -X- O\n\n"),
      ElementsAre(
          "lines -DOCSTART- (FILE:1, 2 in all) are read as sentences of one token: remove them if they "
          "only mark documents"));
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
