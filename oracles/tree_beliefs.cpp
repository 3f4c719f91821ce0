/// The beliefs of a tree: the log marginals of its leaves.

#include <algorithm>
#include <cmath>

#include "core/kernels/kernel_table.h"
#include "oracles/tree.h"

namespace proxbench {

double TreeOracle::infer_beliefs(Index instance, const double* scores, std::span<const double>,
                                 double* log_beliefs) const {
  require_gold();
  static thread_local std::vector<double> path;
  static thread_local AlignedVector<double> weight;
  path.assign(scores, scores + outputs());
  for (Index k = 0; k < outputs(); ++k)
    if (tree_->parent(k) != Hierarchy::kNone) path[k] += path[tree_->parent(k)];
  double largest = path[leaves_[0]];
  for (const Index leaf : leaves_) largest = std::max(largest, path[leaf]);
  const std::size_t n = leaves_.size();
  weight.assign(padded(n), -1e3);
  for (std::size_t i = 0; i < n; ++i) weight[i] = path[leaves_[i]] - largest;
  kernels_in_use().exponentiate(weight.data(), weight.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += weight[i];
  // The largest is taken off first: log Z has the rounding of large scores.
  const double log_sum = std::log(sum);
  for (std::size_t i = 0; i < n; ++i) log_beliefs[i] = std::min(path[leaves_[i]] - largest - log_sum, 0.0);
  std::fill(log_beliefs + n, log_beliefs + padded(n), 0.0);
  return log_sum + (largest - path[gold_[instance]]);
}

/// The number of a leaf among the leaves.
std::size_t TreeOracle::leaf_number(Index leaf) const {
  return static_cast<std::size_t>(std::lower_bound(leaves_.begin(), leaves_.end(), leaf) - leaves_.begin());
}

void TreeOracle::structure_beliefs(Index, std::span<const Index> outputs, double* beliefs) const {
  std::fill(beliefs, beliefs + leaves_.size(), 0.0);
  std::fill(beliefs + leaves_.size(), beliefs + padded(leaves_.size()), 1.0);
  beliefs[leaf_number(outputs[0])] = 1.0;
}

void TreeOracle::gold_beliefs(Index instance, double score, double* log_beliefs) const {
  require_gold();
  const std::size_t n = leaves_.size();
  // Relative to the gold leaf: 1 + (n - 1) * exp(-score).
  const double log_partition = std::log1p((static_cast<double>(n) - 1.0) * std::exp(-score));
  std::fill(log_beliefs, log_beliefs + n, -score - log_partition);
  std::fill(log_beliefs + n, log_beliefs + padded(n), 0.0);
  log_beliefs[leaf_number(gold_[instance])] = -log_partition;
}

void TreeOracle::expectation(Index, const double* beliefs, double* rows, std::span<double>) const {
  std::fill(rows, rows + padded(outputs()), 0.0);
  for (std::size_t i = 0; i < leaves_.size(); ++i) rows[leaves_[i]] = beliefs[i];
  for (Index k = outputs(); k-- > 0;)
    if (tree_->parent(k) != Hierarchy::kNone) rows[tree_->parent(k)] += rows[k];
}

void TreeOracle::make_consistent(Index, double* beliefs) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < leaves_.size(); ++i) sum += beliefs[i];
  for (std::size_t i = 0; i < leaves_.size(); ++i) beliefs[i] /= sum;
}

double TreeOracle::inconsistency(Index, const double* beliefs) const {
  double sum = 0.0, least = 0.0;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    sum += beliefs[i];
    least = std::min(least, beliefs[i]);
  }
  return std::max(std::abs(sum - 1.0), -least);
}

}  // namespace proxbench
