#pragma once
/// Runs on this machine, one process each, as many at a time as SweepOptions::jobs says.

#include "experiments/sweep/launcher.h"

namespace proxbench {

LauncherInfo local_launcher_info();

/// Makes what is missing of `work.problems` here, for the holder of their locks. `refused`: why nothing can
/// be made here; then the runs are stored as failed with this reason.
void make_runs(const SweepWork& work, const ProcessRules& rules, SweepResult& result,
               const std::string& refused = "");

}  // namespace proxbench
