#pragma once
/// Inference oracles work on scores alone: they know structure and gold outputs, never a feature.
///
/// An oracle says what it can do. Each capability is an interface of its own, which the oracle gives as a
/// whole or not at all (a null pointer); a solver names the capabilities that it needs (core/solver.h), and a
/// pair that does not fit is refused before a run starts.

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/loss.h"
#include "core/scores.h"

namespace proxbench {

/// How outputs are predicted: the most probable structure (Viterbi for chains), or the most probable output
/// at each position by itself, which gets more positions right on average.
enum class Decoding { kStructure, kPositions };

/// What the certified dual bound needs of one instance.
struct InstanceTerms {
  double log_gold;  ///< log p(gold structure), <= 0
  double entropy;   ///< H(p), in nats
};

/// Some coordinates within one instance, numbered by slots: where they are on. What their second derivatives
/// need beside scores.
struct LocalFeatures {
  /// A unary weight's feature has this value at a position, where it adds to the score of this output.
  struct Entry {
    std::uint32_t slot;
    Index output;
    double value;
  };
  std::size_t slots = 0;           ///< those of extra weights first, then the others as they come up
  std::vector<std::size_t> extra;  ///< the extra weights, slot i is of extra[i]
  std::vector<std::size_t> begin;  ///< position t of the instance has entry[begin[t]..begin[t+1])
  std::vector<Entry> entry;
};

/// A symmetric matrix M + M^T by the rows of M: row i begins at value[i*stride] and has extent[i] numbers,
/// all others of it are 0 and need not be there.
struct HalfMatrix {
  std::size_t stride = 0;
  AlignedVector<double> value;
  std::vector<std::size_t> extent;

  void clear(std::size_t n) {
    stride = padded(n);
    if (value.size() < n * stride) value.resize(n * stride);
    extent.assign(n, 0);
  }
  /// Row i, with room for `width` numbers, a multiple of kPad.
  double* row(std::size_t i, std::size_t width) {
    double* const at = value.data() + i * stride;
    if (extent[i] < width) {
      std::fill(at + extent[i], at + width, 0.0);
      extent[i] = width;
    }
    return at;
  }
};

/// Where the instances of one data set lie, and what is gold there.
class Structure {
 public:
  virtual ~Structure() = default;
  virtual Index outputs() const = 0;
  virtual std::size_t positions() const = 0;
  std::size_t instances() const { return begin().size() - 1; }
  /// Instance i holds the positions [begin()[i], begin()[i+1]).
  virtual std::span<const Index> begin() const = 0;
  /// How many these are.
  std::size_t length(Index instance) const { return begin()[instance + std::size_t{1}] - begin()[instance]; }
  /// The outputs that are on at this position in the gold structure: the label, or the nodes of a path; none
  /// at a candidate that is not the gold one.
  virtual std::span<const Index> gold_outputs(Index position) const = 0;
  /// Number of weights of the oracle's own (chain: K*K transitions; others: 0).
  virtual std::size_t extra_weights() const = 0;
  /// How often each extra weight is on in the gold structures of all instances, size extra_weights(). What a
  /// residual holds for it is the expected number minus this. Throws Error where a gold output is unknown.
  virtual std::vector<double> gold_extra(const Parallel& parallel) const = 0;
};

/// Log-partition, marginals and entropy over all instances: the log loss. Const methods may be called one at
/// a time; each runs in parallel over a fixed partition of the instances, so results do not depend on the
/// number of threads. All throw Error where a gold output is unknown.
class SumOracle {
 public:
  virtual ~SumOracle() = default;
  /// One pass: returns sum_i [A_i - score of the gold structure]; with `residual` (same shape as the scores)
  /// also fills marginals - gold and the gradient with respect to the extra weights.
  virtual double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const = 0;
  /// The same over some instances alone. Scores and residual hold their positions only, one instance after
  /// the other in the order given: stride = padded(number of their positions).
  virtual double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                            const Parallel& parallel) const = 0;
  /// log p(gold) and entropy of every instance, terms.size() == number of instances.
  virtual void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                              const Parallel& parallel) const = 0;
  /// Floating-point operations of a pass at this point by the algorithm's definition: a multiply-add counts
  /// as two, exponentials as none.
  virtual double inference_flops(const ScorePoint& at, bool residual) const = 0;
};

