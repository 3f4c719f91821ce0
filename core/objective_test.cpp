#include "core/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/test_process_team.h"
#include "core/certificates/rounding.h"
#include "core/data/sharing.h"
#include "core/hessian.h"
#include "core/monitor/monitor.h"
#include "oracles/chain/chain.h"
#include "oracles/test_judge.h"
#include "solvers/shared/test_problems.h"

namespace proxbench {
namespace {

/// A chain problem whose features have very different frequencies. If `binary` is true, X has no values.
struct Problem {
  Problem(Index positions, Index features, Index labels, bool binary, std::uint64_t seed) {
    Random random(seed);
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->outputs.resize(labels);
    vocabulary->features.resize(features);
    data.vocabulary = vocabulary;
    DesignMatrix::Builder builder;
    for (Index p = 0; p < positions; ++p) {
      builder.add(0, binary ? 1.0 : 0.5);       // a feature that all positions share
      for (Index j = 1; j + 1 < features; ++j)  // the last feature is never on
        if (random.uniform() < 1.0 / (1.0 + j % 7)) builder.add(j, binary ? 1.0 : random.normal());
      builder.end_position();
      data.gold.push_back(static_cast<Index>(random.below(labels)));
      if (p + 1 == positions || random.uniform() < 0.2) data.begin.push_back(p + 1);
    }
    data.x = std::move(builder).build(features);
    oracle = std::make_unique<ChainOracle>(data);
  }
  Objective objective(double lambda = 1.0, double mu = 0.0, int threads = 1,
                      Backend backend = Backend::kOpenMP) const {
    return Objective(data.x, *oracle, {lambda, mu}, Parallel(threads, backend));
  }
  Dataset data;
  std::unique_ptr<ChainOracle> oracle;
};

/// A random w with about the given share of nonzeros.
SparseVector random_weights(Coord d, double density, std::uint64_t seed) {
  Random random(seed);
  SparseVector w;
  for (Coord c = 0; c < d; ++c)
    if (random.uniform() < density) w.push_back(c, random.normal());
  return w;
}

/// S = X W one entry at a time.
double plain_score(const Problem& problem, const std::vector<double>& w, Index position, Index k) {
  const auto row = problem.data.x.row(position);
  const auto values = problem.data.x.row_values(position);
  double s = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    s += (values.empty() ? 1.0 : values[i]) * w[std::size_t{row[i]} * problem.oracle->outputs() + k];
  return s;
}

std::vector<double> dense(const SparseVector& w, Coord d) {
  std::vector<double> out(d, 0.0);
  for (std::size_t i = 0; i < w.nnz(); ++i) out[w.index[i]] = w.value[i];
  return out;
}

double smooth_part(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  objective.scores(w, scores);
  return objective.infer({scores}, nullptr) + objective.penalty().l2(w.value);
}

/// positions, features, labels, binary
class EachShape : public testing::TestWithParam<std::tuple<Index, Index, Index, bool>> {
 protected:
  Problem problem_{std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()),
                   std::get<3>(GetParam()), 42};
};

TEST_P(EachShape, ScoresAreXW) {
  Objective objective = problem_.objective();
  Scores scores = objective.make_scores();
  for (const double density :
       {0.0, 0.02, 0.3, 1.0}) {  // uses both ways of computing scores, and a buffer that is used again
    const SparseVector w = random_weights(objective.dimension(), density, 3);
    const auto plain = dense(w, objective.dimension());
    objective.scores(w, scores);
    for (Index p = 0; p < problem_.data.x.positions(); ++p)
      for (Index k = 0; k < objective.outputs(); ++k)
        ASSERT_NEAR(scores.column(k)[p], plain_score(problem_, plain, p, k), 1e-11) << density;
    for (std::size_t e = 0; e < scores.extra.size(); ++e)
      ASSERT_EQ(scores.extra[e], plain[objective.unary_weights() + e]);
  }
}

TEST_P(EachShape, GradientsAreXTransposedR) {
  const double mu = 0.25;
  Objective objective = problem_.objective(1.0, mu);
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  const SparseVector w = random_weights(objective.dimension(), 0.3, 4);
  const auto plain = dense(w, objective.dimension());
  objective.scores(w, scores);
  objective.infer({scores}, &residual);

  std::vector<double> expected(objective.dimension(), 0.0), whole(objective.dimension());
  for (Index p = 0; p < problem_.data.x.positions(); ++p) {
    const auto row = problem_.data.x.row(p);
    const auto values = problem_.data.x.row_values(p);
    for (std::size_t i = 0; i < row.size(); ++i)
      for (Index k = 0; k < objective.outputs(); ++k)
        expected[std::size_t{row[i]} * objective.outputs() + k] +=
            (values.empty() ? 1.0 : values[i]) * residual.column(k)[p];
  }
  for (std::size_t e = 0; e < residual.extra.size(); ++e)
    expected[objective.unary_weights() + e] = residual.extra[e];
  for (Coord c = 0; c < objective.dimension(); ++c) expected[c] += mu * plain[c];

  objective.gradient(residual, plain, whole);
  for (Coord c = 0; c < objective.dimension(); ++c) ASSERT_NEAR(whole[c], expected[c], 1e-10);

  for (const double density : {0.0, 0.01, 0.4, 1.0}) {  // uses both ways of computing partial gradients
    const SparseVector set = random_weights(objective.dimension(), density, 5);
    std::vector<double> weights, out(set.nnz());
    for (const Coord c : set.index) weights.push_back(plain[c]);
    objective.partial_gradient(residual, set.index, weights, out);
    for (std::size_t i = 0; i < set.nnz(); ++i) ASSERT_NEAR(out[i], expected[set.index[i]], 1e-10) << density;
  }

  const double threshold = 1.5;
  Objective::Selection selection;
  objective.select_gradient(residual, w, threshold, selection);
  double kkt_max = 0, kkt_l1 = 0;
  std::set<Coord> wanted;
  for (Coord c = 0; c < objective.dimension(); ++c) {
    const double m = std::abs(minimum_norm_subgradient(plain[c], expected[c], objective.lambda()));
    kkt_max = std::max(kkt_max, m);
    kkt_l1 += m;
    if (plain[c] != 0.0 || std::abs(expected[c]) > threshold) wanted.insert(c);
  }
  EXPECT_EQ(std::set<Coord>(selection.index.begin(), selection.index.end()), wanted);
  EXPECT_TRUE(std::is_sorted(selection.index.begin(), selection.index.end()));
  EXPECT_NEAR(selection.kkt_max, kkt_max, 1e-9);
  EXPECT_NEAR(selection.kkt_l1, kkt_l1, 1e-9 * (1 + kkt_l1));
  for (std::size_t i = 0; i < selection.index.size(); ++i) {
    ASSERT_EQ(selection.weight[i], plain[selection.index[i]]);
    ASSERT_NEAR(selection.gradient[i], expected[selection.index[i]], 1e-9);
  }
}

void expect_restricted_like_whole(Objective& whole, Objective& restricted, const SparseVector& w,
                                  const std::vector<Coord>& candidates) {
  Scores scores = whole.make_scores();
  Residual residual = whole.make_residual();
  whole.scores(w, scores);
  whole.infer({scores}, &residual);
  restricted.restrict_to(candidates);
  ASSERT_NE(restricted.candidates(), nullptr);
  EXPECT_EQ(*restricted.candidates(), candidates);

  const auto plain = dense(w, whole.dimension());
  std::vector<double> all(whole.dimension()), some(whole.dimension(), -1.0);
  whole.gradient(residual, plain, all);
  restricted.gradient(residual, plain, some);
  const std::set<Coord> wanted(candidates.begin(), candidates.end());
  double kkt_max = 0.0, kkt_l1 = 0.0, largest = 0.0, excess = 0.0;
  for (Coord c = 0; c < whole.dimension(); ++c) {
    if (!wanted.contains(c)) {
      ASSERT_EQ(some[c], 0.0) << c;
      continue;
    }
    ASSERT_NEAR(some[c], all[c], 1e-10 + 1e-12 * std::abs(all[c])) << c;
    const double m = std::abs(minimum_norm_subgradient(plain[c], all[c], whole.lambda()));
    const double g = std::abs(all[c] - whole.mu() * plain[c]), beyond = std::max(g - whole.lambda(), 0.0);
    kkt_max = std::max(kkt_max, m);
    kkt_l1 += m;
    largest = std::max(largest, g);
    excess += beyond * beyond;
  }

  for (const double threshold : {0.0, 0.8, std::numeric_limits<double>::infinity()}) {
    Objective::Selection of_all, selection;
    whole.select_gradient(residual, w, threshold, of_all);
    restricted.select_gradient(residual, w, threshold, selection);
    std::vector<Coord> expected;
    for (const Coord c : of_all.index)
      if (wanted.contains(c)) expected.push_back(c);
    ASSERT_EQ(selection.index, expected) << threshold;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(selection.weight[i], plain[expected[i]]);
      ASSERT_NEAR(selection.gradient[i], all[expected[i]], 1e-10 + 1e-12 * std::abs(all[expected[i]]));
    }
    EXPECT_NEAR(selection.kkt_max, kkt_max, 1e-10);
    EXPECT_NEAR(selection.kkt_l1, kkt_l1, 1e-9 * (1 + kkt_l1));
    EXPECT_NEAR(selection.excess_squares, excess, 1e-9 * (1 + excess));
    if (largest > whole.lambda())
      EXPECT_NEAR(selection.gradient_max, largest, 1e-10);
    else
      EXPECT_LE(selection.gradient_max, whole.lambda());
  }
}

