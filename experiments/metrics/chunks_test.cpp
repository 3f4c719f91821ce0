#include "experiments/metrics/chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"

namespace proxbench {
namespace {

constexpr Index O = 0, BN = 1, IN = 2, BV = 3;

/// metrics_test.cpp checks the counts case by case. This checks that each instance is counted separately.
TEST(Chunks, AreCountedByInstance) {
  Dataset data;
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"O", "B-NP", "I-NP", "B-VP"}});
  data.begin = {0, 3, 4, 7};
  data.gold = {BN, IN, IN, IN, kUnknownOutput, kUnknownOutput, BV};
  data.unknown_gold = {{4, "B-PP"}};
  const ChunkGrader grader(data, *chunk_scheme_of(data.vocabulary->outputs).scheme);
  EXPECT_EQ(grader.count(0, std::vector<Index>{BN, IN, IN}), (MatchCounts{1, 1, 1}));
  EXPECT_EQ(grader.count(0, std::vector<Index>{O, IN, BV}), (MatchCounts{0, 1, 2}));
  EXPECT_EQ(grader.count(1, std::vector<Index>{BN}), (MatchCounts{1, 1, 1})) << "the one before is over";
  EXPECT_EQ(grader.count(2, std::vector<Index>{BN, IN, BV}), (MatchCounts{1, 3, 2}))
      << "unknown labels, one of them without a name, are chunks that are missed";
}

/// A gold label that no output has may share its type with outputs (here NP of I-NP), or with another such
/// label (PP).
TEST(Chunks, OfUnknownLabelsHaveTheirTypes) {
  Dataset data;
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"O", "B-VP", "I-NP"}});
  data.begin = {0, 5};
  data.gold.assign(5, kUnknownOutput);
  data.unknown_gold = {{0, "B-NP"}, {1, "I-PP"}, {2, "I-PP"}, {3, "I-ADJP"}, {4, "I-ADJP"}};
  const ChunkScheme& scheme = chunk_scheme_named("IOB", data.vocabulary->outputs);
  EXPECT_EQ(count_chunks(data, std::vector<Index>{2, 0, 0, 1, 1}, scheme),
            (CountsByName{{"NP", {1, 1, 1}}, {"PP", {0, 1, 0}}, {"ADJP", {0, 1, 0}}, {"VP", {0, 0, 2}}}));
}

std::string scheme_of(const std::vector<std::string>& labels) {
  const ChunkScheming found = chunk_scheme_of(labels);
  return found.scheme != nullptr ? found.scheme->name : found.warning;
}

TEST(ChunkScheme, IsTheOneWhoseTagsOccur) {
  EXPECT_EQ(scheme_of({"O", "B-NP", "I-NP"}), "IOB");
  EXPECT_EQ(scheme_of({"O", "B-NP", "I-NP", "E-NP", "S-NP"}), "BIOES");
  EXPECT_EQ(scheme_of({"o", "b-np", "e-np", "s-np"}), "BIOES");
  EXPECT_EQ(scheme_of({"O", "B-A", "I-A", "L-A", "U-B"}), "BILOU");
  EXPECT_EQ(scheme_of({"B", "M", "E", "S"}), "BMES");
  EXPECT_EQ(scheme_of({"DT", "NN", "IN"}), "");
  EXPECT_EQ(scheme_of({"a", "b", "e", "i", "o", "s", "z"}), "") << "letters";
  EXPECT_EQ(scheme_of({"O", "B_NP", "I_NP"}), "");
  EXPECT_EQ(scheme_of({"A-X", "X-A"}), "") << "no notation";
  EXPECT_EQ(scheme_of({"O", "B-NP", "I-NP", "X-NP"}),
            "no chunks are counted: most labels are those of IOB, but label 'X-NP' is not");
  EXPECT_EQ(scheme_of({"O", "B-NP", "I-NP", "E-NP", "U-NP"}),
            "no chunks are counted: most labels are those of BIOES, but label 'U-NP' is not");
  EXPECT_EQ(scheme_of({"O", "B-NP", "I-NP", ""}),
            "no chunks are counted: most labels are those of IOB, but label '' is not");
}

TEST(ChunkScheme, MayBeNamed) {
  EXPECT_STREQ(chunk_scheme_named("BIOES", {"O", "B-NP"}).name, "BIOES");
  EXPECT_THROW(chunk_scheme_named("IOB", {"O", "E-NP"}), Error);
  EXPECT_THROW(chunk_scheme_named("iob3", {"O"}), Error);
}

/// The chunks of one sequence of labels, e.g. "0-1 NP, 3 VP": those that a prediction of all O misses are
/// counted, and each is found by a prediction of the same labels.
MatchCounts counts_of(const std::vector<std::string>& labels, const std::vector<std::string>& gold,
                      const std::vector<std::string>& predicted) {
  Dataset data;
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, labels});
  std::vector<Index> outputs;
  const auto number = [&](const std::string& name) {
    return static_cast<Index>(std::ranges::find(labels, name) - labels.begin());
  };
  for (const std::string& name : gold) data.gold.push_back(number(name));
  for (const std::string& name : predicted) outputs.push_back(number(name));
  data.begin.push_back(static_cast<Index>(gold.size()));
  return ChunkGrader(data, *chunk_scheme_of(labels).scheme).count(0, outputs);
}

/// Counted by hand, by the rules of seqeval's get_entities() for E and S.
TEST(Chunks, OfBioesAndBilouEndAtTheirTags) {
  const std::vector<std::string> bioes{"O", "B-X", "I-X", "E-X", "S-X", "S-Y"};
  EXPECT_EQ(counts_of(bioes, {"B-X", "E-X", "S-X", "S-Y"}, {"B-X", "E-X", "S-X", "S-X"}),
            (MatchCounts{2, 3, 3}));
  EXPECT_EQ(counts_of(bioes, {"B-X", "E-X", "B-X", "E-X"}, {"B-X", "I-X", "I-X", "E-X"}),
            (MatchCounts{0, 2, 1}));
  EXPECT_EQ(counts_of(bioes, {"S-X", "S-X", "O"}, {"S-X", "B-X", "E-X"}), (MatchCounts{1, 2, 2}));
  EXPECT_EQ(counts_of(bioes, {"B-X", "I-X", "E-X", "O"}, {"I-X", "I-X", "I-X", "O"}), (MatchCounts{1, 1, 1}))
      << "a chunk without its begin and end";
  EXPECT_EQ(counts_of(bioes, {"E-X", "E-X"}, {"O", "O"}), (MatchCounts{0, 2, 0}));
  const std::vector<std::string> bilou{"o", "b-x", "i-x", "l-x", "u-x"};
  EXPECT_EQ(counts_of(bilou, {"b-x", "l-x", "u-x"}, {"b-x", "l-x", "o"}), (MatchCounts{1, 2, 1}));
  const std::vector<std::string> words{"B", "M", "E", "S"};
  EXPECT_EQ(counts_of(words, {"B", "M", "E", "S", "S"}, {"B", "E", "S", "S", "S"}), (MatchCounts{2, 3, 4}));
}

}  // namespace
}  // namespace proxbench
