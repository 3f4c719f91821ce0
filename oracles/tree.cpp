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
  AlignedVector<double> path, mass;
  alignas(64) double best[kLanes];
  alignas(64) double partition[kLanes];

  static Block& mine(std::size_t entries) {
    static thread_local Block block;
    block.path.resize(entries * kLanes);
    block.mass.resize(entries * kLanes);
    return block;
  }

  /// mass = probability of each entry's own leaves, not yet divided by `partition`.
  void weigh(const Collapsed& tree, std::size_t lanes) {
    std::fill_n(partition, lanes, 0.0);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      double* m = mass.data() + i * kLanes;
      if (!(tree.nodes[i].rest > 0)) {
        std::fill_n(m, lanes, 0.0);
        continue;
      }
      const double* s = path.data() + i * kLanes;
      const Pack rest = kernels::splat(tree.nodes[i].rest);
      for (std::size_t l = 0; l < lanes; l += kPad)
        kernels::store(m + l, kernels::load(s + l) - kernels::load(best + l));
      exponentiate(m, lanes);
      for (std::size_t l = 0; l < lanes; l += kPad) {
        const Pack w = rest * kernels::load(m + l);
        kernels::store(m + l, w);
        kernels::store(partition + l, kernels::load(partition + l) + w);
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
    if (tree_->parent(k) != Hierarchy::kNone) {
      const std::size_t above = path_begin_[tree_->parent(k)],
                        end = path_begin_[tree_->parent(k) + std::size_t{1}];
      for (std::size_t i = above; i < end; ++i) path_.push_back(Index{path_[i]});
    }
    path_.push_back(k);
    path_begin_.push_back(path_.size());
  }
}

void TreeOracle::require_gold() const {
  if (!gold_known_) throw Error("tree oracle: a gold output is unknown, so the likelihood is not defined");
}

TreeOracle::Collapsed TreeOracle::collapse(const ScorePoint& at) const {
  const Index n = outputs();
  auto column = [](const Scores* scores, Index k) -> const double* {
    if (scores == nullptr || scores->column_index(k) == Scores::kNoColumn) return nullptr;
    return scores->column(scores->column_index(k));
  };
  // What has a column, and all above it.
  std::vector<char> touched(n, 0);
  for (Index k = n; k-- > 0;) {
    if (!touched[k]) touched[k] = column(&at.base, k) != nullptr || column(at.direction, k) != nullptr;
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
      out.nodes.push_back(
          Node{above, k, column(&at.base, k), column(at.direction, k), 0.0, Hierarchy::kNone});
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

/// Columns of the residual: one for each touched node, then one for each entry that untouched nodes share.
void TreeOracle::lay_out(const Collapsed& tree, std::size_t positions, Residual& residual) const {
  residual.stride = padded(positions);
  residual.column_of.assign(outputs(), Residual::kNoColumn);
  residual.share.assign(outputs(), 0.0);
  Index shared = static_cast<Index>(tree.nodes.size()) - 1;
  std::vector<Index> shared_of(tree.nodes.size(), Residual::kNoColumn);
  for (Index k = 0; k < outputs(); ++k) {
    const Index entry = tree.entry[k];
    if (tree.nodes[entry].output == k) {
      residual.column_of[k] = entry - 1;
      continue;
    }
    if (shared_of[entry] == Residual::kNoColumn) shared_of[entry] = shared++;
    residual.column_of[k] = shared_of[entry];
    residual.share[k] = static_cast<double>(tree_->leaves(k));
  }
  residual.resize_columns(shared);
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
    lay_out(tree, gold.size(), *residual);
    for (Index k = 0; k < outputs(); ++k)
      (residual->share[k] == 0.0 ? own : shared)[tree.entry[k]] = residual->column(residual->column_of[k]);
  }

  const Chunks chunks{gold.size(), kTask};
  std::vector<double> loss(chunks.count(), 0.0);
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    Block& block = Block::mine(entries);
    for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kLanes) {
      const std::size_t count = std::min(kLanes, chunks.end(chunk) - first), lanes = padded(count);
      tree.walk_down(first, lanes, block.path.data(), block.best);
      block.weigh(tree, lanes);
      for (std::size_t l = 0; l < count; ++l)
        loss[chunk] += std::log(block.partition[l]) +
                       (block.best[l] - block.path[tree.entry[gold[first + l]] * kLanes + l]);
      if (residual == nullptr) continue;

      // Upwards: the marginal of a node is the mass of its own leaves and of the touched nodes below.
      Pack inverse[kLanes / kPad];
      for (std::size_t l = 0; l < lanes; l += kPad)
        inverse[l / kPad] = kernels::splat(1.0) / kernels::load(block.partition + l);
      AlignedVector<double>& up = block.path;  // the scores have done their work
      std::fill(up.begin(), up.end(), 0.0);
      for (std::size_t i = entries; i-- > 0;) {
        const double* m = block.mass.data() + i * kLanes;
        if (shared[i] != nullptr) {
          const Pack leaf = kernels::splat(1.0 / tree.nodes[i].rest);
          for (std::size_t l = 0; l < lanes; l += kPad)
            kernels::store(shared[i] + first + l, kernels::load(m + l) * leaf * inverse[l / kPad]);
        }
        if (i == 0) break;
        const double* below = up.data() + i * kLanes;
        double* above = up.data() + tree.nodes[i].parent * kLanes;
        for (std::size_t l = 0; l < lanes; l += kPad) {
          const Pack mine = kernels::load(m + l) + kernels::load(below + l);
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

void TreeOracle::instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                                const Parallel& parallel) const {
  require_gold();
  const Collapsed tree = collapse({scores});
  const Chunks chunks{gold_.size(), kLanes};
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    Block& block = Block::mine(tree.nodes.size());
    const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first, lanes = padded(count);
    tree.walk_down(first, lanes, block.path.data(), block.best);
    block.weigh(tree, lanes);
    for (std::size_t l = 0; l < count; ++l) {
      // Relative to the gold leaf's score, so that what all leaves share cancels.
      const double gold = block.path[tree.entry[gold_[first + l]] * kLanes + l];
      double expected = 0.0;
      for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        expected += block.mass[i * kLanes + l] * (block.path[i * kLanes + l] - gold);
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
