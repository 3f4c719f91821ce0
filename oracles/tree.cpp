#include "oracles/tree.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/error.h"
#include "core/kernels.h"
#include "oracles/oracles.h"

namespace proxbench {

namespace {

using kernels::Pack;

/// Documents handled at once: the numbers of a thousand nodes then stay in a second-level cache.
constexpr std::size_t kLanes = 32;
/// Documents in a task.
constexpr std::size_t kTask = 2 * kLanes;

void exponentiate(double* x, std::size_t n) {
  using Packet = Eigen::Array<double, static_cast<int>(kPad), 1>;
  for (std::size_t i = 0; i < n; i += kPad) {
    Eigen::Map<Packet> packet(x + i);
    packet = packet.exp();
  }
}

}  // namespace

/// The touched nodes in preorder, after entry 0: the root of all, which is no output.
struct TreeOracle::Collapsed {
  struct Node {
    Index parent;          ///< entry of the touched node (or root) above
    Index output;          ///< Hierarchy::kNone for entry 0
    const double* base;    ///< column of scores, or null
    const double* change;  ///< column of the direction, or null
    double rest;           ///< leaves whose nearest touched node this is; 1 for a touched leaf
    Index first_leaf;      ///< the first of them; kNone where there is none
  };
  std::vector<Node> nodes;
  std::vector<Index> entry;  ///< size K: the nearest touched node at or above an output
  double alpha;

  /// Scores of the paths to all entries for positions [first, first + lanes), kLanes numbers an entry, and
  /// the best leaf's.
  void walk_down(std::size_t first, std::size_t lanes, double* path, double* best) const {
    std::fill_n(path, lanes, 0.0);
    std::fill_n(best, lanes, nodes[0].rest > 0 ? 0.0 : -std::numeric_limits<double>::infinity());
    const Pack a = kernels::splat(alpha);
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      const double* above = path + node.parent * kLanes;
      double* here = path + i * kLanes;
      for (std::size_t l = 0; l < lanes; l += kPad) {
        Pack s = kernels::load(above + l);
        if (node.base != nullptr) s += kernels::load(node.base + first + l);
        if (node.change != nullptr) s += a * kernels::load(node.change + first + l);
        kernels::store(here + l, s);
        if (node.rest > 0) {
          const Pack b = kernels::load(best + l);
          kernels::store(best + l, s > b ? s : b);
        }
      }
    }
  }
};

/// Numbers of one task's documents, kLanes for each entry.
struct TreeOracle::Block {
  AlignedVector<double> path;  ///< scores of paths; on the way up, weights of nodes
  AlignedVector<double> leaf;  ///< weight of one of an entry's own leaves, relative to the best leaf's
  alignas(64) double best[kLanes];
  alignas(64) double partition[kLanes];  ///< sum over all leaves of their weights

  static Block& mine(std::size_t entries) {
    static thread_local Block block;
    block.path.resize(entries * kLanes);
    block.leaf.resize(entries * kLanes);
    return block;
  }

  /// An entry without leaves of its own gets the weight of the one above: nothing hangs on it. With `upwards`
  /// the weight of all own leaves replaces the score of each path.
  void weigh(const Collapsed& tree, std::size_t lanes, bool upwards) {
    std::fill_n(partition, lanes, 0.0);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const Collapsed::Node& node = tree.nodes[i];
      double* out = leaf.data() + i * kLanes;
      if (!(node.rest > 0)) {
        if (i == 0)
          std::fill_n(out, lanes, 0.0);
        else
          std::copy_n(leaf.data() + node.parent * kLanes, lanes, out);
        if (upwards) std::fill_n(path.data() + i * kLanes, lanes, 0.0);
        continue;
      }
      double* s = path.data() + i * kLanes;
      const Pack rest = kernels::splat(node.rest);
      for (std::size_t l = 0; l < lanes; l += kPad)
        kernels::store(out + l, kernels::load(s + l) - kernels::load(best + l));
      exponentiate(out, lanes);
      for (std::size_t l = 0; l < lanes; l += kPad) {
        const Pack all = rest * kernels::load(out + l);
        kernels::store(partition + l, kernels::load(partition + l) + all);
        if (upwards) kernels::store(s + l, all);
      }
    }
  }
};

