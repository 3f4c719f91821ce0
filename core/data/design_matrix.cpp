#include "core/data/design_matrix.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace proxbench {
namespace {

/// Positions in the smallest block: 16 KiB of a score or residual column.
constexpr std::size_t kBlockPositions = 2048;
/// With fewer entries than this per feature and block, blocking costs more than it saves.
constexpr std::uint64_t kEntriesPerBlock = 64;

template <class T>
std::size_t bytes(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

void DesignMatrix::Builder::add(Index feature, double value) {
  if (binary_ && value != 1.0) {
    value_.assign(index_.size(), 1.0);
    binary_ = false;
  }
  index_.push_back(feature);
  if (!binary_) value_.push_back(value);
}

void DesignMatrix::Builder::end_position() {
  const std::size_t first = begin_.back(), last = index_.size();
  const auto start = static_cast<std::ptrdiff_t>(first);
  const bool sorted =
      std::adjacent_find(index_.begin() + start, index_.end(), std::greater_equal<>()) == index_.end();
  const bool storable = binary_ || std::all_of(value_.begin() + start, value_.end(),
                                               [](double v) { return v != 0.0 && std::isfinite(v); });
  if (sorted && storable) {
    begin_.push_back(last);
    return;
  }

  std::vector<std::pair<Index, double>> row;
  row.reserve(last - first);
  for (std::size_t i = first; i < last; ++i) row.emplace_back(index_[i], binary_ ? 1.0 : value_[i]);
  // Stable, so that duplicates are summed in the order in which they were added.
  std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  index_.resize(first);
  if (!binary_) value_.resize(first);
  for (std::size_t i = 0; i < row.size();) {
    const Index feature = row[i].first;
    double sum = 0.0;
    for (; i < row.size() && row[i].first == feature; ++i) sum += row[i].second;
    if (!std::isfinite(sum))
      throw Error("design matrix: position " + std::to_string(begin_.size() - 1) + ", feature " +
                  std::to_string(feature) + " has value " + std::to_string(sum) + ", expected a finite one");
    if (sum != 0.0) add(feature, sum);
  }
  begin_.push_back(index_.size());
}

DesignMatrix DesignMatrix::Builder::build(Index features) && {
  if (begin_.back() != index_.size())
    throw Error("design matrix: " + std::to_string(index_.size() - begin_.back()) +
                " entries after the last end_position()");
  if (begin_.size() - 1 > std::numeric_limits<Index>::max())
    throw Error("design matrix: " + std::to_string(begin_.size() - 1) +
                " positions, expected fewer than 2^32");
  for (std::size_t p = 0; p + 1 < begin_.size(); ++p)
    if (begin_[p] < begin_[p + 1] && index_[begin_[p + 1] - 1] >= features)
      throw Error("design matrix: position " + std::to_string(p) + " holds feature " +
                  std::to_string(index_[begin_[p + 1] - 1]) + ", expected features below " +
                  std::to_string(features));
  if (std::all_of(value_.begin(), value_.end(), [](double v) { return v == 1.0; })) value_ = {};

  DesignMatrix out;
  out.positions_ = static_cast<Index>(begin_.size() - 1);
  out.features_ = features;
  begin_.shrink_to_fit();
  index_.shrink_to_fit();
  value_.shrink_to_fit();
  out.row_begin_ = std::move(begin_);
  out.row_index_ = std::move(index_);
  out.row_value_ = std::move(value_);
  *this = Builder();
  out.index_columns();
  return out;
}

DesignMatrix DesignMatrix::select_features(std::span<const Index> features) const {
  constexpr Index kNone = static_cast<Index>(-1);
  std::vector<Index> number(features_, kNone);
  std::uint64_t entries = 0;
  for (std::size_t f = 0; f < features.size(); ++f) {
    number[features[f]] = static_cast<Index>(f);
    entries += column_size(features[f]);
  }
  Builder builder;
  builder.begin_.reserve(positions_ + std::size_t{1});
  builder.index_.reserve(entries);
  builder.binary_ = binary();
  if (!binary()) builder.value_.reserve(entries);
  for (Index p = 0; p < positions_; ++p) {
    const auto row = this->row(p);
    const auto values = row_values(p);
    for (std::size_t i = 0; i < row.size(); ++i)
      if (number[row[i]] != kNone) builder.add(number[row[i]], values.empty() ? 1.0 : values[i]);
    builder.end_position();
  }
  return std::move(builder).build(static_cast<Index>(features.size()));
}

std::size_t DesignMatrix::memory_bytes() const {
  return bytes(row_begin_) + bytes(column_begin_) + bytes(row_index_) + bytes(column_offset_) +
         bytes(block_bound_) + bytes(row_value_) + bytes(column_value_);
}

// Counting sort by feature; walking the rows in order leaves each column sorted by position.
void DesignMatrix::index_columns() {
  column_begin_.assign(std::size_t{features_} + 1, 0);
  for (Index j : row_index_) ++column_begin_[std::size_t{j} + 1];
  std::partial_sum(column_begin_.begin(), column_begin_.end(), column_begin_.begin());

  const std::size_t positions = std::max<std::size_t>(positions_, 1);
  const std::size_t fewest = (positions + kLargestBlock - 1) / kLargestBlock;
  const std::size_t most = (positions + kBlockPositions - 1) / kBlockPositions;
  const std::uint64_t wanted = nonzeros() / (std::max<std::uint64_t>(features_, 1) * kEntriesPerBlock);
  blocks_ = std::clamp<std::size_t>(wanted, fewest, most);
  block_positions_ = (positions + blocks_ - 1) / blocks_;

  column_offset_.resize(row_index_.size());
  column_value_.resize(row_value_.size());
  block_bound_.assign(std::size_t{features_} * (blocks_ + 1), 0);
  std::vector<std::uint64_t> next(column_begin_.begin(), column_begin_.end() - 1);
  for (std::size_t b = 0; b < blocks_; ++b) {
    const std::size_t first = std::min(std::size_t{positions_}, b * block_positions_);
    const std::size_t last = std::min(std::size_t{positions_}, (b + 1) * block_positions_);
    for (std::size_t p = first; p < last; ++p)
      for (std::uint64_t i = row_begin_[p]; i < row_begin_[p + 1]; ++i) {
        const std::uint64_t to = next[row_index_[i]]++;
        column_offset_[to] = static_cast<std::uint16_t>(p - first);
        if (!row_value_.empty()) column_value_[to] = row_value_[i];
      }
    for (Index j = 0; j < features_; ++j)
      block_bound_[j * (blocks_ + 1) + b + 1] = static_cast<std::uint32_t>(next[j] - column_begin_[j]);
  }
}

std::vector<Index> DesignMatrix::column(Index feature) const {
  std::vector<Index> out;
  for (std::size_t b = 0; b < blocks_; ++b) {
    const ColumnBlock block = column_block(feature, b);
    for (std::size_t i = 0; i < block.size; ++i)
      out.push_back(static_cast<Index>(b * block_positions_ + block.offset[i]));
  }
  return out;
}

}  // namespace proxbench
