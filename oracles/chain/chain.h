#pragma once
/// The linear-chain oracle: sequence labelling with label x label transitions (Zhong et al. 2014, appendix
/// D.1).
///
///     p(y|x) = exp( sum_t s_t(y_t) + sum_{t<T} Lambda(y_t, y_{t+1}) ) / Z
///
/// The extra weights are Lambda, a K x K matrix stored row by row, with rows for the earlier label.

#include "oracles/exact_oracle.h"

namespace proxbench {

struct ChainChunk;

/// Forward-backward in the linear domain on scaled vectors. Scores are exponentiated relative to the largest
/// at each position, transitions relative to the largest of all, so nothing overflows. If transitions differ
/// by at most r, the sum of a position's alpha is at least e^-r before scaling. So a state that underflows,
/// at e^-708, has at most e^(r-708) of the best state's mass, and beta can raise it by at most e^r. If r
/// exceeds kLinearRange, the oracle works in the log domain.
class ChainOracle final : public ExactOracle, public CovarianceOracle, public FactorOracle {
 public:
  /// Transitions further apart than this (in nats) are handled in the log domain. Within it, the mass lost is
  /// below e^-100 of the total.
  static constexpr double kLinearRange = 300.0;

  /// Takes the instances' boundaries and gold labels. Throws Error if an instance is empty, if there is no
  /// label, or if the transitions between the labels exceed this machine's memory.
  explicit ChainOracle(const Dataset& data);

  std::size_t extra_weights() const override { return static_cast<std::size_t>(outputs_) * outputs_; }

  std::span<const Index> gold_outputs(Index position) const override { return {&gold_[position], 1}; }
  std::vector<double> gold_extra(const Parallel& parallel) const override;

  const CovarianceOracle* covariance() const override { return this; }
  const FactorOracle* factors() const override { return this; }
  bool binary_outputs() const override { return false; }
  std::unique_ptr<MarginalAdder> marginal_adder(const FactorMarginals& given, Cost cost,
                                                const ExpectedFeatures& expected) const override;

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override;
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override;
  std::optional<InferenceRounding> sum_rounding(Index instance) const override;
  void spread_drift(std::span<const double> by_output, std::span<double> by_extra) const override;
  std::optional<InferenceRounding> max_rounding() const override;
  /// K^2 multiply-adds per position for the forward pass. A residual takes K^2 more for the backward pass and
  /// K^2 for the transitions.
  double inference_flops(std::size_t, bool residual) const override {
    return (residual ? 6.0 : 2.0) * static_cast<double>(extra_weights()) * static_cast<double>(positions());
  }
  Size belief_size(Index instance) const override;
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs) const override;
  void gold_beliefs(Index instance, double score, double* log_beliefs) const override;
  void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const override;
  void expectation(Index instance, const double* beliefs, double* rows,
                   std::span<double> extra) const override;
  void make_consistent(Index instance, double* beliefs) const override;
  double inconsistency(Index instance, const double* beliefs) const override;
  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override;
  /// Stores three numbers per position and label. Beyond kLinearRange it stores the scores instead. A
  /// derivative then works with logarithms, which is slow but correct for any finite scores.
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override;
  /// 6 K^2 multiply-adds per position, twice the number of an inference.
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override;
  /// K^2 additions and K^2 comparisons per position, and two operations for each label's score and cost.
  double max_flops() const override {
    return 2.0 * static_cast<double>(extra_weights() + outputs()) * static_cast<double>(positions());
  }
  /// Viterbi.
  LossAndCost best_structure(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                             std::span<Index> outputs) const override;
  void scores_of(Index instance, const double* scores, std::span<const double> extra,
                 std::span<const Index> outputs, std::span<double> out) const override;
  double cost_of(Index instance, Cost cost, std::span<const Index> outputs) const override;
  std::span<const Index> outputs_on(Index output) const override { return {&labels_[output], 1}; }
  void extra_on(std::span<const Index> outputs, std::vector<std::size_t>& on) const override;
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override;
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override;
  void nbest(const Scores& scores, Index instance, std::size_t n, List& out) const override;

