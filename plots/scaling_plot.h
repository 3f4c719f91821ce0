#pragma once
/// How a run scales with threads, drawn by gnuplot.

#include <filesystem>
#include <vector>

#include "experiments/results/scaling_model.h"

namespace proxbench {

/// Writes into the folder one figure for each problem, "scale", or "scale-PROBLEM" where there are several:
/// speed-up of each phase against threads with the ideal line, efficiency beside it, and below the time of
/// all phases as bars. Solid lines and plain bars are the first back end's, dashed and hatched ones the
/// second's. Phases that take less than 1 % of the time at 1 thread have no line. Returns the .png files.
/// Throws Error (kRun) when gnuplot is missing or fails; scripts and data are kept then.
std::vector<std::filesystem::path> draw_scaling(const std::vector<ScalingProblem>& problems,
                                                const std::filesystem::path& folder);

}  // namespace proxbench
