#pragma once
/// The candidates oracle: re-ranking (Collins 2000; Andrew and Gao 2007, section 4). An instance is a group,
/// its positions are the candidates, and its structure is the chosen candidate:
///
///     p(y|x) = exp(s(y)) / sum of exp(s(y')) over the candidates y' of the group
///
/// There is one output, and a candidate's score is w . features. In gold structures and predictions, the
/// chosen candidate has the output 0 and all others have kNoOutput.

#include "oracles/choice_oracle.h"

namespace proxbench {

class CandidatesOracle final : public ChoiceOracle, public CovarianceOracle {
 public:
  /// Takes groups and gold candidates. Throws Error unless there is one output, no hierarchy, and each group
  /// has at least one candidate and at most one gold candidate. Groups of test data may have no gold
  /// candidate.
  explicit CandidatesOracle(const Dataset& data);

  std::span<const Index> gold_outputs(Index position) const override;

  const CovarianceOracle* covariance() const override { return this; }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override;
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override;
  /// One addition of a cost and one comparison per candidate.
  double max_flops(const ScorePoint&) const override { return 2.0 * static_cast<double>(positions()); }
  InstanceMaxOracle::Value value_of(Index instance, Cost cost, const double* scores,
                                    std::span<const double> extra,
                                    std::span<const Index> outputs) const override;
  std::span<const Index> outputs_on(Index output) const override {
    static constexpr Index kOn = 0;
    return {&kOn, output == kOn ? std::size_t{1} : std::size_t{0}};
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override;
  /// Per candidate, the shift by the largest score and the sum. The residual takes a product more.
  double inference_flops(const ScorePoint&, bool residual) const override {
    return (residual ? 3.0 : 2.0) * static_cast<double>(positions());
  }
  void expectation(Index instance, const double* beliefs, double* rows,
                   std::span<double> extra) const override;
  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override;
  /// Keeps the probabilities.
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override;
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override;
  /// Both decodings return the best candidate of each group. Among equal ones, the first.
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override;

 private:
  /// Consecutive groups. The boundaries are borrowed.
  struct Groups {
    std::span<const Index> begin;
    std::vector<Index> gold;         ///< position of each group's gold candidate, or kUnknownOutput
    std::vector<Index> chunk_begin;  ///< groups cut into chunks of about equal positions
  };
  struct Softmax;
  struct Kept final : Messages {
    std::size_t bytes() const override { return probability.size() * sizeof(double); }
    AlignedVector<double> probability;  ///< by position
  };
  /// If `kept` is not null, stores the probabilities there.
  double infer_on(const Groups& on, const ScorePoint& at, Residual* residual, const Parallel& parallel,
                  Kept* kept = nullptr) const;
  std::size_t alternatives(Index instance) const override { return length(instance); }
  std::size_t number_of(std::span<const Index> structure) const override {
    return static_cast<std::size_t>(std::ranges::find(structure, Index{0}) - structure.begin());
  }
  void write(std::size_t candidate, std::span<Index> structure) const override;
  void list_scores(const double* rows, std::size_t n, AlignedVector<double>& out) const override;

  Groups all_;
};

}  // namespace proxbench
