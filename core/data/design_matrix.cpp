#include "core/data/design_matrix.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.h"

namespace proxbench {
namespace {

/// A block has about this many positions or more: 16 KiB of a score or residual column.
constexpr std::size_t kBlockPositions = 2048;
/// With fewer entries per feature and block than this, blocking costs more than it saves.
constexpr std::uint64_t kEntriesPerBlock = 16;

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

void DesignMatrix::Builder::renumber(std::span<const Index> number) {
  Builder out;
  out.index_.reserve(index_.size());
  for (std::size_t p = 0; p + 1 < begin_.size(); ++p) {
    for (std::size_t e = 0; e < begin_[p + 1] - begin_[p]; ++e) out.add(number[row(p)[e]], value(p, e));
    out.end_position();
  }
  *this = std::move(out);
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
  std::ranges::stable_sort(row, [](const auto& a, const auto& b) { return a.first < b.first; });
  index_.resize(first);
  if (!binary_) value_.resize(first);
  for (std::size_t i = 0; i < row.size();) {
    const Index feature = row[i].first;
    double sum = 0.0;
    for (; i < row.size() && row[i].first == feature; ++i) sum += row[i].second;
    if (!std::isfinite(sum))
      throw Error("design matrix: position ", begin_.size() - 1, ", feature ", feature, " has value ", sum,
                  ", expected a finite one");
    if (sum != 0.0) add(feature, sum);
  }
  begin_.push_back(index_.size());
}

DesignMatrix DesignMatrix::Builder::build(Index features) && {
  if (begin_.back() != index_.size())
    throw Error("design matrix: ", index_.size() - begin_.back(), " entries after the last end_position()");
  if (begin_.size() - 1 > std::numeric_limits<Index>::max())
    throw Error("design matrix: ", begin_.size() - 1, " positions, expected fewer than 2^32");
  for (std::size_t p = 0; p + 1 < begin_.size(); ++p)
    if (begin_[p] < begin_[p + 1] && index_[begin_[p + 1] - 1] >= features)
      throw Error("design matrix: position ", p, " holds feature ", index_[begin_[p + 1] - 1],
                  ", expected features below ", features);
  if (std::ranges::all_of(value_, [](double v) { return v == 1.0; })) value_ = {};

  DesignMatrix out;
  out.positions_ = static_cast<Index>(begin_.size() - 1);
  out.features_ = features;
  begin_.shrink_to_fit();
  index_.shrink_to_fit();
  out.row_begin_ = std::move(begin_);
  out.row_index_ = std::move(index_);
  std::vector<double> values = std::move(value_);
  *this = Builder();
  out.keep_values(std::move(values));
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
    for_each_entry(p, [&](Index j, double value) {
      if (number[j] != kNone) builder.add(number[j], value);
    });
    builder.end_position();
  }
  DesignMatrix out = std::move(builder).build(static_cast<Index>(features.size()));
  out.whole_positions_ = whole_positions_;
  out.processes_ = processes_;
  if (shared())
    for (const Index j : features) {
      out.whole_column_.push_back(whole_column_[j]);
      out.whole_nonzeros_ += whole_column_[j];
    }
  return out;
}

double DesignMatrix::additions(Index feature) const {
  const auto entries = static_cast<double>(whole_column_size(feature));
  // Blocks of other processes may be of any size that choose_blocks() allows.
  const auto blocks =
      static_cast<double>(shared() ? whole_positions() / kBlockPositions + 1 : this->blocks());
  return std::min(entries, kPieceEntries + entries / kPieceEntries + blocks) + processes_;
}

void DesignMatrix::share(const Processes& processes) {
  std::vector<double> counts;
  for (Index j = 0; j < features_; ++j) counts.push_back(static_cast<double>(column_size(j)));
  counts.push_back(static_cast<double>(positions_));
  processes.add(counts);
  whole_column_.assign(counts.begin(), counts.end() - 1);
  whole_positions_ = static_cast<std::uint64_t>(counts.back());
  whole_nonzeros_ = std::accumulate(whole_column_.begin(), whole_column_.end(), std::uint64_t{0});
  processes_ = processes.count();
}

std::size_t DesignMatrix::memory_bytes() const {
  return bytes(row_begin_) + bytes(column_begin_) + bytes(row_index_) + bytes(column_offset_) +
         bytes(piece_begin_) + bytes(pieces_) + bytes(row_value_begin_) + bytes(value_begin_) +
         bytes(row_value_) + bytes(column_value_) + bytes(whole_column_) + bytes(ones_);
}

std::span<const double> DesignMatrix::row_values(Index position, std::vector<double>& scratch) const {
  if (binary()) return {};
  const auto row = this->row(position);
  const double* value = row_value_.data() + row_value_begin_[position];
  if (row_value_begin_[position + std::size_t{1}] - row_value_begin_[position] == row.size())
    return {value, row.size()};
  scratch.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) scratch[i] = has_values(row[i]) ? *value++ : 1.0;
  return scratch;
}

