#pragma once
/// Finds the best label pair of a pair factor in far fewer than K*K steps (Yen et al. 2016, "Dual decomposed
/// learning with factorwise oracles", appendix 7.1).

#include <set>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "solvers/gdmm/label_messages.h"

namespace proxbench {

/// The K*K weights v of label pairs. The nonzero weights are kept sorted three times: all together, by row,
/// and by column.
class PairWeights {
 public:
  /// If `sorted` is false, weights are left unsorted. Only best_pair_by_force() may read them then.
  explicit PairWeights(Index labels, bool sorted = true);

  Index labels() const { return labels_; }
  double at(Index left, Index right) const { return value_[cell(left, right)]; }
  /// Takes O(log K) if weights are kept sorted.
  void set(Index left, Index right, double weight);
  void add(Index left, Index right, double change) { set(left, right, at(left, right) + change); }

  /// All weights, row-major.
  const std::vector<double>& values() const { return value_; }
  /// Pairs (-weight, row-major number or label). Weights descend; equal weights are in order of number.
  using Sorted = std::set<std::pair<double, std::uint64_t>>;
  const Sorted& sorted() const { return all_; }
  /// The nonzero weights with this label at the left, with the label at the right.
  const Sorted& row(Index left) const { return rows_[left]; }
  /// The nonzero weights with this label at the right, with the label at the left.
  const Sorted& column(Index right) const { return columns_[right]; }

 private:
  std::uint64_t cell(Index left, Index right) const { return std::uint64_t{left} * labels_ + right; }

  Index labels_;
  bool sorted_;
  std::vector<double> value_;
  Sorted all_;
  std::vector<Sorted> rows_, columns_;
};

struct PairChoice {
  Index left, right;
  double value;
};

/// Returns the pair (a, b) that maximises v(a, b) + left[a] + right[b], and the maximum. There are four
/// cases, by which of the two messages are zero. A case with a zero message walks through the weights in
/// descending order until it finds a weight of this case. With n nonzero messages at each end and few weights
/// that belong to another case, the search takes O(n*n) steps.
PairChoice best_pair(const PairWeights& v, const LabelMessages& left, const LabelMessages& right);

/// Does the same as best_pair() by looking at all K*K pairs.
PairChoice best_pair_by_force(const PairWeights& v, const LabelMessages& left, const LabelMessages& right);

}  // namespace proxbench
