#include "core/data/dataset.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>

namespace proxbench {
namespace {

/// Two instances (2 + 1 positions), 3 features, 2 outputs. Each test may change any part.
struct Parts {
  std::vector<std::pair<Index, double>> rows{{0, 1.0}, {1, 1.0}, {2, 1.0}};
  Index features = 3;
  std::vector<Index> begin{0, 2, 3};
  std::vector<Index> gold{0, 1, 0};
  Vocabulary vocabulary{{"a", "b", "c"}, {"X", "Y"}};

  Dataset make() const {
    Dataset data;
    DesignMatrix::Builder b;
    for (const auto& [feature, value] : rows) {
      b.add(feature, value);
      b.end_position();
    }
    data.x = std::move(b).build(features);
    data.begin = begin;
    data.gold = gold;
    data.vocabulary = std::make_shared<Vocabulary>(vocabulary);
    return data;
  }
};

TEST(Dataset, CountsInstancesPositionsAndOutputs) {
  const Dataset data = Parts().make();
  EXPECT_EQ(data.instances(), 2u);
  EXPECT_EQ(data.positions(), 3u);
  EXPECT_EQ(data.outputs(), 2u);
  EXPECT_EQ(Dataset().instances(), 0u);
}

TEST(Digest, SameContentSameDigest) {
  Dataset a = Parts().make(), b = Parts().make();
  b.description = "descriptions and notes are not content";
  b.notes["unknown labels"] = 3;
  EXPECT_EQ(digest_of(a), digest_of(b));
}

TEST(Digest, EveryPartOfTheContentChangesIt) {
  const std::vector<std::function<void(Parts&)>> changes{
      [](Parts&) {},
      [](Parts& p) { p.rows[1].first = 0; },
      [](Parts& p) { p.rows[1].second = 2.0; },
      [](Parts& p) { p.rows[1].second = 3.0; },
      [](Parts& p) { p.features = 4; },
      [](Parts& p) {
        p.begin = {0, 1, 3};
      },
      [](Parts& p) {
        p.begin = {0, 3};
      },
      [](Parts& p) { p.gold[2] = 1; },
      [](Parts& p) {
        p.vocabulary.features = {"ab", "", "c"};
      },
      [](Parts& p) {
        p.vocabulary.outputs = {"XY", ""};
      },
      [](Parts& p) {
        p.vocabulary = {{"a", "b"}, {"c", "X", "Y"}};
      },
  };
  std::set<std::uint64_t> digests;
  for (const auto& change : changes) {
    Parts parts;
    change(parts);
    digests.insert(digest_of(parts.make()));
  }
  EXPECT_EQ(digests.size(), changes.size());
}

}  // namespace
}  // namespace proxbench
