#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "experiments/data/documents/documents.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;

constexpr Index kNone = Hierarchy::kNone;

NamedHierarchy read(const std::string& text) {
  const TempFile file(text, "cat_hier.txt");
  return read_hierarchy(file.path());
}

/// Returns the error from reading the text, without the file's path.
std::string error_in(const std::string& text) {
  const TempFile file(text, "cat_hier.txt");
  const std::string message = error_of([&] { read_hierarchy(file.path()); });
  return message.substr(std::min(message.size(), file.path().size() + 1));
}

TEST(HierarchyFile, ARootIsAddedAboveSeveralTopLevelNodes) {
  const NamedHierarchy read_back = read("7 20 21\n3 4\n7 5\n\n7\t20  19 \r\n");
  EXPECT_THAT(read_back.names, ElementsAre("root", "7", "20", "21", "19", "5", "3", "4"));
  EXPECT_THAT(read_back.tree->parents(), ElementsAre(kNone, 0, 1, 2, 2, 1, 0, 6));
  EXPECT_EQ(read_back.tree->leaves(), 4u);
  EXPECT_EQ(read_back.nodes.size(), 7u);
  EXPECT_EQ(read_back.nodes.at(19), 4u);
}

TEST(HierarchyFile, ASingleTopLevelNodeIsTheRoot) {
  const NamedHierarchy read_back = read("0 2\n0 1\n");
  EXPECT_THAT(read_back.names, ElementsAre("0", "2", "1"));
  EXPECT_THAT(read_back.tree->parents(), ElementsAre(kNone, 0, 0));
  EXPECT_THAT(read("5\n").names, ElementsAre("5"));
}

TEST(HierarchyFile, OneNumberIsOneNodeHoweverItIsWritten) {
  EXPECT_THAT(read("01 2\n1 +3\n").names, ElementsAre("1", "2", "3"));
}

TEST(HierarchyFile, ANodeHasOnePlace) {
  EXPECT_EQ(error_in("1 2 3\n1 4 3\n"),
            "2: found node 3 below node 4, expected it below node 2 as on line 1: a line is a whole branch, "
            "from the top to a leaf, and no edge");
  EXPECT_EQ(error_in("1 2\n\n3 1\n"),
            "3: found node 1 below node 3, expected it at the top as on line 1: a line is a whole branch, "
            "from the top to a leaf, and no edge");
  EXPECT_EQ(error_in("1 2 3\n2 3\n"),
            "2: found node 2 at the top, expected it below node 1 as on line 1: a line is a whole branch, "
            "from the top to a leaf, and no edge");
}

TEST(HierarchyFile, CyclesAreErrors) {
  EXPECT_EQ(error_in("1 2\n4 5 6 5\n"),
            "2: found node 5 twice on one branch, expected a branch without a cycle");
  EXPECT_EQ(error_in("4 4\n"), "1: found node 4 twice on one branch, expected a branch without a cycle");
  EXPECT_EQ(error_in("1 2 3\n4 3 2\n"),
            "2: found node 3 below node 4, expected it below node 2 as on line 1: a line is a whole branch, "
            "from the top to a leaf, and no edge");
  EXPECT_EQ(error_in("1 2\n2 1\n"),
            "2: found node 2 at the top, expected it below node 1 as on line 1: a line is a whole branch, "
            "from the top to a leaf, and no edge");
}

TEST(HierarchyFile, BranchesEndInLeaves) {
  EXPECT_EQ(error_in("1 2 3\n1 2\n"),
            "2: found a branch that ends in node 2, expected one that ends in a leaf: node 3 is below it on "
            "line 1");
  EXPECT_EQ(error_in("1 4\n1 2\n1 2 3\n"),
            "3: found node 3 below node 2, expected nothing below it, since the branch on line 2 ends there");
  EXPECT_EQ(error_in("1 2\n1 3\n1 2\n"),
            "3: found the branch to node 2 a second time, expected each branch once (first on line 1)");
}

TEST(HierarchyFile, IdsAreIntegersOfAtLeastZero) {
  EXPECT_EQ(error_in("1 2\n1 x\n"), "2: found node 'x', expected an integer of at least 0");
  EXPECT_EQ(error_in("1 -2\n"), "1: found node '-2', expected an integer of at least 0");
  EXPECT_EQ(error_in("1 2.0\n"), "1: found node '2.0', expected an integer of at least 0");
  EXPECT_EQ(error_in("root 2\n"), "1: found node 'root', expected an integer of at least 0");
}

TEST(HierarchyFile, EmptyFilesAreErrors) {
  EXPECT_EQ(error_in(""), " found an empty file, expected one branch of node ids a line");
  EXPECT_EQ(error_in("\n \n"), "2: found only empty lines, expected one branch of node ids a line");
}

TEST(HierarchyFileRealData, HasTheNodesOfThePaper) {
  PROXBENCH_NEED_DATA(path, "lshtc1-dryrun/cat_hier.txt");
  const NamedHierarchy lshtc = read_hierarchy(path);
  EXPECT_EQ(lshtc.tree->nodes(), 2388u) << "2,387 ids and the root";
  EXPECT_EQ(lshtc.names.size(), 2388u);
  EXPECT_EQ(lshtc.nodes.size(), 2387u);
  EXPECT_EQ(lshtc.tree->leaves(), 1139u);
  EXPECT_EQ(lshtc.tree->depth(), 6u);
  EXPECT_EQ(lshtc.names[0], "root");
  // Counted with a script: the ids by their place on a branch.
  std::array<Index, 6> level{};
  std::vector<Index> depth(2388, 0);
  for (Index k = 0; k < 2388; ++k) {
    if (k > 0) depth[k] = depth[lshtc.tree->parent(k)] + 1;
    ++level.at(depth[k]);
  }
  EXPECT_THAT(level, ElementsAre(1, 10, 158, 522, 846, 851));
}

TEST(HierarchyFile, OfEdgesIsTold) {
  const TempFile edges("0 1\n0 2\n1 11\n2 21\n");
  EXPECT_THAT(
      error_of([&] { read_hierarchy(edges.path()); }),
      testing::EndsWith("expected it below node 0 as on line 1: a line is a whole branch, from the top "
                        "to a leaf, and no edge"));
}

}  // namespace
}  // namespace proxbench
