#pragma once
/// Inference oracles work on scores only: they know structure and gold outputs, never a feature.
///
/// Each capability of an oracle is an interface. The oracle offers the whole interface, or returns a null
/// pointer. A solver names the capabilities that it needs (core/solver.h), and a pair that does not fit is
/// refused before a run starts.

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/factor_marginals.h"
#include "core/loss.h"
#include "core/scores.h"

namespace proxbench {

/// How outputs are predicted: as the most probable structure (Viterbi for chains), or as the most probable
/// output at each position separately, which gets more positions right on average.
enum class Decoding { kStructure, kPositions };

/// The terms of one instance in the certified dual bound.
struct InstanceTerms {
  double log_gold;  ///< log p(gold structure), <= 0
  double entropy;   ///< H(p), in nats
};

/// How exact an inference over one instance is, in units of 2^-53. The author of an oracle derives these
/// numbers where its inference is implemented, and certificates rest on them (core/certificates/rounding.h).
///
/// Let s_p be the largest size of a score at position p plus the largest size of an extra weight. The
/// computed residual belongs to a distribution: the model at the given scores, with each position's factor
/// changed by a relative error of at most of_scores * s_p + of_positions.
struct InferenceRounding {
  /// The loss of the instance is off by at most the sum over its positions of of_scores * s_p + of_positions.
  double of_scores = 0.0, of_positions = 0.0;
  /// A loss passes through at most this many additions before sum_chunks() adds up the chunks.
  double of_losses = 0.0;
  /// A number R of the residual is off by at most of_marginals * marginal + drift * |R|.
  double of_marginals = 0.0, drift = 0.0;
  /// What an instance adds to the residual of an extra weight is off by at most of_extra times the sum of its
  /// expected count and its gold count, plus the drift that SumOracle::spread_drift() gives it. (Among the
  /// instances of a chunk, at most two more additions are made for each position.)
  double of_extra = 0.0;
};
/// Bounds the rounding of inference by plain sums, in any order, over at most `positions` * `outputs` terms:
/// the rounding of an oracle that states none.
InferenceRounding plain_rounding(std::size_t positions, Index outputs);

/// Some coordinates of w within one instance, and the positions at which they are on. Slots number these
/// coordinates. Second derivatives need them in addition to the scores.
struct LocalFeatures {
  /// At the position of this entry, the feature of a unary weight has this value and adds to the score of
  /// this output.
  struct Entry {
    std::uint32_t slot;
    Index output;
    double value;
  };
  std::size_t slots = 0;  ///< slots of extra weights come first, then the others in order of appearance
  std::vector<std::size_t> extra;  ///< slot i belongs to extra weight extra[i]
  std::vector<std::size_t> begin;  ///< position t of the instance has the entries [begin[t], begin[t+1])
  std::vector<Entry> entry;
};

/// A symmetric matrix M + M^T, stored as the rows of M. Row i begins at value[i*stride] and has extent[i]
/// numbers. The rest of the row is 0 and is not stored.
struct HalfMatrix {
  std::size_t stride = 0;
  AlignedVector<double> value;
  std::vector<std::size_t> extent;

  void clear(std::size_t n) {
    stride = padded(n);
    if (value.size() < n * stride) value.resize(n * stride);
    extent.assign(n, 0);
  }
  /// Returns row i, of `width` numbers (a multiple of kPad).
  double* row(std::size_t i, std::size_t width) {
    double* const at = value.data() + i * stride;
    if (extent[i] < width) {
      std::fill(at + extent[i], at + width, 0.0);
      extent[i] = width;
    }
    return at;
  }
};

/// Consecutive positions, for loops. (Clang 14 does not compile std::views::iota of GCC 12.)
class PositionRange {
 public:
  class Iterator {
   public:
    explicit Iterator(Index at) : at_(at) {}
    Index operator*() const { return at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Index at_;
  };

  PositionRange(Index first, Index last) : first_(first), last_(last) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(last_); }
  std::size_t size() const { return last_ - first_; }

