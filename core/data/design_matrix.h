#pragma once
/// X: positions x features, sparse, kept twice: by position (rows) and by feature (columns, the paper's
/// feature-indexed data structure, Zhong et al. 2014, section 2.3).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/processes.h"
#include "core/base/sum.h"
#include "core/base/types.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

/// Immutable once built. Rows and columns are sorted by index. Values are kept of those features alone that
/// have another value than 1 somewhere.
///
/// Columns are cut into blocks of positions. An entry within a block takes two bytes: walking columns is
/// bound by memory, so that counts. Where columns are long, every block lies within a leaf of the sums over
/// positions (core/base/sum.h), and is so small that its piece of a score or residual column stays in the
/// first-level cache. Of a column only the blocks that hold an entry are listed, so that memory follows the
/// nonzeros: an entry takes 6 bytes, 16 more where its feature has values, and at most 8 for its block; a
/// feature 12 bytes, 8 more where there are several blocks and 8 where there are values; a position 1 byte.
class DesignMatrix {
 public:
  /// Adds positions one after the other.
  class Builder {
   public:
    /// Appends an entry to the current position. Entries of one position may come in any order; duplicates of
    /// a feature within one position are summed. Zero values are dropped.
    void add(Index feature, double value);
    void end_position();
    /// Gives feature j the number number[j], at all positions so far.
    void renumber(std::span<const Index> number);
    /// The entries of position p, to be given to another builder.
    std::span<const Index> row(std::size_t p) const {
      return {index_.data() + begin_[p], index_.data() + begin_[p + 1]};
    }
    double value(std::size_t p, std::size_t entry) const { return binary_ ? 1.0 : value_[begin_[p] + entry]; }
    /// features >= 1 + the largest index added; throws Error when an index is beyond it. `leaves`: of the
    /// instances that these positions belong to; without them all positions are one leaf.
    DesignMatrix build(Index features, SumLeaves leaves = {}) &&;

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
  /// True where every stored value is 1 (then there are no values).
  bool binary() const { return row_value_.empty(); }
  std::size_t memory_bytes() const;

  std::span<const Index> row(Index position) const { return slice(row_index_, row_begin_, position); }
  /// visit(feature, value) for the entries of a position, in their order.
  template <class Visit>
  void for_each_entry(Index position, const Visit& visit) const {
    const double* value = binary() ? nullptr : row_value_.data() + row_value_begin_[position];
    for (const Index j : row(position)) visit(j, value != nullptr && has_values(j) ? *value++ : 1.0);
  }
  /// For kernels: the values alone. Empty where binary(). Points into `scratch`, which it fills, where a
  /// feature of the row has no values.
  std::span<const double> row_values(Index position, std::vector<double>& scratch) const;
  /// A copy of them.
  std::vector<double> row_values(Index position) const;

  /// The matrix of these features alone (ascending), renumbered from 0; all positions stay.
  DesignMatrix select_features(std::span<const Index> features) const;

  /// The leaves of sums over positions.
  const SumLeaves& leaves() const { return leaves_; }
  /// Makes these the leaves. Costs as much as indexing all columns, unless they are the leaves already.
  void set_leaves(SumLeaves leaves);

  /// From now on these are some of the positions of a larger matrix, which the processes have among them. The
  /// same features on all.
  void share(const Processes& processes);
  bool shared() const { return !whole_column_.empty(); }
  /// Of that larger matrix, where there is one, and else of this: what all processes agree on.
  std::uint64_t whole_positions() const { return whole_column_.empty() ? positions_ : whole_positions_; }
  std::uint64_t whole_nonzeros() const { return whole_column_.empty() ? nonzeros() : whole_nonzeros_; }
  std::uint64_t whole_column_size(Index feature) const {
    return whole_column_.empty() ? column_size(feature) : whole_column_[feature];
  }

  /// The most entries of a column in one leaf, over all processes.
  std::size_t most_in_leaf(Index feature) const { return most_in_leaf_[feature]; }

