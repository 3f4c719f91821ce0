#include "core/data/sharing.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace proxbench {

void add_instance(Dataset& to, const Dataset& from, Index instance, DesignMatrix::Builder* rows) {
  to.vocabulary = from.vocabulary;
  to.hierarchy = from.hierarchy;
  for (Index p = from.begin[instance]; p < from.begin[instance + 1]; ++p) {
    if (const auto name = from.unknown_gold.find(p); name != from.unknown_gold.end())
      to.unknown_gold[static_cast<Index>(to.gold.size())] = name->second;
    to.gold.push_back(from.gold[p]);
    if (!from.quality.empty()) to.quality.push_back(from.quality[p]);
    if (!from.counts.empty()) to.counts.push_back(from.counts[p]);
    if (!from.on.empty()) to.on.add(from.on.at(p));
    if (rows == nullptr) continue;
    from.x.for_each_entry(p, [&](Index j, double value) { rows->add(j, value); });
    rows->end_position();
  }
  to.begin.push_back(static_cast<Index>(to.gold.size()));
}

std::vector<Index> shares(std::span<const Index> begin, int processes) {
  const auto count = static_cast<std::size_t>(processes), instances = begin.size() - 1;
  if (instances < count)
    throw Error(all_parts("found ", instances, " training instances, expected at least one for each of ",
                          processes, " processes"),
                ErrorKind::kInput);
  std::vector<Index> out{0};
  for (std::size_t r = 1; r < count; ++r) {
    const double wanted =
        static_cast<double>(begin.back()) * static_cast<double>(r) / static_cast<double>(count);
    const auto nearest = static_cast<std::size_t>(std::ranges::lower_bound(begin, wanted) - begin.begin());
    // Process r - 1 and each process after it get at least one instance.
    out.push_back(static_cast<Index>(
        std::clamp<std::size_t>(nearest, out.back() + std::size_t{1}, instances - (count - r))));
  }
  out.push_back(static_cast<Index>(instances));
  return out;
}

Dataset share_of(Dataset whole, const Processes& processes) {
  const std::vector<Index> share = shares(whole.begin, processes.count());
  const auto r = static_cast<std::size_t>(processes.rank());
  Dataset part;
  DesignMatrix::Builder rows;
  for (Index i = share[r]; i < share[r + 1]; ++i) add_instance(part, whole, i, &rows);
  part.x = std::move(rows).build(whole.x.features());
  part.x.share(processes);
  part.description = std::move(whole.description);
  part.digest = whole.digest;
  part.notes = std::move(whole.notes);
  part.warnings = std::move(whole.warnings);
  return part;
}

}  // namespace proxbench