/// Some coordinates, including the support of w. If `extras` is true, also extra weights that are zero.
std::vector<Coord> some_candidates(const Objective& objective, const SparseVector& w, double share,
                                   bool extras) {
  Random random(9);
  std::set<Coord> out(w.index.begin(), w.index.end());
  const Coord end = extras ? objective.dimension() : objective.unary_weights();
  for (Coord c = 0; c < end; ++c)
    if (random.uniform() < share) out.insert(c);
  return {out.begin(), out.end()};
}

/// w without its extra weights.
SparseVector unary_part(const SparseVector& w, Coord unary) {
  SparseVector out;
  for (std::size_t i = 0; i < w.nnz(); ++i)
    if (w.index[i] < unary) out.push_back(w.index[i], w.value[i]);
  return out;
}

/// The selected gradients have the bits of the whole gradient.
TEST(SelectGradient, HasTheBitsOfTheGradient) {
  const Problem problem(9000, 200, 26, true, 5);
  for (const double mu : {0.0, 0.25}) {
    Objective any = problem.objective(1.0, mu);
    const SparseVector w = random_weights(any.dimension(), 0.002, 3);
    const auto plain = dense(w, any.dimension());
    Scores scores = any.make_scores();
    Residual residual = any.make_residual();
    any.scores(w, scores);
    any.infer({scores}, &residual);
    std::vector<double> g(any.dimension());
    any.gradient(residual, plain, g);
    std::vector<double> sizes;
    for (const double x : g) sizes.push_back(std::abs(x));
    std::sort(sizes.begin(), sizes.end());
    const auto share = [&](double x) {
      return sizes[static_cast<std::size_t>(x * static_cast<double>(sizes.size()))];
    };
    const double lambda = share(0.97);
    Objective objective = problem.objective(lambda, mu);
    for (const double threshold : {share(0.8), 0.9 * lambda, lambda, 1.1 * lambda}) {
      Objective::Selection selection;
      objective.select_gradient(residual, w, threshold, selection);
      std::vector<Coord> above;
      double kkt_max = 0.0, kkt_l1 = 0.0;
      for (Coord c = 0; c < objective.dimension(); ++c) {
        const double m = std::abs(minimum_norm_subgradient(plain[c], g[c], lambda));
        kkt_max = std::max(kkt_max, m);
        kkt_l1 += m;
        if (plain[c] != 0.0 || std::abs(g[c]) > threshold) above.push_back(c);
      }
      ASSERT_EQ(selection.index, above);
      for (std::size_t i = 0; i < above.size(); ++i) {
        EXPECT_EQ(selection.weight[i], plain[above[i]]);
        EXPECT_EQ(selection.gradient[i], g[above[i]]);
      }
      EXPECT_EQ(selection.kkt_max, kkt_max);
      EXPECT_NEAR(selection.kkt_l1, kkt_l1, 1e-10 * kkt_l1);
      EXPECT_NEAR(selection.gradient_max, sizes.back(), mu == 0.0 ? 1e-10 : 1.0);
    }
  }
}