  /// Positions in the largest block: an offset takes two bytes.
  static constexpr std::size_t kLargestBlock = 65536;
  /// Block b holds the positions [block_begin(b), block_begin(b + 1)).
  std::size_t blocks() const { return block_begin_.size() - 1; }
  std::size_t block_begin(std::size_t block) const { return block_begin_[block]; }
  /// Whether every block lies within one leaf.
  bool blocks_within_leaves() const { return blocks_within_leaves_; }
  /// The leaf, one of leaves().size(), that holds each position of a block.
  const std::uint8_t* leaf_of(std::size_t block) const { return leaf_of_.data() + block_begin_[block]; }
  /// The entries of one column in one block; its values are null where binary().
  ColumnBlock column_block(Index feature, std::size_t block) const {
    const std::uint64_t begin = column_begin_[feature];
    if (blocks() == 1) return entries(feature, 0, column_begin_[feature + std::size_t{1}] - begin);
    const Piece *first = pieces_.data() + piece_begin_[feature],
                *last = pieces_.data() + piece_begin_[feature + std::size_t{1}], *piece = first + block;
    if (last - first != static_cast<std::ptrdiff_t>(blocks())) {
      piece = std::lower_bound(first, last, block, [](const Piece& p, std::size_t b) { return p.block < b; });
      if (piece == last || piece->block != block) return {nullptr, nullptr, 0};
    }
    return entries(feature, piece->begin, piece + 1 == last ? column_size(feature) : piece[1].begin);
  }
  std::size_t column_size(Index feature) const {
    return column_begin_[feature + std::size_t{1}] - column_begin_[feature];
  }
  /// The positions of a column put together again; kernels read its blocks instead.
  std::vector<Index> column(Index feature) const;
  /// Empty where binary().
  std::span<const double> column_values(Index feature) const {
    if (binary()) return {};
    return {entries(feature, 0, column_size(feature)).value, column_size(feature)};
  }

 private:
  template <class T>
  static std::span<const T> slice(const std::vector<T>& all, const std::vector<std::uint64_t>& begin,
                                  Index i) {
    if (all.empty()) return {};
    return {all.data() + begin[i], all.data() + begin[i + 1]};
  }
  /// The entries of a column in one block, from `begin` within the column on.
  struct Piece {
    std::uint32_t block, begin;
  };

  void keep_values(std::vector<double> values);
  void cut(SumLeaves leaves);
  void choose_blocks();
  void list_pieces();
  void index_columns();
  /// Not where binary().
  bool has_values(Index feature) const {
    return value_begin_[feature] != value_begin_[feature + std::size_t{1}];
  }
  /// Those from `first` to `last` of a column.
  ColumnBlock entries(Index feature, std::size_t first, std::size_t last) const {
    return {column_offset_.data() + column_begin_[feature] + first,
            binary()              ? nullptr
            : has_values(feature) ? column_value_.data() + value_begin_[feature] + first
                                  : ones_.data(),
            last - first};
  }

  Index positions_ = 0, features_ = 0;
  SumLeaves leaves_;
  std::vector<std::uint8_t> leaf_of_;  ///< by position
  std::vector<std::size_t> block_begin_{0, 0};
  bool blocks_within_leaves_ = true;
  std::vector<std::uint64_t> row_begin_{0}, column_begin_{0};
  std::vector<Index> row_index_;
  std::vector<std::uint16_t> column_offset_;
  std::vector<std::uint32_t> most_in_leaf_;  ///< by feature
  std::vector<std::uint64_t> piece_begin_;   ///< by feature; empty where there is one block
  std::vector<Piece> pieces_;                ///< of one feature after the other, those with entries
  /// Where values begin, by position and by feature; empty where binary(). They go by entry within a row or
  /// column, those of features without values left out.
  std::vector<std::uint64_t> row_value_begin_, value_begin_;
  std::vector<double> row_value_, column_value_;
  /// Entries by feature of the whole matrix, and their sum; empty where this is all.
  std::vector<std::uint32_t> whole_column_;
  std::uint64_t whole_positions_ = 0, whole_nonzeros_ = 0;
  std::vector<double> ones_;  ///< the values of features without, beside others with
};

}  // namespace proxbench
