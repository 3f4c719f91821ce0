/// Compares beliefs of chains and trees with sums over all structures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/kernels/test_instruction_sets.h"
#include "oracles/chain/chain.h"
#include "oracles/test_exact.h"

namespace proxbench {
namespace {

constexpr Index kNone = Hierarchy::kNone;

struct Problem {
  std::string name;
  Dataset data;
  std::unique_ptr<Oracle> oracle;
  bool chain;

  const BeliefOracle& beliefs() const { return *oracle->beliefs(); }
  Index outputs() const { return oracle->outputs(); }
  std::size_t width() const { return padded(outputs()); }
  std::size_t length(Index i) const { return data.begin[i + 1] - data.begin[i]; }
  std::vector<Index> gold(Index i) const {
    return {data.gold.begin() + data.begin[i], data.gold.begin() + data.begin[i + 1]};
  }
};

Problem chain(Index labels, std::uint64_t seed) {
  Problem out{.name = "chain of " + std::to_string(labels), .data = {}, .oracle = nullptr, .chain = true};
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs.resize(labels);
  out.data.vocabulary = vocabulary;
  Random random(seed);
  for (const Index length : {1u, 2u, 3u, 5u, 4u}) {
    for (Index t = 0; t < length; ++t) out.data.gold.push_back(static_cast<Index>(random.below(labels)));
    out.data.begin.push_back(static_cast<Index>(out.data.gold.size()));
  }
  out.oracle = std::make_unique<ChainOracle>(out.data);
  return out;
}

/// If `parents` is empty, the labels are side by side.
Problem tree(const std::vector<Index>& parents, Index labels, std::uint64_t seed) {
  Problem out{.name = (parents.empty() ? "flat " : "nested ") + std::to_string(labels),
              .data = {},
              .oracle = nullptr,
              .chain = false};
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs.resize(labels);
  out.data.vocabulary = vocabulary;
  if (!parents.empty()) out.data.hierarchy = std::make_shared<Hierarchy>(parents);
  Random random(seed);
  while (out.data.gold.size() < 4) {
    const auto leaf = static_cast<Index>(random.below(labels));
    if (out.data.hierarchy && !out.data.hierarchy->leaf(leaf)) continue;
    out.data.gold.push_back(leaf);
    out.data.begin.push_back(static_cast<Index>(out.data.gold.size()));
  }
  out.oracle = test::make_exact("tree", out.data);
  return out;
}

std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const Index labels : {1u, 2u, 3u, 4u}) out.push_back(chain(labels, labels));
  out.push_back(tree({}, 1, 1));
  out.push_back(tree({}, 2, 2));
  out.push_back(tree({}, 9, 3));
  out.push_back(tree({kNone, 0, 1, 1, 0, kNone, 5, 6, 6, kNone}, 10, 4));
  return out;
}

/// The outputs of all structures of the instance.
std::vector<std::vector<Index>> structures(const Problem& p, Index i) {
  std::vector<std::vector<Index>> all{{}};
  for (std::size_t t = 0; t < p.length(i); ++t) {
    std::vector<std::vector<Index>> longer;
    for (const auto& one : all)
      for (Index k = 0; k < p.outputs(); ++k) {
        if (p.data.hierarchy && !p.data.hierarchy->leaf(k)) continue;
        longer.push_back(one);
        longer.back().push_back(k);
      }
    all = std::move(longer);
  }
  return all;
}

/// The outputs that are on at a position with this label.
std::vector<Index> path(const Problem& p, Index k) {
  std::vector<Index> out{k};
  while (p.data.hierarchy && p.data.hierarchy->parent(out.back()) != kNone)
    out.push_back(p.data.hierarchy->parent(out.back()));
  return out;
}

