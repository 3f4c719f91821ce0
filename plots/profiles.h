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

struct ProfileOptions {
  /// What is drawn: profile, ecdf.
  std::vector<std::string> kinds{"profile", "ecdf"};
  /// What reaching a target costs, each in figures of its own: seconds, passes, updates, iterations.
  std::vector<std::string> measures{"seconds"};
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  /// Draws seconds also of what is not comparable; the titles then begin with NOT COMPARABLE.
  bool allow_not_comparable = false;
};

/// Writes below `figures` (made where it is missing)
///
///     profile-TARGET   rho_s(tau): share of problems on which solver s reaches the target within tau times
///     the
///                      cost of the best solver; log axis, base 2. A failure has an infinite ratio.
///     ecdf             share of (problem, target) pairs, over all targets, that solver s reaches within a
///     cost;
///                      log axis
///
/// for seconds, with -passes, -updates or -iterations after these names for those, and with -MACHINE after
/// them where seconds were measured on several machines. Each as .svg, .pdf and .png, with the data (.tsv:
/// the corners of the steps) and the script (.gp) beside them. A label has the colour that it has in curves
/// of the same runs. Problems that not all solvers were run on do not count and are named under the plot.
///
/// Returns the .png files. Throws Error (kUsage) where an option is wrong, timings that are not comparable
/// are asked for or no problem is left, and Error (kRun) when gnuplot is missing or fails; scripts and data
/// are kept then.
std::vector<std::filesystem::path> make_profiles(const std::vector<Run>& runs,
                                                 const std::filesystem::path& figures,
                                                 const ProfileOptions& options = {});

}  // namespace proxbench