 private:
  /// The transition scores and, in the linear domain, their exponentials with the transpose.
  struct Transitions {
    std::size_t outputs, width;
    std::vector<double> score;  ///< K x K
    double largest = 0.0, smallest = 0.0;
    AlignedVector<double> forward;   ///< exp(score - largest), rows by the earlier label, padding 0
    AlignedVector<double> backward;  ///< the transpose of `forward`
    bool linear() const { return largest - smallest <= kLinearRange; }
  };
  /// Buffers of one chunk. Rows are positions, starting at row_origin().
  struct Buffers {
    AlignedVector<double> score;                ///< scores; scratch in the linear domain
    AlignedVector<double> message;              ///< scaled forward messages of the linear domain
    AlignedVector<double> posterior;            ///< p(y_t = k | x), or p(y_t = k | x) - gold
    AlignedVector<double> pair;                 ///< width x width, for sums of pair marginals
    AlignedVector<double> top, scale, inverse;  ///< of the linear domain, as are left and right
    std::vector<const double*> left, right;
    std::vector<double> loss;  ///< one per instance of the chunk: log Z - score of the gold labels
  };
  /// The messages of a point. Rows are as in ChainChunk; the rows of a chunk start at first_row[chunk].
  struct Kept final : Messages {
    Transitions transitions;
    std::vector<std::size_t> first_row;
    AlignedVector<double> message, back, ratio;
    std::vector<double> pair;  ///< K x K: expected counts of transitions
    Scores scores;             ///< in the log domain, instead of rows
  };
  /// Where the backward pass writes: the sums of pair marginals, the residual that will receive the
  /// posteriors (may be null), and the messages to keep, from row `kept_row` on (`kept` may be null). If
  /// minus_gold, gold is subtracted from pairs and posteriors.
  struct Backward {
    double* pair;
    bool minus_gold;
    const Residual* residual = nullptr;
    Kept* kept = nullptr;
    std::size_t kept_row = 0;
  };
  /// Sequences whose positions are consecutive. Boundaries and gold labels are borrowed.
  struct Sequences {
    Sequences(std::span<const Index> begin, std::span<const Index> gold);
    std::span<const Index> begin, gold;
    std::vector<Index> chunk_begin;  ///< cuts the sequences into chunks of about equal positions
    std::vector<Index> by_length;    ///< longest first within each chunk, numbered from 0
    /// The position of row 0 if work starts at sequence `first`. Row 0 is at or before the first position of
    /// this sequence, so that rows and columns are converted in whole cache lines.
    std::size_t row_origin(std::size_t first) const { return begin[first] / kPad * kPad; }
    std::size_t chunks() const { return chunk_begin.size() - 1; }
    /// The sequences [first, last) of a chunk, their positions [begin, end), and the position of row 0.
    struct Chunk {
      std::size_t first, last, begin, end, origin;
    };
    Chunk chunk(std::size_t c) const {
      const std::size_t first = chunk_begin[c], last = chunk_begin[c + 1];
      return {first, last, begin[first], begin[last], row_origin(first)};
    }
  };
  double infer_on(const Sequences& on, const ScorePoint& at, Residual* residual, const Parallel& parallel,
                  Kept* kept = nullptr) const;
  void prepare(const ScorePoint& at, const Transitions& m, Kept& kept) const;
  void derivative_linear(const Kept& at, const Scores& direction, Residual& out,
                         const Parallel& parallel) const;
  void derivative_log(const Kept& at, const Scores& direction, Residual& out, const Parallel& parallel) const;
  void derivative_log_of(std::size_t instance, const Kept& at, const Scores& direction, Residual& out,
                         double* pair) const;
  /// The distribution of one sequence as a Markov chain. Computed with logarithms, so correct for any finite
  /// scores.
  struct Conditionals {
    double loss = 0.0;               ///< log Z - score of the gold labels, if these are given
    AlignedVector<double> marginal;  ///< rows of padded(K): p(y_t = k)
    AlignedVector<double> next;      ///< K rows of padded(K) per edge: row c holds p(y_{t+1} = d | y_t = c)
  };
  Conditionals conditionals(const Scores& scores, std::size_t instance) const;
  /// Takes rows of scores, one per position, and the gold labels or null.
  Conditionals conditionals(const double* scores, std::span<const double> transition, std::size_t length,
                            const Index* gold) const;
  void viterbi(const double* scores, std::span<const double> extra, const Index* gold, double wrong,
               std::span<Index> best_labels) const;
  Transitions transitions(const ScorePoint& at) const;
  Buffers& buffers(std::size_t positions, std::size_t instances, bool backward) const;
  ChainChunk chunk_in(Buffers& work) const;
  void infer_rows(const Sequences& on, const Transitions& m, const ScorePoint& at, Buffers& work,
                  std::size_t first, std::size_t last, bool losses, const Backward* backward) const;
  void score_rows(const Sequences& on, const ScorePoint& at, std::size_t first, std::size_t last,
                  AlignedVector<double>& rows) const;
  void infer_linear(const Sequences& on, const Transitions& m, const ScorePoint& at, Buffers& work,
                    std::size_t first, std::size_t last, const Backward* backward) const;
  void infer_log(const Sequences& on, const Transitions& m, Buffers& work, std::size_t first,
                 std::size_t last, bool losses, const Backward* backward) const;

  std::vector<Index> labels_;  ///< 0, 1, ..., K - 1
  Sequences all_;
};

}  // namespace proxbench
