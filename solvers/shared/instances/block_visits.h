#pragma once
/// Shared by the dual solvers that visit blocks in batches: draws whose directions are found in parallel at
/// one w, and passes that re-estimate all duality gaps.

#include <algorithm>
#include <span>
#include <vector>

#include "core/monitor/monitor.h"
#include "core/objective.h"
#include "solvers/shared/instances/sampling.h"

namespace proxbench {

/// Draws an instance for each visit and calls prepare(visit) on all of them in parallel. If every visit is
/// valid(), counts the updates and returns true.
template <class Visit, class Prepare>
bool draw_batch(std::span<Visit> visits, Sampler& sampler, Objective& objective, const Prepare& prepare) {
  for (Visit& visit : visits) visit.instance = sampler.draw();
  objective.parallel().for_each(visits.size(), [&](std::size_t v) { prepare(visits[v]); });
  if (!std::ranges::all_of(visits, [](const Visit& visit) { return visit.valid(); })) return false;
  objective.counts().add_updates(static_cast<double>(visits.size()));
  return true;
}

/// Sets the estimate of each instance's gap to gap_of(visit), in one pass at one w. If the monitor runs out
/// of time, it changes nothing and returns false.
template <class Visit, class GapOf>
bool renew_gaps(Sampler& sampler, const Objective& objective, Monitor& monitor, const GapOf& gap_of) {
  constexpr std::size_t kInstancesPerChunk = 16;
  std::vector<double> gap(objective.instances());
  const Chunks chunks{gap.size(), kInstancesPerChunk};
  objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    Visit visit;
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk) && !monitor.out_of_time(); ++i) {
      visit.instance = static_cast<Index>(i);
      gap[i] = gap_of(visit);
    }
  });
  if (monitor.out_of_time()) return false;
  for (Index i = 0; i < gap.size(); ++i) sampler.record(i, gap[i]);
  return true;
}

}  // namespace proxbench
