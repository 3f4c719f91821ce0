#pragma once
/// Comparisons of solvers over many problems, drawn by gnuplot: performance profiles (Dolan and More,
/// "Benchmarking optimization software with performance profiles", 2002) and the fixed-target distributions
/// of COCO (Hansen et al., "COCO: performance assessment", 2016). Their definitions are in
/// experiments/statistics.h, what a problem is in experiments/problem_set.h.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Writes below `figures` (made where it is missing), as far as plot.kinds has profile and ecdf,
///
///     profile-TARGET   rho_s(tau): share of problems on which solver s reaches the target within tau times
///     the
///                      cost of the best solver; log axis. A failure has an infinite ratio.
///     ecdf             share of (problem, target) pairs, over all targets, that solver s reaches within a
///     cost;
///                      log axis
///
/// for each cost of plot.x: seconds, with -passes, -updates or -iterations after these names for those, and
/// with -MACHINE after them where seconds were measured on several machines. Each as .svg, .pdf and .png,
/// with the data (.tsv: the corners of the steps) and the script (.gp) beside them. A label has the colour
/// that it has in curves of the same runs. Problems that not all solvers were run on do not count and are
/// named under the plot.
///
/// Returns the .png files. Throws Error (kUsage) where an option is wrong, timings that are not comparable
/// are asked for or no problem is left, and Error (kRun) when gnuplot is missing or fails; scripts and data
/// are kept then.
std::vector<std::filesystem::path> make_profiles(const std::vector<Run>& runs,
                                                 const std::filesystem::path& figures, const PlotConfig& plot,
                                                 const std::vector<double>& targets = default_targets(),
                                                 bool allow_not_comparable = false);

}  // namespace proxbench
