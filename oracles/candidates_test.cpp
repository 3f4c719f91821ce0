#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/hessian.h"
#include "core/kernels/test_instruction_sets.h"
#include "core/objective.h"
#include "oracles/test_exact.h"

namespace proxbench {
namespace {

/// Groups of these sizes, each with a random gold candidate, and no features.
Dataset make_data(const std::vector<Index>& sizes, std::uint64_t seed = 1) {
  Dataset data;
  Random random(seed);
  for (const Index size : sizes) {
    const Index first = data.begin.back();
    data.gold.resize(first + size, kNoOutput);
    data.gold[first + random.below(size)] = 0;
    data.begin.push_back(first + size);
  }
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"best"}});
  return data;
}

Scores random_scores(std::size_t positions, double size, std::uint64_t seed) {
  Scores scores(1, positions, 0);
  Random random(seed);
  for (std::size_t p = 0; p < positions; ++p) scores.values[p] = size * random.normal();
  return scores;
}

const std::vector<Index> kSizes = {3, 1, 50, 1, 5000, 2, 7, 1, 400, 2100, 9};

TEST(Candidates, AgreesWithTheSoftmaxOfEachGroup) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  for (const double size : {0.0, 1.0, 30.0, 700.0}) {
    const Scores scores = random_scores(data.positions(), size, 3);
    Residual residual(1, data.positions(), 0);
    std::vector<InstanceTerms> terms(data.instances());
    std::vector<Index> decoded(data.positions());
    const double loss = oracle.infer({scores}, &residual, Parallel());
    oracle.instance_terms(scores, terms, Parallel());
    oracle.decode(scores, Decoding::kStructure, decoded, Parallel());
    long double expected_loss = 0;
    const double tolerance = 1e-13 * (1 + size);
    for (std::size_t i = 0; i < data.instances(); ++i) {
      const double* s = scores.column(0);
      std::size_t best = data.begin[i], gold = 0;
      for (std::size_t p = data.begin[i]; p < data.begin[i + 1]; ++p) {
        if (s[p] > s[best]) best = p;
        if (data.gold[p] == 0) gold = p;
      }
      long double sum = 0, expected = 0;
      for (std::size_t p = data.begin[i]; p < data.begin[i + 1]; ++p)
        sum += std::exp((long double)s[p] - s[best]);
      const long double log_partition = s[best] + std::log(sum);
      for (std::size_t p = data.begin[i]; p < data.begin[i + 1]; ++p) {
        const long double probability = std::exp((long double)s[p] - log_partition);
        if (probability > 0) expected -= probability * (s[p] - log_partition);
        EXPECT_NEAR(residual.values[p], static_cast<double>(probability) - (p == gold ? 1 : 0), 1e-13);
        EXPECT_EQ(decoded[p], p == best ? 0 : kNoOutput);
      }
      expected_loss += log_partition - s[gold];
      EXPECT_NEAR(terms[i].log_gold, static_cast<double>(s[gold] - log_partition), tolerance);
      EXPECT_NEAR(terms[i].entropy, static_cast<double>(expected), 1e-12);
    }
    EXPECT_NEAR(loss, static_cast<double>(expected_loss), 20 * tolerance);
    EXPECT_EQ(oracle.infer({scores}, nullptr, Parallel()), loss);
  }
}

TEST(Candidates, ResidualIsTheDerivativeOfTheLoss) {
  const Dataset data = make_data({3, 1, 8});
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  Scores scores = random_scores(data.positions(), 2.0, 5);
  Residual residual(1, data.positions(), 0);
  oracle.infer({scores}, &residual, Parallel());
  for (std::size_t p = 0; p < data.positions(); ++p) {
    constexpr double h = 1e-5;
    const double keep = scores.values[p];
    scores.values[p] = keep + h;
    const double up = oracle.infer({scores}, nullptr, Parallel());
    scores.values[p] = keep - h;
    const double down = oracle.infer({scores}, nullptr, Parallel());
    scores.values[p] = keep;
    EXPECT_NEAR((up - down) / (2 * h), residual.values[p], 1e-9);
  }
}