 private:
  Index first_, last_;
};

/// The boundaries of the instances of one data set, and the gold structures.
class Structure {
 public:
  virtual ~Structure() = default;
  Index outputs() const { return outputs_; }
  std::size_t positions() const { return begin_.back(); }
  std::size_t instances() const { return begin().size() - 1; }
  /// Instance i holds the positions [begin()[i], begin()[i+1]).
  std::span<const Index> begin() const { return begin_; }
  PositionRange positions_of(std::size_t instance) const {
    return {begin()[instance], begin()[instance + 1]};
  }
  /// The number of positions of an instance.
  std::size_t length(std::size_t instance) const { return positions_of(instance).size(); }
  /// The outputs that are on at this position in the gold structure: the label, or the nodes of a path. A
  /// candidate other than the gold one has none.
  virtual std::span<const Index> gold_outputs(Index position) const = 0;
  /// The number of weights that belong to the oracle itself (chain: K*K transitions; others: 0).
  virtual std::size_t extra_weights() const { return 0; }
  /// Counts how often each extra weight is on in the gold structures of all instances; size extra_weights().
  /// A residual holds, for each extra weight, the expected count minus this one. Throws Error if a gold
  /// output is unknown.
  virtual std::vector<double> gold_extra(const Parallel&) const { return {}; }

 protected:
  explicit Structure(const Dataset& data) : outputs_(data.outputs()), begin_(data.begin) {}

  Index outputs_;
  std::vector<Index> begin_;
};

/// Log-partition, marginals and entropy over all instances, for the log loss. Call one const method at a
/// time. Each runs in parallel over a fixed partition of the instances, so results do not depend on the
/// number of threads. All throw Error if a gold output is unknown.
class SumOracle {
 public:
  virtual ~SumOracle() = default;
  /// Makes one pass and returns sum_i [A_i - score of the gold structure]. If `residual` is not null (same
  /// shape as the scores), also fills it with marginals - gold and with the gradient in the extra weights.
  virtual double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const = 0;
  /// Does what infer() does, for some instances only. Scores and residual hold only the positions of these
  /// instances, one instance after the other in the given order: stride = padded(number of their positions).
  virtual double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                            const Parallel& parallel) const = 0;
  /// Computes log p(gold) and the entropy of every instance; terms.size() == number of instances.
  virtual void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                              const Parallel& parallel) const = 0;
  /// Floating-point operations of a pass on scores with so many columns, by the definition of the algorithm:
  /// a multiply-add counts as two, an exponential as none.
  virtual double inference_flops(std::size_t columns, bool residual) const = 0;
  /// How exact infer() is on an instance. Empty: plain_rounding().
  virtual std::optional<InferenceRounding> sum_rounding(Index) const { return std::nullopt; }
  /// by_output[k] is the sum over positions of drift * |R| at output k. For each extra weight, writes a bound
  /// on the error that the same drift gives the residual of the weight, in units of 2^-53.
  virtual void spread_drift(std::span<const double> by_output, std::span<double> by_extra) const;
};

/// Loss and residual of one instance from its own rows of scores. Several threads may call this at once.
class InstanceOracle {
 public:
  virtual ~InstanceOracle() = default;
  /// Row p - begin()[instance] of `scores` holds the K scores of position p; rows are padded(K) numbers
  /// apart. Returns A_i - score of the gold structure. If `residual` is not null, fills it (same shape,
  /// padding 0) and `extra_residual` (extra_weights() numbers) with marginals - gold. Throws Error if a gold
  /// output is unknown.
  virtual double infer_instance(Index instance, const double* scores, std::span<const double> extra,
                                double* residual, std::span<double> extra_residual) const = 0;
};

