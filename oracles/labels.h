#pragma once
/// The labels oracle: multi-label data. An instance is one position, and its structure is a set of labels: a
/// binary variable y_k for each label, and for each pair of labels a weight that counts if both are on,
///
///     score(y) = sum_k y_k * s_k + sum over k < l of v_kl * y_k * y_l.
///
/// Finding the best set is NP-hard, so there is no max oracle. Instead the oracle solves the linear
/// relaxation over the local polytope exactly (oracles/roof_dual.h). Its value is at least that of the best
/// set.

#include "core/oracle.h"

namespace proxbench {

class LabelsOracle final : public Oracle, public MaxOracle, public FactorOracle {
 public:
  /// Takes label sets. Throws Error if there are none, or if an instance does not have exactly one position.
  explicit LabelsOracle(const Dataset& data);

  Index outputs() const override { return outputs_; }
  std::size_t positions() const override { return begin_.size() - 1; }
  std::span<const Index> begin() const override { return begin_; }
  std::span<const Index> gold_outputs(Index position) const override { return on_.at(position); }
  /// The number of v_kl, which are stored row by row above the diagonal.
  std::size_t extra_weights() const override { return std::size_t{outputs_} * (outputs_ - 1) / 2; }
  std::vector<double> gold_extra(const Parallel& parallel) const override;

  const MaxOracle* relaxation() const override { return this; }
  const FactorOracle* factors() const override { return this; }

  /// Maximises cost + score over relaxed structures x and z (both labels on). The cost is the number of wrong
  /// labels, or their share of K. For a relaxed structure it is linear, like the score.
  Sums maximise(const ScorePoint& at, Cost cost, Residual* residual, const Parallel& parallel) const override;
  double max_flops(const ScorePoint&) const override {
    return 2.0 * static_cast<double>(positions()) * static_cast<double>(outputs_ + extra_weights());
  }
  Shape shape() const override { return Shape::kLabels; }
  /// Starts from the relaxed solution, whose values are 0, 1/2 or 1. Labels at 1/2 are decided in ascending
  /// order: a label is on if that raises the score given those decided before. Both decodings are the same.
  /// outputs.size() == positions() * outputs().
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override;

 private:
  struct PairScores;
  struct Relaxation;

  Index outputs_;
  std::vector<Index> begin_, chunk_begin_;  ///< boundaries of instances and of their chunks; positions are
                                            ///< instances (core/base/sum.h)
  LabelSets on_;
};

}  // namespace proxbench