/// Loss and residual of one instance from its own rows of scores. Several threads may call it at once, each
/// with a workspace of its own.
class InstanceOracle {
 public:
  virtual ~InstanceOracle() = default;
  /// Buffers that one thread reuses from call to call.
  struct Workspace {
    Scores scores;
    Residual residual;
  };
  /// Row p - begin()[instance] of `scores` holds those of position p: K numbers at padded(K) apart. Returns
  /// A_i - score of the gold structure. Where `residual` is not null, fills it (same shape, padding 0) and
  /// `extra_residual` (extra_weights() numbers), both with marginals - gold. Throws Error where a gold output
  /// is unknown.
  virtual double infer_instance(Index instance, const double* scores, std::span<const double> extra,
                                double* residual, std::span<double> extra_residual,
                                Workspace& work) const = 0;
};

/// The distribution over one instance's structures as marginals of its cliques: the dual variables of the log
/// loss (Le Priol et al. 2018, section 3). Its entropy, and the KL divergence of two of them, are sums over
/// cliques with a sign: that over pairs of neighbours minus that over the positions that two pairs share;
/// over the leaves of a tree all signs are +. So entropies, divergences and mixtures need no structure.
///
/// Beliefs are size().all() numbers: those of sign +, then those of sign -, each padded to a multiple of
/// kPad. They are kept as logarithms; in the padding stands log 1 = 0, which adds nothing to any of these
/// sums. Several threads may call the methods at once.
class BeliefOracle {
 public:
  struct Size {
    std::size_t positive, negative;  ///< multiples of kPad
    std::size_t all() const { return positive + negative; }
  };
  virtual ~BeliefOracle() = default;
  virtual Size belief_size(Index instance) const = 0;
  /// The model's at these scores (rows as in InstanceOracle): logarithms <= 0, about -708 where a marginal
  /// underflows. Returns A_i - score of the gold structure. Throws Error where a gold output is unknown.
  virtual double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                               double* log_beliefs) const = 0;
  /// Those of the model in which every gold clique, pairs as well as positions, has this score >= 0 and any
  /// other has 0. With 0 it is uniform; a large score leaves nothing but gold.
  virtual void gold_beliefs(Index instance, double score, double* log_beliefs) const = 0;
  /// Probabilities (not logarithms) of the distribution with all mass on one structure: outputs[t] is the
  /// label of the instance's position t, or its leaf. Padding 1.
  virtual void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const = 0;
  /// From numbers on the cliques, probabilities or differences of such, to those of the outputs at each
  /// position (rows as in InstanceOracle, padding 0) and of the extra weights: linear.
  virtual void expectation(Index instance, const double* beliefs, double* rows,
                           std::span<double> extra) const = 0;
  /// Makes probabilities that are nearly marginals, as rounding leaves them, those of one distribution: of a
  /// chain, by its first pair and each later label given the one before.
  virtual void make_consistent(Index instance, double* beliefs) const = 0;
  /// By how much probabilities on the cliques fail to be the marginals of one distribution: the largest
  /// difference between two marginals that should agree, or between a sum and 1. NaN where one is NaN.
  virtual double inconsistency(Index instance, const double* beliefs) const = 0;
};

/// Second moments of one instance: what a dense Hessian of the log loss is made of.
class CovarianceOracle {
 public:
  virtual ~CovarianceOracle() = default;
  /// The covariances of the slots under the model at these scores, a slot being the sum of its values where
  /// its outputs are on.
  virtual void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                           HalfMatrix& out) const = 0;
};