/// The distribution over the structures of one instance, given by the marginals of its cliques: the dual
/// variables of the log loss (Le Priol et al. 2018, section 3). The entropy of such a distribution, and the
/// KL divergence between two, are signed sums over cliques. On chains, pairs of neighbours have the sign +
/// and the positions that two pairs share have the sign -. On trees, the cliques are the leaves, all with the
/// sign +. So entropies, divergences and mixtures need no structure.
///
/// Beliefs are size().all() numbers: first those of sign +, then those of sign -, each group padded to a
/// multiple of kPad. They are stored as logarithms. The padding holds log 1 = 0, which adds nothing to these
/// sums. Several threads may call the methods at once.
class BeliefOracle {
 public:
  struct Size {
    std::size_t positive, negative;  ///< multiples of kPad
    std::size_t all() const { return positive + negative; }
  };
  virtual ~BeliefOracle() = default;
  virtual Size belief_size(Index instance) const = 0;
  /// Computes the beliefs of the model at these scores (rows as in InstanceOracle): logarithms <= 0, about
  /// -708 if a marginal underflows. Returns A_i - score of the gold structure. Throws Error if a gold output
  /// is unknown.
  virtual double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                               double* log_beliefs) const = 0;
  /// Computes the beliefs of the model in which every gold clique (pairs as well as positions) has this score
  /// >= 0 and all others have 0. Score 0 gives the uniform distribution; a large score leaves only the gold
  /// structure.
  virtual void gold_beliefs(Index instance, double score, double* log_beliefs) const = 0;
  /// Writes the probabilities (not logarithms) of the distribution with all mass on one structure. outputs[t]
  /// is the label, or the leaf, of position t of the instance. Padding is 1.
  virtual void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const = 0;
  /// Maps numbers on the cliques (probabilities, or differences of them) to numbers for each output at each
  /// position (rows as in InstanceOracle, padding 0) and for the extra weights. The map is linear.
  virtual void expectation(Index instance, const double* beliefs, double* rows,
                           std::span<double> extra) const = 0;
  /// Turns probabilities that are marginals up to rounding into the marginals of one distribution. For a
  /// chain, this distribution is given by its first pair and by each later label conditional on the one
  /// before.
  virtual void make_consistent(Index instance, double* beliefs) const = 0;
  /// The amount by which probabilities on the cliques fail to be the marginals of one distribution: the
  /// largest difference between two marginals that should agree, or between a sum and 1. NaN if a marginal is
  /// NaN.
  virtual double inconsistency(Index instance, const double* beliefs) const = 0;
};

/// Second moments of one instance, from which the dense Hessian of the log loss is built.
class CovarianceOracle {
 public:
  virtual ~CovarianceOracle() = default;
  /// Computes the covariances of the slots under the model at these scores. A slot stands for a random
  /// variable: the sum of its values over the entries whose output is on.
  virtual void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                           HalfMatrix& out) const = 0;
};

/// The change of the residual of all instances along directions of scores, which gives products with the
/// Hessian of the log loss without forming a matrix. Sums run over the partition of SumOracle. Throws Error
/// if a gold output is unknown.
class DerivativeOracle {
 public:
  virtual ~DerivativeOracle() = default;
  /// The results of inference at a point, which an oracle stores so that derivatives cost less.
  class Messages {
   public:
    virtual ~Messages() = default;
  };
  /// Does SumOracle::infer() with a residual and also stores the messages. If `kept` is null, it is created.
  /// Otherwise it must come from an earlier call, and its memory is reused.
  virtual double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                                const Parallel& parallel) const = 0;
  /// Computes out = d/dt residual(S + t*direction) at t = 0, S being the point of the messages. The marginals
  /// change, gold does not (so OutputColumns::gold is false if outputs share columns). Costs at most two
  /// inferences.
  virtual void derivative(const Messages& at, const Scores& direction, Residual& out,
                          const Parallel& parallel) const = 0;
};

/// The exact N best structures of one instance, without duplicates. Several threads may call this at once.
/// Needs no gold outputs.
class NbestOracle {
 public:
  virtual ~NbestOracle() = default;
  struct List {
    std::vector<Index> outputs;  ///< the structures one after the other, an output for each position
    std::vector<double> score;   ///< of each structure, the sum of its scores and extra weights; descending
  };
  /// Fills `out` with the n >= 1 best structures, or with all if there are no more than n. The first is the
  /// one that Oracle::decode() finds.
  virtual void nbest(const Scores& scores, Index instance, std::size_t n, List& out) const = 0;
};

/// Of a structure y: cost(y) + score(y) - score(gold), and its cost. Both are 0 for the gold structure.
struct LossAndCost {
  double loss, cost;
};

