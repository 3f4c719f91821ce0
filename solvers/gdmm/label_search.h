#pragma once
/// Finds the best label of one position. The cost grows with the nonzero weights of the position's features,
/// not with K (Yen et al. 2016, section 3.2: multiclass search over an index by feature).

#include <span>
#include <vector>

#include "core/data/design_matrix.h"
#include "solvers/gdmm/label_messages.h"

namespace proxbench {

/// Unary weights: for each feature a dense row of padded(K) numbers, and a list of the labels whose weight
/// was ever nonzero.
class IndexedWeights {
 public:
  /// Borrows X.
  IndexedWeights(const DesignMatrix& x, Index labels);

  Index labels() const { return labels_; }
  double at(Index feature, Index label) const { return rows_[feature * width_ + label]; }
  /// The labels of a feature whose weight may be nonzero, in the order in which they were added.
  std::span<const Index> labels_of(Index feature) const { return labels_of_[feature]; }
  void add(Index feature, Index label, double change);
  /// w[., label] += step * (features of this position).
  void add_features(Index position, Index label, double step);
  /// Adds the scores of all labels at a position to a row of padded(K) numbers.
  void add_scores(Index position, double* row) const;
  /// The score of one label at a position.
  double score(Index position, Index label) const;
  SparseVector nonzeros() const;
  const DesignMatrix& x() const { return x_; }

 private:
  const DesignMatrix& x_;
  Index labels_;
  std::size_t width_;
  AlignedVector<double> rows_;
  std::vector<bool> known_;  ///< by feature and label: whether labels_of_ has it
  std::vector<std::vector<Index>> labels_of_;
};

struct LabelChoice {
  Index label;
  double value;
};

/// The search, with buffers for one thread.
class LabelSearch {
 public:
  explicit LabelSearch(Index labels) : score_(padded(labels), 0.0), seen_(labels, false) {}

  /// Returns the label k that maximises score(k) + cost * [k is not gold] + message[k], and the maximum.
  LabelChoice best(const IndexedWeights& w, Index position, Index gold, double cost,
                   const LabelMessages& message);
  /// Does the same as best() by computing all K scores.
  LabelChoice best_by_force(const IndexedWeights& w, Index position, Index gold, double cost,
                            const LabelMessages& message);

 private:
  AlignedVector<double> score_;
  std::vector<bool> seen_;
  std::vector<Index> touched_;
};

}  // namespace proxbench
