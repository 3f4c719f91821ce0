#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/kernels/test_instruction_sets.h"
#include "core/objective.h"
#include "oracles/test_exact.h"

namespace proxbench {
namespace {

constexpr Index kNone = Hierarchy::kNone;

/// A forest of uneven depth, with several roots and chains of only children.
std::vector<Index> random_parents(Index nodes, Random& random) {
  std::vector<Index> parent{kNone};
  for (Index k = 1; k < nodes; ++k) {
    // The parent is a node on the path to the previous node, which keeps the preorder.
    std::vector<Index> path{kNone};
    for (Index a = k - 1; a != kNone; a = parent[a]) path.push_back(a);
    parent.push_back(path[random.below(path.size())]);
  }
  return parent;
}

/// Documents with random features and leaves on a hierarchy.
struct Problem {
  Problem(std::vector<Index> parents, Index documents, Index features, std::uint64_t seed,
          bool flat = false) {
    Random random(seed);
    auto tree = std::make_shared<Hierarchy>(std::move(parents));
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->outputs.resize(tree->nodes());
    vocabulary->features.resize(features);
    data.vocabulary = vocabulary;
    std::vector<Index> leaves;
    for (Index k = 0; k < tree->nodes(); ++k)
      if (tree->leaf(k)) leaves.push_back(k);
    DesignMatrix::Builder builder;
    for (Index p = 0; p < documents; ++p) {
      for (Index j = 0; j < features; ++j)
        if (random.uniform() < 0.4) builder.add(j, random.uniform() + 0.1);
      builder.end_position();
      data.gold.push_back(leaves[random.below(leaves.size())]);
      data.begin.push_back(p + 1);
    }
    data.x = std::move(builder).build(features);
    hierarchy = tree;
    if (!flat) data.hierarchy = tree;
    oracle = test::make_exact("tree", data);
  }
  Objective objective(double lambda = 1.0, double mu = 0.0, int threads = 1,
                      Backend backend = Backend::kOpenMP) const {
    return Objective(data.x, *oracle, {lambda, mu}, Parallel(threads, backend));
  }
  Dataset data;
  std::shared_ptr<const Hierarchy> hierarchy;
  std::unique_ptr<ExactOracle> oracle;
};

/// Results from listing the leaves of one document.
struct Enumerated {
  std::vector<double> marginal;
  double log_partition = 0.0, entropy = 0.0;
  Index best = kNone;
  std::vector<double> path;
};

Enumerated enumerate(const Hierarchy& tree, const std::vector<double>& score) {
  Enumerated out;
  out.marginal.assign(tree.nodes(), 0.0);
  out.path.assign(tree.nodes(), 0.0);
  double top = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < tree.nodes(); ++k) {
    for (Index a = k; a != kNone; a = tree.parent(a)) out.path[k] += score[a];
    if (tree.leaf(k) && (out.best == kNone || out.path[k] > top)) {
      top = out.path[k];
      out.best = k;
    }
  }
  double z = 0.0;
  for (Index k = 0; k < tree.nodes(); ++k)
    if (tree.leaf(k)) z += std::exp(out.path[k] - top);
  out.log_partition = top + std::log(z);
  for (Index k = 0; k < tree.nodes(); ++k)
    if (tree.leaf(k)) {
      const double p = std::exp(out.path[k] - out.log_partition);
      for (Index a = k; a != kNone; a = tree.parent(a)) out.marginal[a] += p;
      out.entropy -= p * (out.path[k] - out.log_partition);
    }
  return out;
}

double score_of(const Scores& scores, Index k, Index p) {
  const Index c = scores.column_index(k);
  return c == Scores::kNoColumn ? 0.0 : scores.column(c)[p];
}

/// The residual of one output and document, whichever way it is stored.
double residual_of(const Problem& problem, const Residual& r, Index k, Index p) {
  const double value = r.column(r.column_index(k))[p];
  if (r.owns(k)) return value;
  double gold = 0.0;
  for (const Index on : problem.oracle->gold_outputs(p)) gold += on == k;
  return r.share[k] * value - gold;
}

SparseVector random_weights(const Objective& objective, double density, double size, Random& random) {
  SparseVector w;
  for (Coord c = 0; c < objective.dimension(); ++c)
    if (random.uniform() < density) w.push_back(c, size * random.normal());
  return w;
}

/// Compares everything that the oracle computes at w + 0.3*d with enumeration.
void expect_matches_enumeration(const Problem& problem, double density, double size, std::uint64_t seed) {
  Random random(seed);
  Objective objective = problem.objective();
  Scores scores = objective.make_scores(), direction = objective.make_scores();
  objective.scores(random_weights(objective, density, size, random), scores);
  objective.scores(random_weights(objective, density, size, random), direction);
  constexpr double kAlpha = 0.3;
  Residual residual = objective.make_residual();
  const double loss = objective.infer({scores, &direction, kAlpha}, &residual);

  Scores sum = scores;
  objective.map().advance(sum, kAlpha, direction);
  std::vector<InstanceTerms> terms(problem.data.positions());
  problem.oracle->sum()->instance_terms(sum, terms, Parallel());
  std::vector<Index> decoded(problem.data.positions());
  problem.oracle->decode(sum, Decoding::kStructure, decoded, Parallel());

  const Hierarchy& tree = *problem.hierarchy;
  double expected_loss = 0.0;
  for (Index p = 0; p < problem.data.positions(); ++p) {
    std::vector<double> score(tree.nodes());
    for (Index k = 0; k < tree.nodes(); ++k)
      score[k] = score_of(scores, k, p) + kAlpha * score_of(direction, k, p);
    const Enumerated truth = enumerate(tree, score);
    const Index gold = problem.data.gold[p];
    const double log_gold = truth.path[gold] - truth.log_partition;
    expected_loss -= log_gold;
    const double scale = 1e-12 * (1.0 + size);
    for (Index k = 0; k < tree.nodes(); ++k) {
      bool on = false;
      for (Index a = gold; a != kNone; a = tree.parent(a)) on = on || a == k;
      EXPECT_NEAR(residual_of(problem, residual, k, p), truth.marginal[k] - on, 10 * scale) << k << " " << p;
    }
    EXPECT_NEAR(terms[p].log_gold, log_gold, 10 * scale * (1 + std::abs(log_gold)));
    EXPECT_NEAR(terms[p].entropy, truth.entropy, 100 * scale * (1 + std::abs(log_gold)));
    EXPECT_NEAR(truth.path[decoded[p]], truth.path[truth.best],
                10 * scale * (1 + std::abs(truth.path[truth.best])));
  }
  EXPECT_NEAR(loss, expected_loss, 1e-11 * (1 + std::abs(expected_loss)));
}

TEST(TreeOracle, MatchesEnumerationOnRandomForests) {
  Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const Index nodes = 1 + static_cast<Index>(random.below(40));
    const Problem problem(random_parents(nodes, random), 1 + static_cast<Index>(random.below(70)), 6,
                          100 + static_cast<std::uint64_t>(trial));
    for (const double density : {0.0, 0.02, 0.3, 1.0})
      expect_matches_enumeration(problem, density, 2.0, 7 * static_cast<std::uint64_t>(trial) + 1);
  }
}

