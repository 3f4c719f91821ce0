#include "oracles/chain/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/kernels/test_instruction_sets.h"
#include "oracles/test_chains.h"

namespace proxbench {
namespace {

using test::random_scores;
using test::sequences;

/// Results for one sequence from the list of all label sequences, in long double.
struct Enumerated {
  long double log_partition = 0, entropy = 0, best = 0;
  std::vector<std::vector<long double>> marginal;  // [t][k]
  std::vector<long double> pair;                   // [a*K + b], summed over t
  std::vector<Index> argmax;
};

Enumerated enumerate(const Scores& scores, Index labels, std::size_t begin, std::size_t length) {
  std::size_t count = 1;
  for (std::size_t t = 0; t < length; ++t) count *= labels;
  auto labelling = [&](std::size_t code) {
    std::vector<Index> y(length);
    for (auto& label : y) {
      label = static_cast<Index>(code % labels);
      code /= labels;
    }
    return y;
  };
  std::vector<long double> score(count);
  long double top = -INFINITY;
  Enumerated e;
  for (std::size_t c = 0; c < count; ++c) {
    const auto y = labelling(c);
    long double s = 0;
    for (std::size_t t = 0; t < length; ++t) {
      s += scores.column(y[t])[begin + t];
      if (t > 0) s += scores.extra[y[t - 1] * labels + y[t]];
    }
    score[c] = s;
    if (s > top) {
      top = s;
      e.best = s;
      e.argmax = y;
    }
  }
  long double z = 0;
  for (const auto s : score) z += std::exp(s - top);
  e.log_partition = top + std::log(z);
  e.marginal.assign(length, std::vector<long double>(labels, 0));
  e.pair.assign(std::size_t{labels} * labels, 0);
  for (std::size_t c = 0; c < count; ++c) {
    const auto y = labelling(c);
    const long double p = std::exp(score[c] - e.log_partition);
    if (p > 0) e.entropy -= p * (score[c] - e.log_partition);
    for (std::size_t t = 0; t < length; ++t) {
      e.marginal[t][y[t]] += p;
      if (t > 0) e.pair[y[t - 1] * labels + y[t]] += p;
    }
  }
  return e;
}

/// Labels, size of scores, size of transitions.
class ChainEnumeration : public testing::TestWithParam<std::tuple<Index, double, double>> {};

TEST_P(ChainEnumeration, AgreesWithTheListOfAllLabelSequences) {
  const auto [labels, size, transition_size] = GetParam();
  const std::vector<Index> lengths = {3, 1, 5, 2, 4, 1};
  const Dataset data = sequences(labels, lengths, 7);
  const ChainOracle oracle(data);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Scores scores = random_scores(oracle, size, transition_size, seed);
    Residual residual(labels, oracle.positions(), oracle.extra_weights());
    std::vector<InstanceTerms> terms(oracle.instances());
    std::vector<Index> decoded(oracle.positions());
    const double loss = oracle.infer({scores}, &residual, Parallel());
    oracle.instance_terms(scores, terms, Parallel());
    std::vector<Index> by_position(oracle.positions());
    oracle.decode(scores, Decoding::kStructure, decoded, Parallel());
    oracle.decode(scores, Decoding::kPositions, by_position, Parallel());

    long double expected_loss = 0;
    std::vector<long double> pair(oracle.extra_weights(), 0);
    const double tolerance = 1e-13 * (1 + size + transition_size);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::size_t begin = data.begin[i];
      const Enumerated e = enumerate(scores, labels, begin, lengths[i]);
      long double gold = 0;
      for (std::size_t t = 0; t < lengths[i]; ++t) {
        gold += scores.column(data.gold[begin + t])[begin + t];
        if (t > 0) {
          const std::size_t edge = data.gold[begin + t - 1] * labels + data.gold[begin + t];
          gold += scores.extra[edge];
          pair[edge] -= 1;
        }
        const auto& at = e.marginal[t];
        EXPECT_NEAR(static_cast<double>(at[by_position[begin + t]]),
                    static_cast<double>(*std::max_element(at.begin(), at.end())), tolerance);
        for (Index k = 0; k < labels; ++k) {
          const double marginal = residual.column(k)[begin + t] + (k == data.gold[begin + t] ? 1 : 0);
          EXPECT_NEAR(marginal, static_cast<double>(e.marginal[t][k]), tolerance);
        }
      }
      for (std::size_t edge = 0; edge < pair.size(); ++edge) pair[edge] += e.pair[edge];
      expected_loss += e.log_partition - gold;
      EXPECT_NEAR(terms[i].log_gold, static_cast<double>(gold - e.log_partition), 20 * tolerance);
      EXPECT_NEAR(terms[i].entropy, static_cast<double>(e.entropy), 20 * tolerance);
      EXPECT_EQ(std::vector<Index>(decoded.begin() + static_cast<std::ptrdiff_t>(begin),
                                   decoded.begin() + static_cast<std::ptrdiff_t>(begin + lengths[i])),
                e.argmax);
    }
    EXPECT_NEAR(loss, static_cast<double>(expected_loss), 20 * tolerance);
    EXPECT_NEAR(oracle.infer({scores}, nullptr, Parallel()), loss, 1e-12 * (1 + std::abs(loss)));
    for (std::size_t edge = 0; edge < pair.size(); ++edge)
      EXPECT_NEAR(residual.extra[edge], static_cast<double>(pair[edge]), 10 * tolerance);
  }
}

