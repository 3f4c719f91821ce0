#include "core/data/sharing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/sum.h"

namespace proxbench {

std::vector<Index> shares(std::span<const Index> begin, int processes) {
  const SumLeaves leaves = sum_leaves(begin);
  const auto count = static_cast<std::size_t>(processes);
  if (leaves.size() < count)
    throw Error("found " + std::to_string(begin.size() - 1) + " training instances in " +
                    std::to_string(leaves.size()) + " blocks (at most " + std::to_string(kSumLeaves) +
                    ", of " + std::to_string(kChunkPositions) +
                    " positions or more), expected at least one block for each of " +
                    std::to_string(processes) + " processes",
                ErrorKind::kInput);
  std::vector<Index> out{0};
  std::size_t leaf = 0;
  for (std::size_t r = 1; r < count; ++r) {
    const double wanted =
        static_cast<double>(begin.back()) * static_cast<double>(r) / static_cast<double>(count);
    // At least one leaf goes to this process and to each of those after it.
    ++leaf;
    while (leaf + (count - r) < leaves.size() && static_cast<double>(leaves.begin[leaf]) < wanted) ++leaf;
    out.push_back(static_cast<Index>(std::ranges::lower_bound(begin, leaves.begin[leaf]) - begin.begin()));
  }
  out.push_back(static_cast<Index>(begin.size() - 1));
  return out;
}

Dataset share_of(Dataset whole, const Processes& processes) {
  const std::vector<Index> share = shares(whole.begin, processes.count());
  const auto r = static_cast<std::size_t>(processes.rank());
  const Index first = whole.begin[share[r]], last = whole.begin[share[r + 1]];
  const auto cut = [&](auto& numbers) {
    if (numbers.empty()) return;
    numbers = {numbers.begin() + first, numbers.begin() + last};
  };
  DesignMatrix::Builder rows;
  for (Index p = first; p < last; ++p) {
    whole.x.for_each_entry(p, [&](Index j, double value) { rows.add(j, value); });
    rows.end_position();
  }
  whole.begin = {whole.begin.begin() + share[r], whole.begin.begin() + share[r + 1] + 1};
  for (Index& begin : whole.begin) begin -= first;
  whole.x = std::move(rows).build(whole.x.features(), sum_leaves(whole.begin, &processes));
  whole.x.share(processes);
  cut(whole.gold);
  cut(whole.quality);
  cut(whole.counts);
  if (!whole.on.empty()) {
    LabelSets on;
    for (Index p = first; p < last; ++p) on.add(whole.on.at(p));
    whole.on = std::move(on);
  }
  std::map<Index, std::string> unknown;
  for (const auto& [position, name] : whole.unknown_gold)
    if (position >= first && position < last) unknown.emplace(position - first, name);
  whole.unknown_gold = std::move(unknown);
  return whole;
}

}  // namespace proxbench
