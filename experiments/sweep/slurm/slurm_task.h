#pragma once
/// One task of an array on its node: a local sweep of one problem, or of what one solver makes of it.

#include <filesystem>

#include "experiments/sweep/local_launcher.h"
#include "experiments/sweep/slurm/slurm_jobs.h"

namespace proxbench {

/// Seconds that a job has beyond the limits of its processes: to begin and to store runs, and to read the
/// data.
inline constexpr double kJobMargin = 60.0, kReadingData = 600.0;

/// Leaves in a problem what one task makes of it. `label`: SlurmTask::solver.
void restrict_to(SweepProblem& problem, const std::string& label, const SlurmConfig& config);
/// SlurmTask::key of a problem or a share of it.
std::string task_key(const SweepProblem& problem);

/// Makes what task `index` of this array was asked for, by OUT/config.ini. Throws Error where it cannot.
SweepResult do_slurm_task(const std::filesystem::path& array_folder, std::size_t index, const Hooks& hooks);

}  // namespace proxbench