// Transitions further apart than kLinearRange use the log domain.
INSTANTIATE_TEST_SUITE_P(Sizes, ChainEnumeration,
                         testing::Values(std::tuple{1u, 1.0, 1.0}, std::tuple{2u, 1.0, 1.0},
                                         std::tuple{3u, 2.0, 2.0}, std::tuple{4u, 1.0, 0.0},
                                         std::tuple{4u, 30.0, 30.0}, std::tuple{4u, 700.0, 1.0},
                                         std::tuple{3u, 700.0, 290.0}, std::tuple{3u, 1.0, 700.0},
                                         std::tuple{4u, 700.0, 700.0}));

/// A state may be hopeless at one position, and best at the next because a transition or a score raises it.
TEST(Chain, KeepsWhatLaterPositionsLift) {
  const std::vector<Index> lengths = {5, 4, 6};
  const Dataset data = sequences(3, lengths, 7);
  const ChainOracle oracle(data);
  for (const double transition_size : {100.0, 149.0, 200.0, 290.0, 299.0})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Scores scores = random_scores(oracle, 400.0, transition_size, seed);
      std::vector<InstanceTerms> terms(oracle.instances());
      oracle.instance_terms(scores, terms, Parallel());
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::size_t begin = data.begin[i];
        const Enumerated e = enumerate(scores, 3, begin, lengths[i]);
        long double gold = 0;
        for (std::size_t t = 0; t < lengths[i]; ++t) {
          gold += scores.column(data.gold[begin + t])[begin + t];
          if (t > 0) gold += scores.extra[data.gold[begin + t - 1] * 3 + data.gold[begin + t]];
        }
        EXPECT_NEAR(terms[i].log_gold, static_cast<double>(gold - e.log_partition), 1e-10)
            << "transitions of " << transition_size << ", seed " << seed;
        EXPECT_NEAR(terms[i].entropy, static_cast<double>(e.entropy), 1e-10)
            << "transitions of " << transition_size << ", seed " << seed;
      }
    }
}

/// Many labels: more than one vector register, odd numbers, and numbers beyond the unrolled widths.
class ChainDomains : public testing::TestWithParam<Index> {};

