#pragma once
/// X: positions x features, sparse, kept twice: by position (rows) and by feature (columns, the paper's
/// feature-indexed data structure, Zhong et al. 2014, section 2.3).

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/kernel_table.h"
#include "core/base/types.h"

namespace proxbench {

/// Immutable once built. Rows and columns are sorted by index; where every stored value is 1 no values are
/// kept.
///
/// Columns are cut into blocks of positions. A block's piece of a score or residual column stays in the
/// first-level cache, and an entry within it takes two bytes: walking columns is bound by memory, so that
/// counts.
class DesignMatrix {
 public:
  /// Adds positions one after the other.
  class Builder {
   public:
    /// Appends an entry to the current position. Entries of one position may come in any order; duplicates of
    /// a feature within one position are summed. Zero values are dropped.
    void add(Index feature, double value);
    void end_position();
    /// features >= 1 + the largest index added; throws Error when an index is beyond it.
    DesignMatrix build(Index features) &&;

   private:
    std::vector<std::uint64_t> begin_{0};
    std::vector<Index> index_;
    std::vector<double> value_;
    bool binary_ = true;
    friend class DesignMatrix;
  };

  Index positions() const { return positions_; }
  Index features() const { return features_; }
  std::uint64_t nonzeros() const { return row_index_.size(); }
  /// True where every stored value is 1 (then the value spans are empty).
  bool binary() const { return row_value_.empty(); }
  std::size_t memory_bytes() const;

  std::span<const Index> row(Index position) const { return slice(row_index_, row_begin_, position); }
  std::span<const double> row_values(Index position) const { return slice(row_value_, row_begin_, position); }

  /// The matrix of these features alone (ascending), renumbered from 0; all positions stay.
  DesignMatrix select_features(std::span<const Index> features) const;

  /// Positions in the largest block: an offset takes two bytes.
  static constexpr std::size_t kLargestBlock = 65536;
  /// Block b holds the positions [b*block_positions(), (b+1)*block_positions()), the last one maybe fewer.
  std::size_t blocks() const { return blocks_; }
  std::size_t block_positions() const { return block_positions_; }
  /// The entries of one column in one block.
  ColumnBlock column_block(Index feature, std::size_t block) const {
    const std::uint32_t* bounds = block_bound_.data() + feature * (blocks_ + 1) + block;
    const std::uint64_t at = column_begin_[feature] + bounds[0];
    return {column_offset_.data() + at, column_value_.empty() ? nullptr : column_value_.data() + at,
            bounds[1] - bounds[0]};
  }
  std::size_t column_size(Index feature) const {
    return column_begin_[feature + std::size_t{1}] - column_begin_[feature];
  }
  /// The positions of a column put together again; kernels read its blocks instead.
  std::vector<Index> column(Index feature) const;
  std::span<const double> column_values(Index feature) const {
    return slice(column_value_, column_begin_, feature);
  }

 private:
  template <class T>
  static std::span<const T> slice(const std::vector<T>& all, const std::vector<std::uint64_t>& begin,
                                  Index i) {
    if (all.empty()) return {};
    return {all.data() + begin[i], all.data() + begin[i + 1]};
  }
  void index_columns();

  Index positions_ = 0, features_ = 0;
  std::size_t blocks_ = 1, block_positions_ = 1;
  std::vector<std::uint64_t> row_begin_{0}, column_begin_{0};
  std::vector<Index> row_index_;
  std::vector<std::uint16_t> column_offset_;
  std::vector<std::uint32_t>
      block_bound_;  ///< features x (blocks + 1): where each block begins within its column
  std::vector<double> row_value_, column_value_;
};

}  // namespace proxbench