TEST(TreeOracle, MatchesEnumerationOnChainsOfSingleChildren) {
  // Two roots; 0 -> 1 -> 2 -> {3 -> 4, 5}; 6 -> 7.
  const Problem problem({kNone, 0, 1, 2, 3, 2, kNone, 6}, 20, 3, 1);
  for (const double density : {0.0, 0.1, 1.0}) expect_matches_enumeration(problem, density, 1.0, 3);
}

TEST(TreeOracle, SurvivesHugeScores) {
  Random random(9);
  const Problem problem(random_parents(25, random), 30, 6, 8);
  expect_matches_enumeration(problem, 0.5, 400.0, 2);
}

TEST(TreeOracle, ADatasetWithoutHierarchyIsAFlatTree) {
  const Problem problem(std::vector<Index>(5, kNone), 25, 4, 3, true);
  EXPECT_EQ(problem.oracle->collapsed(), nullptr);
  for (const double density : {0.0, 0.2, 1.0}) expect_matches_enumeration(problem, density, 1.0, 4);
}

TEST(TreeOracle, ManyLabelsSideBySideAreCollapsed) {
  const Problem problem(std::vector<Index>(513, kNone), 25, 4, 3, true);
  EXPECT_NE(problem.oracle->collapsed(), nullptr);
  EXPECT_EQ(Problem(std::vector<Index>(512, kNone), 2, 4, 3, true).oracle->collapsed(), nullptr);
  for (const double density : {0.0, 0.2, 1.0}) expect_matches_enumeration(problem, density, 1.0, 4);
}