TEST_P(ChainDomains, LinearAndLogDomainAgree) {
  const Index labels = GetParam();
  const Dataset data = sequences(labels, {40, 1, 7}, 3);
  const ChainOracle oracle(data);
  Scores linear = random_scores(oracle, 5.0, 3.0, 1);
  // One transition is far below the rest. It has no mass to lose, but the range passes kLinearRange.
  linear.extra[0] = -290.0;
  Scores logarithmic = linear;
  logarithmic.extra[0] = -310.0;
  Residual a(labels, oracle.positions(), oracle.extra_weights()), b = a;
  // The gold score contains the changed transition only if gold uses it.
  double gold_uses = 0;
  for (std::size_t i = 0; i < data.instances(); ++i)
    for (std::size_t p = data.begin[i]; p + 1 < data.begin[i + 1]; ++p)
      gold_uses += data.gold[p] == 0 && data.gold[p + 1] == 0;
  const double loss_a = oracle.infer({linear}, &a, Parallel());
  const double loss_b = oracle.infer({logarithmic}, &b, Parallel());
  EXPECT_NEAR(loss_a, loss_b - 20.0 * gold_uses, 1e-10 * loss_b);
  for (std::size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 1e-11);
  for (std::size_t i = 0; i < a.extra.size(); ++i) EXPECT_NEAR(a.extra[i], b.extra[i], 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Labels, ChainDomains, testing::Values(2u, 7u, 8u, 9u, 17u, 26u, 32u, 33u, 49u, 70u));

TEST(Chain, LongSequencesAndLargeScoresStayFinite) {
  const Dataset data = sequences(26, {10000, 10000, 1}, 5);
  const ChainOracle oracle(data);
  for (const double transition_size : {0.0, 1.0, 300.0, 700.0}) {
    const Scores scores = random_scores(oracle, 700.0, transition_size, 2);
    Residual residual(26, oracle.positions(), oracle.extra_weights());
    const double loss = oracle.infer({scores}, &residual, Parallel());
    EXPECT_TRUE(std::isfinite(loss));
    EXPECT_GE(loss, 0.0);
    for (std::size_t p = 0; p < oracle.positions(); ++p) {
      double sum = 0;
      for (Index k = 0; k < 26; ++k) {
        const double r = residual.column(k)[p];
        ASSERT_TRUE(std::isfinite(r));
        ASSERT_LE(std::abs(r), 1.0 + 1e-9);
        sum += r;
      }
      ASSERT_NEAR(sum, 0.0, 1e-9) << "marginals sum to one at position " << p;
    }
    double edges = 0;
    for (const double e : residual.extra) edges += e;
    EXPECT_NEAR(edges, 0.0, 1e-6) << "pair marginals sum to the number of edges";
  }
}

TEST(Chain, WithoutTransitionsPositionsAreIndependentSoftmaxes) {
  const Dataset data = sequences(5, {200}, 9);
  const ChainOracle oracle(data);
  const Scores scores = random_scores(oracle, 4.0, 0.0, 4);
  Residual residual(5, oracle.positions(), oracle.extra_weights());
  oracle.infer({scores}, &residual, Parallel());
  for (std::size_t p = 0; p < 200; ++p) {
    double z = 0;
    for (Index k = 0; k < 5; ++k) z += std::exp(scores.column(k)[p]);
    for (Index k = 0; k < 5; ++k)
      EXPECT_NEAR(residual.column(k)[p] + (data.gold[p] == k), std::exp(scores.column(k)[p]) / z, 1e-14);
  }
}

TEST(Chain, ResidualIsTheDerivativeOfTheLoss) {
  const Dataset data = sequences(4, {3, 5, 1}, 11);
  const ChainOracle oracle(data);
  Scores scores = random_scores(oracle, 2.0, 2.0, 6);
  Residual residual(4, oracle.positions(), oracle.extra_weights());
  oracle.infer({scores}, &residual, Parallel());
  const double h = 1e-5;
  auto slope = [&](double& x) {
    const double keep = x;
    x = keep + h;
    const double up = oracle.infer({scores}, nullptr, Parallel());
    x = keep - h;
    const double down = oracle.infer({scores}, nullptr, Parallel());
    x = keep;
    return (up - down) / (2 * h);
  };
  for (Index k = 0; k < 4; ++k)
    for (std::size_t p = 0; p < oracle.positions(); ++p)
      EXPECT_NEAR(slope(scores.column(k)[p]), residual.column(k)[p], 1e-8);
  for (std::size_t e = 0; e < scores.extra.size(); ++e)
    EXPECT_NEAR(slope(scores.extra[e]), residual.extra[e], 1e-8);
}

TEST(Chain, CountsTheTransitionsOfTheGoldLabels) {
  // With all scores 0, all transitions are alike. The residual is then the number of transitions / K^2 minus
  // the counts.
  const Dataset data = sequences(3, {3, 5, 1, 4}, 12);
  const ChainOracle oracle(data);
  const Scores zero(3, data.positions(), 9);
  Residual residual(3, data.positions(), 9);
  oracle.infer({zero}, &residual, Parallel());
  const std::vector<double> count = oracle.gold_extra(Parallel());
  ASSERT_EQ(count.size(), 9u);
  for (std::size_t e = 0; e < 9; ++e) EXPECT_NEAR(residual.extra[e], 9.0 / 9.0 - count[e], 1e-12);
}

TEST(Chain, APointOnALineIsTheSumOfItsScores) {
  const Dataset data = sequences(6, {8, 3}, 13);
  const ChainOracle oracle(data);
  const Scores base = random_scores(oracle, 2.0, 1.0, 1), direction = random_scores(oracle, 1.0, 1.0, 2);
  Scores sum = base;
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += 0.25 * direction.values[i];
  for (std::size_t i = 0; i < sum.extra.size(); ++i) sum.extra[i] += 0.25 * direction.extra[i];
  EXPECT_DOUBLE_EQ(oracle.infer({base, &direction, 0.25}, nullptr, Parallel()),
                   oracle.infer({sum}, nullptr, Parallel()));
}

TEST(Chain, SomeInstancesGiveTheirPartOfAll) {
  const std::vector<Index> lengths{3, 8, 1, 5, 12, 2};
  const Dataset data = sequences(6, lengths, 15);
  const ChainOracle oracle(data);
  const Scores all = random_scores(oracle, 2.0, 2.0, 9);
  std::vector<Index> every(lengths.size());
  std::iota(every.begin(), every.end(), Index{0});
  Residual whole(6, oracle.positions(), 36), again = whole;
  EXPECT_EQ(oracle.infer(ScorePoint{all}, &whole, Parallel()),
            oracle.infer_some(every, ScorePoint{all}, &again, Parallel()));
  EXPECT_EQ(whole.values, again.values);
  EXPECT_EQ(whole.extra, again.extra);

  const std::vector<Index> some{4, 1, 5};
  Scores local(6, 22, 36);
  local.extra = all.extra;
  std::size_t q = 0;
  std::vector<std::size_t> from;
  for (const Index i : some)
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p, ++q) {
      for (Index k = 0; k < 6; ++k) local.column(k)[q] = all.column(k)[p];
      from.push_back(p);
    }
  std::vector<InstanceTerms> terms(lengths.size());
  oracle.instance_terms(all, terms, Parallel());
  double expected = 0.0;
  for (const Index i : some) expected -= terms[i].log_gold;
  Residual part(6, 22, 36);
  EXPECT_NEAR(oracle.infer_some(some, ScorePoint{local}, &part, Parallel()), expected, 1e-11);
  for (std::size_t p = 0; p < from.size(); ++p)
    for (Index k = 0; k < 6; ++k) EXPECT_NEAR(part.column(k)[p], whole.column(k)[from[p]], 1e-13);
}

