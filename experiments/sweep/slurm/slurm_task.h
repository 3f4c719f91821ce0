#pragma once
/// One task of an array on its node: a local sweep of one problem, or of one solver's part of it.

#include <filesystem>

#include "experiments/sweep/local_launcher.h"
#include "experiments/sweep/slurm/slurm_jobs.h"

namespace proxbench {

/// Seconds that a job gets in addition to the limits of its processes: to start and to store runs, and to
/// read the data.
inline constexpr double kJobMargin = 60.0, kReadingData = 600.0;

/// Keeps only the part of a problem that one task makes. `label` is SlurmTask::solver.
void restrict_to(SweepProblem& problem, const std::string& label, const SlurmConfig& config);
/// Returns SlurmTask::key of a problem or a part of it.
std::string task_key(const SweepProblem& problem);

/// Makes the runs of task `index` of this array, according to OUT/config.ini. Throws Error if it cannot.
SweepResult do_slurm_task(const std::filesystem::path& array_folder, std::size_t index, const Hooks& hooks);

}  // namespace proxbench