TreeOracle::TreeOracle(const Dataset& data) : tree_(data.hierarchy), gold_(data.gold), begin_(data.begin) {
  if (data.outputs() == 0) throw Error("tree oracle: no outputs");
  if (tree_ == nullptr) tree_ = std::make_shared<Hierarchy>(Hierarchy::flat(data.outputs()));
  if (tree_->nodes() != data.outputs())
    throw Error("tree oracle: hierarchy of " + std::to_string(tree_->nodes()) + " nodes for " +
                std::to_string(data.outputs()) + " outputs");
  for (std::size_t i = 0; i + 1 < begin_.size(); ++i)
    if (begin_[i + 1] - begin_[i] != 1)
      throw Error("tree oracle: instance " + std::to_string(i) + " has " +
                  std::to_string(begin_[i + 1] - begin_[i]) + " positions, expected 1");
  for (std::size_t p = 0; p < gold_.size(); ++p) {
    if (gold_[p] >= outputs())
      gold_known_ = false;
    else if (!tree_->leaf(gold_[p]))
      throw Error("tree oracle: instance " + std::to_string(p) + " has output " + std::to_string(gold_[p]) +
                  ", expected a leaf of the hierarchy");
  }
  path_begin_.push_back(0);
  for (Index k = 0; k < outputs(); ++k) {
    if (tree_->leaf(k)) {
      for (Index node = k; node != Hierarchy::kNone; node = tree_->parent(node)) path_.push_back(node);
      std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(path_begin_.back()), path_.end());
    } else {
      inner_.push_back(k);
    }
    path_begin_.push_back(path_.size());
  }
}

void TreeOracle::require_gold() const {
  if (!gold_known_) throw Error("tree oracle: a gold output is unknown, so the likelihood is not defined");
}

TreeOracle::Collapsed TreeOracle::collapse(const ScorePoint& at) const {
  const Index n = outputs();
  const auto base = [&](Index k) { return at.base.find(k); };
  const auto change = [&](Index k) { return at.direction != nullptr ? at.direction->find(k) : nullptr; };
  // What has a column, and all above it.
  std::vector<char> touched(n, 0);
  for (Index k = n; k-- > 0;) {
    if (!touched[k]) touched[k] = base(k) != nullptr || change(k) != nullptr;
    if (touched[k] && tree_->parent(k) != Hierarchy::kNone) touched[tree_->parent(k)] = 1;
  }

  Collapsed out;
  out.alpha = at.alpha;
  out.entry.resize(n);
  using Node = Collapsed::Node;
  out.nodes.push_back(Node{0, Hierarchy::kNone, nullptr, nullptr, 0.0, Hierarchy::kNone});
  for (Index k = 0; k < n; ++k) {
    const Index above = tree_->parent(k) == Hierarchy::kNone ? 0 : out.entry[tree_->parent(k)];
    if (touched[k]) {
      out.entry[k] = static_cast<Index>(out.nodes.size());
      out.nodes.push_back(Node{above, k, base(k), change(k), 0.0, Hierarchy::kNone});
    } else {
      out.entry[k] = above;
    }
    if (tree_->leaf(k)) {
      Node& nearest = out.nodes[out.entry[k]];
      nearest.rest += 1.0;
      if (nearest.first_leaf == Hierarchy::kNone) nearest.first_leaf = k;
    }
  }
  return out;
}

/// Columns of the residual: one for each touched node, then the probability of each of its own leaves for
/// every entry that is no leaf, the root of all first. Outputs without a column of their own share the
/// latter. Returns where each entry has the latter; kNoColumn: nowhere.
std::vector<Index> TreeOracle::lay_out(const Collapsed& tree, std::size_t positions,
                                       Residual& residual) const {
  residual.stride = padded(positions);
  residual.column_of.assign(outputs(), Residual::kNoColumn);
  residual.share.assign(outputs(), 0.0);
  Index columns = static_cast<Index>(tree.nodes.size()) - 1;
  std::vector<Index> leaf_column(tree.nodes.size(), Residual::kNoColumn);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (i == 0 || !tree_->leaf(tree.nodes[i].output)) leaf_column[i] = columns++;
  for (Index k = 0; k < outputs(); ++k) {
    const Index entry = tree.entry[k];
    if (tree.nodes[entry].output == k) {
      residual.column_of[k] = entry - 1;
    } else {
      residual.column_of[k] = leaf_column[entry];
      residual.share[k] = static_cast<double>(tree_->leaves(k));
    }
  }
  residual.resize_columns(columns);
  return leaf_column;
}

