#pragma once
/// Many sums over a tree of leaves (core/base/sum.h) that have a few terms each.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/sum.h"

namespace proxbench {

/// Sums of terms by slot. The bits are those of adding each slot's terms within a leaf in their order, and
/// its leaves over the tree.
class SlotSums {
 public:
  /// numbers[leaf] as in LeafTree; borrowed.
  SlotSums(std::span<const std::uint32_t> numbers, std::size_t slots) : numbers_(numbers), slots_(slots) {}

  /// Leaves ascend. All terms up to finish() are of one node of the tree.
  void add(std::size_t slot, std::uint32_t leaf, double term) {
    Sum& sum = slots_[slot];
    if (sum.leaf == leaf) {
      sum.value += term;
    } else if (sum.leaf == kNone) {
      touched_.push_back(static_cast<std::uint32_t>(slot));
      sum = {0.0 + term, leaf, kNone};  // never -0, as any other sum
    } else {
      const int level = common_level(numbers_[sum.leaf], numbers_[leaf]);
      while (sum.before != kNone &&
             common_level(numbers_[waiting_[sum.before].leaf], numbers_[sum.leaf]) < level)
        merge(sum);
      waiting_.push_back(sum);
      sum = {0.0 + term, leaf, static_cast<std::uint32_t>(waiting_.size() - 1)};
    }
  }

  /// out[slot * step] = its sum, of the slots that have terms, and forgets all terms.
  void finish(double* out, std::size_t step) {
    for (const std::uint32_t slot : touched_) {
      Sum& sum = slots_[slot];
      while (sum.before != kNone) merge(sum);
      out[slot * step] = sum.value;
      sum = Sum{};
    }
    touched_.clear();
    waiting_.clear();
  }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  struct Sum {
    double value = 0.0;
    std::uint32_t leaf = kNone;    ///< the first of its subtree
    std::uint32_t before = kNone;  ///< what waits for it, in waiting_
  };
  void merge(Sum& sum) const {
    const Sum& before = waiting_[sum.before];
    sum = {before.value + sum.value, before.leaf, before.before};
  }

  std::span<const std::uint32_t> numbers_;
  std::vector<Sum> slots_, waiting_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace proxbench
