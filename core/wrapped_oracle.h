#pragma once
/// An oracle that wraps another one and has the same capabilities. To watch an oracle, derive from this class
/// and override what changes.

#include "core/oracle.h"

namespace proxbench {

/// Callers reach inference over all instances, and its derivatives, through this object. For every other
/// capability, callers get the interface of the inner oracle itself. The inner oracle is borrowed.
class WrappedOracle : public Oracle, public SumOracle, public DerivativeOracle {
 public:
  explicit WrappedOracle(const Oracle& inner) : Oracle(inner), inner_(inner) {}
  std::span<const Index> gold_outputs(Index position) const override { return inner_.gold_outputs(position); }
  std::size_t extra_weights() const override { return inner_.extra_weights(); }
  std::vector<double> gold_extra(const Parallel& parallel) const override {
    return inner_.gold_extra(parallel);
  }

  const SumOracle* sum() const override { return inner_.sum() != nullptr ? this : nullptr; }
  const DerivativeOracle* derivatives() const override {
    return inner_.derivatives() != nullptr ? this : nullptr;
  }
  const InstanceOracle* instance() const override { return inner_.instance(); }
  const BeliefOracle* beliefs() const override { return inner_.beliefs(); }
  const CovarianceOracle* covariance() const override { return inner_.covariance(); }
  const NbestOracle* nbest() const override { return inner_.nbest(); }
  const MaxOracle* max() const override { return inner_.max(); }
  const InstanceMaxOracle* instance_max() const override { return inner_.instance_max(); }
  const MaxOracle* relaxation() const override { return inner_.relaxation(); }
  const FactorOracle* factors() const override { return inner_.factors(); }
  const CollapsedOutputs* collapsed() const override { return inner_.collapsed(); }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    return inner_.sum()->infer(at, residual, parallel);
  }
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override {
    return inner_.sum()->infer_some(instances, at, residual, parallel);
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override {
    inner_.sum()->instance_terms(scores, terms, parallel);
  }
  double inference_flops(std::size_t columns, bool residual) const override {
    return inner_.sum()->inference_flops(columns, residual);
  }
  std::optional<InferenceRounding> sum_rounding(Index instance) const override {
    return inner_.sum()->sum_rounding(instance);
  }
  void spread_drift(std::span<const double> by_output, std::span<double> by_extra) const override {
    inner_.sum()->spread_drift(by_output, by_extra);
  }
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override {
    return inner_.derivatives()->infer_and_keep(at, residual, kept, parallel);
  }
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override {
    inner_.derivatives()->derivative(at, direction, out, parallel);
  }
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    inner_.decode(scores, decoding, outputs, parallel);
  }

 protected:
  const Oracle& inner_;
};

}  // namespace proxbench