TEST(TreeOracle, OfEqualLeavesTheFirstIsDecoded) {
  const Problem problem({kNone, 0, 1, 1, 0, 4, 4}, 3, 2, 3);
  Objective objective = problem.objective();
  Scores scores = objective.make_scores();
  std::vector<Index> decoded(3);
  problem.oracle->decode(scores, Decoding::kStructure, decoded, Parallel());
  EXPECT_EQ(decoded, std::vector<Index>(3, 2));
  // Node 5 has a column of zeros: it is touched, but still equal.
  const std::vector<Coord> index{5};
  objective.scores(index, std::vector<double>{0.0}, scores);
  problem.oracle->decode(scores, Decoding::kStructure, decoded, Parallel());
  EXPECT_EQ(decoded, std::vector<Index>(3, 2));
}

TEST(TreeOracle, GradientsMatchFiniteDifferencesAndEachOther) {
  Random random(11);
  const Problem problem(random_parents(30, random), 50, 7, 12);
  const double mu = 0.2;
  Objective objective = problem.objective(0.3, mu);
  const SparseVector w = random_weights(objective, 0.1, 1.0, random);
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  objective.infer({scores}, &residual);
  std::vector<double> dense(objective.dimension(), 0.0), gradient(objective.dimension());
  for (std::size_t i = 0; i < w.nnz(); ++i) dense[w.index[i]] = w.value[i];
  objective.gradient(residual, dense, gradient);

  auto smooth = [&](std::vector<double> at) {
    Scores s = objective.make_scores();
    const SparseVector sparse = SparseVector::from_dense(at);
    objective.scores(sparse, s);
    return objective.infer({s}, nullptr) + objective.penalty().l2(sparse.value);
  };
  for (Coord c = 0; c < objective.dimension(); ++c) {
    std::vector<double> plus = dense, minus = dense;
    constexpr double kStep = 1e-5;
    plus[c] += kStep;
    minus[c] -= kStep;
    EXPECT_NEAR(gradient[c], (smooth(plus) - smooth(minus)) / (2 * kStep), 1e-6) << c;
  }

  // A working set of outputs with and without columns, with few and with many outputs per feature.
  for (const double density : {0.05, 0.9}) {
    std::vector<Coord> set;
    std::vector<double> at, out;
    for (Coord c = 0; c < objective.dimension(); ++c)
      if (random.uniform() < density) {
        set.push_back(c);
        at.push_back(dense[c]);
      }
    out.resize(set.size());
    objective.partial_gradient(residual, set, at, out);
    for (std::size_t i = 0; i < set.size(); ++i) EXPECT_NEAR(out[i], gradient[set[i]], 1e-12) << set[i];
  }

  Objective::Selection selection;
  objective.select_gradient(residual, w, 0.25, selection);
  double kkt = 0.0;
  std::size_t found = 0;
  for (Coord c = 0; c < objective.dimension(); ++c) {
    kkt = std::max(kkt, std::abs(minimum_norm_subgradient(dense[c], gradient[c], objective.lambda())));
    if (dense[c] == 0.0 && !(std::abs(gradient[c]) > 0.25)) continue;
    ASSERT_LT(found, selection.index.size());
    EXPECT_EQ(selection.index[found], c);
    EXPECT_EQ(selection.weight[found], dense[c]);
    EXPECT_EQ(selection.gradient[found++], gradient[c]);
  }
  EXPECT_EQ(found, selection.index.size());
  EXPECT_EQ(selection.kkt_max, kkt);
}

