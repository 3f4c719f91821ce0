#include "experiments/metrics/chunks.h"

#include <gtest/gtest.h>

#include <memory>

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
  const ChunkGrader grader(data);
  EXPECT_EQ(grader.count(0, std::vector<Index>{BN, IN, IN}), (MatchCounts{1, 1, 1}));
  EXPECT_EQ(grader.count(0, std::vector<Index>{O, IN, BV}), (MatchCounts{0, 1, 2}));
  EXPECT_EQ(grader.count(1, std::vector<Index>{BN}), (MatchCounts{1, 1, 1})) << "the one before is over";
  EXPECT_EQ(grader.count(2, std::vector<Index>{BN, IN, BV}), (MatchCounts{1, 3, 2}))
      << "unknown labels, one of them without a name, are chunks that are missed";
}

}  // namespace
}  // namespace proxbench