double TreeOracle::infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const {
  return infer_on(gold_, at, residual, parallel);
}

double TreeOracle::infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                              const Parallel& parallel) const {
  std::vector<Index> gold(instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i) gold[i] = gold_[instances[i]];
  return infer_on(gold, at, residual, parallel);
}

double TreeOracle::infer_on(std::span<const Index> gold, const ScorePoint& at, Residual* residual,
                            const Parallel& parallel) const {
  require_gold();
  const Collapsed tree = collapse(at);
  const std::size_t entries = tree.nodes.size();
  std::vector<double*> own(entries, nullptr), shared(entries, nullptr);
  if (residual != nullptr) {
    const std::vector<Index> leaf_column = lay_out(tree, gold.size(), *residual);
    for (std::size_t i = 0; i < entries; ++i) {
      if (i > 0) own[i] = residual->column(i - 1);
      if (leaf_column[i] != Residual::kNoColumn) shared[i] = residual->column(leaf_column[i]);
    }
  }

  const Chunks chunks{gold.size(), kTask};
  std::vector<double> loss(chunks.count(), 0.0);
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    Block& block = Block::mine(entries);
    for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kLanes) {
      const std::size_t count = std::min(kLanes, chunks.end(chunk) - first), lanes = padded(count);
      tree.walk_down(first, lanes, block.path.data(), block.best);
      for (std::size_t l = 0; l < count; ++l)
        loss[chunk] += block.best[l] - block.path[tree.entry[gold[first + l]] * kLanes + l];
      block.weigh(tree, lanes, residual != nullptr);
      for (std::size_t l = 0; l < count; ++l) loss[chunk] += std::log(block.partition[l]);
      if (residual == nullptr) continue;

      // Upwards: the marginal of a node is the mass of its own leaves and of the touched nodes below.
      Pack inverse[kLanes / kPad];
      for (std::size_t l = 0; l < lanes; l += kPad)
        inverse[l / kPad] = kernels::splat(1.0) / kernels::load(block.partition + l);
      for (std::size_t i = entries; i-- > 0;) {
        const double* leaf = block.leaf.data() + i * kLanes;
        if (shared[i] != nullptr)
          for (std::size_t l = 0; l < lanes; l += kPad)
            kernels::store(shared[i] + first + l, kernels::load(leaf + l) * inverse[l / kPad]);
        if (i == 0) break;
        const double* here = block.path.data() + i * kLanes;
        double* above = block.path.data() + tree.nodes[i].parent * kLanes;
        for (std::size_t l = 0; l < lanes; l += kPad) {
          const Pack mine = kernels::load(here + l);
          kernels::store(above + l, kernels::load(above + l) + mine);
          kernels::store(own[i] + first + l, mine * inverse[l / kPad]);
        }
      }
      for (std::size_t l = 0; l < count; ++l)
        for (Index i = tree.entry[gold[first + l]]; i != 0; i = tree.nodes[i].parent)
          own[i][first + l] -= 1.0;
    }
  });
  return std::accumulate(loss.begin(), loss.end(), 0.0);
}