/// A selection made at another lambda gives the same result as the residual.
TEST(SelectGradient, IsTheSameFromAnotherSelection) {
  const Problem problem(500, 60, 5, true, 5);
  for (const double mu : {0.0, 0.25})
    for (const double share : {0.3, 1.0}) {
      Objective first = problem.objective(20.0, mu), second = problem.objective(15.0, mu);
      const SparseVector w = random_weights(first.dimension(), 0.05, 3);
      Scores scores = first.make_scores();
      Residual residual = first.make_residual();
      first.scores(w, scores);
      first.infer({scores}, &residual);
      if (share < 1.0) second.restrict_to(some_candidates(second, w, share, true));
      Objective::Selection known, expected, selection;
      first.select_gradient(residual, w, 10.0, known);
      for (const double threshold : {10.0, 12.0, 15.0, 25.0}) {
        second.select_gradient(residual, w, threshold, expected);
        second.reselect(known, 10.0, threshold, selection);
        ASSERT_FALSE(expected.index.empty());
        EXPECT_EQ(selection.index, expected.index);
        EXPECT_EQ(selection.weight, expected.weight);
        for (std::size_t i = 0; i < expected.index.size(); ++i)
          EXPECT_NEAR(selection.gradient[i], expected.gradient[i], 1e-11);
        EXPECT_NEAR(selection.kkt_max, expected.kkt_max, 1e-11);
        EXPECT_NEAR(selection.kkt_l1, expected.kkt_l1, 1e-9);
        EXPECT_NEAR(selection.gradient_max, expected.gradient_max, 1e-11);
        EXPECT_NEAR(selection.excess_squares, expected.excess_squares, 1e-8);
      }
    }
}

