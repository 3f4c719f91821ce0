#pragma once
/// Draws with gnuplot how a run scales with threads.

#include <filesystem>
#include <vector>

#include "experiments/results/scaling_model.h"

namespace proxbench {

/// Writes one figure for each problem into the folder: "scale", or "scale-PROBLEM" if there are several. It
/// shows the speed-up of each phase against threads with the ideal line, the efficiency beside it, and below
/// them the time of all phases as bars. Solid lines and plain bars show the first back end, dashed lines and
/// hatched bars the second. Phases that take less than 1 % of the time at 1 thread have no line. Returns the
/// .png files. Throws Error (kRun) if gnuplot is missing or fails; scripts and data are kept then.
std::vector<std::filesystem::path> draw_scaling(const std::vector<ScalingProblem>& problems,
                                                const std::filesystem::path& folder);

}  // namespace proxbench
