#pragma once
/// The hierarchy file of the LSHTC challenges, `cat_hier.txt`. Each line is a branch: the ids of its
/// nodes from the top to a leaf, separated by blanks. Ids are integers of at least 0. Empty lines are
/// skipped.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/data/hierarchy.h"
#include "experiments/base/line_reader.h"

namespace proxbench {

/// A hierarchy whose nodes have the ids of a file.
struct NamedHierarchy {
  /// The name of the node that is added above several top-level nodes. It is no id, so no file can contain
  /// it.
  static constexpr const char* kRoot = "root";

  std::string path;  ///< the path of the file
  std::shared_ptr<const Hierarchy> tree;
  std::vector<std::string> names;                 ///< for each node its id as text, or kRoot
  std::unordered_map<std::int64_t, Index> nodes;  ///< the node with an id

  /// Returns the leaf with this label from a line of `in`. Throws with in.fail() if the label is not a node
  /// of the tree, or is an inner node.
  Index leaf(const LineReader& in, std::string_view label) const;
};

/// Reads a hierarchy. Nodes are in preorder, and children in order of first appearance. Several top-level
/// nodes get an additional root, which counts among the nodes; a single one is the root itself. Throws Error
/// (kInput) with file and line if an id is not an integer of at least 0, if a node has two places or occurs
/// twice on a branch, if a branch ends in a node that has children on another line, if a branch occurs twice,
/// or if there is no branch.
NamedHierarchy read_hierarchy(const std::string& path);

}  // namespace proxbench
