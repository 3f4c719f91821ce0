#pragma once
/// The nonzero unary weights of a model, by feature, as binary model files hold them.

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

/// A row of weights for each feature, with one hash table over the names of features. Copies share the
/// memory, which may be a mapped file. Rows keep the order in which they were added. The place of a row
/// counts in units of 8 bytes, so places ascend in the order of rows. A row holds
///
///     4 bytes the size of the name, 4 bytes the number of weights, the name, the weights,
///     4 bytes for the output of each weight, unless they are the first outputs in order
///
/// Name and outputs are padded to 8 bytes. The highest bit of the number says whether outputs follow. If that
/// takes less memory, a row has zeros for other outputs instead.
class WeightTable {
 public:
  /// Output i of the row is output[i], or i if `output` is empty.
  struct Row {
    std::string_view name;
    std::span<const double> value;
    std::span<const Index> output;

    /// Calls visit(output, weight) for the nonzero weights, by ascending output.
    template <class Visit>
    void for_each(const Visit& visit) const {
      for (std::size_t i = 0; i < value.size(); ++i)
        if (value[i] != 0.0) visit(output.empty() ? static_cast<Index>(i) : output[i], value[i]);
    }
    /// Adds factor * weight to the sum of each output. (A weight of zero changes no sum that began at zero.)
    void add_to(double* sums, double factor) const {
      if (output.empty())
        for (std::size_t i = 0; i < value.size(); ++i) sums[i] += factor * value[i];
      else
        for (std::size_t i = 0; i < value.size(); ++i) sums[output[i]] += factor * value[i];
    }
  };
  /// A place in the hash table: the upper half of the name's hash, and the place of the row or kNone.
  struct Slot {
    std::uint32_t hash;
    Index place;
  };
  static constexpr Index kNone = static_cast<Index>(-1);
  class Builder;

  WeightTable() = default;
  /// Borrows rows and slots, which live as long as `owner`. Both begin at multiples of 8 bytes.
  WeightTable(std::span<const char> rows, std::span<const Slot> slots, std::shared_ptr<const void> owner)
      : rows_(rows), slots_(slots), owner_(std::move(owner)) {}

  static std::uint64_t hash_of(std::string_view name);
  /// Starts to load what find() with this hash reads first: the slot, and then the row.
  void prefetch_slot(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  void prefetch_row(std::uint64_t hash) const {
    if (slots_.empty()) return;
    const Slot slot = slots_[hash & (slots_.size() - 1)];
    if (slot.place == kNone || slot.hash != tag_of(hash)) return;
    const char* const at = rows_.data() + kUnit * slot.place;
    for (std::size_t line = 0; line < kLinesOfRow; ++line) __builtin_prefetch(at + line * kLine);
  }
  /// Returns the place of the feature's row, or kNone.
  Index find(std::string_view name, std::uint64_t hash) const {
    return slots_.empty() ? kNone : slots_[slot_of(name, hash)].place;
  }
  Index find(std::string_view name) const { return find(name, hash_of(name)); }

  Row row(Index place) const {
    const char* at = rows_.data() + kUnit * place;
    Head head;
    std::memcpy(&head, at, sizeof head);
    const std::size_t weights = head.weights & ~kHasOutputs;
    Row out{{at + sizeof head, head.name_size}, {}, {}};
    at += kUnit * size_of(head.name_size, 0, 0);
    out.value = {reinterpret_cast<const double*>(at), weights};
    if ((head.weights & kHasOutputs) != 0)
      out.output = {reinterpret_cast<const Index*>(at + kUnit * weights), weights};
    return out;
  }
  /// Calls visit(place, row) for all rows, in order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (Index place = 0; kUnit * place < rows_.size();) {
      const Row one = row(place);
      visit(place, one);
      place += size_of(one.name.size(), one.value.size(), one.output.size());
    }
  }
  std::span<const char> rows() const { return rows_; }
  std::span<const Slot> slots() const { return slots_; }

 private:
  static constexpr std::size_t kUnit = 8, kLine = 64, kLinesOfRow = 4;
  /// The bit of Head::weights that says whether outputs follow.
  static constexpr std::uint32_t kHasOutputs = std::uint32_t{1} << 31;
  struct Head {
    std::uint32_t name_size, weights;
  };

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  /// The size of a row in units of 8 bytes.
  static Index size_of(std::size_t name, std::size_t values, std::size_t outputs) {
    return static_cast<Index>(1 + (name + 7) / 8 + values + (outputs + 1) / 2);
  }
  /// The slot of the name, or the one where it would be.
  std::size_t slot_of(std::string_view name, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].place != kNone &&
           (slots_[at].hash != tag_of(hash) || row(slots_[at].place).name != name))
      at = (at + 1) & mask;
    return at;
  }

  std::span<const char> rows_;
  std::span<const Slot> slots_;  ///< a power of two, some of them free
  std::shared_ptr<const void> owner_;
};

/// Collects rows.
class WeightTable::Builder {
 public:
  using Entries = std::vector<std::pair<Index, double>>;
  /// Adds a row for a new name. Outputs must ascend. Throws Error if there are too many weights for places.
  void add(std::string_view name, const Entries& entries);
  /// The table so far, until the next call of add().
  WeightTable view() const { return {rows_, slots_, nullptr}; }
  /// Returns the table, which owns its memory.
  WeightTable finish() &&;

 private:
  void grow();

  std::vector<char> rows_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace proxbench
