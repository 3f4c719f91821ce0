/// Compares the features of instances, weights by rows and stored beliefs with dense arrays.

#include "solvers/shared/instances/weight_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "solvers/shared/instances/belief_store.h"
#include "solvers/shared/test_problems.h"

namespace proxbench {
namespace {

using test::Problem;
using test::ProblemSpec;

std::vector<ProblemSpec> specs() {
  return {{.name = "chain", .labels = 5, .bias = true, .lambda = 0.0, .mu = 1.0, .seed = 91},
          {.name = "chain, real values", .labels = 3, .real = true, .lambda = 0.0, .mu = 1.0, .seed = 92},
          {.name = "no feature on", .density = 0.02, .lambda = 0.0, .mu = 1.0, .seed = 93},
          {.name = "tree",
           .labels = 11,
           .real = true,
           .lambda = 0.0,
           .mu = 1.0,
           .seed = 94,
           .tree = ProblemSpec::Tree::kNested}};
}

TEST(InstanceFeatures, AreTheEntriesOfXByInstance) {
  for (const ProblemSpec& spec : specs()) {
    const Problem problem(spec);
    const DesignMatrix& x = problem.data().x;
    const auto begin = problem.oracle().begin();
    const InstanceFeatures features(x, begin);
    for (Index i = 0; i + 1 < begin.size(); ++i) {
      std::map<std::pair<Index, Index>, double> expected, found;
      for (Index p = begin[i]; p < begin[i + 1]; ++p)
        for (std::size_t e = 0; e < x.row(p).size(); ++e)
          expected[{x.row(p)[e], p - begin[i]}] = x.binary() ? 1.0 : x.row_values(p)[e];
      const InstanceFeatures::View view = features.of(i);
      EXPECT_EQ(std::set<Index>(view.features.begin(), view.features.end()).size(), view.features.size());
      for (std::size_t f = 0; f < view.features.size(); ++f) {
        ASSERT_FALSE(view.positions(f).empty());
        for (std::size_t e = 0; e < view.positions(f).size(); ++e)
          found[{view.features[f], view.positions(f)[e]}] =
              view.values(f) == nullptr ? 1.0 : view.values(f)[e];
      }
      EXPECT_EQ(found, expected) << spec.name;
    }
  }
}

TEST(WeightRows, DoWhatDenseWeightsDo) {
  for (const ProblemSpec& spec : specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    Objective objective = problem.objective();
    const DesignMatrix& x = problem.data().x;
    const auto begin = problem.oracle().begin();
    const InstanceFeatures features(x, begin);
    const std::size_t outputs = objective.outputs(), width = padded(outputs), d = objective.dimension(),
                      extras = objective.map().extra_weights();
    Random random(1);
    std::vector<double> dense(d);
    for (double& w : dense) w = random.below(3) == 0 ? 0.0 : random.normal();
    WeightRows w(objective);
    w.set(SparseVector::from_dense(dense));
    for (Index i = 0; i < objective.instances(); ++i) {
      const std::size_t n = begin[i + 1] - begin[i];
      std::vector<double> rows(n * width, 0.0), extra(extras), direction(d, 0.0);
      for (std::size_t t = 0; t < n; ++t)
        for (std::size_t k = 0; k < outputs; ++k) rows[t * width + k] = random.normal();
      for (std::size_t e = 0; e < extras; ++e) direction[d - extras + e] = extra[e] = random.normal();
      for (std::size_t t = 0; t < n; ++t)
        for (std::size_t e = 0; e < x.row(begin[i] + static_cast<Index>(t)).size(); ++e) {
          const Index p = begin[i] + static_cast<Index>(t);
          for (std::size_t k = 0; k < outputs; ++k)
            direction[x.row(p)[e] * outputs + k] +=
                (x.binary() ? 1.0 : x.row_values(p)[e]) * rows[t * width + k];
        }
      InstanceDirection found;
      found.form(features.of(i), rows.data(), extra, width);
      double squares = 0.0, dot = 0.0;
      for (std::size_t c = 0; c < d; ++c) {
        squares += direction[c] * direction[c];
        dot += dense[c] * direction[c];
      }
      EXPECT_NEAR(found.squared_norm(), squares, 1e-12 * (1.0 + squares));
      EXPECT_NEAR(w.dot(found), dot, 1e-12 * (1.0 + squares));
      w.add(0.3, found);
      for (std::size_t c = 0; c < d; ++c) dense[c] += 0.3 * direction[c];
    }
    const SparseVector expected = SparseVector::from_dense(dense), found = w.nonzeros();
    ASSERT_EQ(found.index, expected.index);
    for (std::size_t c = 0; c < found.nnz(); ++c) EXPECT_NEAR(found.value[c], expected.value[c], 1e-12);

    Scores scores = objective.make_scores();
    objective.scores(found, scores);
    for (Index i = 0; i < objective.instances(); ++i) {
      const std::size_t n = begin[i + 1] - begin[i];
      std::vector<double> rows(n * width, 7.0);
      w.scores(i, rows.data());
      for (std::size_t t = 0; t < n; ++t)
        for (std::size_t k = 0; k < width; ++k) {
          double score = 0.0;
          if (k < outputs && scores.column_index(static_cast<Index>(k)) != Scores::kNoColumn)
            score = scores.column(scores.column_index(static_cast<Index>(k)))[begin[i] + t];
          EXPECT_NEAR(rows[t * width + k], score, 1e-12);
        }
    }
  }
}

TEST(BeliefStore, GivesBackWhatItWasGiven) {
  for (const ProblemSpec& spec : specs()) {
    const Problem problem(spec);
    const Objective objective = problem.objective();
    BeliefStore store(objective, 1.0);
    double numbers = 0.0;
    for (const double score : {2.0, 7.0})
      for (Index i = 0; i < objective.instances(); ++i) {
        std::vector<double> given(objective.oracle().beliefs()->belief_size(i).all()), point(given.size());
        numbers += static_cast<double>(given.size());
        objective.oracle().beliefs()->gold_beliefs(i, score + i, given.data());
        std::copy(given.begin(), given.end(), store.at(i));
        store.beliefs(*objective.oracle().beliefs(), i, point.data());
        EXPECT_EQ(point, given);
      }
    EXPECT_EQ(BeliefStore::bytes(objective), numbers / 2 * 8);
    EXPECT_THROW(BeliefStore(objective, 1e-9), Error);
  }
}

}  // namespace
}  // namespace proxbench