TEST_P(EachShape, RestrictedGradientsAreThoseOfTheCandidates) {
  for (const double mu : {0.0, 0.25})
    for (const bool extras : {true, false})
      for (const double share : {0.0, 0.02, 0.5, 1.0}) {
        SCOPED_TRACE(testing::Message() << "mu " << mu << ", share " << share << (extras ? ", extras" : ""));
        Objective whole = problem_.objective(1.0, mu), restricted = problem_.objective(1.0, mu);
        SparseVector w = random_weights(whole.dimension(), 0.02, 8);
        if (!extras) w = unary_part(w, whole.unary_weights());
        expect_restricted_like_whole(whole, restricted, w, some_candidates(whole, w, share, extras));
      }
}

TEST(Restricted, TreesToo) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    if (spec.tree == test::ProblemSpec::Tree::kNone) continue;
    SCOPED_TRACE(spec.name);
    const test::Problem problem(spec);
    for (const double density : {0.0, 0.05, 0.5})
      for (const double share : {0.0, 0.02, 0.5, 1.0}) {
        Objective whole = problem.objective(), restricted = problem.objective();
        const SparseVector w = random_weights(whole.dimension(), density, 8);
        expect_restricted_like_whole(whole, restricted, w, some_candidates(whole, w, share, true));
      }
  }
}

TEST(Restricted, ToNothingOrAnewEachTime) {
  for (const Index which : {0u, 13u}) {
    const test::Problem problem(test::problem_specs()[which]);
    Objective whole = problem.objective(), restricted = problem.objective();
    expect_restricted_like_whole(whole, restricted, {}, {});
    EXPECT_EQ(certify(restricted, {}).kkt, 0.0) << "over candidates, of which there are none";
    expect_restricted_like_whole(whole, restricted, {}, {1, 5, whole.dimension() - 1});
    expect_restricted_like_whole(whole, restricted, {}, {0});
  }
}

TEST_P(EachShape, GradientIsTheDerivative) {
  Objective objective = problem_.objective(1.0, 0.5);
  SparseVector w = random_weights(objective.dimension(), 1.0, 6);
  for (double& v : w.value) v *= 0.1;
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  objective.infer({scores}, &residual);
  std::vector<double> g(objective.dimension());
  objective.gradient(residual, w.value, g);
  Random random(1);
  const double h = 1e-4;
  for (int trial = 0; trial < 25; ++trial) {
    // Transitions are few, so they are tested as often as features.
    const Coord c = trial % 2 == 0
                        ? random.below(objective.unary_weights())
                        : objective.unary_weights() + random.below(problem_.oracle->extra_weights());
    const double keep = w.value[c];
    w.value[c] = keep + h;
    const double up = smooth_part(objective, w);
    w.value[c] = keep - h;
    const double down = smooth_part(objective, w);
    w.value[c] = keep;
    EXPECT_NEAR((up - down) / (2 * h), g[c], 1e-5 * (1 + std::abs(g[c])));
  }
}