TEST(Candidates, APointOnALineIsTheSumOfItsScores) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  const Scores base = random_scores(data.positions(), 2.0, 1),
               direction = random_scores(data.positions(), 1.0, 2);
  Scores sum = base;
  for (std::size_t p = 0; p < data.positions(); ++p) sum.values[p] += 0.25 * direction.values[p];
  EXPECT_NEAR(oracle.infer({base, &direction, 0.25}, nullptr, Parallel()),
              oracle.infer({sum}, nullptr, Parallel()), 1e-10);
}

TEST(Candidates, SomeInstancesAndSingleOnesGiveTheirPartOfAll) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  const Scores all = random_scores(data.positions(), 2.0, 7);
  Residual whole(1, data.positions(), 0);
  oracle.infer({all}, &whole, Parallel());
  std::vector<InstanceTerms> terms(data.instances());
  oracle.instance_terms(all, terms, Parallel());

  const std::vector<Index> some{2, 9, 0, 1};
  std::vector<std::size_t> from;
  for (const Index i : some)
    for (std::size_t p = data.begin[i]; p < data.begin[i + 1]; ++p) from.push_back(p);
  Scores local(1, from.size(), 0);
  for (std::size_t q = 0; q < from.size(); ++q) local.values[q] = all.values[from[q]];
  Residual part(1, from.size(), 0);
  double expected = 0.0;
  for (const Index i : some) expected -= terms[i].log_gold;
  EXPECT_NEAR(oracle.infer_some(some, {local}, &part, Parallel()), expected, 1e-11);
  for (std::size_t q = 0; q < from.size(); ++q) EXPECT_EQ(part.values[q], whole.values[from[q]]);
  for (const Index i : some) {
    const std::size_t first = data.begin[i], n = data.begin[i + 1] - first;
    AlignedVector<double> rows(padded(n) * kPad, 0.0), residual(padded(n) * kPad, 7.0);
    for (std::size_t p = 0; p < n; ++p) rows[p * kPad] = all.values[first + p];
    EXPECT_NEAR(oracle.infer_instance(i, rows.data(), {}, residual.data(), {}), -terms[i].log_gold, 1e-12);
    for (std::size_t p = 0; p < n; ++p) {
      EXPECT_EQ(residual[p * kPad], whole.values[first + p]);
      for (std::size_t lane = 1; lane < kPad; ++lane) EXPECT_EQ(residual[p * kPad + lane], 0.0);
    }
  }
}

/// The scores of a group as rows, with arbitrary numbers in the padding.
AlignedVector<double> rows_of(const Dataset& data, const Scores& scores, Index group) {
  const std::size_t first = data.begin[group], n = data.begin[group + std::size_t{1}] - first;
  AlignedVector<double> rows(n * padded(1), 7.0);
  for (std::size_t y = 0; y < n; ++y) rows[y * padded(1)] = scores.values[first + y];
  return rows;
}