TEST(Chain, SameBitsForAnyThreadsAndBackEnd) {
  std::vector<Index> lengths;
  Random random(1);
  for (int i = 0; i < 400; ++i) lengths.push_back(1 + static_cast<Index>(random.below(14)));
  const Dataset data = sequences(26, lengths, 17);
  const ChainOracle oracle(data);
  const Scores scores = random_scores(oracle, 3.0, 2.0, 8);
  Residual first(26, oracle.positions(), oracle.extra_weights());
  const double loss = oracle.infer({scores}, &first, Parallel(1));
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
    for (const int threads : {1, 2, 3, 5}) {
      Residual residual(26, oracle.positions(), oracle.extra_weights());
      EXPECT_EQ(oracle.infer({scores}, &residual, Parallel(threads, backend)), loss);
      EXPECT_EQ(residual.values, first.values);
      EXPECT_EQ(residual.extra, first.extra);
    }
}

class ChainOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(ChainOnEachSet);

TEST_P(ChainOnEachSet, AgreesWithTheBaselineInTheSameBitsForAnyThreads) {
  for (const Index labels : {1u, 2u, 8u, 26u, 31u, 70u}) {
    const Dataset data =
        sequences(labels, {1, 5, 300, 2, 2, 9, 7, 7, 3, 1, 250, 4, 8, 8, 8, 8, 8, 8, 8, 8}, 11);
    const ChainOracle oracle(data);
    const Scores base = random_scores(oracle, 3, 2, 12), direction = random_scores(oracle, 1, 1, 13);
    const ScorePoint at{base, &direction, 0.7};
    Residual expected = base, residual = base, again = base;
    use_instruction_set(InstructionSet::kBaseline);
    const double loss = oracle.infer(at, &expected, Parallel(1));
    use_instruction_set(GetParam());
    EXPECT_NEAR(oracle.infer(at, &residual, Parallel(1)), loss, 1e-13 * loss + 1e-13);
    EXPECT_NEAR(oracle.infer(at, nullptr, Parallel(1)), loss, 1e-13 * loss + 1e-13);
    oracle.infer(at, &again, Parallel(3));
    for (Index k = 0; k < labels; ++k)
      for (std::size_t p = 0; p < oracle.positions(); ++p) {
        EXPECT_NEAR(residual.column(k)[p], expected.column(k)[p], 1e-13);
        EXPECT_EQ(residual.column(k)[p], again.column(k)[p]);
      }
    for (std::size_t e = 0; e < expected.extra.size(); ++e) {
      EXPECT_NEAR(residual.extra[e], expected.extra[e], 1e-11);
      EXPECT_EQ(residual.extra[e], again.extra[e]);
    }
  }
}

