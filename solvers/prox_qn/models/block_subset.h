#pragma once
/// A BlockMetric on some of its rows alone, in single precision: half the bytes, and without the rows that
/// have left the working set since the blocks were made; and the inverses of its small blocks.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/types.h"
#include "solvers/prox_qn/models/block_metric.h"

namespace proxbench {

class BlockSubset {
 public:
  /// Rows of a block whose inverse costs less than the iterations that it spares.
  static constexpr std::size_t kMostInverted = 256;

  /// Nothing happens where it is that of these rows already.
  void take(const BlockMetric& metric, std::span<const std::uint32_t> rows, const Parallel& parallel);
  /// Inverts those of its blocks that are no larger than kMostInverted. One that was inverted on nearly the
  /// same rows stays. `metric`: that of take().
  void invert(const BlockMetric& metric, const Parallel& parallel);

  /// out = B0 x, both aligned with the rows.
  void multiply(std::span<const double> x, std::span<double> out, const Parallel& parallel);
  /// out = factor * B0^-1 x, nearly: symmetric, positive definite, with the inverses of the blocks of
  /// invert(). Leaves `out` as it is in rows that none of them is on.
  void precondition(std::span<const double> x, double factor, std::span<double> out,
                    const Parallel& parallel) const;

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  struct Block {
    std::size_t first = 0, width = 0;  ///< of its numbers in x_ and product_
    AlignedVector<float> dense;        ///< rows of `width`
    std::vector<std::size_t> begin;    ///< of sparse rows; empty: dense
    std::vector<std::uint32_t> slot;
    std::vector<float> value;
    std::vector<std::uint32_t> inverted;  ///< slots that `inverse` is on, ascending
    AlignedVector<float> inverse;         ///< rows of padded_single(inverted.size())
    std::vector<std::uint32_t> place;  ///< of the block's rows in `inverted`, or kNone; empty: not looked for

    std::size_t find(std::span<const std::uint32_t> slots);
    void invert(const SymmetricBlock& from, std::span<const std::uint32_t> slots,
                std::span<const double> excess);
  };

  /// Places in the list of rows that are in block b, ascending; b = blocks_.size(): in none.
  std::span<const std::uint32_t> places(std::size_t b) const {
    return {order_.data() + begin_[b], begin_[b + 1] - begin_[b]};
  }
  std::vector<std::uint32_t> slots(const BlockMetric& metric, std::size_t b) const;
  void sort_by_block(const BlockMetric& metric);
  void make_room(const BlockMetric& metric);
  void copy_block(const BlockMetric& metric, std::size_t b);
  void cut_tasks();

  std::vector<std::uint32_t> rows_;
  std::uint64_t version_ = 0, built_ = 0;  ///< those of the metric
  std::vector<std::size_t> begin_;    ///< of the rows of each block in order_; those without one come last
  std::vector<std::uint32_t> order_;  ///< places in the list of rows, by block
  std::vector<double> excess_;        ///< by place
  std::vector<Block> blocks_;
  std::vector<std::size_t> task_begin_;  ///< blocks cut into tasks of about equal numbers
  double numbers_ = 0.0;                 ///< of all blocks
  AlignedVector<float> x_, product_;
};

}  // namespace proxbench