TEST(Candidates, BeliefsAreTheLogMarginals) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  for (const double size : {0.0, 1.0, 30.0}) {
    const Scores scores = random_scores(data.positions(), size, 3);
    Residual residual(1, data.positions(), 0);
    std::vector<InstanceTerms> terms(data.instances());
    oracle.infer({scores}, &residual, Parallel());
    oracle.instance_terms(scores, terms, Parallel());
    for (Index i = 0; i < data.instances(); ++i) {
      const std::size_t first = data.begin[i], n = data.begin[i + std::size_t{1}] - first;
      ASSERT_EQ(oracle.belief_size(i).positive, padded(n));
      ASSERT_EQ(oracle.belief_size(i).negative, 0u);
      AlignedVector<double> logs(padded(n), 7.0), p(padded(n), 0.0), rows(n * padded(1), 7.0);
      const AlignedVector<double> own = rows_of(data, scores, i);
      EXPECT_NEAR(oracle.infer_beliefs(i, own.data(), {}, logs.data()), -terms[i].log_gold,
                  1e-12 * (1 + size));
      double entropy = 0.0;
      for (std::size_t y = 0; y < padded(n); ++y) {
        ASSERT_LE(logs[y], 0.0);
        p[y] = std::exp(logs[y]);
        entropy -= p[y] * logs[y];
      }
      for (std::size_t y = n; y < padded(n); ++y) ASSERT_EQ(logs[y], 0.0) << "padding";
      for (std::size_t y = 0; y < n; ++y)
        ASSERT_NEAR(p[y], residual.values[first + y] + (data.gold[first + y] == 0), 1e-12);
      EXPECT_NEAR(entropy, terms[i].entropy, 1e-11);
      EXPECT_LT(oracle.inconsistency(i, p.data()), 1e-11);
      oracle.expectation(i, p.data(), rows.data(), {});
      for (std::size_t y = 0; y < n; ++y)
        for (std::size_t lane = 0; lane < padded(1); ++lane)
          ASSERT_EQ(rows[y * padded(1) + lane], lane == 0 ? p[y] : 0.0);
      for (std::size_t y = 0; y < n; ++y) p[y] *= 1.5;
      EXPECT_NEAR(oracle.inconsistency(i, p.data()), 0.5, 1e-11);
      oracle.make_consistent(i, p.data());
      for (std::size_t y = 0; y < n; ++y) ASSERT_NEAR(p[y], std::exp(logs[y]), 1e-11);
    }
  }
}

TEST(Candidates, BeliefsSumToOneHoweverLargeTheScores) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  for (const double size : {1e5, 1e9, 1e13}) {
    Scores scores = random_scores(data.positions(), 1.0, 3);
    for (Index p = 0; p < data.positions(); ++p) scores.column(0)[p] += size;
    for (Index i = 0; i < data.instances(); ++i) {
      AlignedVector<double> p(oracle.belief_size(i).all());
      oracle.infer_beliefs(i, rows_of(data, scores, i).data(), {}, p.data());
      for (double& value : p) value = std::exp(value);
      EXPECT_LE(oracle.inconsistency(i, p.data()), 1e-13) << size;
    }
  }
}

TEST(Candidates, BeliefsOfGoldAreThoseOfGoldScores) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  for (const double score : {0.0, 3.0, 50.0}) {
    Scores scores(1, data.positions(), 0);
    for (std::size_t p = 0; p < data.positions(); ++p) scores.values[p] = data.gold[p] == 0 ? score : 0.0;
    for (Index i = 0; i < data.instances(); ++i) {
      const std::size_t n = oracle.belief_size(i).all();
      AlignedVector<double> expected(n), found(n, 7.0);
      oracle.infer_beliefs(i, rows_of(data, scores, i).data(), {}, expected.data());
      oracle.gold_beliefs(i, score, found.data());
      for (std::size_t y = 0; y < n; ++y) ASSERT_NEAR(found[y], expected[y], 1e-12 * (1 + score));
    }
  }
  AlignedVector<double> beliefs(padded(3), 7.0);
  oracle.structure_beliefs(0, std::vector<Index>{kNoOutput, 0, kNoOutput}, beliefs.data());
  for (std::size_t y = 0; y < padded(3); ++y) EXPECT_EQ(beliefs[y], y == 1 || y >= 3 ? 1.0 : 0.0) << y;
}

