#include "experiments/metrics/chunks.h"

#include <gtest/gtest.h>

namespace proxbench {
namespace {

const std::vector<std::string> kNames{"O", "B-NP", "I-NP", "B-VP", "I-VP"};
constexpr Index O = 0, BN = 1, IN = 2, BV = 3, IV = 4;

MatchCounts counts(const std::vector<Index>& gold, const std::vector<Index>& guessed) {
  return count_chunks(kNames, gold, guessed);
}

TEST(Chunks, AreCountedAsConllevalDoes) {
  EXPECT_EQ(counts({BN, IN, O, BV, BN}, {BN, IN, O, BV, BN}), (MatchCounts{3, 3, 3}));
  EXPECT_EQ(counts({BN, IN, IN}, {BN, IN, O}), (MatchCounts{0, 1, 1})) << "the end differs";
  EXPECT_EQ(counts({BN, BN}, {BN, IN}), (MatchCounts{0, 2, 1}));
  EXPECT_EQ(counts({BN, O}, {BV, O}), (MatchCounts{0, 1, 1})) << "the type differs";
  EXPECT_EQ(counts({BN, IV}, {BN, BV}), (MatchCounts{2, 2, 2})) << "I of another type begins a chunk";
  EXPECT_EQ(counts({O, IN, IN}, {O, BN, IN}), (MatchCounts{1, 1, 1})) << "I after O begins one";
  EXPECT_EQ(counts({O, O}, {O, O}), (MatchCounts{0, 0, 0}));
  EXPECT_EQ(counts({BN, IN, BV, IV}, {O, IN, BV, IV}), (MatchCounts{1, 2, 2}));
}

TEST(Chunks, AnUnknownGoldLabelIsAChunkThatNobodyFinds) {
  EXPECT_EQ(counts({BN, kUnknownOutput, IN}, {BN, O, BN}), (MatchCounts{2, 3, 2}));
  EXPECT_EQ(counts({kUnknownOutput}, {BN}), (MatchCounts{0, 1, 1}));
}

TEST(Chunks, AreToldFromOtherLabels) {
  EXPECT_TRUE(are_chunk_labels(kNames));
  EXPECT_TRUE(are_chunk_labels({"O", "B", "I"}));
  EXPECT_FALSE(are_chunk_labels({"O"}));
  EXPECT_FALSE(are_chunk_labels({"O", "B-NP", "NN"}));
  EXPECT_EQ(count_chunks({"O", "B", "I"}, std::vector<Index>{1, 2, 0, 2}, std::vector<Index>{1, 2, 0, 1}),
            (MatchCounts{2, 2, 2}));
}

}  // namespace
}  // namespace proxbench