TEST(TreeOracle, ColumnsOfZerosChangeNothing) {
  Random random(21);
  const Problem problem(random_parents(40, random), 60, 5, 22);
  Objective objective = problem.objective();
  const SparseVector w = random_weights(objective, 0.05, 1.0, random);
  Scores few = objective.make_scores(), many = objective.make_scores();
  objective.scores(w, few);
  std::vector<Coord> all(objective.dimension());
  std::iota(all.begin(), all.end(), Coord{0});
  std::vector<double> dense(objective.dimension(), 0.0);
  for (std::size_t i = 0; i < w.nnz(); ++i) dense[w.index[i]] = w.value[i];
  objective.scores(all, dense, many);
  ASSERT_LT(few.columns, many.columns);
  Residual a = objective.make_residual(), b = objective.make_residual();
  EXPECT_NEAR(objective.infer({few}, &a), objective.infer({many}, &b), 1e-11);
  for (Index k = 0; k < objective.outputs(); ++k)
    for (Index p = 0; p < 60; ++p)
      EXPECT_NEAR(residual_of(problem, a, k, p), residual_of(problem, b, k, p), 1e-13);
}

TEST(TreeOracle, InnerProductsAreThoseOfTheFullArrays) {
  Random random(31);
  const Problem problem(random_parents(30, random), 40, 5, 32);
  Objective objective = problem.objective();
  Scores s = objective.make_scores(), t = objective.make_scores(), u = objective.make_scores();
  objective.scores(random_weights(objective, 0.03, 1.0, random), s);
  objective.scores(random_weights(objective, 0.03, 1.0, random), t);
  objective.scores(random_weights(objective, 0.03, 1.0, random), u);
  Residual a = objective.make_residual(), b = objective.make_residual();
  objective.infer({s}, &a);
  objective.infer({t, &u, 0.7}, &b);
  double expected = 0.0;
  for (Index k = 0; k < objective.outputs(); ++k)
    for (Index p = 0; p < 40; ++p)
      expected += (residual_of(problem, a, k, p) - residual_of(problem, b, k, p)) *
                  (score_of(s, k, p) - score_of(t, k, p) - 0.7 * score_of(u, k, p));
  EXPECT_NEAR(objective.map().inner(a, b, s, {t, &u, 0.7}), expected, 1e-11);
}

TEST(TreeOracle, SomeInstancesGiveTheirPartOfAll) {
  Random random(41);
  const Problem problem(random_parents(30, random), 90, 5, 42);
  Objective objective = problem.objective();
  Scores all = objective.make_scores();
  objective.scores(random_weights(objective, 0.05, 1.0, random), all);
  Residual whole = objective.make_residual(), part;
  objective.infer({all}, &whole);
  std::vector<InstanceTerms> terms(90);
  problem.oracle->sum()->instance_terms(all, terms, Parallel());

  const std::vector<Index> some{3, 80, 17, 18, 89, 0};
  Scores local = Scores::collapsed(objective.outputs(), some.size(), 0);
  for (Index k = 0; k < objective.outputs(); ++k)
    if (all.column_index(k) != Scores::kNoColumn) {
      double* column = local.column(local.add_column(k));
      for (std::size_t i = 0; i < some.size(); ++i) column[i] = score_of(all, k, some[i]);
    }
  const double loss = objective.infer_some(some, {local}, &part);
  double expected = 0.0;
  for (const Index i : some) expected -= terms[i].log_gold;
  EXPECT_NEAR(loss, expected, 1e-12 * (1 + expected));
  EXPECT_EQ(part.stride, padded(some.size()));
  for (Index k = 0; k < objective.outputs(); ++k)
    for (std::size_t i = 0; i < some.size(); ++i) {
      double gold = 0.0;
      for (const Index on : problem.oracle->gold_outputs(some[i])) gold += on == k;
      const double value = part.column(part.column_index(k))[i];
      EXPECT_NEAR(part.owns(k) ? value : part.share[k] * value - gold,
                  residual_of(problem, whole, k, some[i]), 1e-13);
    }
}

