#pragma once
/// Inference oracles work on scores alone: they know structure and gold outputs, never a feature.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dataset.h"
#include "core/parallel.h"
#include "core/types.h"

namespace proxbench {

/// A number for each (output k, position p), stored by output: value(k, p) = values[k*stride + p], stride =
/// padded(positions); and one for each extra weight of the oracle.
struct OutputColumns {
  OutputColumns() = default;
  OutputColumns(Index outputs, std::size_t positions, std::size_t extra_weights)
      : stride(padded(positions)), values(stride * outputs, 0.0), extra(extra_weights, 0.0) {}
  std::span<double> column(Index k) { return {values.data() + k * stride, stride}; }
  std::span<const double> column(Index k) const { return {values.data() + k * stride, stride}; }

  std::size_t stride = 0;
  AlignedVector<double> values;
  std::vector<double> extra;
};

/// S = X W, with the extra weights themselves in `extra`.
using Scores = OutputColumns;
/// R = marginals - gold, with the gradient with respect to the extra weights in `extra`.
using Residual = OutputColumns;

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

/// Exact inference over the instances of one data set. Const methods may be called one at a time; each runs
/// in parallel over a fixed partition of the instances, so results do not depend on the number of threads.
class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual Index outputs() const = 0;
  virtual std::size_t positions() const = 0;
  virtual std::size_t instances() const = 0;
  /// Number of weights of the oracle's own (chain: K*K transitions; others: 0).
  virtual std::size_t extra_weights() const = 0;

  /// One pass: returns sum_i [A_i - score of the gold structure]; with `residual` (same shape as the scores)
  /// also fills marginals - gold and the gradient with respect to the extra weights.
  /// Requires every gold output known; throws Error otherwise.
  virtual double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const = 0;

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
