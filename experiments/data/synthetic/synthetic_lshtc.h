#pragma once
/// Generated documents similar to the hierarchical task of Zhong et al. 2014, section 6.2 (LSHTC1 dry-run,
/// Task 1), for tests and benchmarks without its training file. By default there are 4,463 documents, 51,033
/// features that all occur, and K = 2,388 nodes, 1,139 of them leaves: d = J*K = 121,866,804.
///
/// The tree has one root, which counts among the nodes and corresponds to the root that read_hierarchy()
/// adds. Below it, a path has at most five nodes. The levels have the proportions of the real hierarchy (10,
/// 158, 522, 846 and 851 nodes), with leaves on the lower three.
///
/// Every leaf has a document if there are enough documents; the rest follow a power law over leaves. A word
/// of a document comes from a background distribution or from the topic of a node on the path to its leaf, so
/// nodes at all levels carry weight. Word frequencies follow a power law that gets steeper with the rank, as
/// in real text. Values are term frequencies divided by their maximum, as with `lshtc`.
///
/// Equal options give equal data on every platform with IEEE arithmetic and the same mathematical library.
/// The training set does not depend on test_documents. It is an error if the training documents hold fewer
/// words than there are features. The registered format is synthetic_lshtc_format() in readers.h.

#include <cstdint>

#include "core/data/hierarchy.h"

namespace proxbench {

/// Makes a tree with the given numbers of nodes and leaves. Throws Error (kUsage) unless leaves < nodes <= 5
/// * leaves + 1.
Hierarchy make_synthetic_tree(Index nodes, Index leaves, std::uint64_t seed);

}  // namespace proxbench