/// How the residual of all instances changes along directions of scores: products with the Hessian of the log
/// loss, no matrix formed. Sums run over the partition of SumOracle. Throws Error where a gold output is
/// unknown.
class DerivativeOracle {
 public:
  virtual ~DerivativeOracle() = default;
  /// What an oracle keeps of a point, so that each direction from there costs less.
  class Messages {
   public:
    virtual ~Messages() = default;
    virtual std::size_t bytes() const = 0;
  };
  /// SumOracle::infer() with a residual, which also keeps the messages. `kept` is made where it is null;
  /// otherwise it came from here, and its memory is used again.
  virtual double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                                const Parallel& parallel) const = 0;
  /// out = d/dt residual(S + t*direction) at t = 0, S the point of the messages: marginals change, gold does
  /// not (OutputColumns::gold is false where outputs share columns). In two inferences' time at most.
  virtual void derivative(const Messages& at, const Scores& direction, Residual& out,
                          const Parallel& parallel) const = 0;
};

/// The N best structures of one instance, exactly and without duplicates. Several threads may call it at
/// once, each with a workspace of its own. Needs no gold outputs.
class NbestOracle {
 public:
  virtual ~NbestOracle() = default;
  struct List {
    std::vector<Index> outputs;  ///< one structure after the other, an output for each position
    std::vector<double> score;   ///< of each structure: its scores and extra weights, summed; descending
  };
  /// Buffers that one thread reuses from call to call.
  class Workspace {
   public:
    virtual ~Workspace() = default;
  };
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;
  /// Fills `out` with the n best, or with all where there are no more than n; n >= 1. The first is that of
  /// Oracle::decode().
  virtual void nbest(const Scores& scores, Index instance, std::size_t n, List& out,
                     Workspace& work) const = 0;
};

/// Loss-augmented maximisation over all instances: the hinge loss. Runs in parallel over a fixed partition,
/// so results do not depend on the number of threads. Throws Error where a gold output is unknown.
class MaxOracle {
 public:
  virtual ~MaxOracle() = default;
  /// Sums over instances: max over y of [cost(y) + score(y)] - score(gold), and the cost of those y.
  struct Sums {
    double loss, cost;
  };
  /// One pass. The loss is NaN where a score is not finite. With `residual` (same shape as the scores) also
  /// fills features of the maximising structures - gold, for each extra weight too: a subgradient of the loss
  /// in the scores.
  virtual Sums maximise(const ScorePoint& at, Cost cost, Residual* residual,
                        const Parallel& parallel) const = 0;
  /// Additions and comparisons of a pass by the algorithm's definition.
  virtual double max_flops(const ScorePoint& at) const = 0;
};

/// The best structure of one instance, and what structures are made of. A structure is an output for each
/// position of its instance, as Oracle::decode() gives them. Several threads may call the methods at once.
class InstanceMaxOracle {
 public:
  virtual ~InstanceMaxOracle() = default;
  /// Of a structure y: its loss cost(y) + score(y) - score(gold), which is 0 of gold, and cost(y).
  struct Value {
    double loss, cost;
  };
  /// Buffers that one thread reuses from call to call.
  struct Workspace {
    AlignedVector<double> rows, matrix;
    std::vector<Index> structure;
  };
  /// The y of the largest loss; of equal ones always the same. Rows of scores as in InstanceOracle. Writes
  /// one output a position. Throws Error where a gold output is unknown.
  virtual Value best_structure(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                               std::span<Index> outputs, Workspace& work) const = 0;
  /// Throws Error where `outputs` are no structure of the instance.
  virtual Value value_of(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                         std::span<const Index> outputs) const = 0;
  virtual void gold_structure(Index instance, std::span<Index> outputs) const = 0;
  /// What Structure::gold_outputs() is for gold: the outputs that are on at a position where a structure has
  /// this one.
  virtual std::span<const Index> outputs_on(Index output) const = 0;
  /// The extra weights that are on, one as often as it is.
  virtual void extra_on(std::span<const Index> outputs, std::vector<std::size_t>& on) const = 0;
};

