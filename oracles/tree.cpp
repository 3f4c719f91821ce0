/// The tree oracle: hierarchical classification (Zhong et al. 2014, section 6.2 and appendix D.2). An
/// instance is one position. Its structure is a leaf y of the data's hierarchy, with probability
///
///     p(y|x) = exp( sum of s(k) over the nodes k on y's path ) / Z
///
/// Without a hierarchy all outputs are leaves side by side, which gives multiclass and binary logistic
/// regression. If these are few, nothing is collapsed.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_sets.h"
#include "oracles/choice_oracle.h"
#include "oracles/collapsed_tree.h"
#include "oracles/oracles.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(TreeKernels, tree_kernels)

namespace {

/// Documents per task.
constexpr std::size_t kTask = 2 * kTreeLanes;

/// Inference on the collapsed tree. It visits only "touched" nodes: those with a column in the scores, and
/// their ancestors. All leaves whose nearest touched ancestor is the same node have the same score, so they
/// are counted instead of visited. The scores of paths go downwards, the marginals upwards. Probabilities are
/// formed relative to the best leaf of all, so nothing overflows, and what underflows is below e^-708 of the
/// total.
///
/// The residual has one column for each touched node. Then come columns for the root and for each touched
/// node that is not a leaf. Each holds the probability of one of the node's own leaves, the leaves whose
/// nearest touched node is this node. An untouched node shares the column of its nearest touched ancestor,
/// multiplied by the number of its leaves.
class TreeOracle final : public ChoiceOracle, public CollapsedOutputs, public CovarianceOracle {
 public:
  /// Up to this many labels side by side each have a column in scores and residuals, as in a chain. Full
  /// gradients are then several times faster than from rows of jumps.
  static constexpr Index kMostSideBySide = 512;

  /// Takes the hierarchy and the gold leaves. Throws Error if there is no output, if an instance does not
  /// have exactly one position, or if a gold output is not a leaf of the hierarchy.
  explicit TreeOracle(const Dataset& data)
      : ChoiceOracle(data, "tree oracle: a gold output is unknown"), tree_(data.hierarchy) {
    if (data.outputs() == 0) throw Error("tree oracle: no outputs");
    if (tree_ == nullptr) tree_ = std::make_shared<Hierarchy>(Hierarchy::flat(data.outputs()));
    if (tree_->nodes() != data.outputs())
      throw Error("tree oracle: hierarchy of ", tree_->nodes(), " nodes for ", data.outputs(), " outputs");
    for (std::size_t i = 0; i + 1 < begin_.size(); ++i)
      if (begin_[i + 1] - begin_[i] != 1)
        throw Error("tree oracle: instance ", i, " has ", begin_[i + 1] - begin_[i],
                    " positions, expected 1");
    for (std::size_t p = 0; p < gold_.size(); ++p) {
      if (gold_[p] >= outputs())
        gold_known_ = false;
      else if (!tree_->leaf(gold_[p]))
        throw Error("tree oracle: instance ", p, " has output ", gold_[p],
                    ", expected a leaf of the hierarchy");
    }
    side_by_side_ = tree_->leaves() == outputs() && outputs() <= kMostSideBySide;
    path_begin_.push_back(0);
    for (Index k = 0; k < outputs(); ++k) {
      if (tree_->leaf(k)) {
        for (Index node = k; node != Hierarchy::kNone; node = tree_->parent(node)) path_.push_back(node);
        leaves_.push_back(k);
        std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(path_begin_.back()), path_.end());
      } else {
        inner_.push_back(k);
      }
      path_begin_.push_back(path_.size());
    }
    measure();
  }

