#pragma once
/// The capabilities that every exact oracle has, and what they have in common.

#include "core/oracle.h"

namespace proxbench {

/// Finds sums, marginals and best structures exactly, of all instances and of single ones. Without extra
/// weights, unless a derived class says otherwise.
class ExactOracle : public Oracle,
                    public SumOracle,
                    public InstanceOracle,
                    public BeliefOracle,
                    public DerivativeOracle,
                    public NbestOracle,
                    public MaxOracle,
                    public InstanceMaxOracle {
 public:
  const SumOracle* sum() const override { return this; }
  const InstanceOracle* instance() const override { return this; }
  const BeliefOracle* beliefs() const override { return this; }
  const DerivativeOracle* derivatives() const override { return this; }
  const NbestOracle* nbest() const override { return this; }
  const MaxOracle* max() const override { return this; }
  const InstanceMaxOracle* instance_max() const override { return this; }

  std::size_t extra_weights() const override { return 0; }
  std::vector<double> gold_extra(const Parallel&) const override { return {}; }
  void extra_on(std::span<const Index>, std::vector<std::size_t>& on) const override { on.clear(); }

  /// Sums best_structure() over all instances. The residual has a column for every output.
  Sums maximise(const ScorePoint& at, Cost cost, Residual* residual, const Parallel& parallel) const override;
};

}  // namespace proxbench
