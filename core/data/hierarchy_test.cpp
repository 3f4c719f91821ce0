#include "core/data/hierarchy.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace proxbench {
namespace {

constexpr Index kNone = Hierarchy::kNone;

TEST(Hierarchy, CountsSubtreesAndLeaves) {
  // 0 -> {1 -> {2, 3}, 4 -> 5}, and a second tree with the single node 6.
  const Hierarchy tree({kNone, 0, 1, 1, 0, 4, kNone});
  EXPECT_EQ(tree.nodes(), 7u);
  EXPECT_EQ(tree.end(0), 6u);
  EXPECT_EQ(tree.end(1), 4u);
  EXPECT_EQ(tree.end(4), 6u);
  EXPECT_EQ(tree.end(6), 7u);
  EXPECT_EQ(tree.leaves(0), 3u);
  EXPECT_EQ(tree.leaves(1), 2u);
  EXPECT_EQ(tree.leaves(4), 1u);
  EXPECT_EQ(tree.leaves(), 4u);
  EXPECT_EQ(tree.depth(), 3u);
  EXPECT_TRUE(tree.leaf(5) && tree.leaf(6) && !tree.leaf(4));
}

TEST(Hierarchy, FlatIsAllLeaves) {
  const Hierarchy flat = Hierarchy::flat(3);
  EXPECT_EQ(flat.leaves(), 3u);
  EXPECT_EQ(flat.depth(), 1u);
}

TEST(Hierarchy, RejectsWhatIsNoPreorder) {
  EXPECT_THROW(Hierarchy({}), Error);
  EXPECT_THROW(Hierarchy({0}), Error);                   // its own parent
  EXPECT_THROW(Hierarchy({kNone, 2, 0}), Error);         // a later parent
  EXPECT_THROW(Hierarchy({kNone, 0, kNone, 0}), Error);  // a subtree in two pieces
  EXPECT_THROW(Hierarchy({kNone, 0, 0, 1}), Error);      // breadth first
}

}  // namespace
}  // namespace proxbench