TEST(TreeOracle, SameBitsForAnyThreadsAndBackEnd) {
  Random random(51);
  const Problem problem(random_parents(60, random), 700, 8, 52);
  const SparseVector w = [&] {
    Random draw(53);
    return random_weights(problem.objective(), 0.1, 1.0, draw);
  }();
  std::vector<double> first;
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
    for (const int threads : {1, 2, 3, 5}) {
      Objective objective = problem.objective(1.0, 0.0, threads, backend);
      Scores scores = objective.make_scores();
      Residual residual = objective.make_residual();
      objective.scores(w, scores);
      std::vector<double> out{objective.infer({scores}, &residual)};
      Objective::Selection selection;
      objective.select_gradient(residual, w, 0.1, selection);
      out.insert(out.end(), selection.gradient.begin(), selection.gradient.end());
      std::vector<double> partial(selection.index.size());
      objective.partial_gradient(residual, selection.index, selection.weight, partial);
      out.insert(out.end(), partial.begin(), partial.end());
      if (first.empty()) first = out;
      EXPECT_EQ(out, first) << threads;
    }
}

class TreeOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(TreeOnEachSet);

TEST_P(TreeOnEachSet, AgreesWithTheBaselineInTheSameBitsForAnyThreads) {
  Random random(61);
  const Problem problem(random_parents(60, random), 701, 8, 62);
  const SparseVector w = random_weights(problem.objective(), 0.1, 1.0, random);
  const auto all_of = [&](InstructionSet set, int threads) {
    use_instruction_set(set);
    Objective objective = problem.objective(1.0, 0.0, threads);
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(w, scores);
    std::vector<double> out{objective.infer({scores}, nullptr), objective.infer({scores}, &residual)};
    Objective::Selection selection;
    objective.select_gradient(residual, w, -1.0, selection);
    std::vector<double> partial(selection.index.size());
    objective.partial_gradient(residual, selection.index, selection.weight, partial);
    out.insert(out.end(), selection.gradient.begin(), selection.gradient.end());
    out.insert(out.end(), partial.begin(), partial.end());
    return out;
  };
  const std::vector<double> expected = all_of(InstructionSet::kBaseline, 1), found = all_of(GetParam(), 1);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-12 * (1.0 + std::abs(expected[i]))) << i;
  EXPECT_EQ(all_of(GetParam(), 3), found);
}

TEST(TreeOracle, ADeepTreeTakesNoQuadraticMemory) {
  constexpr Index kDepth = 300'000;
  std::vector<Index> parent(kDepth, kNone);
  std::iota(parent.begin() + 1, parent.end(), Index{0});
  const Problem problem(parent, 1, 1, 1);
  const auto path = problem.oracle->gold_outputs(0);
  ASSERT_EQ(path.size(), kDepth);
  EXPECT_TRUE(std::is_sorted(path.begin(), path.end()));
}

TEST(TreeOracle, RejectsWhatItCannotMean) {
  const auto broken = [](auto change) {
    Problem problem({kNone, 0, 0}, 4, 2, 1);
    change(problem.data);
    return [data = std::make_shared<Dataset>(std::move(problem.data))] { test::make_exact("tree", *data); };
  };
  EXPECT_THROW(broken([](Dataset& d) { d.gold[2] = 0; })(), Error);        // an inner node
  EXPECT_THROW(broken([](Dataset& d) { d.begin = {0, 2, 4}; })(), Error);  // two positions
  EXPECT_THROW(broken([](Dataset& d) {
                 d.hierarchy = std::make_shared<Hierarchy>(Hierarchy::flat(2));  // fewer nodes than outputs
               })(),
               Error);
  Problem unknown({kNone, 0, 0}, 4, 2, 1);
  unknown.data.gold[1] = kUnknownOutput;
  const auto made_oracle = test::make_exact("tree", unknown.data);
  const ExactOracle& oracle = *made_oracle;
  const Scores scores = Scores::collapsed(3, 4, 0);
  EXPECT_THROW(oracle.infer({scores}, nullptr, Parallel()), Error);
  std::vector<Index> decoded(4);
  oracle.decode(scores, Decoding::kStructure, decoded, Parallel());
  EXPECT_EQ(decoded[0], 1u);
}

}  // namespace
}  // namespace proxbench
