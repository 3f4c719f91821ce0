#pragma once
/// Oracles whose structures can be listed: an instance chooses one of some alternatives, by a softmax of
/// their scores.

#include "oracles/exact_oracle.h"

namespace proxbench {

/// Computes beliefs, loss-augmented maxima and the n best from a list of all alternatives' scores. Each
/// alternative except the gold one costs 1.
class ChoiceOracle : public ExactOracle {
 public:
  /// One belief per alternative, all with sign +.
  Size belief_size(Index instance) const override { return {padded(alternatives(instance)), 0}; }
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs) const override;
  void gold_beliefs(Index instance, double score, double* log_beliefs) const override;
  void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const override;
  void make_consistent(Index instance, double* beliefs) const override;
  double inconsistency(Index instance, const double* beliefs) const override;

  /// Among equal alternatives, the first.
  InstanceMaxOracle::Value best_structure(Index instance, Cost cost, const double* scores,
                                          std::span<const double> extra, std::span<Index> outputs,
                                          InstanceMaxOracle::Workspace& work) const override;

  std::unique_ptr<NbestOracle::Workspace> make_workspace() const override;
  /// In the order of scores. Among equal alternatives, the first comes first.
  void nbest(const Scores& scores, Index instance, std::size_t n, List& out,
             NbestOracle::Workspace& work) const override;

 protected:
  using ExactOracle::ExactOracle;
  virtual std::size_t alternatives(Index instance) const = 0;
  /// The number of the alternative that equals `structure`.
  virtual std::size_t number_of(std::span<const Index> structure) const = 0;
  virtual void write(std::size_t alternative, std::span<Index> structure) const = 0;
  /// Sets out[a] to the score of alternative a < n. `rows` are laid out as in InstanceOracle.
  virtual void list_scores(const double* rows, std::size_t n, AlignedVector<double>& out) const = 0;
};

}  // namespace proxbench