std::vector<double> DesignMatrix::row_values(Index position) const {
  std::vector<double> scratch;
  const auto values = row_values(position, scratch);
  return {values.begin(), values.end()};
}

/// `values` holds the values of all entries, row by row. If it is empty, all values are 1.
void DesignMatrix::keep_values(std::vector<double> values) {
  if (values.empty()) return;
  value_begin_.assign(std::size_t{features_} + 1, 0);
  std::vector<bool> kept(features_);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 1.0) kept[row_index_[i]] = true;
  row_value_begin_.assign(1, 0);
  row_value_begin_.reserve(row_begin_.size());
  std::size_t count = 0;
  for (Index p = 0; p < positions_; ++p) {
    for (std::uint64_t i = row_begin_[p]; i < row_begin_[p + std::size_t{1}]; ++i) {
      if (!kept[row_index_[i]]) continue;
      values[count++] = values[i];
      ++value_begin_[std::size_t{row_index_[i]} + 1];
    }
    row_value_begin_.push_back(count);
  }
  values.resize(count);
  values.shrink_to_fit();
  row_value_ = std::move(values);
  std::partial_sum(value_begin_.begin(), value_begin_.end(), value_begin_.begin());
}

void DesignMatrix::choose_blocks() {
  const std::size_t fewest = (positions_ + kLargestBlock - 1) / kLargestBlock,
                    most = (positions_ + kBlockPositions - 1) / kBlockPositions,
                    wanted = nonzeros() / (std::max<std::uint64_t>(features_, 1) * kEntriesPerBlock),
                    blocks = std::max<std::size_t>(std::clamp(wanted, fewest, most), 1);
  block_begin_.clear();
  for (std::size_t b = 0; b <= blocks; ++b) block_begin_.push_back(positions_ * b / blocks);
}

/// Lists for each column the blocks in which it has entries, and its number of entries before each of them.
void DesignMatrix::list_pieces() {
  piece_begin_.clear();
  pieces_.clear();
  if (blocks() == 1) return;
  std::vector<std::uint32_t> block_of_position(positions_);
  for (std::uint32_t b = 0; b < blocks(); ++b)
    std::fill(block_of_position.begin() + static_cast<std::ptrdiff_t>(block_begin_[b]),
              block_of_position.begin() + static_cast<std::ptrdiff_t>(block_begin_[b + 1]), b);
  const auto block_of = [&](Index p) { return block_of_position[p]; };
  constexpr auto kNone = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> last(features_, kNone);
  piece_begin_.assign(std::size_t{features_} + 1, 0);
  for (Index p = 0; p < positions_; ++p)
    for (const Index j : row(p))
      if (std::exchange(last[j], block_of(p)) != block_of(p)) ++piece_begin_[std::size_t{j} + 1];
  std::partial_sum(piece_begin_.begin(), piece_begin_.end(), piece_begin_.begin());

  pieces_.resize(piece_begin_.back());
  std::vector<std::uint32_t> listed(features_, 0), entries(features_, 0);
  last.assign(features_, kNone);
  for (Index p = 0; p < positions_; ++p)
    for (const Index j : row(p)) {
      if (std::exchange(last[j], block_of(p)) != block_of(p))
        pieces_[piece_begin_[j] + listed[j]++] = {block_of(p), entries[j]};
      ++entries[j];
    }
}

// Counting sort by feature. The rows are walked in order, so each column is sorted by position.
void DesignMatrix::index_columns() {
  column_begin_.assign(std::size_t{features_} + 1, 0);
  for (Index j : row_index_) ++column_begin_[std::size_t{j} + 1];
  std::partial_sum(column_begin_.begin(), column_begin_.end(), column_begin_.begin());
  choose_blocks();
  list_pieces();

  column_offset_.resize(row_index_.size());
  column_value_.resize(row_value_.size());
  std::vector<std::uint32_t> filled(features_, 0);
  const double* value = row_value_.data();
  std::size_t block = 0;
  for (Index p = 0; p < positions_; ++p) {
    while (p >= block_begin_[block + 1]) ++block;
    for (const Index j : row(p)) {
      const std::uint32_t at = filled[j]++;
      column_offset_[column_begin_[j] + at] = static_cast<std::uint16_t>(p - block_begin_[block]);
      if (!binary() && has_values(j)) column_value_[value_begin_[j] + at] = *value++;
    }
  }
  if (binary()) return;
  std::size_t longest = 0;
  for (Index j = 0; j < features_; ++j)
    if (!has_values(j)) longest = std::max(longest, column_size(j));
  ones_.assign(longest, 1.0);
}

std::vector<Index> DesignMatrix::column(Index feature) const {
  std::vector<Index> out;
  for_each_in_column(feature, [&](std::size_t p, double) { out.push_back(static_cast<Index>(p)); });
  return out;
}

}  // namespace proxbench