/// What a structure is made of, for solvers that decompose it into factors: variables, and pairs of them
/// whose scores are extra weights.
class FactorOracle {
 public:
  enum class Shape {
    kChain,  ///< a variable for each position; each two neighbours a pair: extra weight left*K + right
    kLabels  ///< one position an instance, a binary variable for each output; each two of them a pair, whose
             ///< extra weight (row-major above the diagonal) counts where both are on
  };
  virtual ~FactorOracle() = default;
  virtual Shape shape() const = 0;
};

/// Of an oracle for which outputs without a column in the scores need not be looked at one by one. Its scores
/// and residuals have columns for some outputs only (OutputColumns), and a residual has own columns at least
/// for all outputs that the scores have columns for.
class CollapsedOutputs {
 public:
  virtual ~CollapsedOutputs() = default;
  /// The residual of a call of infer() by position, for full gradients. Sums of rows are arrays of basis() >=
  /// K numbers, of which expand() makes those of the outputs in place: kPad sums at once, number i of sum s
  /// at rows[i*kPad + s].
  virtual std::size_t basis() const = 0;
  virtual void compact_rows(const Residual& residual, CompactRows& rows, const Parallel& parallel) const = 0;
  virtual void expand(double* rows) const = 0;
};

/// Exact inference over the instances of one data set.
class Oracle : public Structure {
 public:
  /// Capabilities; null: the oracle does not have it. The objects live as long as the oracle.
  virtual const SumOracle* sum() const { return nullptr; }
  virtual const InstanceOracle* instance() const { return nullptr; }
  virtual const BeliefOracle* beliefs() const { return nullptr; }
  virtual const CovarianceOracle* covariance() const { return nullptr; }
  virtual const DerivativeOracle* derivatives() const { return nullptr; }
  virtual const NbestOracle* nbest() const { return nullptr; }
  virtual const MaxOracle* max() const { return nullptr; }
  virtual const InstanceMaxOracle* instance_max() const { return nullptr; }
  /// In place of max(): over a superset of the structures, so that F with it is at least F.
  virtual const MaxOracle* relaxation() const { return nullptr; }
  virtual const FactorOracle* factors() const { return nullptr; }
  /// How scores and residuals are laid out, not what can be asked: null where every output has a column.
  virtual const CollapsedOutputs* collapsed() const { return nullptr; }

  /// Predicts every position's output, kNoOutput where none is on; of multi-label data whether each label is
  /// on. outputs.size() == Dataset::prediction_size(). Needs no gold outputs.
  virtual void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
                      const Parallel& parallel) const = 0;
};

/// What a solver may ask of an oracle.
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

/// How model files name the extra weights of an oracle: a line each, `word`, the names of the weight and its
/// value (experiments/data/model.h).
struct ExtraWeightNames {
  std::string word;                 ///< "pair"
  std::vector<std::string> fields;  ///< what the names of a weight are, for messages: {"label", "label"}
  /// The names of one extra weight, as many as there are fields; no two weights have the same. Made of the
  /// vocabulary, or the hierarchy, alone.
  std::function<std::vector<std::string>(std::size_t weight, const Dataset& data)> names;
};

/// A registered kind of oracle.
struct OracleInfo {
  std::string name;
  std::string help;
  std::string paper;
  /// Copies what it needs of the data (structure and gold, not X). Throws Error where it cannot serve them.
  std::function<std::unique_ptr<Oracle>(const Dataset&)> make;
  /// Those of every oracle that make() returns: known before there is data.
  std::vector<Capability> capabilities = {Capability::kSum};
  ExtraWeightNames extra = {};  ///< of an oracle that has extra weights
};

/// Throws Error unless the oracle has exactly the capabilities that `info` states.
void check_capabilities(const OracleInfo& info, const Oracle& oracle);

}  // namespace proxbench
