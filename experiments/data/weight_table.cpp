#include "experiments/data/weight_table.h"

#include <xxhash.h>

#include <algorithm>

#include "core/base/error.h"

namespace proxbench {
namespace {

constexpr std::size_t kFewestSlots = 16;

void append(std::vector<char>& to, const void* from, std::size_t size) {
  const char* const bytes = static_cast<const char*>(from);
  to.insert(to.end(), bytes, bytes + size);
  to.resize(padded(to.size()));
}

}  // namespace

std::uint64_t WeightTable::hash_of(std::string_view name) {
  return XXH3_64bits(name.data(), name.size());
}

void WeightTable::Builder::add(std::string_view name, const Entries& entries) {
  if (2 * slots_.size() <= 3 * count_) grow();
  ++count_;
  const std::size_t place = rows_.size() / kUnit, all = entries.empty() ? 0 : entries.back().first + 1;
  if (place >= kNone || name.size() > kNone) throw Error("found more weights than a model can hold");
  const bool first = kUnit * all <= (kUnit + sizeof(Index)) * entries.size();
  std::vector<double> weight(first ? all : 0, 0.0);
  std::vector<Index> output;
  for (const auto& [k, value] : entries) {
    if (first) weight[k] = value;
    if (!first) weight.push_back(value);
    if (!first) output.push_back(k);
  }
  const Head head{static_cast<std::uint32_t>(name.size()),
                  static_cast<std::uint32_t>(weight.size()) | (first ? 0 : kHasOutputs)};
  const char* const bytes = reinterpret_cast<const char*>(&head);
  rows_.insert(rows_.end(), bytes, bytes + sizeof head);
  append(rows_, name.data(), name.size());
  append(rows_, weight.data(), kUnit * weight.size());
  append(rows_, output.data(), sizeof(Index) * output.size());
  const std::uint64_t hash = hash_of(name);
  slots_[view().slot_of(name, hash)] = {tag_of(hash), static_cast<Index>(place)};
}

void WeightTable::Builder::grow() {
  slots_.assign(std::max(kFewestSlots, 2 * slots_.size()), {0, kNone});
  const std::size_t mask = slots_.size() - 1;
  view().for_each([&](Index place, const Row& row) {
    const std::uint64_t hash = hash_of(row.name);
    std::size_t at = hash & mask;
    while (slots_[at].place != kNone) at = (at + 1) & mask;
    slots_[at] = {tag_of(hash), place};
  });
}

WeightTable WeightTable::Builder::finish() && {
  const auto owned = std::make_shared<const Builder>(std::move(*this));
  return {owned->rows_, owned->slots_, owned};
}

}  // namespace proxbench