TEST_P(EachShape, HessianIsTheDerivativeOfTheGradient) {
  Objective objective = problem_.objective(1.0, 0.5, 2);
  SparseVector w = random_weights(objective.dimension(), 1.0, 6);
  for (double& v : w.value) v *= 0.3;
  std::vector<Coord> set;
  Random random(2);
  for (Coord c = 0; c < objective.dimension(); ++c)
    if (random.uniform() < 0.2) set.push_back(c);
  const std::size_t n = set.size(), stride = n + 3;
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  std::vector<double> hessian(n * stride, -1.0);
  proxbench::hessian(objective, scores, set, hessian.data(), stride);
  const auto gradient = [&] {
    std::vector<double> all(objective.dimension());
    objective.scores(w, scores);
    objective.infer({scores}, &residual);
    objective.gradient(residual, w.value, all);
    return all;
  };
  const double h = 1e-4;
  for (std::size_t i = 0; i < n; i += 1 + n / 20) {
    const double keep = w.value[set[i]];
    w.value[set[i]] = keep + h;
    const std::vector<double> up = gradient();
    w.value[set[i]] = keep - h;
    const std::vector<double> down = gradient();
    w.value[set[i]] = keep;
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_NEAR(hessian[i * stride + j], (up[set[j]] - down[set[j]]) / (2 * h), 1e-6) << i << ", " << j;
      EXPECT_EQ(hessian[i * stride + j], hessian[j * stride + i]);
    }
    EXPECT_EQ(hessian[i * stride + n], -1.0) << "not to be written";
  }
}

/// hessian() returns false whenever the token asks it to stop.
TEST_P(EachShape, GivesUpAHessian) {
  const Objective objective = problem_.objective(1.0, 0.5, 2);
  std::vector<Coord> set;
  for (Coord c = 0; c < objective.dimension(); c += 1 + objective.dimension() / 200) set.push_back(c);
  Scores scores = objective.make_scores();
  objective.scores(random_weights(objective.dimension(), 0.1, 6), scores);
  std::vector<double> whole(set.size() * set.size()), cut(whole.size());
  ASSERT_TRUE(proxbench::hessian(objective, scores, set, whole.data(), set.size()));
  std::atomic<int> asked = 0;
  const auto hessian = [&](int last) {
    asked = 0;
    return proxbench::hessian(objective, scores, set, cut.data(), set.size(),
                              StopToken([&, last] { return ++asked > last; }));
  };
  ASSERT_TRUE(hessian(std::numeric_limits<int>::max()));
  EXPECT_EQ(cut, whole);
  const int all = asked;
  for (int last = 0; last < all; last += 1 + all / 40) EXPECT_FALSE(hessian(last)) << last << " of " << all;
}

TEST_P(EachShape, SameBitsForAnyThreadsAndBackEnd) {
  auto all = [&](Objective objective) {
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    const SparseVector w = random_weights(objective.dimension(), 0.1, 7);
    objective.scores(w, scores);
    std::vector<double> out{objective.infer({scores}, &residual)};
    Objective::Selection selection;
    objective.select_gradient(residual, w, 0.1, selection);
    out.insert(out.end(), selection.gradient.begin(), selection.gradient.end());
    out.push_back(selection.kkt_l1);
    std::vector<double> partial(selection.index.size());
    objective.partial_gradient(residual, selection.index, selection.weight, partial);
    out.insert(out.end(), partial.begin(), partial.end());
    Scores moved = scores;
    objective.map().advance(moved, 0.3, scores);
    out.insert(out.end(), moved.values.begin(), moved.values.end());
    return out;
  };
  const auto first = all(problem_.objective());
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
    for (const int threads : {2, 3, 5}) EXPECT_EQ(all(problem_.objective(1.0, 0.0, threads, backend)), first);
}

TEST(FullGradient, SameBitsHoweverManyChunksOfFeaturesAThreadTakesTogether) {
  const Problem problem(600, 300, 3, false, 5);
  const SparseVector w = random_weights(problem.objective().dimension(), 0.1, 6);
  const auto selected = [&](int threads) {
    Objective objective = problem.objective(1.0, 0.0, threads);
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(w, scores);
    objective.infer({scores}, &residual);
    Objective::Selection s;
    objective.select_gradient(residual, w, 0.5, s);
    std::vector<double> out = s.gradient;
    out.insert(out.end(), {s.kkt_l1, s.kkt_max, s.excess_squares, static_cast<double>(s.index.size())});
    return out;
  };
  const std::vector<double> first = selected(1);
  for (const int threads : {2, 4, 9}) EXPECT_EQ(selected(threads), first) << threads;
}