/// Loss-augmented maximisation over all instances, for the hinge loss. Runs in parallel over a fixed
/// partition, so results do not depend on the number of threads. Throws Error if a gold output is unknown.
class MaxOracle {
 public:
  virtual ~MaxOracle() = default;
  /// Makes one pass. Returns the sums over instances for the maximising structures. The loss is NaN if a
  /// score is not finite. If `residual` is not null (same shape as the scores), also fills it with the
  /// features of the maximising structures minus those of gold, extra weights included: a subgradient of the
  /// loss in the scores.
  virtual LossAndCost maximise(const ScorePoint& at, Cost cost, Residual* residual,
                               const Parallel& parallel) const = 0;
  /// Additions and comparisons of a pass, by the definition of the algorithm.
  virtual double max_flops() const = 0;
  /// How exact maximise() is on an instance: how far the value of the structure that it finds may be below
  /// the largest, and rounding. Empty: plain_rounding().
  virtual std::optional<InferenceRounding> max_rounding() const { return std::nullopt; }
};

/// The best structure of one instance, and the parts of a structure. A structure is given by an output for
/// each position of its instance, as by Oracle::decode(). Several threads may call the methods at once.
class InstanceMaxOracle {
 public:
  virtual ~InstanceMaxOracle() = default;
  /// Finds the structure of the largest loss; among equal ones always the same. Rows of scores are as in
  /// InstanceOracle. Writes one output for each position. Throws Error if a gold output is unknown.
  virtual LossAndCost best_structure(Index instance, Cost cost, const double* scores,
                                     std::span<const double> extra, std::span<Index> outputs) const = 0;
  /// The cost of a structure. Throws Error if `outputs` is not a structure of the instance.
  virtual double cost_of(Index instance, Cost cost, std::span<const Index> outputs) const = 0;
  /// Sets out[a] to score(y) - score(gold) for structures y of one instance, which follow one another in
  /// `outputs` and are not checked.
  virtual void scores_of(Index instance, const double* scores, std::span<const double> extra,
                         std::span<const Index> outputs, std::span<double> out) const = 0;
  /// The loss and the cost of one structure, which is checked.
  LossAndCost value_of(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                       std::span<const Index> outputs) const {
    const double own = cost_of(instance, cost, outputs);
    double score;
    scores_of(instance, scores, extra, outputs, {&score, 1});
    return {own + score, own};
  }
  virtual void gold_structure(Index instance, std::span<Index> outputs) const = 0;
  /// The outputs that are on at a position to which a structure assigns `output`. (For the gold structure,
  /// Structure::gold_outputs() gives them.)
  virtual std::span<const Index> outputs_on(Index output) const = 0;
  /// Lists the extra weights that are on in a structure. An extra weight that is on n times is listed n
  /// times.
  virtual void extra_on(std::span<const Index> outputs, std::vector<std::size_t>& on) const = 0;
};

/// The factors of a structure, for solvers that decompose it: variables, and pairs of variables whose scores
/// are extra weights.
class FactorOracle {
 public:
  virtual ~FactorOracle() = default;
  /// Whether each output is a binary variable of its own. Otherwise each position is a variable with K
  /// values.
  virtual bool binary_outputs() const = 0;
  /// Both arguments are borrowed.
  virtual std::unique_ptr<MarginalAdder> marginal_adder(const FactorMarginals& given, Cost cost,
                                                        const ExpectedFeatures& expected) const = 0;
};

/// The layout of an oracle whose scores and residuals have columns for some outputs only (OutputColumns). The
/// oracle handles all other outputs together. An output with a column in the scores also has one in the
/// residual.
class CollapsedOutputs {
 public:
  virtual ~CollapsedOutputs() = default;
  /// Stores the residual of an infer() call by position, for full gradients, as rows in a basis of the
  /// oracle's own. A sum of rows is an array of basis() >= K numbers, which expand() turns in place into the
  /// numbers of the outputs. expand() handles kPad sums at once: number i of sum s is rows[i*kPad + s].
  virtual std::size_t basis() const = 0;
  virtual void compact_rows(const Residual& residual, CompactRows& rows, const Parallel& parallel) const = 0;
  virtual void expand(double* rows) const = 0;
  /// For each position, writes a bound on the sum over outputs of |x|, where expand() adds up numbers x to
  /// make the residual of the output. If each x has a relative error of at most e, the residual at the
  /// position is off by at most e times this bound, in the l1 norm.
  virtual void row_sizes(const Residual& residual, std::span<double> sizes,
                         const Parallel& parallel) const = 0;
  /// The most additions that a number takes part in within expand().
  virtual double expand_additions() const = 0;
};

