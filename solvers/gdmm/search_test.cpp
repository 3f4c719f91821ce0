/// Compares searches over the labels of a factor with looking at all of them.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"
#include "solvers/gdmm/label_search.h"
#include "solvers/gdmm/pair_search.h"

namespace proxbench {
namespace {

LabelMessages random_messages(Index labels, double share, Random& random) {
  LabelMessages out(labels);
  for (Index k = 0; k < labels; ++k)
    if (random.uniform() < share) out.add(k, random.normal());
  return out;
}

TEST(PairSearch, FindsWhatLookingAtAllPairsFinds) {
  Random random(1);
  for (const Index labels : {1u, 2u, 3u, 7u, 20u})
    for (const double density : {0.0, 0.05, 0.5, 1.0})
      for (const double share : {0.0, 0.1, 0.5, 1.0})
        for (const double shift : {-3.0, 0.0, 3.0})
          for (int repeat = 0; repeat < 10; ++repeat) {
            PairWeights v(labels);
            for (Index a = 0; a < labels; ++a)
              for (Index b = 0; b < labels; ++b)
                if (random.uniform() < density) v.set(a, b, shift + random.normal());
            const LabelMessages left = random_messages(labels, share, random),
                                right = random_messages(labels, random.uniform(), random);
            const PairChoice found = best_pair(v, left, right);
            EXPECT_EQ(found.value, best_pair_by_force(v, left, right).value)
                << labels << ' ' << density << ' ' << share << ' ' << shift;
            EXPECT_EQ(found.value, v.at(found.left, found.right) + left[found.left] + right[found.right]);
          }
}

TEST(PairSearch, KeepsWeightsSortedThroughChanges) {
  Random random(2);
  PairWeights v(6);
  for (int change = 0; change < 2000; ++change) {
    const auto a = static_cast<Index>(random.below(6)), b = static_cast<Index>(random.below(6));
    random.uniform() < 0.3 ? v.set(a, b, 0.0) : v.add(a, b, random.normal());
    ASSERT_TRUE(std::ranges::is_sorted(v.sorted()));
    const auto nonzeros = static_cast<std::size_t>(
        std::ranges::count_if(v.values(), [](double weight) { return weight != 0.0; }));
    std::size_t in_rows = 0, in_columns = 0;
    for (Index k = 0; k < 6; ++k) {
      in_rows += v.row(k).size();
      in_columns += v.column(k).size();
    }
    ASSERT_EQ(v.sorted().size(), nonzeros);
    ASSERT_EQ(in_rows, nonzeros);
    ASSERT_EQ(in_columns, nonzeros);
    for (const auto& [key, cell] : v.sorted()) ASSERT_EQ(v.values()[cell], -key);
    LabelMessages left = random_messages(6, 0.4, random), right = random_messages(6, 0.4, random);
    ASSERT_EQ(best_pair(v, left, right).value, best_pair_by_force(v, left, right).value);
  }
}

TEST(LabelSearch, FindsWhatLookingAtAllLabelsFinds) {
  Random random(3);
  for (const Index labels : {1u, 2u, 9u, 200u})
    for (const double density : {0.0, 0.02, 0.3, 1.0})
      for (const bool real : {false, true}) {
        DesignMatrix::Builder builder;
        for (int p = 0; p < 20; ++p) {
          for (Index j = 0; j < 12; ++j)
            if (random.uniform() < 0.4) builder.add(j, real ? random.normal() : 1.0);
          builder.end_position();
        }
        const DesignMatrix x = std::move(builder).build(12);
        IndexedWeights w(x, labels);
        for (Index j = 0; j < 12; ++j)
          for (Index k = 0; k < labels; ++k)
            if (random.uniform() < density) w.add(j, k, random.normal());
        LabelSearch search(labels), force(labels);
        for (Index p = 0; p < 20; ++p) {
          w.add_features(p, static_cast<Index>(random.below(labels)), random.normal());
          const auto gold = static_cast<Index>(random.below(labels));
          const LabelMessages messages = random_messages(labels, 0.05, random);
          const LabelChoice found = search.best(w, p, gold, 1.0, messages),
                            all = force.best_by_force(w, p, gold, 1.0, messages);
          EXPECT_NEAR(found.value, all.value, 1e-12);
          EXPECT_NEAR(found.value,
                      w.score(p, found.label) + (found.label == gold ? 0.0 : 1.0) + messages[found.label],
                      1e-12);
        }
      }
}

}  // namespace
}  // namespace proxbench