INSTANTIATE_TEST_SUITE_P(Shapes, EachShape,
                         testing::Values(std::tuple{60u, 12u, 3u, true}, std::tuple{60u, 12u, 3u, false},
                                         // enough positions and entries for several blocks
                                         std::tuple{9000u, 30u, 5u, true}, std::tuple{9000u, 30u, 26u, false},
                                         std::tuple{300u, 40u, 37u, true}, std::tuple{1u, 3u, 2u, true}));

TEST(Objective, ValueAtZeroIsPositionsTimesLogK) {
  const Problem problem(500, 10, 7, true, 1);
  Objective objective = problem.objective();
  const Certificate c = certify(objective, SparseVector{});
  EXPECT_NEAR(c.objective, 500 * std::log(7.0), 1e-9);
  EXPECT_EQ(c.nnz, 0u);
  EXPECT_EQ(c.l1, 0.0);
}

/// Compares instances inferred one by one, on two threads at once, with one inference over all of them.
TEST(InferInstance, AddsUpToTheInferenceOverAll) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const test::Problem problem(spec);
    Objective objective = problem.objective();
    Random random(8);
    // Every output gets a weight, so that each has a column of its own.
    SparseVector w;
    for (Coord c = 0; c < objective.dimension(); ++c) w.push_back(c, 0.3 * random.normal());
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(w, scores);
    const double loss = objective.infer({scores}, &residual);

    const Oracle& oracle = problem.oracle();
    const Index outputs = objective.outputs();
    const std::size_t width = padded(outputs), extra = objective.map().extra_weights();
    struct One {
      double loss = 0.0;
      std::vector<double> residual, extra_residual;
    };
    std::vector<One> found(objective.instances());
    Parallel(2).for_each(found.size(), [&](std::size_t i) {
      const Index begin = oracle.begin()[i], n = oracle.begin()[i + 1] - begin;
      std::vector<double> rows(n * width, 0.0);
      for (Index p = 0; p < n; ++p)
        for (Index k = 0; k < outputs; ++k) rows[p * width + k] = scores.find(k)[begin + p];
      found[i].residual.assign(n * width, 0.0);
      found[i].extra_residual.assign(extra, 0.0);
      found[i].loss = oracle.instance()->infer_instance(static_cast<Index>(i), rows.data(), scores.extra,
                                                        found[i].residual.data(), found[i].extra_residual);
      EXPECT_EQ(
          oracle.instance()->infer_instance(static_cast<Index>(i), rows.data(), scores.extra, nullptr, {}),
          found[i].loss);
    });
    double sum = 0.0;
    std::vector<double> extra_sum(extra, 0.0);
    for (std::size_t i = 0; i < found.size(); ++i) {
      sum += found[i].loss;
      for (std::size_t e = 0; e < extra; ++e) extra_sum[e] += found[i].extra_residual[e];
      for (Index p = oracle.begin()[i]; p < oracle.begin()[i + 1]; ++p)
        for (Index k = 0; k < outputs; ++k)
          EXPECT_NEAR(found[i].residual[(p - oracle.begin()[i]) * width + k], residual.find(k)[p], 1e-13);
    }
    EXPECT_NEAR(sum, loss, 1e-12 * (1.0 + loss));
    for (std::size_t e = 0; e < extra; ++e) EXPECT_NEAR(extra_sum[e], residual.extra[e], 1e-11);
  }
}

/// All scores are exact, so that only marginals and sums are rounded.
SparseVector dyadic_weights(Coord d) {
  Random random(4);
  SparseVector w;
  for (Coord c = 0; c < d; ++c)
    w.push_back(c, std::ldexp(static_cast<double>(random.below(257)) - 128.0, -7));
  return w;
}

