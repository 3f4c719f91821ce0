#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "experiments/data/synthetic/synthetic.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Makes data with 30 leaves. `other` adds to these options or overrides them.
DataPair make_small(const Settings& other = {}) {
  Settings options{{"documents", "400"}, {"test_documents", "200"}, {"features", "3000"},
                   {"nodes", "60"},      {"leaves", "30"},          {"nonzeros", "60"}};
  options.insert(options.end(), other.begin(), other.end());
  return read_data("synthetic-lshtc", {}, options);
}

/// The share of the features whose scaled values sum to more than `bound`.
double share_with_sum_above(double bound, const DesignMatrix& x) {
  double count = 0;
  for (Index j = 0; j < x.features(); ++j) {
    double sum = 0;
    for (const double value : x.column_values(j)) sum += value;
    count += sum > bound;
  }
  return count / x.features();
}

double share_in_documents(std::size_t documents, const DesignMatrix& x) {
  double count = 0;
  for (Index j = 0; j < x.features(); ++j) count += x.column_size(j) == documents;
  return count / x.features();
}

TEST(SyntheticLshtc, HasTheExactShapeOfThePaper) {
  const DataPair data = read_data("synthetic-lshtc", {});
  const Dataset& train = data.train;
  EXPECT_EQ(data.oracle, "tree");
  EXPECT_EQ(train.instances(), 4463u);
  EXPECT_EQ(data.test.instances(), 1858u);
  EXPECT_EQ(train.x.features(), 51033u);
  EXPECT_EQ(train.outputs(), 2388u);
  EXPECT_EQ(Coord{train.x.features()} * train.outputs(), 121866804u);
  EXPECT_EQ(train.hierarchy->nodes(), 2388u);
  EXPECT_EQ(train.hierarchy->leaves(), 1139u);
  EXPECT_EQ(train.hierarchy->depth(), 6u);
  EXPECT_EQ(train.vocabulary->outputs[0], "root");
  EXPECT_EQ(train.vocabulary->features.size(), 51033u);
  EXPECT_NEAR(static_cast<double>(train.x.nonzeros()) / 4463, 145, 5);
  EXPECT_THAT(train.notes, IsEmpty());
  EXPECT_THAT(data.test.notes, IsEmpty());
  for (Index j = 0; j < train.x.features(); ++j) {
    ASSERT_GT(train.x.column_size(j), 0u) << "each feature occurs";
    const auto values = train.x.column_values(j);
    ASSERT_EQ(*std::max_element(values.begin(), values.end()), 1.0);
    ASSERT_GT(*std::min_element(values.begin(), values.end()), 0.0);
  }
  std::vector<Index> documents(2388, 0);
  for (const Index leaf : train.gold) {
    ASSERT_TRUE(train.hierarchy->leaf(leaf));
    ++documents[leaf];
  }
  EXPECT_EQ(std::count(documents.begin(), documents.end(), 0u), 2388 - 1139) << "each leaf has a document";
  EXPECT_GT(*std::max_element(documents.begin(), documents.end()), 100u) << "237 in the real task";
  EXPECT_TRUE(train.description.starts_with("synthetic")) << train.description;
  EXPECT_TRUE(data.test.description.starts_with("synthetic LSHTC: 1858 documents")) << data.test.description;
}

TEST(SyntheticLshtc, LevelsHaveTheSizesOfTheRealHierarchy) {
  Random random(7);
  const Hierarchy tree = make_synthetic_tree(2388, 1139, random);
  std::array<Index, 6> nodes{}, leaves{};
  std::vector<std::size_t> depth(tree.nodes(), 0);
  for (Index k = 0; k < tree.nodes(); ++k) {
    if (k > 0) depth[k] = depth[tree.parent(k)] + 1;
    ++nodes.at(depth[k]);
    leaves.at(depth[k]) += tree.leaf(k);
  }
  // The numbers of cat_hier.txt, see hierarchy_file_test.cpp.
  EXPECT_THAT(nodes, ElementsAre(1, 10, 158, 522, 846, 851));
  EXPECT_THAT(leaves, ElementsAre(0, 0, 0, 42, 246, 851));
}

TEST(SyntheticLshtc, MakesTreesOfAnyPossibleSize) {
  for (Index leaves = 1; leaves <= 40; ++leaves)
    for (Index nodes = leaves + 1; nodes <= 5 * leaves + 1; ++nodes) {
      Random random(nodes);
      const Hierarchy tree = make_synthetic_tree(nodes, leaves, random);
      ASSERT_EQ(tree.nodes(), nodes);
      ASSERT_EQ(tree.leaves(), leaves) << nodes << " nodes";
      ASSERT_LE(tree.depth(), 6u);
    }
  Random random(1);
  const std::string expected = ": violated constraint leaves < nodes <= 5 * leaves + 1, with leaves = 3";
  EXPECT_EQ(error_of([&] { make_synthetic_tree(3, 3, random); }, ErrorKind::kUsage),
            "option nodes = 3" + expected);
  EXPECT_EQ(error_of([&] { make_synthetic_tree(17, 3, random); }, ErrorKind::kUsage),
            "option nodes = 17" + expected);
}

