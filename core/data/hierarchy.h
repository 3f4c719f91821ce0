#pragma once
/// A tree, or several, over the outputs of a data set, in which labels are nested.

#include <vector>

#include "core/base/types.h"

namespace proxbench {

/// A forest over outputs 0..K-1, numbered in preorder, so that the subtree of k is [k, end(k)). Instances are
/// labelled with its leaves.
class Hierarchy {
 public:
  static constexpr Index kNone = static_cast<Index>(-1);

  /// parent[k] is kNone for a top-level node and an earlier node otherwise; parent.size() == K. Throws Error
  /// if there is no node or if the numbering is not a preorder.
  explicit Hierarchy(std::vector<Index> parent);
  /// K leaves side by side, for multiclass and binary problems.
  static Hierarchy flat(Index leaves) { return Hierarchy(std::vector<Index>(leaves, kNone)); }

  Index nodes() const { return static_cast<Index>(parent_.size()); }
  Index parent(Index k) const { return parent_[k]; }
  const std::vector<Index>& parents() const { return parent_; }
  /// One past the last node of the subtree of k.
  Index end(Index k) const { return end_[k]; }
  bool leaf(Index k) const { return end_[k] == k + 1; }
  /// The number of leaves below k; 1 if k is a leaf.
  Index leaves(Index k) const { return leaves_[k]; }
  Index leaves() const;
  /// The number of nodes on the longest path from a top-level node to a leaf.
  Index depth() const;

 private:
  std::vector<Index> parent_, end_, leaves_;
};

}  // namespace proxbench