TEST(SharpExtraGradients, AreWithinTheirErrorOfTheExactOnes) {
  const Problem problem(20000, 4, 3, true, 5);
  Objective objective = problem.objective();
  const SparseVector w = dyadic_weights(objective.dimension());
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  objective.infer({scores}, &residual);
  const GradientRounding plain(objective, residual);
  const test::Judge judge(problem.data, "chain", objective.penalty());
  const test::Judge::Weights exact = judge.gradient(judge.dense(w));
  const std::vector<SharpGradient> sharp = sharp_extra_gradients(objective, scores, plain.extra_drift());
  ASSERT_EQ(sharp.size(), 9U);
  for (std::size_t e = 0; e < sharp.size(); ++e) {
    const Coord c = objective.unary_weights() + static_cast<Coord>(e);
    EXPECT_LE(std::abs(static_cast<double>(sharp[e].value - exact[c])), sharp[e].error) << e;
    EXPECT_LE(std::abs(static_cast<double>(residual.extra[e] - exact[c])), plain.at(c)) << e;
    EXPECT_LT(sharp[e].error, plain.at(c)) << e;
  }
}

TEST(SharpExtraGradients, HaveTheSameBitsForAnyThreadsAndProcesses) {
  const Problem problem(9000, 4, 3, true, 5);
  const SparseVector w = dyadic_weights(problem.objective().dimension());
  const auto numbers = [&](const Objective& objective) {
    Scores scores = objective.make_scores();
    objective.scores(w, scores);
    std::vector<double> out;
    for (const SharpGradient& g :
         sharp_extra_gradients(objective, scores, std::vector<double>(scores.extra.size()))) {
      out.push_back(g.value);
      out.push_back(g.error);
    }
    return out;
  };
  const std::vector<double> once = numbers(problem.objective());
  EXPECT_EQ(numbers(problem.objective(1.0, 0.0, 3, Backend::kTBB)), once);
  for (const int count : {2, 3})
    run_process_team(count, [&](const Processes& processes) {
      const Problem own(9000, 4, 3, true, 5);
      const Dataset part = share_of(own.data, processes);
      const ChainOracle oracle(part);
      const Objective objective(part.x, oracle, {1.0, 0.0}, Parallel(2, Backend::kOpenMP, &processes));
      EXPECT_EQ(numbers(objective), once);
    });
}

TEST(Objective, CountsPasses) {
  const Problem problem(50, 10, 3, true, 1);
  Objective objective = problem.objective();
  Scores scores = objective.make_scores();
  EXPECT_EQ(objective.counts().passes(), 0.0);
  objective.infer({scores}, nullptr);
  objective.infer({scores}, nullptr);
  EXPECT_EQ(objective.counts().passes(), 2.0);
  EXPECT_FALSE(objective.counts().updates()) << "nobody counted";
  objective.counts().add_updates(1.0);
  objective.counts().add_updates(2.0);
  EXPECT_EQ(objective.counts().updates(), 3.0 / static_cast<double>(objective.instances()));
}

TEST(Objective, RefusesBadPenalties) {
  const Problem problem(50, 10, 3, true, 1);
  const auto message = [&](double lambda, double mu) -> std::string {
    try {
      problem.objective(lambda, mu);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(message(bad, 0.5), testing::HasSubstr("violated constraint lambda >= 0"));
    EXPECT_THAT(message(0.5, bad), testing::HasSubstr("violated constraint mu >= 0"));
  }
  EXPECT_THAT(message(0.0, 0.0), testing::HasSubstr("violated constraint lambda + mu > 0"));
  EXPECT_EQ(message(0.0, 0.5), "no error");
}

TEST(MinimumNormSubgradient, FollowsEquation16) {
  EXPECT_EQ(minimum_norm_subgradient(2.0, -3.0, 1.0), -2.0);
  EXPECT_EQ(minimum_norm_subgradient(-2.0, -3.0, 1.0), -4.0);
  EXPECT_EQ(minimum_norm_subgradient(0.0, -3.0, 1.0), -2.0);
  EXPECT_EQ(minimum_norm_subgradient(0.0, 3.0, 1.0), 2.0);
  EXPECT_EQ(minimum_norm_subgradient(0.0, 0.5, 1.0), 0.0);
  EXPECT_EQ(soft_threshold(3.0, 1.0), 2.0);
  EXPECT_EQ(soft_threshold(-3.0, 1.0), -2.0);
  EXPECT_EQ(soft_threshold(-0.5, 1.0), 0.0);
}

}  // namespace
}  // namespace proxbench
