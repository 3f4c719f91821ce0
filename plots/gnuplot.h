#pragma once
/// Draws charts with gnuplot.

#include <filesystem>
#include <string>
#include <vector>

#include "plots/chart.h"

namespace proxbench {

/// The commands that draw the chart into NAME.svg, .pdf and .png from NAME.tsv.
std::string gnuplot_script(const Chart& chart);

/// Writes NAME.gp, NAME.tsv, and by running gnuplot NAME.svg, .pdf and .png into the folder (made where it is
/// missing); images appear under their names only once they are whole. Returns the .png. Throws Error (kRun)
/// when gnuplot is missing or fails; script and data are kept then.
std::filesystem::path draw(const Chart& chart, const std::filesystem::path& folder);
std::vector<std::filesystem::path> draw_all(const std::vector<Chart>& charts,
                                            const std::filesystem::path& folder);

}  // namespace proxbench
