#pragma once
/// Runs on this machine, one process each, as many at a time as SweepOptions::jobs says.

#include "experiments/sweep/launcher.h"

namespace proxbench {

LauncherInfo local_launcher_info();

}  // namespace proxbench