/// The indices of the beliefs that belong to a structure, in the order that the oracles document.
std::vector<std::size_t> cliques(const Problem& p, Index i, const std::vector<Index>& y) {
  if (!p.chain) {
    std::size_t leaf = 0;
    for (Index k = 0; k < y[0]; ++k) leaf += !p.data.hierarchy || p.data.hierarchy->leaf(k);
    return {leaf};
  }
  if (y.size() == 1) return {y[0]};
  std::vector<std::size_t> out;
  const std::size_t labels = p.outputs();
  for (std::size_t t = 0; t + 1 < y.size(); ++t) out.push_back((t * labels + y[t]) * labels + y[t + 1]);
  for (std::size_t t = 1; t + 1 < y.size(); ++t)
    out.push_back(p.beliefs().belief_size(i).positive + (t - 1) * labels + y[t]);
  return out;
}

struct Point {
  std::vector<double> rows, extra;
};

Point random_point(const Problem& p, Index i, double size, double transition_size, Random& random) {
  Point out{std::vector<double>(p.length(i) * p.width(), 0.0),
            std::vector<double>(p.oracle->extra_weights())};
  for (std::size_t t = 0; t < p.length(i); ++t)
    for (Index k = 0; k < p.outputs(); ++k) out.rows[t * p.width() + k] = size * (2 * random.uniform() - 1);
  for (double& e : out.extra) e = transition_size * (2 * random.uniform() - 1);
  return out;
}

long double score(const Problem& p, const Point& at, const std::vector<Index>& y) {
  long double sum = 0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    for (const Index k : path(p, y[t])) sum += at.rows[t * p.width() + k];
    if (t > 0) sum += at.extra[y[t - 1] * p.outputs() + y[t]];
  }
  return sum;
}

/// A distribution over all structures, in the order of their list.
struct Distribution {
  std::vector<long double> log_p;
  long double log_partition;
};

Distribution distribution(const std::vector<std::vector<Index>>& all,
                          const std::function<long double(const std::vector<Index>&)>& score_of) {
  Distribution out;
  for (const auto& y : all) out.log_p.push_back(score_of(y));
  const long double top = *std::max_element(out.log_p.begin(), out.log_p.end());
  long double z = 0;
  for (const long double s : out.log_p) z += std::exp(s - top);
  out.log_partition = top + std::log(z);
  for (long double& s : out.log_p) s -= out.log_partition;
  return out;
}

/// The probability of each clique, and 1 in the padding.
std::vector<long double> marginals(const Problem& p, Index i, const std::vector<std::vector<Index>>& all,
                                   const Distribution& d) {
  std::vector<long double> out(p.beliefs().belief_size(i).all(), 1);
  for (const auto& y : all)
    for (const std::size_t c : cliques(p, i, y)) out[c] = 0;
  for (std::size_t s = 0; s < all.size(); ++s)
    for (const std::size_t c : cliques(p, i, all[s])) out[c] += std::exp(d.log_p[s]);
  return out;
}

/// A marginal below e^-100 may be lost: a state that underflows in the forward pass, at e^-708 of the best,
/// can come to e^-108 (ChainOracle::kLinearRange).
void expect_log_marginals(const std::vector<long double>& expected, const std::vector<double>& found,
                          double tolerance) {
  for (std::size_t c = 0; c < expected.size(); ++c) {
    EXPECT_LE(found[c], 0.0) << c;
    const auto log_p = static_cast<double>(std::log(expected[c]));
    if (log_p > -100.0)
      EXPECT_NEAR(found[c], log_p, tolerance) << c;
    else
      EXPECT_LE(found[c], -99.0) << c;
  }
}

/// sum +- p * x over the cliques.
double signed_sum(const BeliefOracle::Size& size, const std::vector<double>& log_p,
                  const std::function<double(std::size_t)>& x) {
  double sum = 0.0;
  for (std::size_t c = 0; c < size.all(); ++c)
    sum += (c < size.positive ? 1.0 : -1.0) * std::exp(log_p[c]) * x(c);
  return sum;
}

