#pragma once
/// Draws an index with probability proportional to its weight. Drawing and changing a weight take O(log n).

#include <bit>
#include <cstddef>
#include <vector>

namespace proxbench {

/// A binary tree whose leaves are n weights >= 0 and whose inner nodes hold sums. A sum is formed afresh
/// whenever one of its two children changes, so rounding never builds up.
class SumTree {
 public:
  explicit SumTree(std::size_t n, double weight = 0.0) : first_(std::bit_ceil(n)), sum_(2 * first_, 0.0) {
    for (std::size_t i = 0; i < n; ++i) sum_[first_ + i] = weight;
    for (std::size_t node = first_; node-- > 1;) sum_[node] = sum_[2 * node] + sum_[2 * node + 1];
  }
  double total() const { return sum_[1]; }
  double operator[](std::size_t i) const { return sum_[first_ + i]; }
  void set(std::size_t i, double weight) {
    std::size_t node = first_ + i;
    sum_[node] = weight;
    while ((node /= 2) > 0) sum_[node] = sum_[2 * node] + sum_[2 * node + 1];
  }
  /// Returns the index whose share of [0, total()) contains `at`. Never returns an index of weight 0.
  /// Requires total() > 0.
  std::size_t find(double at) const {
    std::size_t node = 1;
    while (node < first_) {
      node *= 2;
      if (sum_[node + 1] > 0.0 && (at >= sum_[node] || sum_[node] == 0.0)) at -= sum_[node++];
    }
    return node - first_;
  }

 private:
  std::size_t first_;
  std::vector<double> sum_;  ///< node i has the children 2i and 2i + 1; the leaves start at first_
};

}  // namespace proxbench