  const CollapsedOutputs* collapsed() const override { return side_by_side_ ? nullptr : this; }
  const CovarianceOracle* covariance() const override { return this; }
  std::span<const Index> gold_outputs(Index position) const override { return path_of(gold_[position]); }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    return infer_on(gold_, at, residual, parallel);
  }

  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override {
    std::vector<Index> gold(instances.size());
    for (std::size_t i = 0; i < instances.size(); ++i) gold[i] = gold_[instances[i]];
    return infer_on(gold, at, residual, parallel);
  }

  /// The score of a leaf is a sum along its path. The partition adds exponentials of 4 roundings each in
  /// parts of kTreePart nodes. A marginal divides by it a sum on the way up the tree. The probabilities meant
  /// by InferenceRounding are the stored weights of leaves divided by their exact sum.
  std::optional<InferenceRounding> sum_rounding(Index) const override {
    constexpr double kOfDocument = 16.0;
    const double parts =
        static_cast<double>(kTreePart) + static_cast<double>(outputs()) / static_cast<double>(kTreePart);
    return InferenceRounding{.of_scores = kOfDocument + 2.0 * static_cast<double>(longest_path_),
                             .of_positions = parts + kOfDocument,
                             .of_losses = 3.0,
                             .of_marginals = parts + upward_additions_ + kOfDocument};
  }
  std::optional<InferenceRounding> max_rounding() const override { return rounding_of_choice(longest_path_); }
  void expectation(Index, const double* beliefs, double* rows, std::span<double>) const override {
    std::fill(rows, rows + padded(outputs()), 0.0);
    for (std::size_t i = 0; i < leaves_.size(); ++i) rows[leaves_[i]] = beliefs[i];
    for (Index k = outputs(); k-- > 0;)
      if (tree_->parent(k) != Hierarchy::kNone) rows[tree_->parent(k)] += rows[k];
  }

  /// Keeps, for each touched node that has leaves of its own, the probability of one of them: one number per
  /// document. A derivative needs no exponentials. The residual of a derivative has own columns for the
  /// outputs of the point and of the direction, and the layout of infer().
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override {
    if (kept == nullptr) kept = std::make_unique<TreeMessages>();
    return infer_on(gold_, at, &residual, parallel, static_cast<TreeMessages*>(kept.get()));
  }

  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override {
    // Works on the tree collapsed for both the point and the direction. If only the direction touches a node,
    // its leaves have the same probability as the leaves of the nearest node above that the point touches.
    require_gold();
    const TreeMessages& kept = static_cast<const TreeMessages&>(at);
    const CollapsedTree tree = collapse(*tree_, {direction}, &kept);
    const std::size_t entries = tree.nodes.size();
    const Columns columns = lay_out(tree, gold_.size(), out);
    out.gold = false;
    std::vector<const double*> leaf(entries, nullptr);
    for (std::size_t i = 0; i < entries; ++i)
      if (tree.nodes[i].rest > 0) leaf[i] = kept.find_above(tree.nodes[i].output);
    const TreeKernels& kernels = tree_kernels();
    const Chunks chunks{gold_.size(), kTask};
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      TreeBlock& block = TreeBlock::mine(entries);
      for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kTreeLanes) {
        const std::size_t lanes = padded(std::min(kTreeLanes, chunks.end(chunk) - first));
        kernels.derivative(tree.view(), block.documents(first, lanes), leaf.data(), columns.own.data(),
                           columns.shared.data());
      }
    });
  }

  /// A node is on wherever a node below it is on. So for a slot a and a slot b at or above the output of a,
  /// Cov(a, b) = x_a x_b p_a (1 - p_b), and Cov(a, b) = -x_a p_a x_b p_b for all other pairs.
  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override {
    struct Slot {
      Index output;
      std::uint32_t slot;
      double mean, rest;  // the feature's value times p, and times 1 - p
    };
    static thread_local AlignedVector<double> p, leaf, mean;  // p starts as the scores
    static thread_local std::vector<Slot> on;
    const auto document = static_cast<Index>(instance);
    p.resize(padded(outputs()));
    leaf.resize(padded(leaves_.size()));
    make_rows({scores}, outputs(), begin_[instance], 1, p.data());
    infer_beliefs(document, p.data(), {}, leaf.data());
    kernels_in_use().exponentiate(leaf.data(), leaf.size());
    expectation(document, leaf.data(), p.data(), {});
    mean.assign(padded(features.slots), 0.0);
    on.clear();
    for (const auto& [slot, output, value] : features.entry) {
      mean[slot] = value * p[output];
      on.push_back({output, slot, mean[slot], value * (1.0 - p[output])});
    }
    out.clear(features.slots);
    for (std::size_t a = 0; a < features.slots; ++a)
      kernels_in_use().add_scaled(out.row(a, padded(a + 1)), -mean[a], mean.data(), a + 1);
    std::ranges::sort(on, {}, &Slot::output);
    for (const Slot& a : on)
      for (Index above = a.output; above != Hierarchy::kNone; above = tree_->parent(above))
        for (auto b = std::ranges::lower_bound(on, above, {}, &Slot::output);
             b != on.end() && b->output == above; ++b)
          out.value[std::max(a.slot, b->slot) * out.stride + std::min(a.slot, b->slot)] =
              (a.slot == b->slot ? 0.5 : 1.0) * a.mean * b->rest;
  }

  /// Per document and column, one addition downwards and one upwards. The residual takes one more addition
  /// and a product.
  double inference_flops(std::size_t columns, bool residual) const override {
    return (residual ? 4.0 : 2.0) * static_cast<double>(columns) * static_cast<double>(positions());
  }
  /// Rows of jumps. The entry of a node is the probability of one of its own leaves minus the probability of
  /// one of its parent's own leaves, and minus 1 for the gold leaf. Only nonzero jumps are listed. Entry K is
  /// the root's. expand() adds up jumps on the way down the tree, then leaves on the way up.
  std::size_t basis() const override { return outputs() + std::size_t{1}; }
  void compact_rows(const Residual& residual, CompactRows& rows, const Parallel& parallel) const override {
    const double* root = nullptr;
    const std::vector<Source> sources = sources_of(residual, root);
    const std::size_t positions = gold_.size();
    const Chunks chunks{positions, kTask};
    std::vector<std::vector<CompactRows::Entry>> parts(chunks.count());
    rows.begin.assign(positions + 1, 0);
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      std::vector<CompactRows::Entry> found[kTask];
      const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first;
      for (const Source& source : sources)
        for (std::size_t l = 0; l < count; ++l) {
          const double jump = source.here[first + l] - source.above[first + l];
          if (jump != 0.0) found[l].push_back({source.output, jump});
        }
      for (std::size_t l = 0; l < count; ++l) {
        found[l].push_back({outputs(), root[first + l]});
        const Index gold = gold_[first + l];
        if (residual.gold && !residual.owns(gold)) found[l].push_back({gold, -1.0});
        rows.begin[first + l + 1] = found[l].size();
        parts[chunk].insert(parts[chunk].end(), found[l].begin(), found[l].end());
      }
    });
    for (std::size_t p = 0; p < positions; ++p) rows.begin[p + 1] += rows.begin[p];
    rows.entry.resize(rows.begin[positions]);
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      std::ranges::copy(parts[chunk],
                        rows.entry.begin() + static_cast<std::ptrdiff_t>(rows.begin[chunks.begin(chunk)]));
    });
  }

  /// A jump is a difference of two probabilities, whose sizes count here in place of its own. It becomes the
  /// number of every leaf below, and of all nodes above these leaves.
  void row_sizes(const Residual& residual, std::span<double> sizes, const Parallel& parallel) const override {
    const double* root = nullptr;
    const std::vector<Source> sources = sources_of(residual, root);
    const Chunks chunks{gold_.size(), kTask};
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p)
        sizes[p] = all_spread_ * std::abs(root[p]) + (residual.owns(gold_[p]) ? 0.0 : spread_[gold_[p]]);
      for (const Source& source : sources)
        for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p)
          if (source.here[p] != source.above[p])
            sizes[p] += spread_[source.output] * (std::abs(source.here[p]) + std::abs(source.above[p]));
    });
  }
  double expand_additions() const override { return static_cast<double>(longest_path_) + upward_additions_; }

  void expand(double* rows) const override {
    tree_kernels().expand(tree_->parents().data(), outputs(), inner_.data(), inner_.size(), rows);
  }

  /// One addition per document and node, and one comparison per leaf.
  double max_flops() const override {
    return 2.0 * static_cast<double>(outputs()) * static_cast<double>(positions());
  }
  double cost_of(Index instance, Cost, std::span<const Index> outputs) const override {
    if (outputs[0] >= this->outputs() || !tree_->leaf(outputs[0]))
      throw Error("instance ", instance, ": found node ", outputs[0], ", expected a leaf of the tree");
    return outputs[0] == gold_[instance] ? 0.0 : 1.0;
  }
  void scores_of(Index instance, const double* scores, std::span<const double>,
                 std::span<const Index> outputs, std::span<double> out) const override {
    for (std::size_t a = 0; a < out.size(); ++a) {
      out[a] = 0.0;
      if (outputs[a] == gold_[instance]) continue;
      for (const Index k : path_of(outputs[a])) out[a] += scores[k];
      for (const Index k : path_of(gold_[instance])) out[a] -= scores[k];
    }
  }

  std::span<const Index> outputs_on(Index output) const override { return path_of(output); }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override {
    require_gold();
    const CollapsedTree tree = collapse(*tree_, {scores});
    const Chunks chunks{gold_.size(), kTreeLanes};
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      TreeBlock& block = TreeBlock::mine(tree.nodes.size());
      const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first, lanes = padded(count);
      const TreeDocuments documents = block.documents(first, lanes);
      tree_kernels().walk_down(tree.view(), documents);
      tree_kernels().weigh(tree.view(), documents, false);
      for (std::size_t l = 0; l < count; ++l) {
        // Relative to the gold leaf's score, so that scores common to all leaves cancel.
        const double gold = block.path[tree.entry[gold_[first + l]] * kTreeLanes + l];
        double expected = 0.0;
        for (std::size_t i = 0; i < tree.nodes.size(); ++i)
          if (tree.nodes[i].rest > 0)
            expected +=
                tree.nodes[i].rest * block.leaf[i * kTreeLanes + l] * (block.path[i * kTreeLanes + l] - gold);
        InstanceTerms& out = terms[first + l];
        out.log_gold = (gold - block.best[l]) - std::log(block.partition[l]);
        out.entropy = -out.log_gold - expected / block.partition[l];
      }
    });
  }

  /// Both decodings return the most probable leaf, or the first of several equal ones.
  void decode(const Scores& scores, Decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    const CollapsedTree tree = collapse(*tree_, {scores});
    const Chunks chunks{gold_.size(), kTreeLanes};
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      TreeBlock& block = TreeBlock::mine(tree.nodes.size());
      const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first;
      tree_kernels().walk_down(tree.view(), block.documents(first, padded(count)));
      for (std::size_t l = 0; l < count; ++l) {
        Index best = Hierarchy::kNone;
        for (std::size_t i = 0; i < tree.nodes.size(); ++i)
          if (tree.nodes[i].rest > 0 && block.path[i * kTreeLanes + l] == block.best[l])
            best = std::min(best, tree.nodes[i].first_leaf);
        outputs[first + l] = best;
      }
    });
  }

 private:
  /// A touched node. `here` is the probability of a leaf whose nearest touched node is this node. `above` is
  /// the probability of a leaf of the next touched node above, or of the root. Most documents have score 0 at
  /// most of these nodes. `here` and `above` are then equal, and there is no jump. For a touched leaf, `here`
  /// is R: its own probability, minus 1 if it is gold.
  struct Source {
    Index output;
    const double *here, *above;
  };
  /// Lists the touched nodes of a residual. `root` gets the column of the root.
  std::vector<Source> sources_of(const Residual& residual, const double*& root) const {
    std::vector<Source> sources;
    std::vector<const double*> of(outputs(), nullptr);
    Index columns = 0;  // own columns come first
    for (Index k = 0; k < outputs(); ++k) columns += residual.owns(k);
    root = residual.column(columns++);
    for (Index k = 0; k < outputs(); ++k) {
      const double* above = tree_->parent(k) == Hierarchy::kNone ? root : of[tree_->parent(k)];
      if (!residual.owns(k)) {
        of[k] = above;
        continue;
      }
      of[k] = tree_->leaf(k) ? residual.column(residual.column_of[k]) : residual.column(columns++);
      sources.push_back({k, of[k], above});
    }
    return sources;
  }
  /// Fills longest_path_, upward_additions_ and the spreads.
  void measure() {
    std::vector<std::size_t> depth(outputs()), children(outputs() + std::size_t{1});
    std::vector<double> additions(outputs() + std::size_t{1});  // the last of each is the root
    spread_.assign(outputs(), 0.0);
    const auto above = [&](Index k) {
      return tree_->parent(k) == Hierarchy::kNone ? outputs() : tree_->parent(k);
    };
    for (Index k = 0; k < outputs(); ++k) {
      depth[k] = above(k) == outputs() ? 1 : depth[above(k)] + 1;
      longest_path_ = std::max(longest_path_, depth[k]);
      ++children[above(k)];
    }
    for (Index k = outputs(); k-- > 0;) {
      if (tree_->leaf(k)) spread_[k] = static_cast<double>(depth[k]);
      additions[k] += static_cast<double>(children[k]);
      additions[above(k)] = std::max(additions[above(k)], additions[k]);
      (above(k) == outputs() ? all_spread_ : spread_[above(k)]) += spread_[k];
    }
    upward_additions_ = additions.back() + static_cast<double>(children.back());
  }
  /// The nodes from the top to this leaf. Inner nodes have no path stored, since on a deep tree that would
  /// take quadratic memory.
  std::span<const Index> path_of(Index leaf) const {
    return {path_.data() + path_begin_[leaf], path_.data() + path_begin_[leaf + std::size_t{1}]};
  }
  std::size_t alternatives(Index) const override { return leaves_.size(); }
  std::size_t number_of(std::span<const Index> structure) const override {
    return static_cast<std::size_t>(std::ranges::lower_bound(leaves_, structure[0]) - leaves_.begin());
  }
  void write(std::size_t leaf, std::span<Index> structure) const override { structure[0] = leaves_[leaf]; }
  void list_scores(const double* rows, std::size_t n, AlignedVector<double>& out) const override {
    out.assign(rows, rows + outputs());  // first scores of nodes, then of paths, then of leaves only
    for (Index k = 0; k < outputs(); ++k)
      if (tree_->parent(k) != Hierarchy::kNone) out[k] += out[tree_->parent(k)];
    for (std::size_t a = 0; a < n; ++a) out[a] = out[leaves_[a]];
  }

  /// Where the kernels write the residual of each entry: its own column, and the probability of one of its
  /// own leaves. Null: nowhere.
  struct Columns {
    std::vector<double*> own, shared;
  };

  /// Lays out the residual. First come the columns of the touched nodes. Then, for every entry that is not a
  /// leaf, starting with the root, comes a column with the probability of one of its own leaves. Outputs
  /// without a column of their own share the latter columns. Labels side by side only have columns of their
  /// own.
  Columns lay_out(const CollapsedTree& tree, std::size_t positions, Residual& residual) const {
    const std::size_t entries = tree.nodes.size();
    residual.stride = padded(positions);
    residual.gold = true;
    Index columns = static_cast<Index>(entries) - 1;
    std::vector<Index> leaf_column(entries, Residual::kNoColumn);
    if (!side_by_side_) {
      residual.column_of.assign(outputs(), Residual::kNoColumn);
      residual.share.assign(outputs(), 0.0);
      for (std::size_t i = 0; i < entries; ++i)
        if (i == 0 || !tree_->leaf(tree.nodes[i].output)) leaf_column[i] = columns++;
      for (Index k = 0; k < outputs(); ++k) {
        const Index entry = tree.entry[k];
        const bool own = tree.nodes[entry].output == k;
        residual.column_of[k] = own ? entry - 1 : leaf_column[entry];
        if (!own) residual.share[k] = static_cast<double>(tree_->leaves(k));
      }
    }
    residual.resize_columns(columns);
    Columns out{std::vector<double*>(entries, nullptr), std::vector<double*>(entries, nullptr)};
    for (std::size_t i = 0; i < entries; ++i) {
      if (i > 0) out.own[i] = residual.column(i - 1);
      if (leaf_column[i] != Residual::kNoColumn) out.shared[i] = residual.column(leaf_column[i]);
    }
    return out;
  }

  double infer_on(std::span<const Index> gold, const ScorePoint& at, Residual* residual,
                  const Parallel& parallel, TreeMessages* kept = nullptr) const {
    require_gold();
    const CollapsedTree tree = collapse(*tree_, at);
    const std::size_t entries = tree.nodes.size();
    std::vector<double*> kept_leaf(entries, nullptr);
    if (kept != nullptr) {
      kept->lay_out(tree, gold.size());
      for (std::size_t i = 0; i < entries; ++i) kept_leaf[i] = kept->find(i);
    }
    Columns columns;
    if (residual != nullptr) columns = lay_out(tree, gold.size(), *residual);

    const TreeKernels& kernels = tree_kernels();
    const TreeNodes nodes = tree.view();
    const Chunks chunks{gold.size(), kTask};
    return sum_chunks(parallel, chunks.count(), [&](std::size_t chunk) {
      CompensatedSum loss;
      TreeBlock& block = TreeBlock::mine(entries);
      for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kTreeLanes) {
        const std::size_t count = std::min(kTreeLanes, chunks.end(chunk) - first), lanes = padded(count);
        const TreeDocuments documents = block.documents(first, lanes);
        kernels.walk_down(nodes, documents);
        for (std::size_t l = 0; l < count; ++l)
          loss.add(block.best[l] - block.path[tree.entry[gold[first + l]] * kTreeLanes + l]);
        kernels.weigh(nodes, documents, residual != nullptr);
        for (std::size_t l = 0; l < count; ++l) loss.add(std::log(block.partition[l]));
        if (kept != nullptr) kernels.keep(nodes, documents, kept_leaf.data());
        if (residual == nullptr) continue;

        kernels.walk_up(nodes, documents, columns.own.data(), columns.shared.data());
        for (std::size_t l = 0; l < count; ++l)
          for (Index i = tree.entry[gold[first + l]]; i != 0; i = tree.nodes[i].parent)
            columns.own[i][first + l] -= 1.0;
      }
      return loss.value();
    });
  }

  std::shared_ptr<const Hierarchy> tree_;
  bool side_by_side_;
  std::vector<Index> path_, inner_, leaves_;
  std::vector<std::size_t> path_begin_;  ///< size K + 1
  std::size_t longest_path_ = 1;         ///< in nodes
  double upward_additions_ = 0.0;        ///< the most additions of a number of a leaf on its way to the root
  /// The sum of the depths of all leaves at or below an output, and below the root.
  std::vector<double> spread_;
  double all_spread_ = 0.0;
};
}  // namespace

OracleInfo tree_info() {
  return oracle_info<TreeOracle>(
      "tree",
      "the leaves of a hierarchy, or labels side by side: downward-upward messages on the collapsed tree",
      "Zhong et al. 2014, section 6.2 and appendix D.2");
}

}  // namespace proxbench
