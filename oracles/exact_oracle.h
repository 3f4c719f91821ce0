#pragma once
/// The capabilities that every exact oracle has, and their common code.

#include "core/oracle.h"

namespace proxbench {

/// Finds sums, marginals and best structures exactly, for all instances and for single ones.
class ExactOracle : public Oracle,
                    public SumOracle,
                    public InstanceOracle,
                    public BeliefOracle,
                    public DerivativeOracle,
                    public NbestOracle,
                    public MaxOracle,
                    public InstanceMaxOracle {
 public:
  /// Not copyable, since derived classes keep views of the boundaries and the gold outputs.
  ExactOracle(const ExactOracle&) = delete;
  ExactOracle& operator=(const ExactOracle&) = delete;

  const SumOracle* sum() const override { return this; }
  const InstanceOracle* instance() const override { return this; }
  const BeliefOracle* beliefs() const override { return this; }
  const DerivativeOracle* derivatives() const override { return this; }
  const NbestOracle* nbest() const override { return this; }
  const MaxOracle* max() const override { return this; }
  const InstanceMaxOracle* instance_max() const override { return this; }

  /// Calls infer_some().
  double infer_instance(Index instance, const double* scores, std::span<const double> extra, double* residual,
                        std::span<double> extra_residual) const override;
  /// Sums best_structure() over all instances. The residual has a column for every output.
  LossAndCost maximise(const ScorePoint& at, Cost cost, Residual* residual,
                       const Parallel& parallel) const override;
  void gold_structure(Index instance, std::span<Index> outputs) const override;
  void extra_on(std::span<const Index>, std::vector<std::size_t>& on) const override { on.clear(); }

 protected:
  /// Copies boundaries and gold outputs. `unknown` is the message of require_gold(), such as "tree oracle: a
  /// gold output is unknown". The text must outlive the oracle.
  ExactOracle(const Dataset& data, const char* unknown) : Oracle(data), gold_(data.gold), unknown_(unknown) {}
  /// Throws Error unless all gold outputs are known.
  void require_gold() const;
  /// The gold outputs of an instance, one per position.
  std::span<const Index> gold_of(Index instance) const {
    return std::span(gold_).subspan(begin_[instance], length(instance));
  }

  std::vector<Index> gold_;
  bool gold_known_ = true;  ///< to be set by the derived class

 private:
  const char* unknown_;
};

/// Sets rows to the scores at the point, for the positions [begin, begin + n). A row holds all outputs, the
/// padding is 0. A product and its sum may be rounded once.
void make_rows(const ScorePoint& at, Index outputs, std::size_t begin, std::size_t n, double* rows);

}  // namespace proxbench
