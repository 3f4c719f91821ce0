#pragma once
/// Makes runs on this machine, one process each, with SweepOptions::jobs of them at a time.

#include "experiments/base/numbers.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {

LauncherInfo local_launcher_info();

/// Facts that a cluster's job knows about its node.
struct NodeRules {
  bool bind = true;                         ///< bind runs to CPUs if the config says so
  std::string not_comparable_because = "";  ///< empty: timings are comparable
  double ends_at = kInfinity;               ///< when the last process must stop, by wall_seconds()
};

/// Makes the missing runs of `sweep.problems` on this machine. The caller holds the locks of these problems.
void make_runs(const Sweep& sweep, const NodeRules& rules, SweepResult& result);
/// Stores the missing runs as failed for this reason.
void store_as_failed(const Sweep& sweep, const std::string& reason, SweepResult& result);

}  // namespace proxbench
