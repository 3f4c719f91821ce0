#pragma once
/// Loads what a report needs to draw its charts: the charting library dygraphs, which is installed on the
/// machine (Debian package libjs-dygraphs), and our own script and style, which are part of the program.

#include <string>
#include <string_view>

namespace proxbench {

struct ChartLibrary {
  std::string script, style;
};

/// Reads dygraph.min.js and dygraph.min.css from the folder $PROXBENCH_DYGRAPHS or, if that is not set, from
/// Debian's location. If one cannot be read, throws Error (kInput) that names file, package and variable.
ChartLibrary load_chart_library();

/// Return plots/web/report.js, report.css and dygraphs-licence.txt.
std::string_view report_script();
std::string_view report_style();
std::string_view chart_library_licence();

}  // namespace proxbench