std::vector<double> infer(const Problem& p, Index i, const Point& at) {
  std::vector<double> out(p.beliefs().belief_size(i).all(), 7.0);
  p.beliefs().infer_beliefs(i, at.rows.data(), at.extra, out.data());
  return out;
}

std::vector<double> exponentials(std::vector<double> logs) {
  for (double& x : logs) x = std::exp(x);
  return logs;
}

/// The sizes of the scores and of the transitions. The last two pairs are beyond ChainOracle::kLinearRange.
constexpr std::pair<double, double> kSizes[] = {{0.0, 0.0},   {1.0, 1.0},   {30.0, 30.0},  {700.0, 1.0},
                                                {5.0, 290.0}, {1.0, 700.0}, {700.0, 700.0}};

TEST(Beliefs, AreTheMarginalsThatEnumerationFinds) {
  for (const Problem& p : problems())
    for (const auto& [size, transition_size] : kSizes) {
      SCOPED_TRACE(testing::Message() << p.name << ", sizes " << size << " and " << transition_size);
      Random random(3);
      const double tolerance = 2e-13 * (1.0 + size + transition_size);
      for (int repeat = 0; repeat < 3; ++repeat)
        for (Index i = 0; i < p.oracle->instances(); ++i) {
          const auto all = structures(p, i);
          const Point at = random_point(p, i, size, transition_size, random);
          const Distribution d = distribution(all, [&](const auto& y) { return score(p, at, y); });
          const BeliefOracle::Size lengths = p.beliefs().belief_size(i);
          EXPECT_EQ(lengths.positive % kPad, 0u);
          EXPECT_EQ(lengths.negative % kPad, 0u);
          std::vector<double> logs(lengths.all(), 7.0);
          const double loss = p.beliefs().infer_beliefs(i, at.rows.data(), at.extra, logs.data());
          EXPECT_NEAR(loss, static_cast<double>(d.log_partition - score(p, at, p.gold(i))), 20 * tolerance);
          expect_log_marginals(marginals(p, i, all, d), logs, 20 * tolerance);
          EXPECT_LE(p.beliefs().inconsistency(i, exponentials(logs).data()), tolerance);

          long double entropy = 0;
          for (const long double log_p : d.log_p)
            if (log_p > -10000) entropy -= std::exp(log_p) * log_p;
          const double found = -signed_sum(lengths, logs, [&](std::size_t c) { return logs[c]; });
          EXPECT_NEAR(found, static_cast<double>(entropy), 20 * tolerance);
        }
    }
}

/// Adds numbers of this size to the scores without changing the distribution: a constant to all labels of a
/// position, and on a chain A_j - A_k to each transition. The latter sum along a sequence to a difference of
/// its ends, which the end scores compensate.
void shift_scores(const Problem& p, double size, Random& random, Point& at) {
  const std::size_t positions = at.rows.size() / p.width();
  const auto scores = [&](std::size_t t, Index k) -> double& { return at.rows[t * p.width() + k]; };
  for (std::size_t t = 0; t < positions; ++t) {
    const double shift = size * random.normal();
    for (Index k = 0; k < p.outputs(); ++k)
      if (!p.data.hierarchy || p.data.hierarchy->parent(k) == kNone) scores(t, k) += shift;
  }
  if (!p.chain || positions == 1) return;
  std::vector<double> potential(p.outputs());
  for (double& a : potential) a = size * random.normal();
  for (Index j = 0; j < p.outputs(); ++j) {
    for (Index k = 0; k < p.outputs(); ++k) at.extra[j * p.outputs() + k] += potential[j] - potential[k];
    scores(0, j) -= potential[j];
    scores(positions - 1, j) += potential[j];
  }
}

