#include "solvers/shared/proximal/copies.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "core/data/dataset.h"
#include "oracles/oracles.h"

namespace proxbench::proximal {
namespace {

/// Five positions with the labels 0, 1, 0, 1, 1. Features 0, 2 and 4 have equal columns, and so have 1 and 5.
struct Problem {
  explicit Problem(Penalty penalty) {
    DesignMatrix::Builder builder;
    for (const int p : {0, 1, 2, 3, 4}) {
      if (p < 3)
        for (const Index j : {0u, 2u, 4u}) builder.add(j, 1.0);
      if (p % 2 == 1)
        for (const Index j : {1u, 5u}) builder.add(j, 1.0);
      builder.add(3, 1.0);
      builder.end_position();
    }
    data.x = std::move(builder).build(6);
    data.gold = {0, 1, 0, 1, 1};
    data.begin = {0, 1, 2, 3, 4, 5};
    auto names = std::make_shared<Vocabulary>();
    names->features = {"a", "b", "c", "d", "e", "f"};
    names->outputs = {"0", "1"};
    data.vocabulary = std::move(names);
    oracle = oracle_registry().find("chain").make(data);
    objective.emplace(data.x, *oracle, penalty, Parallel());
  }
  Dataset data;
  std::unique_ptr<Oracle> oracle;
  std::optional<Objective> objective;
};

TEST(Copies, FoldAndSpreadAreEachOthersInverse) {
  Problem problem({.lambda = 0.1, .mu = 0.3});
  Objective& objective = *problem.objective;
  const Copies copies(objective);
  ASSERT_FALSE(copies.empty());
  EXPECT_EQ(copies.mu(objective, 0), 0.3 / 3.0);  // feature 0
  EXPECT_EQ(copies.mu(objective, 3), 0.3 / 2.0);  // feature 1
  EXPECT_EQ(copies.mu(objective, 6), 0.3);        // feature 3
  EXPECT_EQ(copies.mu(objective, 12), 0.3);       // a transition

  SparseVector w;
  for (const auto& [c, value] :
       std::initializer_list<std::pair<Coord, double>>{{0, 1.5}, {3, -4.0}, {7, 2.0}, {13, 1.0}})
    w.push_back(c, value);
  SparseVector spread = w;
  copies.spread(objective, spread);
  EXPECT_EQ(spread.index, (std::vector<Coord>{0, 3, 4, 7, 8, 11, 13}));
  EXPECT_EQ(spread.value, (std::vector<double>{0.5, -2.0, 0.5, 2.0, 0.5, -2.0, 1.0}));

  Residual residual = objective.make_residual();
  Scores scores = objective.make_scores();
  objective.scores(w, scores);
  const double loss = objective.infer({scores}, nullptr);
  objective.scores(spread, scores);
  EXPECT_EQ(objective.infer({scores}, &residual), loss);
  Objective::Selection selection;
  objective.select_gradient(residual, spread, 0.0, selection);
  copies.fold(objective, selection);
  SparseVector folded;
  for (std::size_t i = 0; i < selection.index.size(); ++i) {
    EXPECT_TRUE(selection.index[i] < 4 || selection.index[i] == 6 || selection.index[i] == 7 ||
                selection.index[i] >= 12)
        << selection.index[i];
    if (selection.weight[i] != 0.0) folded.push_back(selection.index[i], selection.weight[i]);
    // The derivative of the penalty of a sum is that of each part.
    if (selection.index[i] == 0) {
      std::vector<double> g(1);
      objective.map().partial_adjoint(residual, std::vector<Coord>{0}, g);
      EXPECT_NEAR(selection.gradient[i], g[0] + 0.3 * 0.5, 1e-15);
    }
  }
  EXPECT_EQ(folded.index, w.index);
  EXPECT_EQ(folded.value, w.value);
}

TEST(Copies, UnequalWeightsOfCopiesAreAddedUp) {
  const Problem problem({.lambda = 0.1, .mu = 0.3});
  const Copies copies(*problem.objective);
  Objective::Selection selection;
  selection.index = {4, 8};  // output 0 of features 2 and 4, copies of feature 0
  selection.weight = {1.0, -3.0};
  selection.gradient = {0.7 + 0.3 * 1.0, 0.7 - 0.3 * 3.0};
  copies.fold(*problem.objective, selection);
  EXPECT_EQ(selection.index, std::vector<Coord>{0});
  EXPECT_EQ(selection.weight, std::vector<double>{-2.0});
  EXPECT_NEAR(selection.gradient[0], 0.7 - 0.1 * 2.0, 1e-15);
}

TEST(Copies, AreSoughtOnlyWithBothPenalties) {
  for (const Penalty penalty : {Penalty{.lambda = 0.1, .mu = 0.0}, Penalty{.lambda = 0.0, .mu = 0.3}}) {
    const Problem problem(penalty);
    const Copies copies(*problem.objective);
    EXPECT_TRUE(copies.empty());
    EXPECT_EQ(copies.mu(*problem.objective, 0), penalty.mu);
  }
}

}  // namespace
}  // namespace proxbench::proximal
