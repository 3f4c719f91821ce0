/// The loss-augmented best candidate of a group: a wrong one costs 1.

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "oracles/candidates.h"

namespace proxbench {

InstanceMaxOracle::Value CandidatesOracle::best_structure(Index instance, Cost cost, const double* scores,
                                                          std::span<const double> extra,
                                                          std::span<Index> outputs,
                                                          InstanceMaxOracle::Workspace&) const {
  require_gold();
  const std::size_t gold = all_.gold[instance] - all_.begin[instance];
  const auto augmented = [&](std::size_t y) { return scores[y * padded(1)] + (y == gold ? 0.0 : 1.0); };
  std::size_t best = 0;
  for (std::size_t y = 1; y < outputs.size(); ++y)
    if (augmented(y) > augmented(best)) best = y;
  std::fill(outputs.begin(), outputs.end(), kNoOutput);
  outputs[best] = 0;
  return value_of(instance, cost, scores, extra, outputs);
}

InstanceMaxOracle::Value CandidatesOracle::value_of(Index instance, Cost, const double* scores,
                                                    std::span<const double>,
                                                    std::span<const Index> outputs) const {
  const auto chosen = std::count(outputs.begin(), outputs.end(), Index{0});
  if (chosen != 1 || std::count(outputs.begin(), outputs.end(), kNoOutput) + 1 != std::ssize(outputs))
    throw Error("instance " + std::to_string(instance) + ": found " + std::to_string(chosen) +
                " chosen candidates, expected one");
  const std::size_t gold = all_.gold[instance] - all_.begin[instance];
  const auto y =
      static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), Index{0}) - outputs.begin());
  if (y == gold) return {0.0, 0.0};
  return {1.0 + (scores[y * padded(1)] - scores[gold * padded(1)]), 1.0};
}

void CandidatesOracle::gold_structure(Index instance, std::span<Index> outputs) const {
  require_gold();
  std::copy_n(gold_.begin() + all_.begin[instance], outputs.size(), outputs.begin());
}

}  // namespace proxbench
