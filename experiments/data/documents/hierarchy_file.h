#pragma once
/// The hierarchy file of the LSHTC challenges, `cat_hier.txt`: one branch a line, the ids of its nodes from
/// the top down to a leaf, separated by blanks. Ids are integers of at least 0; empty lines are skipped.

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
  /// What the node that is added above several top-level ones is called; no id, so no file can hold it.
  static constexpr const char* kRoot = "root";

  std::string path;  ///< of the file
  std::shared_ptr<const Hierarchy> tree;
  std::vector<std::string> names;                 ///< one a node: its id as text, or kRoot
  std::unordered_map<std::int64_t, Index> nodes;  ///< node of an id

  /// The leaf that a line of `in` is labelled with. Throws through in.fail() where the label is no node of
  /// the tree or an inner one.
  Index leaf(const LineReader& in, std::string_view label) const;
};

/// Nodes in preorder, children in order of first appearance. Several top-level nodes get one root of their
/// own (counted among the nodes), a single one is the root itself. Throws Error (kInput) with file and line
/// where an id is no integer of at least 0, a node has two places, or comes twice on a branch, a branch ends
/// in a node that has children on another line or comes a second time, and where there is no branch.
NamedHierarchy read_hierarchy(const std::string& path);

}  // namespace proxbench