/// Inference over the instances of one data set. All of it is exact, except by relaxation().
class Oracle : public Structure {
 public:
  /// The capabilities, null if the oracle does not have one. The objects live as long as the oracle.
  virtual const SumOracle* sum() const { return nullptr; }
  virtual const InstanceOracle* instance() const { return nullptr; }
  virtual const BeliefOracle* beliefs() const { return nullptr; }
  virtual const CovarianceOracle* covariance() const { return nullptr; }
  virtual const DerivativeOracle* derivatives() const { return nullptr; }
  virtual const NbestOracle* nbest() const { return nullptr; }
  virtual const MaxOracle* max() const { return nullptr; }
  virtual const InstanceMaxOracle* instance_max() const { return nullptr; }
  /// Replaces max(): maximises over a superset of the structures, so F computed with it is at least F.
  virtual const MaxOracle* relaxation() const { return nullptr; }
  virtual const FactorOracle* factors() const { return nullptr; }
  /// The layout of scores and residuals, which is no capability. Null: every output has a column.
  virtual const CollapsedOutputs* collapsed() const { return nullptr; }

  /// Predicts the output of every position, kNoOutput if none is on. For multi-label data, predicts whether
  /// each label is on. outputs.size() == Dataset::prediction_size(). Needs no gold outputs.
  virtual void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
                      const Parallel& parallel) const = 0;

 protected:
  using Structure::Structure;
};

/// The capabilities that a solver may require of an oracle.
enum class Capability {
  kSum,
  kInstance,
  kBeliefs,
  kCovariance,
  kDerivative,
  kNbest,
  kMax,
  kInstanceMax,
  kRelaxation,
  kFactors
};
/// "sum", "one instance", "beliefs", "covariances", "derivative", "n best", "max", "max of one instance",
/// "relaxation" or "factors".
const char* capability_name(Capability capability);
bool has_capability(const Oracle& oracle, Capability capability);

/// How model files write the extra weights of an oracle: one line for each, with `word`, the names of the
/// weight and its value (experiments/data/model.h).
struct ExtraWeightNames {
  std::string word;                 ///< "pair"
  std::vector<std::string> fields;  ///< for messages, what each name of a weight means: {"label", "label"}
  /// The names of one extra weight, one for each field. No two weights have the same names. May use only the
  /// vocabulary or the hierarchy of the data.
  std::function<std::vector<std::string>(std::size_t weight, const Dataset& data)> names;
};

/// A registered kind of oracle.
struct OracleInfo {
  std::string name;
  std::string help;
  std::string paper;
  /// Copies structure and gold outputs from the data, but not X. Throws Error if the oracle cannot handle the
  /// data.
  std::function<std::unique_ptr<Oracle>(const Dataset&)> make;
  /// The capabilities of every oracle that make() returns, known before there is data.
  std::vector<Capability> capabilities = {Capability::kSum};
  ExtraWeightNames extra = {};  ///< only for an oracle that has extra weights
};

inline bool has_capability(const OracleInfo& info, Capability capability) {
  return std::ranges::find(info.capabilities, capability) != info.capabilities.end();
}

/// Describes an oracle that is made as T(data). It has the capabilities whose getters T overrides.
template <class T>
OracleInfo oracle_info(std::string name, std::string help, std::string paper, ExtraWeightNames extra = {}) {
  const auto differ = []<class A, class B>(A, B) { return !std::same_as<A, B>; };
  const bool has[] = {differ(&T::sum, &Oracle::sum),  // in the order of Capability
                      differ(&T::instance, &Oracle::instance),
                      differ(&T::beliefs, &Oracle::beliefs),
                      differ(&T::covariance, &Oracle::covariance),
                      differ(&T::derivatives, &Oracle::derivatives),
                      differ(&T::nbest, &Oracle::nbest),
                      differ(&T::max, &Oracle::max),
                      differ(&T::instance_max, &Oracle::instance_max),
                      differ(&T::relaxation, &Oracle::relaxation),
                      differ(&T::factors, &Oracle::factors)};
  std::vector<Capability> capabilities;
  for (std::size_t i = 0; i < std::size(has); ++i)
    if (has[i]) capabilities.push_back(static_cast<Capability>(i));
  return {std::move(name),         std::move(help),
          std::move(paper),        [](const Dataset& data) { return std::make_unique<T>(data); },
          std::move(capabilities), std::move(extra)};
}

}  // namespace proxbench
