#pragma once
/// Runs by the jobs of a Slurm cluster: arrays whose tasks are each a local sweep (slurm_task.h).

#include "experiments/sweep/sweep.h"

namespace proxbench {

LauncherInfo slurm_launcher_info();

}  // namespace proxbench