TEST(Candidates, TheDerivativeIsThatOfTheResidual) {
  const Dataset data = make_data(kSizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  const Scores scores = random_scores(data.positions(), 2.0, 5),
               direction = random_scores(data.positions(), 1.0, 6);
  const auto shape = [&] { return Residual(1, data.positions(), 0); };
  Residual residual = shape(), plain = shape(), up = shape(), down = shape(), change = shape(),
           again = shape();
  std::unique_ptr<DerivativeOracle::Messages> kept;
  const double loss = oracle.infer_and_keep({scores}, residual, kept, Parallel());
  EXPECT_EQ(oracle.infer({scores}, &plain, Parallel()), loss);
  EXPECT_EQ(plain.values, residual.values) << "keeping messages changes no bit";
  oracle.derivative(*kept, direction, change, Parallel());
  oracle.derivative(*kept, direction, again, Parallel(3));
  constexpr double h = 1e-5;
  oracle.infer({scores, &direction, h}, &up, Parallel());
  oracle.infer({scores, &direction, -h}, &down, Parallel());
  for (std::size_t p = 0; p < data.positions(); ++p) {
    ASSERT_NEAR(change.values[p], (up.values[p] - down.values[p]) / (2 * h), 1e-9) << p;
    ASSERT_EQ(change.values[p], again.values[p]);
  }
}

class CandidatesOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(CandidatesOnEachSet);

TEST_P(CandidatesOnEachSet, SameBitsForAnyThreadsAndBackEnd) {
  std::vector<Index> sizes;
  Random random(1);
  for (int i = 0; i < 600; ++i) sizes.push_back(1 + static_cast<Index>(random.below(60)));
  const Dataset data = make_data(sizes);
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  const Scores scores = random_scores(data.positions(), 3.0, 8);
  Residual first(1, data.positions(), 0);
  use_instruction_set(GetParam());
  const double loss = oracle.infer({scores}, &first, Parallel(1));
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
    for (const int threads : {1, 2, 3, 5}) {
      Residual residual(1, data.positions(), 0);
      EXPECT_EQ(oracle.infer({scores}, &residual, Parallel(threads, backend)), loss);
      EXPECT_EQ(residual.values, first.values);
    }
  use_instruction_set(InstructionSet::kBaseline);
  EXPECT_NEAR(oracle.infer({scores}, nullptr, Parallel(1)), loss, 1e-13 * loss);
}

TEST_P(CandidatesOnEachSet, ANaNIsNotHidden) {
  const Dataset data = make_data({8, 3, 20});
  const auto made_oracle = test::make_exact("candidates", data);
  const ExactOracle& oracle = *made_oracle;
  use_instruction_set(GetParam());
  for (const std::size_t p : {0u, 9u, 30u}) {
    Scores scores = random_scores(data.positions(), 1.0, 2);
    scores.values[p] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(oracle.infer({scores}, nullptr, Parallel())));
  }
}

/// A multinomial logistic regression, as a flat tree and as groups with one candidate per label. Feature j of
/// the candidate of label k is j*K + k.
struct Multinomial {
  static constexpr Index kLabels = 4, kFeatures = 6, kDocuments = 30;
  Dataset tree, groups;

  Multinomial() {
    Random random(4);
    DesignMatrix::Builder flat, of_labels;
    for (Index i = 0; i < kDocuments; ++i) {
      const Index gold = static_cast<Index>(random.below(kLabels));
      std::vector<double> value(kFeatures, 0.0);
      for (double& x : value)
        if (random.uniform() < 0.6) x = random.normal();
      for (Index j = 0; j < kFeatures; ++j)
        if (value[j] != 0.0) flat.add(j, value[j]);
      flat.end_position();
      tree.gold.push_back(gold);
      tree.begin.push_back(i + 1);
      for (Index k = 0; k < kLabels; ++k) {
        for (Index j = 0; j < kFeatures; ++j)
          if (value[j] != 0.0) of_labels.add(j * kLabels + k, value[j]);
        of_labels.end_position();
        groups.gold.push_back(k == gold ? 0 : kNoOutput);
      }
      groups.begin.push_back((i + 1) * kLabels);
    }
    tree.x = std::move(flat).build(kFeatures);
    groups.x = std::move(of_labels).build(kFeatures * kLabels);
    tree.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"a", "b", "c", "d"}});
    groups.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"best"}});
  }
};

