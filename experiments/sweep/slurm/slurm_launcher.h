#pragma once
/// Runs as job arrays of Slurm. For each problem a task describes the data and finds f*; an array with the
/// problem's runs waits for it. The jobs outlive this process: what they leave in OUT/slurm (slurm_jobs.h)
/// and squeue tell the next one what waits, runs and has ended.

#include "experiments/sweep/launcher.h"

namespace proxbench {

LauncherInfo slurm_launcher_info();

}  // namespace proxbench
