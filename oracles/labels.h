#pragma once
/// The labels oracle: multi-label data. An instance is one position, and its structure is a set of labels: a
/// binary variable y_k for each, and for each pair a weight that counts where both are on,
///
///     score(y) = sum_k y_k * s_k + sum over k < l of v_kl * y_k * y_l.
///
/// The best set is NP-hard to find: there is no max oracle. What there is is the linear relaxation over the
/// local polytope, solved exactly (oracles/roof_dual.h): its value is at least that of the best set.

#include "core/oracle.h"

namespace proxbench {

class LabelsOracle final : public Oracle, public MaxOracle, public FactorOracle {
 public:
  /// Takes label sets. Throws Error where there are none, or an instance has not one position.
  explicit LabelsOracle(const Dataset& data);

  Index outputs() const override { return outputs_; }
  std::size_t positions() const override { return begin_.size() - 1; }
  std::span<const Index> begin() const override { return begin_; }
  std::span<const Index> gold_outputs(Index position) const override { return on_.at(position); }
  /// v_kl, row-major above the diagonal.
  std::size_t extra_weights() const override { return std::size_t{outputs_} * (outputs_ - 1) / 2; }
  std::vector<double> gold_extra(const Parallel& parallel) const override;

  const MaxOracle* relaxation() const override { return this; }
  const FactorOracle* factors() const override { return this; }

  /// Of the relaxed structures x and z (both on) of largest cost + score. Cost counts labels, or is their
  /// share of K; of a relaxed structure it is linear, like the score.
  Sums maximise(const ScorePoint& at, Cost cost, Residual* residual, const Parallel& parallel) const override;
  double max_flops(const ScorePoint&) const override {
    return 2.0 * static_cast<double>(positions()) * static_cast<double>(outputs_ + extra_weights());
  }
  Shape shape() const override { return Shape::kLabels; }
  /// The relaxed solution, whose numbers are 0, 1/2 or 1. Labels at 1/2 in ascending order are on where that
  /// raises the score given those decided before. Both decodings are the same. outputs.size() == positions()
  /// * outputs().
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override;

 private:
  struct PairScores;
  struct Relaxation;

  Index outputs_;
  std::vector<Index> begin_, chunk_begin_;  ///< chunks of instances, which are positions (core/base/sum.h)
  LabelSets on_;
};

}  // namespace proxbench
