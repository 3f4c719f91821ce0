/// Viterbi: the label sequence with the largest score, or with the largest cost + score.

#include <algorithm>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"

namespace proxbench {

namespace {

/// After this many positions, the largest number of a row of sums is subtracted from the row. So the sums
/// stay small on long sequences, and equal sums stay equal.
constexpr std::size_t kPositionsBetween = 16;

/// The cost of one wrong position.
double cost_of_position(Cost cost, std::size_t length) {
  return cost == Cost::kHammingMean ? 1.0 / static_cast<double>(length) : 1.0;
}

}  // namespace

/// Finds the best label sequence of n positions. Among equal sequences, it is the one with the smaller label
/// at the last position where they differ. At position t each label except gold[t] gains `wrong`. Without
/// costs `gold` is null and `wrong` is 0.
void ChainOracle::viterbi(const double* scores, std::span<const double> extra, const Index* gold,
                          double wrong, std::span<Index> best_labels) const {
  static thread_local AlignedVector<double> rows, padded_matrix;
  const std::size_t labels = outputs_, width = padded(outputs_), n = best_labels.size();
  const double* matrix = extra.data();
  if (labels != width) {
    padded_matrix.resize(labels * width);
    for (std::size_t a = 0; a < labels; ++a)
      std::copy_n(extra.data() + a * labels, labels, padded_matrix.data() + a * width);
    matrix = padded_matrix.data();
  }
  // Row t of `best` holds the best cost + score up to position t for each label there. Row t of `before` is
  // the same without the terms of position t. The backtracking uses it.
  rows.resize(2 * n * width);
  double* const best = rows.data();
  double* const before = best + n * width;
  for (std::size_t t = 0; t < n; ++t) {
    double* const row = best + t * width;
    const double* const score = scores + t * width;
    double* const from = before + t * width;
    if (t == 0)
      std::fill_n(from, width, 0.0);
    else
      chain_kernels().row_times_matrix(row - width, labels, matrix, width, from);
    for (std::size_t k = 0; k < width; ++k) row[k] = from[k] + (score[k] + wrong);
    if (gold != nullptr) row[gold[t]] = from[gold[t]] + score[gold[t]];
    if ((t + 1) % kPositionsBetween != 0) continue;
    const double largest = *std::max_element(row, row + labels);
    for (std::size_t k = 0; k < width; ++k) row[k] -= largest;
  }
  const double* const last = best + (n - 1) * width;
  std::size_t label = static_cast<std::size_t>(std::max_element(last, last + labels) - last);
  for (std::size_t t = n; t-- > 0;) {
    best_labels[t] = static_cast<Index>(label);
    if (t == 0) break;
    const double reached = before[t * width + label];
    const double* const row = best + (t - 1) * width;
    std::size_t earlier = 0;
    while (earlier + 1 < labels && row[earlier] + matrix[earlier * width + label] != reached) ++earlier;
    label = earlier;
  }
}

LossAndCost ChainOracle::best_structure(Index instance, Cost cost, const double* scores,
                                        std::span<const double> extra, std::span<Index> outputs) const {
  require_gold();
  viterbi(scores, extra, gold_of(instance).data(), cost_of_position(cost, outputs.size()), outputs);
  return value_of(instance, cost, scores, extra, outputs);
}

void ChainOracle::scores_of(Index instance, const double* scores, std::span<const double> extra,
                            std::span<const Index> outputs, std::span<double> out) const {
  const std::size_t labels = outputs_, width = padded(outputs_), n = length(instance);
  const Index* const gold = gold_of(instance).data();
  for (std::size_t a = 0; a < out.size(); ++a) {
    const Index* const y = outputs.data() + a * n;
    CompensatedSum sum;
    for (std::size_t t = 0; t < n; ++t) {
      sum.add(scores[t * width + y[t]] - scores[t * width + gold[t]]);
      if (t > 0) sum.add(extra[y[t - 1] * labels + y[t]] - extra[gold[t - 1] * labels + gold[t]]);
    }
    out[a] = sum.value();
  }
}

double ChainOracle::cost_of(Index instance, Cost cost, std::span<const Index> outputs) const {
  const std::span<const Index> gold = gold_of(instance);
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    if (outputs[t] >= outputs_)
      throw Error("instance ", instance, ": found label ", outputs[t], ", expected one of ", outputs_);
    wrong += outputs[t] != gold[t];
  }
  return static_cast<double>(wrong) * cost_of_position(cost, gold.size());
}

void ChainOracle::extra_on(std::span<const Index> outputs, std::vector<std::size_t>& on) const {
  on.clear();
  for (std::size_t t = 1; t < outputs.size(); ++t)
    on.push_back(std::size_t{outputs[t - 1]} * outputs_ + outputs[t]);
}

}  // namespace proxbench
