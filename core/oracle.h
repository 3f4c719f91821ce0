#pragma once
/// Inference oracles work on scores alone: they know structure and gold outputs, never a feature.

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dataset.h"
#include "core/parallel.h"
#include "core/types.h"

namespace proxbench {

/// A number for each (output k, position p), stored by output in columns of stride = padded(positions)
/// numbers; and one for each extra weight of the oracle.
///
/// Most oracles have a column for every output: column k is output k's. An oracle that collapses()
/// (hierarchies) has columns for some outputs only:
/// - Scores: outputs without a column have score 0 everywhere.
/// - Residual: outputs without a column of their own share one, value(k, p) = share[k] *
///   column(column_of[k])[p] - [k is in p's gold structure].
struct OutputColumns {
  static constexpr Index kNoColumn = static_cast<Index>(-1);

  OutputColumns() = default;
  /// A column for every output, zero-filled.
  OutputColumns(Index outputs, std::size_t positions, std::size_t extra_weights)
      : columns(outputs),
        stride(padded(positions)),
        values(stride * outputs, 0.0),
        extra(extra_weights, 0.0) {}
  /// No column yet.
  static OutputColumns collapsed(Index outputs, std::size_t positions, std::size_t extra_weights) {
    OutputColumns out(0, positions, extra_weights);
    out.column_of.assign(outputs, kNoColumn);
    return out;
  }

  /// Column i, 0 <= i < columns.
  double* column(std::size_t i) { return values.data() + i * stride; }
  const double* column(std::size_t i) const { return values.data() + i * stride; }
  bool one_each() const { return column_of.empty(); }
  /// The index of the column that output k reads; kNoColumn: none.
  Index column_index(Index k) const { return column_of.empty() ? k : column_of[k]; }
  /// That column; null: none.
  const double* find(Index k) const {
    return column_index(k) == kNoColumn ? nullptr : column(column_index(k));
  }
  /// Whether output k reads a column as it stands (Residual).
  bool owns(Index k) const { return share.empty() || share[k] == 0.0; }

  /// Forgets all columns and gives `n` fresh ones, not filled; column_of is left to the caller.
  void resize_columns(Index n) {
    columns = n;
    values.resize(n * stride);
  }
  /// Gives output k a column of zeros where it has none; returns its index. Not where one_each().
  Index add_column(Index k) {
    if (column_of[k] == kNoColumn) {
      column_of[k] = columns;
      values.resize((columns + std::size_t{1}) * stride);
      std::fill_n(column(columns), stride, 0.0);
      ++columns;
    }
    return column_of[k];
  }

  Index columns = 0;
  std::size_t stride = 0;
  AlignedVector<double> values;  ///< columns * stride
  std::vector<double> extra;
  std::vector<Index> column_of = {};  ///< size K, or empty: one column each
  std::vector<double> share = {};     ///< size K, 0 where the column is the output's own; empty: all are
};

/// S = X W, with the extra weights themselves in `extra`.
using Scores = OutputColumns;
/// R = marginals - gold, with the gradient with respect to the extra weights in `extra`.
using Residual = OutputColumns;

/// A residual by position in a basis of the oracle's own, in which rows are short: row p has the entries
/// [begin[p], begin[p+1]), and Oracle::expand() turns any sum of rows into numbers for the K outputs.
struct CompactRows {
  struct Entry {
    Index slot;
    double value;
  };
  std::vector<std::uint64_t> begin;
  std::vector<Entry> entry;
};

/// The point base + alpha*direction of a line search (direction null: base alone). Extra weights likewise.
struct ScorePoint {
  const Scores& base;
  const Scores* direction = nullptr;
  double alpha = 0.0;
};

/// How outputs are predicted: the most probable structure (Viterbi for chains), or the most probable output
/// at each position by itself, which gets more positions right on average.
enum class Decoding { kStructure, kPositions };

/// What the certified dual bound needs of one instance (DESIGN section 3).
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

/// Exact inference over the instances of one data set. Const methods may be called one at a time; each runs
/// in parallel over a fixed partition of the instances, so results do not depend on the number of threads.
class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual Index outputs() const = 0;
  virtual std::size_t positions() const = 0;
  std::size_t instances() const { return begin().size() - 1; }
  /// Instance i holds the positions [begin()[i], begin()[i+1]).
  virtual std::span<const Index> begin() const = 0;
  /// Number of weights of the oracle's own (chain: K*K transitions; others: 0).
  virtual std::size_t extra_weights() const = 0;
  /// Whether outputs without a column in the scores need not be looked at one by one: then scores and
  /// residuals have columns for some outputs only (see OutputColumns), and a residual has own columns at
  /// least for all outputs that the scores have columns for.
  virtual bool collapses() const { return false; }
  /// The outputs that are on at this position in the gold structure: the label, or the nodes of a path.
  virtual std::span<const Index> gold_outputs(Index position) const = 0;
  /// How often each extra weight is on in the gold structures of all instances, size extra_weights(). What a
  /// residual holds for it is the expected number minus this.
  virtual std::vector<double> gold_extra() const { return std::vector<double>(extra_weights(), 0.0); }

  /// One pass: returns sum_i [A_i - score of the gold structure]; with `residual` (same shape as the scores)
  /// also fills marginals - gold and the gradient with respect to the extra weights.
  /// Requires every gold output known; throws Error otherwise.
  virtual double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const = 0;

  /// The same over some instances alone. Scores and residual hold their positions only, one instance after
  /// the other in the order given: stride = padded(number of their positions).
  virtual double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                            const Parallel& parallel) const = 0;

  /// Whether covariances() can be had.
  virtual bool has_covariances() const { return false; }
  /// Their part of the Hessian of l: the covariances of the slots under the model at these scores, a slot
  /// being the sum of its values where its outputs are on.
  virtual void covariances(const Scores&, std::size_t /*instance*/, const LocalFeatures&,
                           HalfMatrix& /*out*/) const {}

  /// Floating-point operations of a pass at this point by the algorithm's definition, for profiles: a
  /// multiply-add counts as two, exponentials as none. 0: not told.
  virtual double inference_flops(const ScorePoint&, bool /*residual*/) const { return 0.0; }

  /// Only where the oracle collapses(): the residual of a call of infer() by position, for full gradients.
  /// Sums of rows are arrays of basis() >= K numbers, of which expand() makes those of the outputs in place:
  /// kPad sums at once, number i of sum s at rows[i*kPad + s].
  virtual std::size_t basis() const { return outputs(); }
  virtual void compact_rows(const Residual&, CompactRows&, const Parallel&) const {}
  virtual void expand(double* rows) const { (void)rows; }

  /// log p(gold) and entropy of every instance, terms.size() == instances().
  virtual void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                              const Parallel& parallel) const = 0;

  /// Predicts every position's output, outputs.size() == positions(). Needs no gold outputs.
  virtual void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
                      const Parallel& parallel) const = 0;
};

/// A registered kind of oracle.
struct OracleInfo {
  std::string name;
  std::string help;
  std::string paper;
  /// Copies what it needs of the data (structure and gold, not X).
  std::function<std::unique_ptr<Oracle>(const Dataset&)> make;
};

}  // namespace proxbench
