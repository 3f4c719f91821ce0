#pragma once
/// Draws charts with gnuplot.

#include <filesystem>
#include <string>
#include <vector>

#include "plots/chart.h"

namespace proxbench {

/// Returns the commands that draw the chart into NAME.svg, .pdf and .png from NAME.tsv.
std::string gnuplot_script(const Chart& chart);

/// Writes NAME.gp and NAME.tsv into the folder, and runs gnuplot to make NAME.svg, .pdf and .png. The folder
/// is made if it is missing. Images appear under their names only once they are complete. Returns the .png.
/// Throws Error (kRun) if gnuplot is missing or fails; script and data are kept then.
std::filesystem::path draw(const Chart& chart, const std::filesystem::path& folder);
std::vector<std::filesystem::path> draw_all(const std::vector<Chart>& charts,
                                            const std::filesystem::path& folder);

}  // namespace proxbench
