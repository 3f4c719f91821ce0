#include "experiments/data/documents/hierarchy_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace proxbench {
namespace {

/// The tree while its branches are read. Nodes are numbered by first appearance. kTop is above the top-level
/// nodes.
class Branches {
 public:
  static constexpr Index kTop = 0;

  void add(const LineReader& in, const std::vector<std::int64_t>& branch) {
    check_no_node_twice(in, branch);
    Index above = kTop;
    bool known = false;
    for (const std::int64_t id : branch) {
      const auto [at, added] = number_.emplace(id, static_cast<Index>(nodes_.size()));
      const Index node = at->second;
      known = !added;
      if (added) {
        nodes_.push_back({id, above, in.line(), false, {}});
        if (nodes_[above].ends_branch)
          in.fail(
              fmt::format("node {} below node {}", id, nodes_[above].id),
              fmt::format("nothing below it, since the branch on line {} ends there", nodes_[above].line));
        nodes_[above].children.push_back(node);
      } else if (nodes_[node].parent != above) {
        in.fail(
            fmt::format("node {} {}", id, place(above)),
            fmt::format("it {} as on line {}: a line is a whole branch, from the top to a leaf, and no edge",
                        place(nodes_[node].parent), nodes_[node].line));
      }
      above = node;
    }
    Node& last = nodes_[above];
    if (last.ends_branch)
      in.fail(fmt::format("the branch to node {} a second time", last.id),
              fmt::format("each branch once (first on line {})", last.line));
    if (known)
      in.fail(fmt::format("a branch that ends in node {}", last.id),
              fmt::format("one that ends in a leaf: node {} is below it on line {}",
                          nodes_[last.children.front()].id, nodes_[last.children.front()].line));
    last.ends_branch = true;
  }

  bool empty() const { return nodes_.size() == 1; }

  NamedHierarchy finish(std::string path) const {
    NamedHierarchy out;
    out.path = std::move(path);
    std::vector<Index> parent;
    std::vector<std::pair<Index, Index>> todo{{kTop, Hierarchy::kNone}};  // node here, its parent in `out`
    while (!todo.empty()) {
      auto [node, above] = todo.back();
      todo.pop_back();
      const auto& children = nodes_[node].children;
      if (node != kTop || children.size() > 1) {
        parent.push_back(std::exchange(above, static_cast<Index>(parent.size())));
        out.names.push_back(node == kTop ? NamedHierarchy::kRoot : std::to_string(nodes_[node].id));
        if (node != kTop) out.nodes.emplace(nodes_[node].id, above);
      }
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        todo.emplace_back(*child, above);
    }
    out.tree = std::make_shared<Hierarchy>(std::move(parent));
    return out;
  }

 private:
  struct Node {
    std::int64_t id;
    Index parent;
    std::uint64_t line;  ///< line of its first appearance
    bool ends_branch;
    std::vector<Index> children;
  };

  static void check_no_node_twice(const LineReader& in, std::vector<std::int64_t> branch) {
    std::sort(branch.begin(), branch.end());
    const auto twice = std::adjacent_find(branch.begin(), branch.end());
    if (twice != branch.end())
      in.fail(fmt::format("node {} twice on one branch", *twice), "a branch without a cycle");
  }

  std::string place(Index parent) const {
    return parent == kTop ? "at the top" : fmt::format("below node {}", nodes_[parent].id);
  }

  std::vector<Node> nodes_{{-1, kTop, 0, false, {}}};
  std::unordered_map<std::int64_t, Index> number_;
};

}  // namespace

Index NamedHierarchy::leaf(const LineReader& in, std::string_view label) const {
  std::int64_t id = 0;
  const auto at = parse_integer(label, id) ? nodes.find(id) : nodes.end();
  if (at == nodes.end()) in.fail("label " + in_quotes(label), "a leaf of " + path);
  if (!tree->leaf(at->second)) in.fail("label " + in_quotes(label) + ", an inner node", "a leaf of " + path);
  return at->second;
}

NamedHierarchy read_hierarchy(const std::string& path) {
  LineReader in(path);
  Branches branches;
  std::vector<std::int64_t> branch;
  std::string_view line;
  while (in.next(line)) {
    branch.clear();
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      std::int64_t id = 0;
      if (!parse_integer(word, id) || id < 0) in.fail("node " + in_quotes(word), "an integer of at least 0");
      branch.push_back(id);
    }
    if (branch.empty()) continue;
    branches.add(in, branch);
  }
  if (branches.empty()) in.fail_empty("one branch of node ids a line");
  return branches.finish(path);
}

}  // namespace proxbench
