#pragma once
/// X: positions x features, sparse, stored twice: by position (rows) and by feature (columns, the
/// feature-indexed data structure of Zhong et al. 2014, section 2.3).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/processes.h"
#include "core/base/types.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

/// Immutable once built. Rows and columns are sorted by index. Values are stored only for features that have
/// a value other than 1 somewhere.
///
/// Columns are cut into blocks of positions, so that an entry within a block takes two bytes: walking columns
/// is bound by memory. If columns are long, a block has so few positions that its part of a score or residual
/// column stays in the first-level cache. A column lists only the blocks in which it has entries, so that
/// memory follows the nonzeros. An entry takes 6 bytes, 16 more if its feature has values, and at most 8 for
/// its block. A feature takes 8 bytes, 8 more if there are several blocks, and 8 more if there are values. A
/// position takes 8 bytes, and 8 more if there are values.
class DesignMatrix {
 public:
  /// Takes positions one after the other.
  class Builder {
   public:
    /// Appends an entry to the current position. The entries of one position may come in any order.
    /// Duplicates of a feature within one position are summed. Zero values are dropped.
    void add(Index feature, double value);
    void end_position();
    /// Renumbers the features at all positions so far: feature j becomes number[j].
    void renumber(std::span<const Index> number);
    /// The entries of position p, for copying to another builder.
    std::span<const Index> row(std::size_t p) const {
      return {index_.data() + begin_[p], index_.data() + begin_[p + 1]};
    }
    double value(std::size_t p, std::size_t entry) const { return binary_ ? 1.0 : value_[begin_[p] + entry]; }
    /// `features` must be at least 1 + the largest index added. Throws Error if an index is beyond it.
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
  /// Whether every stored value is 1. Then no values are stored.
  bool binary() const { return row_value_.empty(); }
  std::size_t memory_bytes() const;

  std::span<const Index> row(Index position) const { return slice(row_index_, row_begin_, position); }
  /// Calls visit(feature, value) for the entries of a position, in their order.
  template <class Visit>
  void for_each_entry(Index position, const Visit& visit) const {
    const double* value = binary() ? nullptr : row_value_.data() + row_value_begin_[position];
    for (const Index j : row(position)) visit(j, value != nullptr && has_values(j) ? *value++ : 1.0);
  }
  /// Returns only the values, for kernels. Empty if binary(). Fills `scratch` and points into it if a feature
  /// of the row has no values.
  std::span<const double> row_values(Index position, std::vector<double>& scratch) const;
  /// Returns a copy of the values.
  std::vector<double> row_values(Index position) const;

  /// The matrix of only these features, which must ascend and are renumbered from 0. All positions stay.
  DesignMatrix select_features(std::span<const Index> features) const;

  /// Declares that these positions are a part of a larger matrix, which the processes hold together. All
  /// processes must have the same features.
  void share(const Processes& processes);
  bool shared() const { return !whole_column_.empty(); }
  /// Sizes of the larger matrix of share(), or of this one without share(). They are the same on all
  /// processes.
  std::uint64_t whole_positions() const { return whole_column_.empty() ? positions_ : whole_positions_; }
  std::uint64_t whole_nonzeros() const { return whole_column_.empty() ? nonzeros() : whole_nonzeros_; }
  std::uint64_t whole_column_size(Index feature) const {
    return whole_column_.empty() ? column_size(feature) : whole_column_[feature];
  }

  /// An entry of a column passes through at most this many additions before it is part of the sum over all
  /// entries of all processes: those within its piece (kPieceEntries), then all pieces, then all processes.
  double additions(Index feature) const;

  /// The largest number of positions in a block, since an offset takes two bytes.
  static constexpr std::size_t kLargestBlock = 65536;
  /// Block b holds the positions [block_begin(b), block_begin(b + 1)).
  std::size_t blocks() const { return block_begin_.size() - 1; }
  std::size_t block_begin(std::size_t block) const { return block_begin_[block]; }
  /// The entries of one column in one block. Their values are null if binary().
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
  /// The positions of a whole column. Kernels read its blocks instead.
  std::vector<Index> column(Index feature) const;
  /// Calls visit(position, value) for the feature's entries, in the order of positions.
  template <class Visit>
  void for_each_in_column(Index feature, const Visit& visit) const {
    for (std::size_t b = 0; b < blocks(); ++b) {
      const ColumnBlock block = column_block(feature, b);
      for (std::size_t i = 0; i < block.size; ++i)
        visit(block_begin_[b] + block.offset[i], block.value == nullptr ? 1.0 : block.value[i]);
    }
  }
  /// Empty if binary().
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
  /// The entries of a column in one block. They start at `begin` within the column.
  struct Piece {
    std::uint32_t block, begin;
  };

  void keep_values(std::vector<double> values);
  void choose_blocks();
  void list_pieces();
  void index_columns();
  /// Must not be called if binary().
  bool has_values(Index feature) const {
    return value_begin_[feature] != value_begin_[feature + std::size_t{1}];
  }
  /// The entries [first, last) of a column.
  ColumnBlock entries(Index feature, std::size_t first, std::size_t last) const {
    return {column_offset_.data() + column_begin_[feature] + first,
            binary()              ? nullptr
            : has_values(feature) ? column_value_.data() + value_begin_[feature] + first
                                  : ones_.data(),
            last - first};
  }

  Index positions_ = 0, features_ = 0;
  std::vector<std::size_t> block_begin_{0, 0};
  std::vector<std::uint64_t> row_begin_{0}, column_begin_{0};
  std::vector<Index> row_index_;
  std::vector<std::uint16_t> column_offset_;
  std::vector<std::uint64_t> piece_begin_;  ///< by feature; empty if there is one block
  std::vector<Piece> pieces_;               ///< pieces of one feature after the other, without empty pieces
  /// The offsets of values, by position and by feature; empty if binary(). Within a row or column, values are
  /// in the order of entries. Entries of features without values are skipped.
  std::vector<std::uint64_t> row_value_begin_, value_begin_;
  std::vector<double> row_value_, column_value_;
  /// Entries of the whole matrix by feature, and their sum. Empty if this is the whole matrix.
  std::vector<std::uint32_t> whole_column_;
  std::uint64_t whole_positions_ = 0, whole_nonzeros_ = 0;
  double processes_ = 1.0;
  std::vector<double> ones_;  ///< values of features without stored values, if others have values
};

}  // namespace proxbench
