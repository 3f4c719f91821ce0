/// Compares loss-augmented best structures of chains, trees and candidates with lists of all structures.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/test_instruction_sets.h"
#include "oracles/chain/chain.h"
#include "oracles/test_chains.h"
#include "oracles/test_exact.h"

namespace proxbench {
namespace {

constexpr Index kNone = Hierarchy::kNone;

struct Case {
  std::string name;
  Dataset data;
  std::unique_ptr<Oracle> oracle;
};

Case chains(Index labels, const std::vector<Index>& lengths) {
  Case out{"chain of " + std::to_string(labels), test::sequences(labels, lengths, labels), nullptr};
  out.oracle = std::make_unique<ChainOracle>(out.data);
  return out;
}

Case trees(std::vector<Index> parents, bool flat) {
  Case out{flat ? "flat" : "tree", {}, nullptr};
  const auto tree = std::make_shared<Hierarchy>(std::move(parents));
  auto names = std::make_shared<Vocabulary>();
  names->outputs.resize(tree->nodes());
  out.data.vocabulary = names;
  if (!flat) out.data.hierarchy = tree;
  for (Index k = 0; k < tree->nodes(); ++k) {
    if (!flat && !tree->leaf(k)) continue;
    out.data.gold.push_back(k);
    out.data.begin.push_back(static_cast<Index>(out.data.gold.size()));
  }
  out.oracle = test::make_exact("tree", out.data);
  return out;
}

Case groups(const std::vector<Index>& sizes) {
  Case out{"candidates", {}, nullptr};
  Random random(5);
  for (const Index size : sizes) {
    const Index first = out.data.begin.back();
    out.data.gold.resize(first + size, kNoOutput);
    out.data.gold[first + random.below(size)] = 0;
    out.data.begin.push_back(first + size);
  }
  out.data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"best"}});
  out.oracle = test::make_exact("candidates", out.data);
  return out;
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const Index labels : {1u, 2u, 3u, 4u}) out.push_back(chains(labels, {3, 1, 5, 2, 4, 1, 2}));
  out.push_back(trees({kNone, 0, 1, 1, 0, kNone, 5, 6, 5}, false));
  out.push_back(trees({kNone, kNone, kNone}, true));
  out.push_back(groups({3, 1, 9, 2}));
  return out;
}

/// All structures of the instance.
std::vector<std::vector<Index>> structures(const Case& at, Index i) {
  const std::size_t length = at.data.begin[i + 1] - at.data.begin[i];
  std::vector<std::vector<Index>> out;
  if (at.name == "candidates") {
    for (std::size_t y = 0; y < length; ++y) {
      out.emplace_back(length, kNoOutput);
      out.back()[y] = 0;
    }
    return out;
  }
  std::vector<Index> one(length, 0);
  while (true) {
    if (!at.data.hierarchy || at.data.hierarchy->leaf(one[0])) out.push_back(one);
    std::size_t t = 0;
    while (t < length && ++one[t] == at.oracle->outputs()) one[t++] = 0;
    if (t == length) return out;
  }
}

/// cost + score(y) - score(gold), from the outputs that are on.
struct Enumerated {
  double loss = 0.0, cost = 0.0;
};
double score_of(const Case& at, const Scores& scores, Index i, const std::vector<Index>& y) {
  const std::size_t begin = at.data.begin[i];
  double sum = 0.0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    for (Index k = y[t]; k < at.oracle->outputs();
         k = at.data.hierarchy ? at.data.hierarchy->parent(k) : kNone)
      sum += scores.column(k)[begin + t];
    if (t > 0 && at.oracle->extra_weights() > 0) sum += scores.extra[y[t - 1] * at.oracle->outputs() + y[t]];
  }
  return sum;
}

Enumerated value_of(const Case& at, const Scores& scores, Index i, const std::vector<Index>& y, Cost cost) {
  const std::vector<Index> gold(at.data.gold.begin() + at.data.begin[i],
                                at.data.gold.begin() + at.data.begin[i + 1]);
  double wrong = 0.0;
  for (std::size_t t = 0; t < y.size(); ++t) wrong += y[t] != gold[t];
  if (at.name == "candidates") wrong = y != gold;
  if (at.name.starts_with("chain") && cost == Cost::kHammingMean) wrong /= static_cast<double>(y.size());
  return {wrong + score_of(at, scores, i, y) - score_of(at, scores, i, gold), wrong};
}

