#pragma once
/// Messages on a collapsed tree for several documents at once. They are compiled once for each instruction
/// set.

#include <cstddef>

#include "core/base/types.h"

namespace proxbench {

/// The documents handled at once. The numbers of a thousand nodes then stay in a second-level cache.
inline constexpr std::size_t kTreeLanes = 32;
/// The weights of this many nodes are summed before their sum is added to the sum over earlier nodes. So a
/// long sum has few roundings.
inline constexpr std::size_t kTreePart = 64;

/// A touched node. Entry 0 is the root, which is not an output.
struct TreeNode {
  Index parent;          ///< entry of the nearest touched node above, or of the root
  Index output;          ///< Hierarchy::kNone for entry 0
  const double* base;    ///< column of scores; may be null
  const double* change;  ///< column of the direction; may be null
  double rest;           ///< number of leaves whose nearest touched node this is; 1 for a touched leaf
  Index first_leaf;      ///< the first of these leaves, or kNone
};

/// `size` nodes in preorder. Scores are base + alpha*change.
struct TreeNodes {
  const TreeNode* node;
  std::size_t size;
  double alpha;
};

/// The documents [first, first + lanes). `lanes` is a multiple of kPad and at most kTreeLanes. Each entry has
/// kTreeLanes numbers.
struct TreeDocuments {
  std::size_t first, lanes;
  double* path;  ///< scores of paths; weights of nodes on the way up
  double* leaf;  ///< weight of one own leaf of an entry, relative to the best leaf
  double *best,
      *partition;  ///< one number per document: the score of the best leaf, the sum of all leaves' weights
};

struct TreeKernels {
  /// Fills path and best.
  void (*walk_down)(const TreeNodes& tree, const TreeDocuments& documents);
  /// Fills leaf and partition. An entry without leaves of its own gets the weight of the entry above, since
  /// no leaf uses it. If `upwards`, path is overwritten with the total weight of each entry's own leaves.
  void (*weigh)(const TreeNodes& tree, const TreeDocuments& documents, bool upwards);
  /// Writes the marginals of entry i to the column own[i], and the probability of one of its own leaves to
  /// shared[i] unless shared[i] is null.
  void (*walk_up)(const TreeNodes& tree, const TreeDocuments& documents, double* const* own,
                  double* const* shared);
  /// After weigh(): writes the probability of one of the own leaves of entry i to the column kept[i], unless
  /// kept[i] is null.
  void (*keep)(const TreeNodes& tree, const TreeDocuments& documents, double* const* kept);
  /// Differentiates along the scores of the nodes (only `base`). At the point, one of the own leaves of entry
  /// i has the probabilities in the column leaf[i], which is null if the entry has none. Writes the change of
  /// the marginals to own[i], and the change of one own leaf to shared[i] unless it is null. An entry without
  /// leaves of its own gets the change of the entry above.
  void (*derivative)(const TreeNodes& tree, const TreeDocuments& documents, const double* const* leaf,
                     double* const* own, double* const* shared);
  /// CollapsedOutputs::expand() over n outputs. `inner` lists the outputs that are not leaves. Row n belongs
  /// to the root.
  void (*expand)(const Index* parent, Index n, const Index* inner, std::size_t inner_size, double* rows);
};

/// The kernels of the instruction set in use (core/kernels/instruction_set.h).
const TreeKernels& tree_kernels();

}  // namespace proxbench
