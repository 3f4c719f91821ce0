#pragma once
/// The candidates oracle: re-ranking (Collins 2000; Andrew and Gao 2007, section 4). An instance is a group,
/// its positions are the candidates, and its structure is the one that is chosen:
///
///     p(y|x) = exp(s(y)) / sum of exp(s(y')) over the candidates y' of the group
///
/// There is one output: the score of a candidate is w . features. In gold structures and predictions it is on
/// (0) at the candidate chosen and kNoOutput stands at all others.

#include "oracles/exact_oracle.h"

namespace proxbench {

class CandidatesOracle final : public ExactOracle, public CovarianceOracle {
 public:
  /// Takes groups and gold candidates. Throws Error unless there is one output, no hierarchy, and every group
  /// has a candidate and one gold candidate at most. Test data may have groups without one.
  explicit CandidatesOracle(const Dataset& data);

  Index outputs() const override { return 1; }
  std::size_t positions() const override { return all_.begin.back(); }
  std::span<const Index> begin() const override { return all_.begin; }
  std::span<const Index> gold_outputs(Index position) const override;

  const CovarianceOracle* covariance() const override { return this; }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override;
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override;
  /// A cost and a comparison a candidate.
  double max_flops(const ScorePoint&) const override { return 2.0 * static_cast<double>(positions()); }
  /// Of equal candidates the first.
  InstanceMaxOracle::Value best_structure(Index instance, Cost cost, const double* scores,
                                          std::span<const double> extra, std::span<Index> outputs,
                                          InstanceMaxOracle::Workspace& work) const override;
  InstanceMaxOracle::Value value_of(Index instance, Cost cost, const double* scores,
                                    std::span<const double> extra,
                                    std::span<const Index> outputs) const override;
  void gold_structure(Index instance, std::span<Index> outputs) const override;
  std::span<const Index> outputs_on(Index output) const override {
    static constexpr Index kOn = 0;
    return {&kOn, output == kOn ? std::size_t{1} : std::size_t{0}};
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override;
  /// The shift by the largest score and the sum; with the residual a product and the gold candidate.
  double inference_flops(const ScorePoint&, bool residual) const override {
    return (residual ? 3.0 : 2.0) * static_cast<double>(positions());
  }
  double infer_instance(Index instance, const double* scores, std::span<const double> extra, double* residual,
                        std::span<double> extra_residual, InstanceOracle::Workspace& work) const override;
  /// One number a candidate: every sign is +.
  Size belief_size(Index instance) const override { return {padded(size_of(instance)), 0}; }
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs) const override;
  void gold_beliefs(Index instance, double score, double* log_beliefs) const override;
  /// `outputs` holds 0 at one candidate and kNoOutput at all others.
  void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const override;
  void expectation(Index instance, const double* beliefs, double* rows,
                   std::span<double> extra) const override;
  void make_consistent(Index instance, double* beliefs) const override;
  double inconsistency(Index instance, const double* beliefs) const override;
  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override;
  /// Keeps the probabilities.
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override;
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override;
  std::unique_ptr<NbestOracle::Workspace> make_workspace() const override;
  /// Candidates by score, of equal ones the earlier first.
  void nbest(const Scores& scores, Index instance, std::size_t n, List& out,
             NbestOracle::Workspace& work) const override;
  /// Both decodings are the best candidate of each group; of equal ones the first.
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override;

 private:
  /// Groups that follow each other.
  struct Groups {
    std::vector<Index> begin{0};
    std::vector<Index> gold;                  ///< position of each group's; kUnknownOutput: none
    std::vector<Index> chunk_begin{0};        ///< groups cut into chunks of about equal positions
    void cut();
  };
  struct Softmax;
  struct Order;
  struct Kept final : Messages {
    std::size_t bytes() const override { return probability.size() * sizeof(double); }
    AlignedVector<double> probability;  ///< by position
  };
  /// With `kept` also keeps the probabilities there.
  double infer_on(const Groups& on, const ScorePoint& at, Residual* residual, const Parallel& parallel,
                  Kept* kept = nullptr) const;
  void require_gold() const;
  /// Candidates of a group.
  std::size_t size_of(Index instance) const {
    return all_.begin[instance + std::size_t{1}] - all_.begin[instance];
  }

  Groups all_;
  std::vector<Index> gold_;  ///< by position
  bool gold_known_ = true;
};

}  // namespace proxbench
