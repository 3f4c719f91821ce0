#pragma once
/// Draws comparisons of solvers over many problems with gnuplot: performance profiles (Dolan and More,
/// "Benchmarking optimization software with performance profiles", 2002) and the fixed-target distributions
/// of COCO (Hansen et al., "COCO: performance assessment", 2016). They are defined in
/// experiments/results/statistics.h, and problems in experiments/results/tables/problem_set.h.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Writes these figures below `figures` (made if it is missing), if plot.kinds has profile or ecdf:
///
///     profile-TARGET   rho_s(tau): share of problems on which solver s reaches the target within tau
///                      times the cost of the best solver; log axis. A failure has an infinite ratio.
///     ecdf             share of (problem, target) pairs, over all targets, that solver s reaches
///                      within a cost; log axis
///
/// for each cost of plot.x. Names get -passes, -updates or -iterations appended for costs other than seconds,
/// and -MACHINE if seconds were measured on several machines. Each figure is written as .svg, .pdf and .png,
/// with its data (.tsv: the corners of the steps) and its script (.gp). A label has the same colour as in
/// curves of the same runs. Problems on which not all solvers were run do not count, and are named under the
/// plot.
///
/// Returns the .png files. Throws Error (kUsage) if an option is wrong, if timings that are not comparable
/// are asked for, or if no problem is left. Throws Error (kRun) if gnuplot is missing or fails; scripts and
/// data are kept then.
std::vector<std::filesystem::path> make_profiles(const std::vector<Run>& runs,
                                                 const std::filesystem::path& figures, const PlotConfig& plot,
                                                 const std::vector<double>& targets = default_targets(),
                                                 bool allow_not_comparable = false);

}  // namespace proxbench