Scores random_scores(const Oracle& oracle, double size, bool ties, std::uint64_t seed) {
  Scores scores(oracle.outputs(), oracle.positions(), oracle.extra_weights());
  Random random(seed);
  const auto draw = [&] { return ties ? static_cast<double>(random.below(3)) : size * random.normal(); };
  for (Index k = 0; k < oracle.outputs(); ++k)
    for (std::size_t p = 0; p < oracle.positions(); ++p) scores.column(k)[p] = draw();
  for (double& e : scores.extra) e = draw();
  return scores;
}

AlignedVector<double> rows_of(const Case& at, const Scores& scores, Index i) {
  const std::size_t width = padded(at.oracle->outputs()), length = at.data.begin[i + 1] - at.data.begin[i];
  AlignedVector<double> rows(length * width, 0.0);
  for (std::size_t t = 0; t < length; ++t)
    for (Index k = 0; k < at.oracle->outputs(); ++k)
      rows[t * width + k] = scores.column(k)[at.data.begin[i] + t];
  return rows;
}

TEST(MaxOracle, FindsTheLargestOfAllStructures) {
  for (const Case& at : all_cases())
    for (const Cost cost : {Cost::kHamming, Cost::kHammingMean})
      for (const bool ties : {false, true})
        for (const double size : {0.0, 1.0, 300.0}) {
          SCOPED_TRACE(at.name);
          const Scores scores = random_scores(*at.oracle, size, ties, 11);
          const InstanceMaxOracle& oracle = *at.oracle->instance_max();
          double losses = 0.0, costs = 0.0;
          for (Index i = 0; i < at.data.instances(); ++i) {
            const AlignedVector<double> rows = rows_of(at, scores, i);
            std::vector<Index> best(at.data.begin[i + 1] - at.data.begin[i]), gold = best;
            const auto found = oracle.best_structure(i, cost, rows.data(), scores.extra, best);
            double largest = 0.0;
            std::vector<Index> listed;
            std::vector<double> listed_scores;
            for (const std::vector<Index>& y : structures(at, i)) {
              const Enumerated expected = value_of(at, scores, i, y, cost);
              const auto value = oracle.value_of(i, cost, rows.data(), scores.extra, y);
              EXPECT_NEAR(value.loss, expected.loss, 1e-12 * (1 + size));
              EXPECT_NEAR(value.cost, expected.cost, 1e-15);
              listed.insert(listed.end(), y.begin(), y.end());
              listed_scores.push_back(expected.loss - expected.cost);
              largest = std::max(largest, expected.loss);
            }
            std::vector<double> scores_found(listed_scores.size());
            oracle.scores_of(i, rows.data(), scores.extra, listed, scores_found);
            for (std::size_t a = 0; a < listed_scores.size(); ++a)
              EXPECT_NEAR(scores_found[a], listed_scores[a], 1e-12 * (1 + size));
            EXPECT_NEAR(found.loss, largest, 1e-12 * (1 + size));
            EXPECT_NEAR(value_of(at, scores, i, best, cost).loss, largest, 1e-12 * (1 + size));
            EXPECT_NEAR(value_of(at, scores, i, best, cost).cost, found.cost, 1e-15);
            oracle.gold_structure(i, gold);
            EXPECT_EQ(oracle.value_of(i, cost, rows.data(), scores.extra, gold).loss, 0.0);
            losses += found.loss;
            costs += found.cost;
          }
          const LossAndCost sums = at.oracle->max()->maximise({scores}, cost, nullptr, Parallel());
          EXPECT_NEAR(sums.loss, losses, 1e-12 * (1 + losses));
          EXPECT_NEAR(sums.cost, costs, 1e-12 * (1 + costs));
        }
}

TEST(MaxOracle, HasNoValueWhereScoresOverflow) {
  for (const Case& at : all_cases())
    for (const double wrong : {kInfinity, -kInfinity, std::nan("")}) {
      SCOPED_TRACE(at.name);
      Scores scores = random_scores(*at.oracle, 1.0, false, 11);
      for (Index k = 0; k < at.oracle->outputs(); ++k) scores.column(k)[0] = wrong;
      EXPECT_TRUE(std::isnan(at.oracle->max()->maximise({scores}, Cost::kHamming, nullptr, Parallel()).loss));
    }
}

