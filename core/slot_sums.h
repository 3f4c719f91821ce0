#pragma once
/// Sums of rows with few entries each, over a tree of leaves (core/base/sum.h).

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/sum.h"
#include "core/scores.h"

namespace proxbench {

/// Sums terms by slot. The result has the same bits as adding each slot's terms in their order within a leaf,
/// and then the leaves over the tree.
class SlotSums {
 public:
  /// Sets the tree and the number of slots. numbers[leaf] is as in LeafTree, and is borrowed. Keeps the
  /// memory of earlier sums.
  void prepare(std::span<const std::uint32_t> numbers, std::size_t slots) {
    numbers_ = numbers;
    slots_ = slots;
  }
  /// Begins a node of the tree. Its sums are added to out[slot * step], which must be zeros.
  void begin(double* out, std::size_t step) {
    out_ = out;
    step_ = step;
    count_ = 0;
  }
  /// Begins a leaf of the node: the next terms belong to it. Leaves must come in ascending order.
  void open(std::uint32_t leaf) {
    if (count_ > 0 && leaf_[count_ - 1] == leaf) return;
    if (count_ > 0) {
      const int level = common_level(numbers_[leaf_[count_ - 1]], numbers_[leaf]);
      while (count_ > 1 && common_level(numbers_[leaf_[count_ - 2]], numbers_[leaf_[count_ - 1]]) < level)
        merge();
    }
    leaf_[count_++] = leaf;
    if (count_ > 1 && waiting_[count_ - 2].sum.size() < slots_) waiting_[count_ - 2].sum.resize(slots_);
  }
  /// Adds x times each entry of a row, in the order of the entries.
  void add(std::span<const CompactRows::Entry> row, double x) {
    if (count_ == 1) {
      double* const out = out_;
      const std::size_t step = step_;
      for (const CompactRows::Entry& entry : row) out[entry.slot * step] += x * entry.value;
    } else {
      Part& part = waiting_[count_ - 2];
      double* const sum = part.sum.data();
      for (const CompactRows::Entry& entry : row) {
        if (sum[entry.slot] == 0.0) part.touched.push_back(entry.slot);
        sum[entry.slot] += x * entry.value;
      }
    }
  }
  /// Completes the node.
  void finish() {
    while (count_ > 1) merge();
    count_ = 0;
  }

 private:
  /// The sums of a subtree that waits for others. All slots are zero except the listed ones; a slot may be
  /// listed twice.
  struct Part {
    std::vector<double> sum;
    std::vector<Index> touched;
  };
  /// Adds the last subtree to the one before it.
  void merge() {
    Part& from = waiting_[--count_ - 1];
    Part* const to = count_ > 1 ? &waiting_[count_ - 2] : nullptr;
    for (const Index slot : from.touched) {
      const double sum = std::exchange(from.sum[slot], 0.0);
      if (to == nullptr) {
        out_[slot * step_] += sum;
        continue;
      }
      if (to->sum[slot] == 0.0) to->touched.push_back(slot);
      to->sum[slot] += sum;
    }
    from.touched.clear();
  }

  std::span<const std::uint32_t> numbers_;
  std::size_t slots_ = 0, step_ = 1, count_ = 0;
  double* out_ = nullptr;
  std::array<std::uint32_t, kWaitingSums> leaf_;  ///< the first leaf of each unfinished subtree
  /// The sums of all unfinished subtrees but the first. The sums of the first are in `out`.
  std::array<Part, kWaitingSums - 1> waiting_;
};

}  // namespace proxbench