/// The probabilities of leaves jump only where a score is not zero: most nodes of most documents have none.
void TreeOracle::compact_rows(const Residual& residual, CompactRows& rows, const Parallel& parallel) const {
  // A column of leaf probabilities for each touched node and the root: R of a touched leaf is its own, less 1
  // where it is gold.
  struct Source {
    Index output;
    const double *here, *above;
  };
  std::vector<Source> sources;
  std::vector<const double*> of(outputs(), nullptr);
  Index columns = 0;  // own columns come first
  for (Index k = 0; k < outputs(); ++k) columns += residual.owns(k);
  const double* root = residual.column(columns++);
  for (Index k = 0; k < outputs(); ++k) {
    const double* above = tree_->parent(k) == Hierarchy::kNone ? root : of[tree_->parent(k)];
    if (!residual.owns(k)) {
      of[k] = above;
      continue;
    }
    of[k] = tree_->leaf(k) ? residual.column(residual.column_of[k]) : residual.column(columns++);
    sources.push_back({k, of[k], above});
  }

  const std::size_t positions = gold_.size();
  const Chunks chunks{positions, kTask};
  std::vector<std::vector<CompactRows::Entry>> parts(chunks.count());
  rows.begin.assign(positions + 1, 0);
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    std::vector<CompactRows::Entry> found[kTask];
    const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first;
    for (const Source& source : sources)
      for (std::size_t l = 0; l < count; l += kPad) {
        const Pack jump = kernels::load(source.here + first + l) - kernels::load(source.above + first + l);
        for (std::size_t i = l; i < std::min(l + kPad, count); ++i)
          if (jump[i - l] != 0.0) found[i].push_back({source.output, jump[i - l]});
      }
    for (std::size_t l = 0; l < count; ++l) {
      found[l].push_back({outputs(), root[first + l]});
      const Index gold = gold_[first + l];
      if (!residual.owns(gold)) found[l].push_back({gold, -1.0});
      rows.begin[first + l + 1] = found[l].size();
      parts[chunk].insert(parts[chunk].end(), found[l].begin(), found[l].end());
    }
  });
  for (std::size_t p = 0; p < positions; ++p) rows.begin[p + 1] += rows.begin[p];
  rows.entry.resize(rows.begin[positions]);
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    std::copy(parts[chunk].begin(), parts[chunk].end(),
              rows.entry.begin() + static_cast<std::ptrdiff_t>(rows.begin[chunks.begin(chunk)]));
  });
}

void TreeOracle::expand(double* rows) const {
  const Index n = outputs();
  const Index* parent = tree_->parents().data();
  const auto at = [&](Index k) { return rows + k * kPad; };
  for (Index k = 0; k < n; ++k) {
    const Index above = parent[k] == Hierarchy::kNone ? n : parent[k];
    kernels::store(at(k), kernels::load(at(k)) + kernels::load(at(above)));
  }
  for (const Index k : inner_) kernels::store(at(k), kernels::splat(0.0));
  for (Index k = n; k-- > 0;)
    if (parent[k] != Hierarchy::kNone)
      kernels::store(at(parent[k]), kernels::load(at(parent[k])) + kernels::load(at(k)));
}

void TreeOracle::instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                                const Parallel& parallel) const {
  require_gold();
  const Collapsed tree = collapse({scores});
  const Chunks chunks{gold_.size(), kLanes};
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    Block& block = Block::mine(tree.nodes.size());
    const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first, lanes = padded(count);
    tree.walk_down(first, lanes, block.path.data(), block.best);
    block.weigh(tree, lanes, false);
    for (std::size_t l = 0; l < count; ++l) {
      // Relative to the gold leaf's score, so that what all leaves share cancels.
      const double gold = block.path[tree.entry[gold_[first + l]] * kLanes + l];
      double expected = 0.0;
      for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        if (tree.nodes[i].rest > 0)
          expected += tree.nodes[i].rest * block.leaf[i * kLanes + l] * (block.path[i * kLanes + l] - gold);
      InstanceTerms& out = terms[first + l];
      out.log_gold = (gold - block.best[l]) - std::log(block.partition[l]);
      out.entropy = -out.log_gold - expected / block.partition[l];
    }
  });
}

void TreeOracle::decode(const Scores& scores, Decoding, std::span<Index> outputs,
                        const Parallel& parallel) const {
  const Collapsed tree = collapse({scores});
  const Chunks chunks{gold_.size(), kLanes};
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    Block& block = Block::mine(tree.nodes.size());
    const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first;
    tree.walk_down(first, padded(count), block.path.data(), block.best);
    for (std::size_t l = 0; l < count; ++l) {
      Index best = Hierarchy::kNone;
      for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        if (tree.nodes[i].rest > 0 && block.path[i * kLanes + l] == block.best[l])
          best = std::min(best, tree.nodes[i].first_leaf);
      outputs[first + l] = best;
    }
  });
}

OracleInfo tree_info() {
  return {"tree",
          "the leaves of a hierarchy, or labels side by side: downward-upward messages on the collapsed tree",
          "Zhong et al. 2014, section 6.2 and appendix D.2",
          [](const Dataset& data) { return std::make_unique<TreeOracle>(data); }};
}

}  // namespace proxbench
