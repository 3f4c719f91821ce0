#pragma once
/// The tree oracle: hierarchical classification (Zhong et al. 2014, section 6.2 and appendix D.2). An
/// instance is one position. Its structure is a leaf y of the data's hierarchy, with probability
///
///     p(y|x) = exp( sum of s(k) over the nodes k on y's path ) / Z
///
/// Without a hierarchy all outputs are leaves side by side, which gives multiclass and binary logistic
/// regression. If these are few, nothing is collapsed.

#include <memory>

#include "core/data/hierarchy.h"
#include "oracles/choice_oracle.h"

namespace proxbench {

/// Inference on the collapsed tree. It visits only "touched" nodes: those with a column in the scores, and
/// their ancestors. All leaves whose nearest touched ancestor is the same node have the same score, so they
/// are counted instead of visited. The scores of paths go downwards, the marginals upwards. Probabilities are
/// formed relative to the best leaf of all, so nothing overflows, and what underflows is below e^-708 of the
/// total.
///
/// The residual has one column for each touched node. Then come columns for the root and for each touched
/// node that is not a leaf. They hold the probability of one of the node's own leaves, that is, those whose
/// nearest touched node it is. An untouched node shares the column of its nearest touched ancestor,
/// multiplied by the number of its leaves.
class TreeOracle final : public ChoiceOracle, public CollapsedOutputs {
 public:
  /// Up to this many labels side by side each have a column in scores and residuals, as in a chain. Full
  /// gradients are then several times faster than from rows of jumps (solvers/RESULTS.md, "Labels side by
  /// side").
  static constexpr Index kMostSideBySide = 512;

  /// Takes the hierarchy and the gold leaves. Throws Error if there is no output, if an instance does not
  /// have exactly one position, or if a gold output is not a leaf of the hierarchy.
  explicit TreeOracle(const Dataset& data);

  const CollapsedOutputs* collapsed() const override { return side_by_side_ ? nullptr : this; }
  std::span<const Index> gold_outputs(Index position) const override { return path_of(gold_[position]); }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override;
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override;
  void expectation(Index instance, const double* beliefs, double* rows,
                   std::span<double> extra) const override;
  /// Keeps, for each touched node that has leaves of its own, the probability of one of them: one number per
  /// document. A derivative needs no exponentials. Its residual has own columns for the outputs of the point
  /// and of the direction, and is laid out like that of infer().
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override;
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override;
  /// Per document and column, one addition downwards and one upwards. The residual takes one more addition
  /// and a product.
  double inference_flops(const ScorePoint& at, bool residual) const override {
    return (residual ? 4.0 : 2.0) * static_cast<double>(at.base.columns) * static_cast<double>(positions());
  }
  /// Rows of jumps: the entry of a node is the probability of one of its own leaves minus that of one of its
  /// parent's own leaves, and minus 1 for the gold leaf. Only nonzero jumps are listed. Entry K is the
  /// root's. expand() adds jumps on the way down the tree, then leaves on the way up.
  std::size_t basis() const override { return outputs() + std::size_t{1}; }
  void compact_rows(const Residual& residual, CompactRows& rows, const Parallel& parallel) const override;
  void expand(double* rows) const override;

  /// One addition per document and node, and one comparison per leaf.
  double max_flops(const ScorePoint&) const override {
    return 2.0 * static_cast<double>(outputs()) * static_cast<double>(positions());
  }
  InstanceMaxOracle::Value value_of(Index instance, Cost cost, const double* scores,
                                    std::span<const double> extra,
                                    std::span<const Index> outputs) const override;
  std::span<const Index> outputs_on(Index output) const override { return path_of(output); }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override;
  /// Both decodings return the most probable leaf. Among equal ones, the first.
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override;

 private:
  struct Collapsed;
  struct Block;
  struct Kept;
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
  void list_scores(const double* rows, std::size_t n, AlignedVector<double>& out) const override;
  Collapsed collapse(const ScorePoint& at, const Kept* kept = nullptr) const;
  std::vector<Index> lay_out(const Collapsed& tree, std::size_t positions, Residual& residual) const;
  double infer_on(std::span<const Index> gold, const ScorePoint& at, Residual* residual,
                  const Parallel& parallel, Kept* kept = nullptr) const;

  std::shared_ptr<const Hierarchy> tree_;
  bool side_by_side_;
  std::vector<Index> path_, inner_, leaves_;
  std::vector<std::size_t> path_begin_;  ///< size K + 1
};

}  // namespace proxbench