TEST(Candidates, ALabelACandidateIsMultinomialLogisticRegression) {
  const Multinomial data;
  const auto made_tree = test::make_exact("tree", data.tree);
  const ExactOracle& tree = *made_tree;
  const auto made_groups = test::make_exact("candidates", data.groups);
  const ExactOracle& groups = *made_groups;
  Objective a(data.tree.x, tree, {0.3, 0.2}, Parallel()), b(data.groups.x, groups, {0.3, 0.2}, Parallel());
  ASSERT_EQ(a.dimension(), b.dimension());
  Random random(9);
  std::vector<double> w(a.dimension());
  for (double& x : w) x = random.normal();
  const SparseVector sparse = SparseVector::from_dense(w);
  std::vector<double> g(w.size()), h(w.size());
  const auto loss = [&](Objective& objective, std::vector<double>& gradient) {
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(sparse, scores);
    const double value = objective.infer({scores}, &residual);
    objective.gradient(residual, w, gradient);
    return value;
  };
  EXPECT_NEAR(loss(a, g), loss(b, h), 1e-11);
  for (std::size_t c = 0; c < g.size(); ++c) EXPECT_NEAR(g[c], h[c], 1e-12);
}

TEST(Candidates, TheHessianIsThatOfFiniteDifferences) {
  const Multinomial data;
  const auto made_oracle = test::make_exact("candidates", data.groups);
  const ExactOracle& oracle = *made_oracle;
  Objective objective(data.groups.x, oracle, {0.3, 0.2}, Parallel());
  const std::size_t d = objective.dimension();
  std::vector<Coord> set;
  for (Coord c = 0; c < d; c += 2) set.push_back(c);
  Random random(11);
  std::vector<double> w(d);
  for (double& x : w) x = random.normal();
  const auto gradient = [&](const std::vector<double>& at, Scores& scores) {
    Residual residual = objective.make_residual();
    objective.scores(SparseVector::from_dense(at), scores);
    objective.infer({scores}, &residual);
    std::vector<double> g(d);
    objective.gradient(residual, at, g);
    return g;
  };
  Scores scores = objective.make_scores(), other = objective.make_scores();
  gradient(w, scores);
  std::vector<double> hessian(set.size() * set.size());
  ASSERT_TRUE(proxbench::hessian(objective, scores, set, hessian.data(), set.size()));
  for (std::size_t i = 0; i < set.size(); ++i) {
    constexpr double h = 1e-5;
    std::vector<double> moved = w;
    moved[set[i]] += h;
    const std::vector<double> up = gradient(moved, other);
    moved[set[i]] -= 2 * h;
    const std::vector<double> down = gradient(moved, other);
    for (std::size_t j = 0; j < set.size(); ++j)
      EXPECT_NEAR(hessian[i * set.size() + j], (up[set[j]] - down[set[j]]) / (2 * h), 1e-7);
  }
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Candidates, RefusesWhatItCannotDo) {
  Dataset data = make_data({2, 2});
  std::fill(data.gold.begin(), data.gold.begin() + 2, kNoOutput);
  const auto made_unknown = test::make_exact("candidates", data);
  const ExactOracle& unknown = *made_unknown;
  const Scores scores = random_scores(4, 1.0, 1);
  EXPECT_EQ(error_of([&] { unknown.infer({scores}, nullptr, Parallel()); }),
            "candidates oracle: a group has no gold candidate, so the likelihood is not defined");
  std::vector<Index> decoded(4);
  unknown.decode(scores, Decoding::kStructure, decoded, Parallel());  // decoding needs no gold
  EXPECT_EQ(std::count(decoded.begin(), decoded.end(), 0u), 2);
  data.gold = {0, 0, 0, kNoOutput};
  EXPECT_EQ(error_of([&] { test::make_exact("candidates", data); }),
            "candidates oracle: group 0 has two gold candidates, expected one at most");
  data.begin = {0, 0, 4};
  EXPECT_EQ(error_of([&] { test::make_exact("candidates", data); }), "candidates oracle: group 0 is empty");
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"a", "b"}});
  EXPECT_THAT(error_of([&] { test::make_exact("candidates", data); }),
              testing::StartsWith("candidates oracle: found 2 outputs"));
}

}  // namespace
}  // namespace proxbench