TEST_P(ChainOnEachSet, ScoresFarApartAndMinusInfinityLeaveNothing) {
  const Dataset data = sequences(3, {2}, 1);
  const ChainOracle oracle(data);
  for (const double low : {-700.0, -1e4, -std::numeric_limits<double>::infinity()}) {
    Scores scores(3, 2, 9);
    for (std::size_t p = 0; p < 2; ++p)
      for (Index k = 0; k < 3; ++k) scores.column(k)[p] = k == data.gold[p] ? 5.0 : low;
    Residual residual = scores;
    EXPECT_NEAR(oracle.infer({scores}, &residual, Parallel(1)), 0.0, 1e-14);
    for (Index k = 0; k < 3; ++k)
      for (std::size_t p = 0; p < 2; ++p) EXPECT_NEAR(residual.column(k)[p], 0.0, 1e-14);
  }
}

TEST_P(ChainOnEachSet, ANaNIsNotHidden) {
  const Dataset data = sequences(26, {8, 8, 8}, 1);
  const ChainOracle oracle(data);
  for (const std::size_t p : {0u, 11u, 23u}) {
    Scores scores = random_scores(oracle, 1, 1, 2);
    scores.column(3)[p] = std::numeric_limits<double>::quiet_NaN();
    Residual residual = scores;
    EXPECT_TRUE(std::isnan(oracle.infer({scores}, &residual, Parallel(1))));
  }
}

TEST(Chain, RefusesLabelsWhoseTransitionsExceedTheMachine) {
  Dataset data;
  Vocabulary names;
  names.outputs.resize(2'000'000);  // 128 TB
  data.vocabulary = std::make_shared<Vocabulary>(std::move(names));
  try {
    const ChainOracle oracle(data);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("chain oracle: found 2000000 labels, whose transitions take 128000 GB"))
        << error.what();
  }
}

TEST(Chain, RefusesWhatItCannotDo) {
  Dataset data = sequences(3, {2, 2}, 1);
  data.gold[1] = kUnknownOutput;
  const ChainOracle unknown(data);
  const Scores scores = random_scores(unknown, 1.0, 1.0, 1);
  try {
    unknown.infer({scores}, nullptr, Parallel());
    FAIL() << "an unknown gold label has no likelihood";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("gold label is unknown"));
  }
  std::vector<Index> decoded(4);
  unknown.decode(scores, Decoding::kStructure, decoded, Parallel());  // decoding needs no gold
  data.begin = {0, 2, 2, 4};
  try {
    const ChainOracle empty(data);
    FAIL() << "an empty sequence";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("sequence 1 is empty"));
  }
}

}  // namespace
}  // namespace proxbench
