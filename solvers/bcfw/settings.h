#pragma once
/// The options of bcfw.

#include <algorithm>

#include "core/base/schema.h"
#include "solvers/shared/instances/passes.h"

namespace proxbench::bcfw {

enum class Steps { kFrankWolfe, kPairwise, kAway, kBlock };

struct Settings {
  bool by_gap;
  double share;
  std::int64_t refresh_every;
  Steps steps;
  std::size_t cache;
  bool averaging;
  std::size_t batch;
  double memory_limit;
  std::size_t reports;
};

/// If batch = 0, a batch has one in kInstancesPerVisit instances, but at most kLargestBatch
/// (solvers/RESULTS.md).
constexpr std::size_t kInstancesPerVisit = 1000, kLargestBatch = 16;

inline std::size_t batch(const Settings& settings, std::size_t instances) {
  return settings.batch > 0 ? settings.batch
                            : std::clamp<std::size_t>(instances / kInstancesPerVisit, 1, kLargestBatch);
}

inline OptionSpec batches() {
  OptionSpec spec = batch_option();
  spec.default_value = "0";
  spec.min = 0;
  spec.help += "; 0: one in 1,000 instances, from 1 to 16";
  spec.preset_values = paper("1");
  return spec;
}

inline Schema<Settings> rows() {
  return Schema<Settings>(
      {choice(&Settings::by_gap, "sampling", "gap",
              "which instance is visited next: any, or by the latest estimate of its duality gap",
              {{"uniform", false}, {"gap", true}}, "uniform"),
       option(&Settings::share, "share", "0.8",
              "with sampling = gap: share of draws that follow the estimates; the others are uniform, so "
              "that an instance whose estimate is 0 is drawn again",
              {0, 1}),
       option(&Settings::refresh_every, "refresh_every", "10",
              "with sampling = gap or a cache: passes between inferences over all instances that renew all "
              "estimates",
              {1, 1e9}),
       choice(&Settings::steps, "steps", "block",
              "from the instance's distribution towards the structure found (Frank-Wolfe); pairwise: weight "
              "goes to it from the worst structure; away: Frank-Wolfe, or away from the worst where that "
              "promises more; block: pairwise, then further pair steps among the structures kept (Shah et "
              "al. 2015)",
              {{"fw", Steps::kFrankWolfe},
               {"pairwise", Steps::kPairwise},
               {"away", Steps::kAway},
               {"block", Steps::kBlock}},
              "fw"),
       option(&Settings::cache, "cache", "20",
              "structures kept of each instance, beyond those with weight; one that promises enough saves a "
              "call of the oracle (Osokin et al. 2016)",
              {0, 1e6}, "0"),
       option(&Settings::averaging, averaging_option("false")), option(&Settings::batch, batches()),
       option(&Settings::memory_limit, memory_limit_option()), option(&Settings::reports, reports_option())});
}

}  // namespace proxbench::bcfw
