#pragma once
/// Makes runs by jobs of a Slurm cluster. Each task of an array is a local sweep (slurm_task.h).

#include "experiments/sweep/sweep.h"

namespace proxbench {

LauncherInfo slurm_launcher_info();

}  // namespace proxbench
