#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/data/sequences/named_sequences.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

DataPair read(const std::string& train, const std::string& test = "", const Settings& options = {}) {
  return read_texts("rerank", train, test, options);
}
std::string error_in(const std::string& text, const Settings& options = {}) {
  return error_in_text("rerank", text, options);
}

TEST(Rerank, ReadsGroupsWithTheFirstOfTheHighestQualityAsGold) {
  const DataPair data = read("0.5\ta\tb:2\n0.75\tc\\:d:-1\n0.75\ta\n\n-3\n");
  EXPECT_EQ(data.oracle, "candidates");
  EXPECT_THAT(data.train.begin, ElementsAre(0, 3, 4)) << "the last group lacks its empty line";
  EXPECT_THAT(data.train.gold, ElementsAre(kNoOutput, 0, kNoOutput, 0));
  EXPECT_THAT(data.train.quality, ElementsAre(0.5, 0.75, 0.75, -3));
  EXPECT_THAT(data.train.counts, IsEmpty());
  EXPECT_EQ(data.train.graded(), 2u);
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("best"));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("a", "b", "c:d"));
  EXPECT_THAT(data.train.x.row(0), ElementsAre(0, 1));
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(1.0, 2.0));
  EXPECT_THAT(data.train.x.row(3), IsEmpty());
  EXPECT_EQ(data.train.digest, digest_of(data.train));
  EXPECT_THAT(data.train.description, testing::EndsWith(": 2 groups, 4 candidates"));
}

TEST(Rerank, MakesF1OfCounts) {
  const DataPair data = read("2/4/3\tx\n3/4/3\tx\n\n0/0/0\n\n0/2/0\n");
  EXPECT_THAT(data.train.quality, ElementsAre(4.0 / 7, 6.0 / 7, 1.0, 0.0))
      << "nothing to find and nothing found: 1";
  EXPECT_THAT(data.train.counts,
              ElementsAre(MatchCounts{2, 4, 3}, MatchCounts{3, 4, 3}, MatchCounts{}, MatchCounts{0, 2, 0}));
}

TEST(Rerank, TestDataKeepTheNamesOfTraining) {
  const DataPair data = read("1\ta\n\n", "2\tb\ta:3\n5\n\n");
  EXPECT_THAT(data.test.x.row(0), ElementsAre(0));
  EXPECT_THAT(data.test.gold, ElementsAre(kNoOutput, 0));
  EXPECT_THAT(data.test.notes,
              ElementsAre(Pair("distinct unknown attributes", 1), Pair("unknown attributes", 1)));
  EXPECT_EQ(data.test.vocabulary, data.train.vocabulary);
}

TEST(Rerank, TheSecondColumnIsTheFeatureBase) {
  const DataPair data = read("1\t-2.5\ta\n0\t-1\n", "", {{"base_column", "true"}});
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("base", "a"));
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(-2.5, 1.0));
  EXPECT_EQ(error_in("1\t-2.5\n0\n", {{"base_column", "true"}}),
            "2: found no second field, expected the base model's score (base_column = true)");
  EXPECT_EQ(error_in("1\tx:1\n", {{"base_column", "true"}}),
            "1: found base score 'x:1', expected a finite number");
}

TEST(Rerank, TheGoldCandidateMustBePerfectWhereThatIsAskedFor) {
  EXPECT_THAT(read("1/2/2\n2/2/2\n2/2/2\n", "", {{"gold", "perfect"}}).train.gold,
              ElementsAre(kNoOutput, 0, kNoOutput));
  EXPECT_EQ(
      error_in("1\ta\n\n0.5\ta\n0.25\n\n", {{"gold", "perfect"}}),
      "3: found a group whose highest quality is 0.5, expected a candidate of quality 1 (gold = perfect)");
}

TEST(Rerank, AGzippedFileIsTheSame) {
  const std::string text = "1/2/3\ta:0.1\n0/2/1\tb\n\n";
  EXPECT_EQ(read(gzipped(text)).train.digest, read(text).train.digest);
  EXPECT_NE(read("1/2/2\ta:0.1\n0/2/1\tb\n\n").train.digest, read(text).train.digest) << "counts count";
}

TEST(Rerank, ErrorsSayWhere) {
  EXPECT_EQ(error_in("1\ta\n\n\n0\ta\n"),
            "3: found an empty group, expected a candidate, 'quality TAB attribute[:value] TAB ...', before "
            "the empty "
            "line");
  EXPECT_EQ(error_in("\n1\ta\n"),
            "1: found an empty group, expected a candidate, 'quality TAB attribute[:value] TAB ...', before "
            "the empty "
            "line");
  EXPECT_EQ(error_in("1\ta\nhigh\ta\n"),
            "2: found quality 'high', expected a finite number, or correct/gold/guessed");
  EXPECT_EQ(error_in("inf\ta\n"),
            "1: found quality 'inf', expected a finite number, or correct/gold/guessed");
  EXPECT_EQ(error_in("\ta\n"), "1: found quality '', expected a finite number, or correct/gold/guessed");
  for (const std::string counts : {"1/2", "1/2/3/4", "1/2/x", "-1/2/3", "1/2/4294967296", "1//3"})
    EXPECT_EQ(error_in(counts + "\n"),
              "1: found quality '" + counts +
                  "', expected correct/gold/guessed, three integers from 0 to 4294967295");
  EXPECT_EQ(
      error_in("3/2/4\n"),
      "1: found quality '3/2/4' with correct > gold, expected no more correct items than gold ones, and than "
      "guessed ones");
  EXPECT_EQ(error_in("3/4/2\n"),
            "1: found quality '3/4/2' with correct > guessed, expected no more correct items than gold ones, "
            "and than "
            "guessed ones");
  EXPECT_EQ(error_in("1/1/1\n\n0.5\n"),
            "3: found quality '0.5', not counts, expected correct/gold/guessed as before it");
  EXPECT_EQ(error_in("1\n1/1/1\n"), "2: found quality '1/1/1', counts, expected a number as before it");
  EXPECT_EQ(error_in("1\ta:x\n"),
            "1: found value 'x' of attribute 'a', expected a finite real number (a colon inside a "
            "name is written \\:)");
  EXPECT_EQ(error_in(""), " found an empty file, expected quality TAB attribute[:value] TAB ...")
      << "no group";
  EXPECT_THAT(error_of([] { read("1\n", "1/1/1\n"); }),
              testing::HasSubstr(":1: found quality '1/1/1', counts"))
      << "test data are of the same kind";
}

}  // namespace
}  // namespace proxbench
