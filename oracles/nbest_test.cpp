/// Compares the N best structures of chains and trees with lists of all structures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/kernels/test_instruction_sets.h"
#include "oracles/chain/chain.h"
#include "oracles/test_exact.h"

namespace proxbench {
namespace {

Dataset sequences(Index labels, const std::vector<Index>& lengths) {
  Dataset data;
  Vocabulary names;
  names.outputs.resize(labels);
  data.vocabulary = std::make_shared<Vocabulary>(std::move(names));
  for (const Index length : lengths) {
    data.gold.resize(data.gold.size() + length, 0);
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  return data;
}

/// Standard normal numbers times `size`, or small integers if `ties`.
void fill(Scores& scores, double size, bool ties, std::uint64_t seed) {
  Random random(seed);
  const auto draw = [&] { return ties ? static_cast<double>(random.below(3)) : size * random.normal(); };
  for (Index k = 0; k < scores.columns; ++k)
    for (std::size_t p = 0; p < scores.stride; ++p) scores.column(k)[p] = draw();
  for (double& e : scores.extra) e = draw();
}

double score_of(const Scores& scores, Index labels, std::size_t begin, std::span<const Index> sequence) {
  double sum = 0.0;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    if (t > 0) sum += scores.extra[sequence[t - 1] * labels + sequence[t]];
    sum += scores.column(sequence[t])[begin + t];
  }
  return sum;
}

/// The scores of all label sequences in descending order.
std::vector<double> all_scores(const Scores& scores, Index labels, std::size_t begin, std::size_t length) {
  std::vector<double> out;
  std::vector<Index> sequence(length, 0);
  while (true) {
    out.push_back(score_of(scores, labels, begin, sequence));
    std::size_t t = 0;
    while (t < length && ++sequence[t] == labels) sequence[t++] = 0;
    if (t == length) break;
  }
  std::sort(out.rbegin(), out.rend());
  return out;
}

TEST(ChainNbest, AreTheBestOfAllLabelSequences) {
  const std::vector<Index> lengths{3, 1, 5, 2, 4, 1};
  for (const Index labels : {1u, 2u, 3u, 4u})
    for (const bool ties : {false, true})
      for (const double size : {1.0, 300.0}) {
        const Dataset data = sequences(labels, lengths);
        const ChainOracle oracle(data);
        Scores scores(labels, oracle.positions(), oracle.extra_weights());
        fill(scores, size, ties, 7 + labels);
        std::vector<Index> decoded(oracle.positions());
        oracle.decode(scores, Decoding::kStructure, decoded, Parallel());
        for (const std::size_t n : {1u, 2u, 7u, 50u, 5000u})
          for (Index i = 0; i < lengths.size(); ++i) {
            NbestOracle::List list;
            oracle.nbest(scores, i, n, list);
            const std::vector<double> expected = all_scores(scores, labels, data.begin[i], lengths[i]);
            ASSERT_EQ(list.score.size(), std::min(n, expected.size()));
            ASSERT_EQ(list.outputs.size(), list.score.size() * lengths[i]);
            std::set<std::vector<Index>> seen;
            for (std::size_t r = 0; r < list.score.size(); ++r) {
              const std::span<const Index> sequence(list.outputs.data() + r * lengths[i], lengths[i]);
              const double tolerance = 1e-13 * (1 + size) * 10;
              EXPECT_NEAR(list.score[r], expected[r], tolerance);
              EXPECT_NEAR(score_of(scores, labels, data.begin[i], sequence), list.score[r], tolerance);
              EXPECT_TRUE(seen.emplace(sequence.begin(), sequence.end()).second) << "a sequence twice";
              if (r == 0) {
                EXPECT_TRUE(std::equal(sequence.begin(), sequence.end(), decoded.begin() + data.begin[i]));
              }
            }
          }
      }
}

class NbestOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(NbestOnEachSet);

/// Rows as wide as several strips of registers, and sequences too long for one recursive call per position.
TEST_P(NbestOnEachSet, SumsRightAndInOrderOnLargeChains) {
  use_instruction_set(GetParam());
  for (const Index labels : {7u, 22u, 33u, 70u}) {
    const std::vector<Index> lengths{40, labels == 7 ? 50000u : 3u, 9};
    const Dataset data = sequences(labels, lengths);
    const ChainOracle oracle(data);
    Scores scores(labels, oracle.positions(), oracle.extra_weights());
    fill(scores, 2.0, false, labels);
    std::vector<Index> decoded(oracle.positions());
    oracle.decode(scores, Decoding::kStructure, decoded, Parallel());
    for (Index i = 0; i < lengths.size(); ++i) {
      NbestOracle::List list;
      oracle.nbest(scores, i, 60, list);
      ASSERT_EQ(list.score.size(), 60u);
      EXPECT_TRUE(std::is_sorted(list.score.rbegin(), list.score.rend()));
      EXPECT_TRUE(std::equal(decoded.begin() + data.begin[i], decoded.begin() + data.begin[i + 1],
                             list.outputs.begin()));
      std::set<std::vector<Index>> seen;
      for (std::size_t r = 0; r < 60; ++r) {
        const std::span<const Index> sequence(list.outputs.data() + r * lengths[i], lengths[i]);
        EXPECT_NEAR(score_of(scores, labels, data.begin[i], sequence), list.score[r],
                    1e-12 * (1 + std::abs(list.score[r])));
        EXPECT_TRUE(seen.emplace(sequence.begin(), sequence.end()).second);
      }
    }
  }
}

TEST(ChainNbest, ThreadsGetWhatOneGets) {
  const std::vector<Index> lengths(200, 12);
  const Dataset data = sequences(5, lengths);
  const ChainOracle oracle(data);
  Scores scores(5, oracle.positions(), oracle.extra_weights());
  fill(scores, 2.0, false, 3);
  std::vector<NbestOracle::List> one(lengths.size()), several = one;
  for (Index i = 0; i < lengths.size(); ++i) oracle.nbest(scores, i, 20, one[i]);
  Parallel(3).for_each(20, [&](std::size_t chunk) {
    for (Index i = static_cast<Index>(chunk); i < lengths.size(); i += 20)
      oracle.nbest(scores, i, 20, several[i]);
  });
  for (Index i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(one[i].outputs, several[i].outputs);
    EXPECT_EQ(one[i].score, several[i].score);
  }
}

TEST(TreeNbest, AreTheBestLeaves) {
  constexpr Index kDocuments = 6;
  // The forest is 0 -> {1, 2 -> {3, 4}}, 5, 6 -> 7. Only some nodes have columns.
  const std::vector<Index> parents{Hierarchy::kNone, 0, 0, 2, 2, Hierarchy::kNone, Hierarchy::kNone, 6};
  Dataset data = sequences(8, std::vector<Index>(kDocuments, 1));
  data.hierarchy = std::make_shared<Hierarchy>(parents);
  data.gold.assign(kDocuments, 1);
  const auto made_oracle = test::make_exact("tree", data);
  const ExactOracle& oracle = *made_oracle;
  Scores scores = Scores::collapsed(8, kDocuments, 0);
  Random random(5);
  for (const Index k : {0u, 2u, 4u, 5u, 7u}) {
    const Index column = scores.add_column(k);
    for (std::size_t p = 0; p < kDocuments; ++p) scores.column(column)[p] = random.normal();
  }
  std::vector<Index> decoded(kDocuments);
  oracle.decode(scores, Decoding::kStructure, decoded, Parallel());
  for (const std::size_t n : {1u, 3u, 5u, 9u})
    for (Index i = 0; i < kDocuments; ++i) {
      std::vector<std::pair<double, Index>> expected;  // negated, so that they ascend
      for (const Index leaf : {1u, 3u, 4u, 5u, 7u}) {
        double score = 0.0;
        for (Index k = leaf; k != Hierarchy::kNone; k = parents[k])
          if (scores.find(k) != nullptr) score += scores.find(k)[i];
        expected.emplace_back(-score, leaf);
      }
      std::sort(expected.begin(), expected.end());
      NbestOracle::List list;
      oracle.nbest()->nbest(scores, i, n, list);
      ASSERT_EQ(list.score.size(), std::min<std::size_t>(n, 5));
      EXPECT_EQ(list.outputs[0], decoded[i]);
      for (std::size_t r = 0; r < list.score.size(); ++r) {
        EXPECT_NEAR(list.score[r], -expected[r].first, 1e-14);
        EXPECT_EQ(list.outputs[r], expected[r].second);
      }
    }
}

TEST(CandidatesNbest, AreTheCandidatesByScore) {
  Dataset data = sequences(1, {4, 1, 3});
  data.gold = {0, kNoOutput, kNoOutput, kNoOutput, 0, 0, kNoOutput, kNoOutput};
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  Scores scores(1, oracle.positions(), 0);
  const std::vector<double> score{1.0, 3.0, -2.0, 3.0, 7.0, 0.5, 0.25, 9.0};
  std::copy(score.begin(), score.end(), scores.column(0));
  const auto candidates = [&](Index instance, std::size_t n) {
    NbestOracle::List list;
    oracle.nbest()->nbest(scores, instance, n, list);
    const std::size_t size = data.begin[instance + 1] - data.begin[instance];
    std::vector<std::size_t> out;
    for (std::size_t r = 0; r < list.score.size(); ++r) {
      const auto begin = list.outputs.begin() + static_cast<std::ptrdiff_t>(r * size);
      const auto on = std::find(begin, begin + static_cast<std::ptrdiff_t>(size), 0u);
      EXPECT_EQ(std::count(begin, begin + static_cast<std::ptrdiff_t>(size), kNoOutput),
                static_cast<std::ptrdiff_t>(size) - 1);
      out.push_back(static_cast<std::size_t>(on - begin));
      EXPECT_EQ(list.score[r], score[data.begin[instance] + out.back()]);
    }
    return out;
  };
  EXPECT_EQ(candidates(0, 3), (std::vector<std::size_t>{1, 3, 0})) << "of equal ones the earlier first";
  EXPECT_EQ(candidates(0, 9), (std::vector<std::size_t>{1, 3, 0, 2}));
  EXPECT_EQ(candidates(1, 2), (std::vector<std::size_t>{0}));
  EXPECT_EQ(candidates(2, 1), (std::vector<std::size_t>{2}));
}

}  // namespace
}  // namespace proxbench