/// The loss is convex and piecewise linear in the scores. With the subgradient of the structures that were
/// found, <residual, S> = loss - cost.
TEST(MaxOracle, ResidualIsTheFeaturesOfTheStructuresFoundLessGold) {
  for (const Case& at : all_cases()) {
    SCOPED_TRACE(at.name);
    const Scores scores = random_scores(*at.oracle, 1.0, false, 3),
                 change = random_scores(*at.oracle, 1.0, false, 4);
    Residual residual = scores;
    const LossAndCost sums = at.oracle->max()->maximise({scores}, Cost::kHamming, &residual, Parallel());
    const auto inner = [&](const Scores& s) {
      double sum = 0.0;
      for (Index k = 0; k < at.oracle->outputs(); ++k)
        for (std::size_t p = 0; p < at.oracle->positions(); ++p)
          sum += residual.column(k)[p] * s.column(k)[p];
      for (std::size_t e = 0; e < s.extra.size(); ++e) sum += residual.extra[e] * s.extra[e];
      return sum;
    };
    EXPECT_NEAR(inner(scores), sums.loss - sums.cost, 1e-12);
    // Along a direction: the value at S + t*direction, and the slope there.
    constexpr double kStep = 1e-7;
    const auto loss = [&](double t) {
      return at.oracle->max()->maximise({scores, &change, t}, Cost::kHamming, nullptr, Parallel()).loss;
    };
    EXPECT_EQ(loss(0.0), sums.loss);
    EXPECT_NEAR((loss(kStep) - loss(-kStep)) / (2 * kStep), inner(change), 1e-6);
  }
}

TEST(MaxOracle, RefusesWhatIsNoStructure) {
  const std::vector<Case> cases = all_cases();
  for (const std::size_t c : {2u, 4u, 6u}) {
    const Case& at = cases[c];
    SCOPED_TRACE(at.name);
    const AlignedVector<double> rows(100, 0.0);
    const std::vector<double> extra(at.oracle->extra_weights(), 0.0);
    std::vector<Index> none(at.data.begin[1], 0);
    if (at.name.starts_with("chain")) none[1] = 3;
    EXPECT_THROW(at.oracle->instance_max()->value_of(0, Cost::kHamming, rows.data(), extra, none), Error);
  }
}

class MaxOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(MaxOnEachSet);

/// Wide rows and long sequences agree with Viterbi on scores that contain the costs. The bits do not depend
/// on the number of threads.
TEST_P(MaxOnEachSet, AgreesWithDecodingOfAugmentedScores) {
  use_instruction_set(GetParam());
  for (const Index labels : {8u, 26u, 70u}) {
    const Case at = chains(labels, std::vector<Index>(40, 23));
    const Scores scores = random_scores(*at.oracle, 2.0, false, labels);
    Scores augmented = scores;
    for (std::size_t p = 0; p < at.data.positions(); ++p)
      for (Index k = 0; k < labels; ++k) augmented.column(k)[p] += k != at.data.gold[p];
    std::vector<Index> decoded(at.data.positions()), found(23);
    at.oracle->decode(augmented, Decoding::kStructure, decoded, Parallel());
    for (Index i = 0; i < at.data.instances(); ++i) {
      at.oracle->instance_max()->best_structure(i, Cost::kHamming, rows_of(at, scores, i).data(),
                                                scores.extra, found);
      EXPECT_TRUE(std::equal(found.begin(), found.end(), decoded.begin() + at.data.begin[i]));
    }
    Residual one = scores, other = scores;
    const auto expected = at.oracle->max()->maximise({scores}, Cost::kHamming, &one, Parallel());
    for (const Backend backend : {Backend::kOpenMP, Backend::kTBB}) {
      const auto sums = at.oracle->max()->maximise({scores}, Cost::kHamming, &other, Parallel(3, backend));
      EXPECT_EQ(sums.loss, expected.loss);
      EXPECT_EQ(one.values, other.values);
      EXPECT_EQ(one.extra, other.extra);
    }
  }
}

}  // namespace
}  // namespace proxbench
