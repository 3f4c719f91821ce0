/// Synthetic chains: their sizes, and the distributions that they are drawn from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/data/synthetic/synthetic.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

TEST(SyntheticChain, HasTheShapeOfChineseOcr) {
  const DataPair data = read_data("synthetic-chain", {}, {{"sequences", "300"}, {"test_sequences", "20"}});
  EXPECT_EQ(data.oracle, "chain");
  EXPECT_EQ(data.train.instances(), 300u);
  EXPECT_EQ(data.train.positions(), 4200u);
  EXPECT_EQ(data.test.instances(), 20u);
  EXPECT_EQ(data.train.outputs(), 1000u);
  EXPECT_EQ(data.train.x.features(), 86u);
  EXPECT_TRUE(data.train.x.binary());
  for (Index p = 0; p < data.train.x.positions(); ++p)
    EXPECT_EQ(data.train.x.row(p).front(), 0u) << "the bias";
}

TEST(SyntheticChain, LabelsAreZipfAndTransitionsSparse) {
  const SyntheticChain shape{
      .labels = 200, .features = 30, .tokens = 20, .successors = 4, .noise = 0.1, .seed = 3};
  const Dataset data = make_synthetic_chain(shape, 3000, 0).train;
  std::vector<double> first(shape.labels, 0.0);
  std::map<Index, std::set<Index>> next;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    first[data.gold[data.begin[i]]] += 1.0;
    for (Index p = data.begin[i]; p + 1 < data.begin[i + 1]; ++p) next[data.gold[p]].insert(data.gold[p + 1]);
  }
  double harmonic = 0.0;
  for (int k = 1; k <= 200; ++k) harmonic += 1.0 / k;
  EXPECT_NEAR(first[0] / 3000.0, 1.0 / harmonic, 0.03);
  EXPECT_NEAR(first[1] / 3000.0, 0.5 / harmonic, 0.02);
  for (const auto& [label, successors] : next) EXPECT_LE(successors.size(), 4u) << label;
}

TEST(SyntheticChain, TokensShowTheirLabelUpToTheNoise) {
  SyntheticChain shape{.labels = 5, .features = 100, .tokens = 10, .successors = 3, .noise = 0.0, .seed = 4};
  const Dataset clean = make_synthetic_chain(shape, 20, 0).train;
  std::map<Index, std::vector<Index>> shown;
  for (Index p = 0; p < clean.x.positions(); ++p) {
    const std::vector<Index> row(clean.x.row(p).begin(), clean.x.row(p).end());
    EXPECT_EQ(shown.emplace(clean.gold[p], row).first->second, row) << "without noise a label has one look";
  }
  shape.noise = 0.2;
  const Dataset noisy = make_synthetic_chain(shape, 200, 0).train;
  double flipped = 0.0;
  for (Index p = 0; p < noisy.x.positions(); ++p) {
    const auto& look = shown.at(noisy.gold[p]);
    std::vector<Index> different;
    std::ranges::set_symmetric_difference(look, noisy.x.row(p), std::back_inserter(different));
    flipped += static_cast<double>(different.size());
  }
  EXPECT_NEAR(flipped / (99.0 * noisy.x.positions()), 0.2, 0.005);
}

TEST(SyntheticChain, IsFixedByItsSeed) {
  expect_fixed_by_seed("synthetic-chain", "sequences");
}

TEST(SyntheticChain, TakesNoFiles) {
  EXPECT_EQ(error_of(
                [] {
                  read_data("synthetic-chain", {{"x"}, {}, ""});
                },
                ErrorKind::kUsage),
            "format synthetic-chain: takes no files, its data are generated");
}

}  // namespace
}  // namespace proxbench
