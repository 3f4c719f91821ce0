#pragma once
/// Made-up documents of the shape of the hierarchical task of Zhong et al. 2014, section 6.2, for tests and
/// benchmarks without its training file: LSHTC1 dry-run, Task 1. By default 4,463 documents, 51,033 features
/// that all occur, and K = 2,388 nodes, 1,139 of them leaves: d = J*K = 121,866,804.
///
/// The tree has one root, which counts among the nodes and stands for the one that read_hierarchy() adds, and
/// at most five nodes below it on a path, in the proportions of the real hierarchy: 10, 158, 522, 846 and 851
/// a level, leaves on the lower three.
///
/// Every leaf has a document where there are as many, the rest follow a power law over leaves. A word of a
/// document comes from a background distribution or from the topic of a node on the path to its leaf, so that
/// nodes at all levels carry weight. Word frequencies follow a power law that steepens as real ones do.
/// Values are term frequencies divided by their maximum, as with `lshtc`.
///
/// Equal options give equal data on every platform with IEEE arithmetic and the same mathematical library,
/// and the training set does not depend on test_documents. Training documents that hold fewer words than
/// there are features are an error. The registered format is synthetic_lshtc_format() in readers.h.

#include <cstdint>

#include "core/data/hierarchy.h"

namespace proxbench {

/// A tree of that many nodes and leaves. Throws Error (kUsage) unless leaves < nodes <= 5 * leaves + 1.
Hierarchy make_synthetic_tree(Index nodes, Index leaves, std::uint64_t seed);

}  // namespace proxbench