TEST(SyntheticLshtc, FollowsItsSeed) {
  const DataPair data = make_small(), again = make_small();
  EXPECT_EQ(again.train.digest, data.train.digest);
  EXPECT_EQ(again.test.digest, data.test.digest);
  EXPECT_NE(make_small({{"seed", "2"}}).train.digest, data.train.digest);
  const DataPair without_test = make_small({{"test_documents", "0"}});
  EXPECT_EQ(without_test.train.digest, data.train.digest);
  EXPECT_EQ(without_test.test.instances(), 0u);
}

TEST(SyntheticLshtc, TinyDataHoldEveryFeatureToo) {
  Settings tiny{{"documents", "10"}, {"features", "40"}, {"nonzeros", "8"}};
  const DataPair data = make_small(tiny);
  EXPECT_EQ(data.train.x.features(), 40u);
  EXPECT_EQ(data.train.instances(), 10u) << "fewer documents than leaves";
  tiny[1].second = "3000";
  EXPECT_THAT(error_of([&] { make_small(tiny); }, ErrorKind::kUsage),
              testing::MatchesRegex(
                  "option features = 3000: violated constraint features <= [0-9]+, the words of all "
                  "training documents \\(more documents or nonzeros give more\\)"));
}

TEST(SyntheticLshtc, LooksLikeTheRealTask) {
  PROXBENCH_NEED_DATA(tree, "lshtc1-dryrun/cat_hier.txt");
  PROXBENCH_NEED_DATA(file, "lshtc1-dryrun/task1.validation.txt.gz");
  const DesignMatrix real = read_data("lshtc", {{file}, {}, tree}).train.x;
  const DesignMatrix made = read_data("synthetic-lshtc", {},
                                      {{"documents", std::to_string(real.positions())},
                                       {"test_documents", "0"},
                                       {"features", std::to_string(real.features())},
                                       {"nonzeros", "147"}})
                                .train.x;
  for (const std::size_t documents : {1u, 2u, 3u, 5u, 10u})
    EXPECT_NEAR(share_in_documents(documents, made), share_in_documents(documents, real), 0.03)
        << "features in " << documents << " documents";
  for (const double bound : {1.0, 2.0, 5.0, 10.0})
    EXPECT_NEAR(share_with_sum_above(bound, made), share_with_sum_above(bound, real), 0.03) << bound;
  const auto frequencies = [](const DesignMatrix& x) {
    std::vector<double> out;
    for (Index j = 0; j < x.features(); ++j) out.push_back(static_cast<double>(x.column_size(j)));
    std::sort(out.begin(), out.end(), std::greater<>());
    return out;
  };
  const auto made_frequencies = frequencies(made), real_frequencies = frequencies(real);
  for (const std::size_t rank : {0u, 10u, 100u, 1000u, 3000u})
    EXPECT_NEAR(std::log(made_frequencies[rank] / real_frequencies[rank]), 0, std::log(1.3))
        << "rank " << rank;
}

/// The accuracy of choosing the leaf whose training documents are nearest, by the cosine of sums of words
/// weighted by rarity.
double nearest_leaf_accuracy(const DataPair& data) {
  const DesignMatrix &x = data.train.x, &test = data.test.x;
  const std::size_t nodes = data.train.outputs();
  std::vector<double> rarity(x.features()), length(nodes, 0.0);
  for (Index j = 0; j < x.features(); ++j)
    rarity[j] = std::log(static_cast<double>(x.positions()) / static_cast<double>(x.column_size(j)));
  std::vector<std::vector<double>> centre(nodes, std::vector<double>(x.features(), 0.0));
  for (Index p = 0; p < x.positions(); ++p)
    for (const Index j : x.row(p)) centre[data.train.gold[p]][j] += rarity[j];
  for (std::size_t k = 0; k < nodes; ++k)
    for (const double value : centre[k]) length[k] += value * value;
  double right = 0;
  for (Index p = 0; p < test.positions(); ++p) {
    std::vector<double> score(nodes, 0.0);
    for (std::size_t k = 0; k < nodes; ++k)
      for (const Index j : test.row(p)) score[k] += centre[k][j] * rarity[j] / std::sqrt(length[k] + 1e-9);
    right += std::max_element(score.begin(), score.end()) - score.begin() == data.test.gold[p];
  }
  return right / test.positions();
}

TEST(SyntheticLshtc, IsLearnableButNotTrivially) {
  const double accuracy = nearest_leaf_accuracy(make_small());
  RecordProperty("nearest_leaf_accuracy", std::to_string(accuracy));
  EXPECT_GT(accuracy, 0.3) << "of 30 leaves";
  EXPECT_LT(accuracy, 0.97);
}

TEST(SyntheticLshtc, TakesNoFiles) {
  EXPECT_EQ(error_of(
                [] {
                  read_data("synthetic-lshtc", {{}, {}, "cat_hier.txt"});
                },
                ErrorKind::kUsage),
            "format synthetic-lshtc: takes no files, its data are generated");
}

}  // namespace
}  // namespace proxbench