TEST(Beliefs, AreConsistentHoweverLargeTheScores) {
  for (const Problem& p : problems())
    for (const double size : {1.0, 1e5, 1e9, 1e13, 1e16}) {
      SCOPED_TRACE(testing::Message() << p.name << ", scores moved by " << size);
      Random random(11);
      for (int repeat = 0; repeat < 3; ++repeat)
        for (Index i = 0; i < p.oracle->instances(); ++i) {
          Point at = random_point(p, i, 1.0, 1.0, random);
          shift_scores(p, size, random, at);
          const std::vector<double> logs = infer(p, i, at);
          EXPECT_LE(p.beliefs().inconsistency(i, exponentials(logs).data()), 1e-13);
          if (size > 1e13) continue;  // only rounding is left of the scores
          const auto all = structures(p, i);
          const Distribution d = distribution(all, [&](const auto& y) { return score(p, at, y); });
          expect_log_marginals(marginals(p, i, all, d), logs, 4e-15 * (10.0 + size));
        }
    }
}

TEST(Beliefs, SignedSumsAreDivergencesOfDistributions) {
  for (const Problem& p : problems())
    for (const auto& [size, transition_size] : {std::pair{1.0, 1.0}, {8.0, 8.0}, {1.0, 310.0}}) {
      SCOPED_TRACE(testing::Message() << p.name << ", sizes " << size << " and " << transition_size);
      Random random(4);
      for (Index i = 0; i < p.oracle->instances(); ++i) {
        const auto all = structures(p, i);
        const Point a = random_point(p, i, size, transition_size, random);
        Point b = a;  // what is nearly impossible under b is so under a, too
        for (double& x : b.rows) x += x == 0.0 ? 0.0 : random.normal();
        for (double& x : b.extra) x += random.normal();
        const Distribution da = distribution(all, [&](const auto& y) { return score(p, a, y); });
        const Distribution db = distribution(all, [&](const auto& y) { return score(p, b, y); });
        long double divergence = 0;
        for (std::size_t s = 0; s < all.size(); ++s)
          divergence += std::exp(da.log_p[s]) * (da.log_p[s] - db.log_p[s]);
        const std::vector<double> log_a = infer(p, i, a), log_b = infer(p, i, b);
        const double found =
            signed_sum(p.beliefs().belief_size(i), log_a, [&](std::size_t c) { return log_a[c] - log_b[c]; });
        EXPECT_NEAR(found, static_cast<double>(divergence), 1e-11 * (1.0 + transition_size));
      }
    }
}

TEST(Beliefs, ExpectationsAreThoseOfOutputsAndTransitions) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    Random random(5);
    for (Index i = 0; i < p.oracle->instances(); ++i) {
      const auto all = structures(p, i);
      const Point at = random_point(p, i, 2.0, 2.0, random);
      const Distribution d = distribution(all, [&](const auto& y) { return score(p, at, y); });
      std::vector<double> rows(at.rows.size(), 0.0), extra(at.extra.size(), 0.0);
      for (std::size_t s = 0; s < all.size(); ++s)
        for (std::size_t t = 0; t < all[s].size(); ++t) {
          const auto probability = static_cast<double>(std::exp(d.log_p[s]));
          for (const Index k : path(p, all[s][t])) rows[t * p.width() + k] += probability;
          if (t > 0) extra[all[s][t - 1] * p.outputs() + all[s][t]] += probability;
        }
      const std::vector<double> beliefs = exponentials(infer(p, i, at));
      std::vector<double> found(rows.size(), 7.0), found_extra(extra.size(), 7.0);
      p.beliefs().expectation(i, beliefs.data(), found.data(), found_extra);
      for (std::size_t c = 0; c < rows.size(); ++c) EXPECT_NEAR(found[c], rows[c], 1e-13) << c;
      for (std::size_t e = 0; e < extra.size(); ++e) EXPECT_NEAR(found_extra[e], extra[e], 1e-13) << e;
    }
  }
}

