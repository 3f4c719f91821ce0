#include "experiments/data/label_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_file.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Gold and predicted labels, e.g. "A/B A/A, B/B".
std::string pairs(const LabelColumns& read) {
  std::string out;
  for (std::size_t i = 0; i < read.data.instances(); ++i) {
    if (i > 0) out += ",";
    for (Index p = read.data.begin[i]; p < read.data.begin[i + 1]; ++p)
      out += (p > 0 ? " " : "") + read.data.vocabulary->outputs[read.data.gold[p]] + "/" +
             read.data.vocabulary->outputs[read.predicted[p]];
  }
  return out;
}
std::string pairs_in(const std::string& text) {
  return pairs(read_label_columns(TempFile(text).path()));
}
std::vector<std::string> notes_of(const std::string& text) {
  return read_label_columns(TempFile(text).path()).notes;
}
std::string error_for(const std::string& text) {
  const TempFile file(text);
  return error_of([&] { read_label_columns(file.path()); }).erase(0, file.path().size());
}

TEST(LabelColumns, AreTheLastTwo) {
  EXPECT_EQ(pairs_in("\nO\tO\nO\tB\n\n \nB\tB\n"), "O/O O/B, B/B");
  EXPECT_EQ(pairs_in("the DT  O B\ncat NN O O\r\n"), "O/B O/O");
  EXPECT_EQ(pairs_in("New York\tNP\tB-LOC\tO\nin\tIN\tO\tO"), "B-LOC/O O/O")
      << "TABs separate cells with blanks";
  EXPECT_THAT(notes_of("O\tO\n"), IsEmpty());
}

TEST(LabelColumns, OfWapitiFollowItsInput) {
  EXPECT_EQ(pairs_in("the DT O\tB\ncat NN B\tB\n\nsat VB O\tO\n"), "O/B B/B, O/O");
  EXPECT_EQ(pairs_in("the DT O \tO \n"), "O/O") << "blanks at the ends of cells are no labels";
  EXPECT_EQ(pairs_in("B LOC\tO\nO\tB LOC\n"), "B LOC/O O/B LOC") << "labels with blanks";
  EXPECT_EQ(pairs_in("B LOC\tO\nB ORG\tO\nO\tO\n"), "B LOC/O B ORG/O O/O");
  EXPECT_EQ(error_for("the DT O\tB\ncat O\tB\n"), ":2: found 3 columns, expected 4, as in line 1");
}

TEST(LabelColumns, AreTheSameInAllLines) {
  EXPECT_EQ(error_for("the DT O B\ncat NN O\n"), ":2: found 3 columns, expected 4, as in line 1");
  EXPECT_EQ(error_for("the\tDT\tO\tB\n\ncat NN O O\n"), ":3: found one column, expected 4, as in line 1");
  EXPECT_EQ(error_for("Sao\tNC\tB-LOC\t\nx\tNC\tO\tO\n"),
            ":1: found an empty label in column 4, expected gold and predicted label as the last two columns "
            "(predict --with-gold writes them)");
  EXPECT_EQ(error_for("O\tO\n\tB\n"),
            ":2: found an empty label in column 1, expected gold and predicted label as the last two columns "
            "(predict --with-gold writes them)");
  EXPECT_EQ(error_for("O O\n# O\n# O O\n"), ":3: found 3 columns, expected 2, as in line 1")
      << "a line with # inside a sequence is no comment";
  EXPECT_EQ(error_for("O\nB\n"),
            ":1: found one column, expected gold and predicted label as the last two "
            "columns (predict --with-gold writes them)");
  EXPECT_THAT(error_for("\n# a b\n"), testing::HasSubstr(": found no labels, expected"));
}

TEST(LabelColumns, LeaveOutComments) {
  const std::string text = "# comment line here\nw N B-P B-P\n";
  EXPECT_EQ(pairs_in(text), "B-P/B-P");
  EXPECT_THAT(notes_of(text), ElementsAre("comments (#) left out: 1"));
  EXPECT_EQ(pairs_in("# 0.47\nthe O O\n\n# 0.9\n# more\ncat O B\n"), "O/O, O/B") << "crf_test -v1";
  EXPECT_EQ(pairs_in("# # O O\n1 N B O\n# # O B\n\n# # O O\n"), "O/O B/O O/B, O/O") << "tokens";
  EXPECT_EQ(pairs_in("a DT DT\n# # $\n"), "DT/DT #/$") << "a token with labels of its own";
}

TEST(LabelColumns, LeaveOutTheScoresOfCrfsuite) {
  const std::string text =
      "@score\t4.5\n@probability\t0.9\nO\tO\nB\tO\n\n@score\t1\n@probability\t1e-5\nB\tB\n\n";
  EXPECT_EQ(pairs_in(text), "O/O B/O, B/B");
  EXPECT_THAT(notes_of(text), ElementsAre("lines @score and @probability left out: 4"));
}

TEST(LabelColumns, LeaveOutRangesAndEmptyNodesOfConllu) {
  const std::string text =
      "# text = Del mar\n1-2\tDel\t_\t_\n1\tDe\tADP\tADP\n2\tel\tDET\tX\n2.1\tes\t_\t_\n\n1\tSi\tADV\tADV\n";
  EXPECT_EQ(pairs_in(text), "ADP/ADP DET/X, ADV/ADV");
  EXPECT_THAT(notes_of(text),
              ElementsAre("ranges and empty nodes of CoNLL-U left out: 2", "comments (#) left out: 1"));
  EXPECT_EQ(pairs_in("1-2\tA\tA\n3\tA\tB\n"), "A/A A/B") << "words that are numbers";
}

TEST(LabelColumns, RefuseProbabilitiesAndNBestLists) {
  EXPECT_EQ(
      error_for("O\tO:0.9\nB\tO:0.8\n"),
      ":1: found 'O:0.9', a label with a probability, expected predicted labels alone (without --marginals, "
      "crfsuite -i, crf_test -v)");
  EXPECT_THAT(error_for("a O O/0.9\n"), testing::HasSubstr("a label with a probability"));
  EXPECT_EQ(pairs_in("1:1\t1:0\n1:0\t1:0\n"), "1:1/1:0 1:0/1:0") << "such labels";
  EXPECT_EQ(error_for("# 0 0.5\na O O\n\n# 1 0.4\na O B\n"),
            ":4: found one of the n best label sequences, expected only the best one of each sequence");
}

}  // namespace
}  // namespace proxbench
