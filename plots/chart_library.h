#pragma once
/// What a report needs to draw its charts: the charting library dygraphs, which stands on the machine (Debian
/// package libjs-dygraphs), and our own script and style, which are part of the program.

#include <string>
#include <string_view>

namespace proxbench {

struct ChartLibrary {
  std::string script, style;
};

/// dygraph.min.js and dygraph.min.css from the folder $PROXBENCH_DYGRAPHS or, where it is not set, from where
/// Debian puts them. Throws Error (kInput) that names file, package and variable where one cannot be read.
ChartLibrary load_chart_library();

/// plots/web/report.js, report.css and dygraphs-licence.txt.
std::string_view report_script();
std::string_view report_style();
std::string_view chart_library_licence();

}  // namespace proxbench