TEST(Beliefs, OfGoldAreThoseOfTheModelThatScoresItsCliques) {
  for (const Problem& p : problems())
    for (const double each : {0.0, 0.5, 10.0, 60.0}) {
      SCOPED_TRACE(testing::Message() << p.name << ", score " << each);
      for (Index i = 0; i < p.oracle->instances(); ++i) {
        const auto all = structures(p, i);
        const std::vector<Index> gold = p.gold(i);
        const Distribution d = distribution(all, [&](const std::vector<Index>& y) {
          long double sum = 0;
          for (std::size_t t = 0; t < y.size(); ++t) {
            sum += y[t] == gold[t] ? each : 0.0;
            if (t > 0) sum += y[t - 1] == gold[t - 1] && y[t] == gold[t] ? each : 0.0;
          }
          return sum;
        });
        std::vector<double> logs(p.beliefs().belief_size(i).all(), 7.0);
        p.beliefs().gold_beliefs(i, each, logs.data());
        const auto expected = marginals(p, i, all, d);
        for (std::size_t c = 0; c < logs.size(); ++c) {
          EXPECT_LE(logs[c], 0.0);
          EXPECT_NEAR(logs[c], static_cast<double>(std::log(expected[c])), 1e-13 * (1.0 + 10 * each)) << c;
        }
        EXPECT_LE(p.beliefs().inconsistency(i, exponentials(logs).data()), 1e-12);
      }
    }
}

TEST(Beliefs, OfAStructureAreOneOnItsCliques) {
  for (const Problem& p : problems())
    for (Index i = 0; i < p.oracle->instances(); ++i) {
      const auto all = structures(p, i);
      for (std::size_t s = 0; s < all.size(); ++s) {
        Distribution d{std::vector<long double>(all.size(), -INFINITY), 0};
        d.log_p[s] = 0;
        std::vector<double> found(p.beliefs().belief_size(i).all(), 7.0);
        p.beliefs().structure_beliefs(i, all[s], found.data());
        const auto expected = marginals(p, i, all, d);
        EXPECT_EQ(found, std::vector<double>(expected.begin(), expected.end())) << p.name;
      }
    }
}

TEST(Beliefs, AreMadeConsistent) {
  for (const Problem& p : problems())
    for (const double size : {0.0, 1.0, 30.0}) {
      SCOPED_TRACE(testing::Message() << p.name << ", size " << size);
      Random random(6);
      for (Index i = 0; i < p.oracle->instances(); ++i) {
        const std::vector<double> logs = infer(p, i, random_point(p, i, size, size, random));
        const std::vector<double> exact = exponentials(logs);
        std::vector<double> kept = exact, rough = exact;
        p.beliefs().make_consistent(i, kept.data());
        for (std::size_t c = 0; c < exact.size(); ++c) EXPECT_NEAR(kept[c], exact[c], 1e-12) << c;

        for (std::size_t c = 0; c < rough.size(); ++c)
          rough[c] *= 1.0 + 1e-6 * random.uniform() * (logs[c] < 0.0);
        if (size < 30.0 && structures(p, i).size() > 1) {  // if more than one structure has mass
          EXPECT_GT(p.beliefs().inconsistency(i, rough.data()), 1e-9);
        }
        p.beliefs().make_consistent(i, rough.data());
        EXPECT_LE(p.beliefs().inconsistency(i, rough.data()), 1e-14);
        for (std::size_t c = 0; c < exact.size(); ++c) EXPECT_NEAR(rough[c], exact[c], 1e-5) << c;
      }
    }
}

TEST(Beliefs, MixturesOfStructuresAreConsistent) {
  for (const Problem& p : problems()) {
    Random random(7);
    for (Index i = 0; i < p.oracle->instances(); ++i) {
      std::vector<double> mixture(p.beliefs().belief_size(i).all(), 0.0), one(mixture.size());
      const auto all = structures(p, i);
      std::vector<double> weight;
      double total = 0.0;
      for (std::size_t s = 0; s < all.size(); ++s)
        total += weight.emplace_back(std::pow(random.uniform(), 8));
      for (std::size_t s = 0; s < all.size(); ++s) {
        p.beliefs().structure_beliefs(i, all[s], one.data());
        for (std::size_t c = 0; c < one.size(); ++c) mixture[c] += weight[s] / total * one[c];
      }
      EXPECT_LE(p.beliefs().inconsistency(i, mixture.data()), 1e-14) << p.name;
    }
  }
}

