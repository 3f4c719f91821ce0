#pragma once
/// Messages on a collapsed tree for some documents at once, compiled once for each instruction set.

#include <cstddef>

#include "core/kernels/instruction_set.h"
#include "core/base/types.h"

namespace proxbench {

/// Documents handled at once: the numbers of a thousand nodes then stay in a second-level cache.
inline constexpr std::size_t kTreeLanes = 32;

/// A touched node, or entry 0: the root of all, which is no output.
struct TreeNode {
  Index parent;          ///< entry of the touched node (or root) above
  Index output;          ///< Hierarchy::kNone for entry 0
  const double* base;    ///< column of scores, or null
  const double* change;  ///< column of the direction, or null
  double rest;           ///< leaves whose nearest touched node this is; 1 for a touched leaf
  Index first_leaf;      ///< the first of them; kNone where there is none
};

/// Nodes in preorder, `size` of them; scores are base + alpha*change.
struct TreeNodes {
  const TreeNode* node;
  std::size_t size;
  double alpha;
};

/// Documents [first, first + lanes), lanes a multiple of kPad and at most kTreeLanes; kTreeLanes numbers an
/// entry.
struct TreeDocuments {
  std::size_t first, lanes;
  double* path;  ///< scores of paths; on the way up, weights of nodes
  double* leaf;  ///< weight of one of an entry's own leaves, relative to the best leaf's
  double *best,
      *partition;  ///< a number a document: score of the best leaf, sum over all leaves of their weights
};

struct TreeKernels {
  /// Fills path and best.
  void (*walk_down)(const TreeNodes& tree, const TreeDocuments& documents);
  /// Fills leaf and partition. An entry without leaves of its own gets the weight of the one above: nothing
  /// hangs on it. With `upwards` the weight of all own leaves replaces the score of each path.
  void (*weigh)(const TreeNodes& tree, const TreeDocuments& documents, bool upwards);
  /// Marginals of entry i into column own[i], the probability of one of its own leaves into shared[i] (null:
  /// nowhere).
  void (*walk_up)(const TreeNodes& tree, const TreeDocuments& documents, double* const* own,
                  double* const* shared);
  /// After weigh(): the probability of one of the own leaves of entry i into column kept[i] (null: it has
  /// none).
  void (*keep)(const TreeNodes& tree, const TreeDocuments& documents, double* const* kept);
  /// Along the scores of nodes (base alone), at a point where one of the own leaves of entry i has the
  /// probability leaf[i] (a column; null: it has none): the change of marginals into own[i], that of one own
  /// leaf into shared[i] (null: nowhere); an entry without leaves of its own gets that of the entry above.
  void (*derivative)(const TreeNodes& tree, const TreeDocuments& documents, const double* const* leaf,
                     double* const* own, double* const* shared);
  /// Oracle::expand() over n outputs; `inner` are those that are no leaves, rows[n] the root's.
  void (*expand)(const Index* parent, Index n, const Index* inner, std::size_t inner_size, double* rows);
};

/// For the instruction set in use; see core/kernels/instruction_set.h.
const TreeKernels& tree_kernels();

}  // namespace proxbench
