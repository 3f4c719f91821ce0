#pragma once
/// Maximisation over the label pairs of one pair factor in far less than K*K steps (Yen et al. 2016, "Dual
/// decomposed learning with factorwise oracles", appendix 7.1).

#include <set>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "solvers/gdmm/label_messages.h"

namespace proxbench {

/// The K*K weights v of label pairs. Those that are not zero are kept sorted: all of them, those of each row
/// and those of each column.
class PairWeights {
 public:
  /// Not `sorted`: they are not kept in order, for best_pair_by_force() alone.
  explicit PairWeights(Index labels, bool sorted = true);

  Index labels() const { return labels_; }
  double at(Index left, Index right) const { return value_[cell(left, right)]; }
  /// O(log K) where it or the weight before is not zero.
  void set(Index left, Index right, double weight);
  void add(Index left, Index right, double change) { set(left, right, at(left, right) + change); }

  /// Row-major.
  const std::vector<double>& values() const { return value_; }
  /// (-weight, row-major number or label): descending by weight, then ascending by label.
  using ByCell = std::set<std::pair<double, std::uint64_t>>;
  using ByLabel = std::set<std::pair<double, Index>>;
  const ByCell& sorted() const { return all_; }
  /// Those with this label at the left, by the label at the right.
  const ByLabel& row(Index left) const { return rows_[left]; }
  /// Those with this label at the right, by the label at the left.
  const ByLabel& column(Index right) const { return columns_[right]; }

 private:
  std::uint64_t cell(Index left, Index right) const { return std::uint64_t{left} * labels_ + right; }

  Index labels_;
  bool sorted_;
  std::vector<double> value_;
  ByCell all_;
  std::vector<ByLabel> rows_, columns_;
};

struct PairChoice {
  Index left, right;
  double value;
};

/// The pair (a, b) of largest v(a, b) + left[a] + right[b], and that value. Four cases, by which of the two
/// messages are zero; each looks at weights in descending order until the first that belongs to it. With n
/// nonzero messages at an end and few that belong to no case, that is O(n*n + n log) steps.
PairChoice best_pair(const PairWeights& v, const LabelMessages& left, const LabelMessages& right);

/// The same by looking at all K*K pairs.
PairChoice best_pair_by_force(const PairWeights& v, const LabelMessages& left, const LabelMessages& right);

}  // namespace proxbench
