#pragma once
/// An oracle that hands every call on to another, with the same capabilities: what watches, slows or spoils an
/// oracle derives from it and overrides what it changes.

#include "core/oracle.h"

namespace proxbench {

/// The inner oracle is borrowed.
class WrappedOracle : public Oracle,
                      public SumOracle,
                      public InstanceOracle,
                      public BeliefOracle,
                      public CovarianceOracle,
                      public DerivativeOracle,
                      public MaxOracle,
                      public InstanceMaxOracle {
 public:
  explicit WrappedOracle(const Oracle& inner) : inner_(inner) {}

  Index outputs() const override { return inner_.outputs(); }
  std::size_t positions() const override { return inner_.positions(); }
  std::span<const Index> begin() const override { return inner_.begin(); }
  std::span<const Index> gold_outputs(Index position) const override { return inner_.gold_outputs(position); }
  std::size_t extra_weights() const override { return inner_.extra_weights(); }
  std::vector<double> gold_extra(const Parallel& parallel) const override {
    return inner_.gold_extra(parallel);
  }

  const SumOracle* sum() const override { return inner_.sum() != nullptr ? this : nullptr; }
  const InstanceOracle* instance() const override { return inner_.instance() != nullptr ? this : nullptr; }
  const BeliefOracle* beliefs() const override { return inner_.beliefs() != nullptr ? this : nullptr; }
  const CovarianceOracle* covariance() const override {
    return inner_.covariance() != nullptr ? this : nullptr;
  }
  const DerivativeOracle* derivatives() const override {
    return inner_.derivatives() != nullptr ? this : nullptr;
  }
  const MaxOracle* max() const override { return inner_.max() != nullptr ? this : nullptr; }
  const InstanceMaxOracle* instance_max() const override {
    return inner_.instance_max() != nullptr ? this : nullptr;
  }
  const MaxOracle* relaxation() const override { return inner_.relaxation() != nullptr ? this : nullptr; }
  /// The inner oracle's own: nothing that solvers ask for goes by it.
  const FactorOracle* factors() const override { return inner_.factors(); }
  const NbestOracle* nbest() const override { return inner_.nbest(); }
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
  double inference_flops(const ScorePoint& at, bool residual) const override {
    return inner_.sum()->inference_flops(at, residual);
  }
  double infer_instance(Index instance, const double* scores, std::span<const double> extra, double* residual,
                        std::span<double> extra_residual, InstanceOracle::Workspace& work) const override {
    return inner_.instance()->infer_instance(instance, scores, extra, residual, extra_residual, work);
  }
  Size belief_size(Index instance) const override { return inner_.beliefs()->belief_size(instance); }
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs) const override {
    return inner_.beliefs()->infer_beliefs(instance, scores, extra, log_beliefs);
  }
  void gold_beliefs(Index instance, double score, double* log_beliefs) const override {
    inner_.beliefs()->gold_beliefs(instance, score, log_beliefs);
  }
  void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const override {
    inner_.beliefs()->structure_beliefs(instance, outputs, beliefs);
  }
  void expectation(Index instance, const double* beliefs, double* rows,
                   std::span<double> extra) const override {
    inner_.beliefs()->expectation(instance, beliefs, rows, extra);
  }
  void make_consistent(Index instance, double* beliefs) const override {
    inner_.beliefs()->make_consistent(instance, beliefs);
  }
  double inconsistency(Index instance, const double* beliefs) const override {
    return inner_.beliefs()->inconsistency(instance, beliefs);
  }
  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override {
    inner_.covariance()->covariances(scores, instance, features, out);
  }
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override {
    return inner_.derivatives()->infer_and_keep(at, residual, kept, parallel);
  }
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override {
    inner_.derivatives()->derivative(at, direction, out, parallel);
  }
  Sums maximise(const ScorePoint& at, Cost cost, Residual* residual, const Parallel& parallel) const override {
    return best().maximise(at, cost, residual, parallel);
  }
  double max_flops(const ScorePoint& at) const override { return best().max_flops(at); }
  Value best_structure(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                       std::span<Index> outputs, InstanceMaxOracle::Workspace& work) const override {
    return inner_.instance_max()->best_structure(instance, cost, scores, extra, outputs, work);
  }
  Value value_of(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                 std::span<const Index> outputs) const override {
    return inner_.instance_max()->value_of(instance, cost, scores, extra, outputs);
  }
  void gold_structure(Index instance, std::span<Index> outputs) const override {
    inner_.instance_max()->gold_structure(instance, outputs);
  }
  std::span<const Index> outputs_on(Index output) const override {
    return inner_.instance_max()->outputs_on(output);
  }
  void extra_on(std::span<const Index> outputs, std::vector<std::size_t>& on) const override {
    inner_.instance_max()->extra_on(outputs, on);
  }
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    inner_.decode(scores, decoding, outputs, parallel);
  }

 protected:
  const MaxOracle& best() const { return inner_.max() != nullptr ? *inner_.max() : *inner_.relaxation(); }

  const Oracle& inner_;
};

}  // namespace proxbench
