#include "oracles/collapsed_tree.h"

namespace proxbench {

void TreeMessages::lay_out(const CollapsedTree& tree, std::size_t positions) {
  entry = tree.entry;
  touched.assign(entry.size(), 0);
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) touched[tree.nodes[i].output] = 1;
  stride = padded(positions);
  column.assign(tree.nodes.size(), Hierarchy::kNone);
  Index columns = 0;
  for (std::size_t i = 0; i < column.size(); ++i)
    if (tree.nodes[i].rest > 0) column[i] = columns++;
  values.resize(columns * stride);
}

CollapsedTree collapse(const Hierarchy& tree, const ScorePoint& at, const TreeMessages* kept) {
  const Index n = tree.nodes();
  const auto base = [&](Index k) { return at.base.find(k); };
  const auto change = [&](Index k) { return at.direction != nullptr ? at.direction->find(k) : nullptr; };
  // Outputs with a column, those touched when messages were kept, and their ancestors.
  std::vector<char> touched(n, 0);
  for (Index k = n; k-- > 0;) {
    if (!touched[k])
      touched[k] = base(k) != nullptr || change(k) != nullptr || (kept != nullptr && kept->touched[k]);
    if (touched[k] && tree.parent(k) != Hierarchy::kNone) touched[tree.parent(k)] = 1;
  }

  CollapsedTree out;
  out.alpha = at.alpha;
  out.entry.resize(n);
  out.nodes.push_back(TreeNode{0, Hierarchy::kNone, nullptr, nullptr, 0.0, Hierarchy::kNone});
  for (Index k = 0; k < n; ++k) {
    const Index above = tree.parent(k) == Hierarchy::kNone ? 0 : out.entry[tree.parent(k)];
    if (touched[k]) {
      out.entry[k] = static_cast<Index>(out.nodes.size());
      out.nodes.push_back(TreeNode{above, k, base(k), change(k), 0.0, Hierarchy::kNone});
    } else {
      out.entry[k] = above;
    }
    if (tree.leaf(k)) {
      TreeNode& nearest = out.nodes[out.entry[k]];
      nearest.rest += 1.0;
      if (nearest.first_leaf == Hierarchy::kNone) nearest.first_leaf = k;
    }
  }
  return out;
}

}  // namespace proxbench
