#pragma once
/// Sorts numbers into groups.

#include <cstddef>
#include <span>
#include <vector>

namespace proxbench {

/// The numbers 0..n-1 by group, ascending within each group.
class Grouping {
 public:
  /// group_of(i) < groups is the group of each i < n.
  template <class GroupOf>
  Grouping(std::size_t n, std::size_t groups, const GroupOf& group_of) : begin_(groups + 1, 0), order_(n) {
    for (std::size_t i = 0; i < n; ++i) ++begin_[group_of(i) + 1];
    for (std::size_t g = 0; g < groups; ++g) begin_[g + 1] += begin_[g];
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < n; ++i) order_[next[group_of(i)]++] = i;
  }
  std::size_t groups() const { return begin_.size() - 1; }
  std::span<const std::size_t> of(std::size_t group) const {
    return std::span(order_).subspan(begin_[group], begin_[group + 1] - begin_[group]);
  }

 private:
  std::vector<std::size_t> begin_, order_;
};

}  // namespace proxbench
