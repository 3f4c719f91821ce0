#pragma once
/// Runs on this machine, one process each, as many at a time as SweepOptions::jobs says.

#include "experiments/base/numbers.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {

LauncherInfo local_launcher_info();

/// What a job of a cluster knows of its node.
struct NodeRules {
  bool bind = true;                         ///< runs to CPUs, where the config says so
  std::string not_comparable_because = "";  ///< empty: timings are comparable
  double ends_at = kInfinity;               ///< when the last process has to stop, by wall_seconds()
};

/// Makes what is missing of `sweep.problems` here, for the holder of their locks.
void make_runs(const Sweep& sweep, const NodeRules& rules, SweepResult& result);
/// Stores what is missing as failed, for this reason.
void store_as_failed(const Sweep& sweep, const std::string& reason, SweepResult& result);

}  // namespace proxbench