TEST(Beliefs, EverySpoiledNumberIsFound) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    Random random(8);
    for (Index i = 0; i < p.oracle->instances(); ++i) {
      const std::vector<double> exact = exponentials(infer(p, i, random_point(p, i, 1.0, 1.0, random)));
      std::vector<bool> clique(exact.size(), false);
      for (const auto& y : structures(p, i))
        for (const std::size_t c : cliques(p, i, y)) clique[c] = true;
      for (std::size_t c = 0; c < exact.size(); ++c) {
        if (!clique[c]) continue;
        SCOPED_TRACE(testing::Message() << "instance " << i << ", number " << c);
        std::vector<double> spoiled = exact;
        spoiled[c] += 0.01;
        EXPECT_GE(p.beliefs().inconsistency(i, spoiled.data()), 0.01 - 1e-12);
        spoiled[c] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_TRUE(std::isnan(p.beliefs().inconsistency(i, spoiled.data())));
        spoiled[c] = std::numeric_limits<double>::infinity();
        EXPECT_FALSE(p.beliefs().inconsistency(i, spoiled.data()) <= 1e300);
      }
    }
  }
}

TEST(Beliefs, NumbersBelowZeroAreFoundWhereAllSumsAgree) {
  // Changes two pairs of a sequence of two positions, and two leaves.
  for (const Problem& p : {chain(2, 1), tree({}, 3, 2)}) {
    const Index i = p.chain ? 1 : 0;
    std::vector<double> beliefs(p.beliefs().belief_size(i).all());
    p.beliefs().structure_beliefs(i, p.chain ? std::vector<Index>{0, 0} : std::vector<Index>{0},
                                  beliefs.data());
    beliefs[0] += 0.25;
    beliefs[1] -= 0.25;
    EXPECT_GE(p.beliefs().inconsistency(i, beliefs.data()), 0.25) << p.name;
  }
}

TEST(Beliefs, NeedGoldWhereTheySpeakOfIt) {
  Problem known = chain(3, 1);
  Problem p{.name = "", .data = known.data, .oracle = nullptr, .chain = true};
  p.data.gold[3] = kUnknownOutput;
  p.oracle = std::make_unique<ChainOracle>(p.data);
  Random random(1);
  const Point at = random_point(p, 0, 1.0, 1.0, random);
  std::vector<double> logs(p.beliefs().belief_size(0).all());
  EXPECT_THROW(p.beliefs().infer_beliefs(0, at.rows.data(), at.extra, logs.data()), Error);
  EXPECT_THROW(p.beliefs().gold_beliefs(0, 1.0, logs.data()), Error);
}

class BeliefsOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(BeliefsOnEachSet);

TEST_P(BeliefsOnEachSet, LinearAndLogDomainAgree) {
  for (const Index labels : {2u, 7u, 9u, 26u}) {
    const Problem p = chain(labels, labels);
    Random random(9);
    for (Index i = 0; i < p.oracle->instances(); ++i) {
      Point at = random_point(p, i, 5.0, 3.0, random);
      at.extra[0] = -290.0;
      const std::vector<double> linear = infer(p, i, at);
      at.extra[0] = -310.0;  // beyond ChainOracle::kLinearRange
      const std::vector<double> logarithmic = infer(p, i, at);
      for (std::size_t c = 0; c < linear.size(); ++c)
        EXPECT_NEAR(std::max(linear[c], -100.0), std::max(logarithmic[c], -100.0), 1e-10)
            << labels << ", " << c;
    }
  }
}

}  // namespace
}  // namespace proxbench
