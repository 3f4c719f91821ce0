#include "core/data/hierarchy.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace proxbench {

Hierarchy::Hierarchy(std::vector<Index> parent) : parent_(std::move(parent)) {
  if (parent_.empty()) throw Error("hierarchy: no nodes");
  const Index n = nodes();
  end_.resize(n);
  leaves_.assign(n, 0);
  std::vector<Index> path;  // from a top-level node to the node before k
  for (Index k = 0; k < n; ++k) {
    while (!path.empty() && path.back() != parent_[k]) {
      end_[path.back()] = k;
      path.pop_back();
    }
    if (path.empty() && parent_[k] != kNone)
      throw Error("hierarchy: node ", k, " has parent ", parent_[k],
                  ", expected one of the nodes above node ", k - 1, " (preorder)");
    path.push_back(k);
  }
  for (const Index k : path) end_[k] = n;
  for (Index k = n; k-- > 0;) {
    if (leaf(k)) leaves_[k] = 1;
    if (parent_[k] != kNone) leaves_[parent_[k]] += leaves_[k];
  }
}

Index Hierarchy::leaves() const {
  Index count = 0;
  for (Index k = 0; k < nodes(); ++k) count += leaf(k);
  return count;
}

Index Hierarchy::depth() const {
  std::vector<Index> depth(nodes(), 1);
  for (Index k = 0; k < nodes(); ++k)
    if (parent_[k] != kNone) depth[k] = depth[parent_[k]] + 1;
  return *std::ranges::max_element(depth);
}

}  // namespace proxbench
