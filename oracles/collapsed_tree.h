#pragma once
/// A hierarchy without the nodes that scores do not touch, as the tree oracle works on it.

#include <vector>

#include "core/data/hierarchy.h"
#include "core/oracle.h"
#include "oracles/tree_kernels.h"

namespace proxbench {

/// The touched nodes in preorder, after entry 0: the root, which is not an output.
struct CollapsedTree {
  std::vector<TreeNode> nodes;
  std::vector<Index> entry;  ///< size K: the nearest touched node at or above an output
  double alpha;

  TreeNodes view() const { return {nodes.data(), nodes.size(), alpha}; }
};
/// The numbers of one task's documents, kTreeLanes for each entry.
struct TreeBlock {
  AlignedVector<double> path;  ///< scores of paths; weights of nodes on the way up
  AlignedVector<double> leaf;  ///< weight of one of an entry's own leaves, relative to that of the best leaf
  alignas(64) double best[kTreeLanes];
  alignas(64) double partition[kTreeLanes];  ///< sum of the weights of all leaves

  static TreeBlock& mine(std::size_t entries) {
    static thread_local TreeBlock block;
    block.path.resize(entries * kTreeLanes);
    block.leaf.resize(entries * kTreeLanes);
    return block;
  }

  TreeDocuments documents(std::size_t first, std::size_t lanes) {
    return {first, lanes, path.data(), leaf.data(), best, partition};
  }
};
/// The messages of a point: for each touched node, the probability of one of its own leaves.
struct TreeMessages final : DerivativeOracle::Messages {
  std::vector<Index> entry;   ///< CollapsedTree::entry
  std::vector<char> touched;  ///< size K
  std::vector<Index> column;  ///< of each touched node; kNone if it has no leaves of its own
  std::size_t stride = 0;
  AlignedVector<double> values;

  /// Makes columns for the nodes of the tree.
  void lay_out(const CollapsedTree& tree, std::size_t positions);
  double* find(std::size_t i) {
    return column[i] == Hierarchy::kNone ? nullptr : values.data() + column[i] * stride;
  }
  /// The column of the nearest touched node at or above `output`, or of the root if that is kNone.
  const double* find_above(Index output) const {
    return values.data() + column[output == Hierarchy::kNone ? 0 : entry[output]] * stride;
  }
};

/// Touches the outputs with a column in the scores, those touched in `kept`, and their ancestors.
CollapsedTree collapse(const Hierarchy& tree, const ScorePoint& at, const TreeMessages* kept = nullptr);

}  // namespace proxbench
