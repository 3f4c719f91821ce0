#include "plots/chart_library.h"

#include <cstdlib>
#include <filesystem>

#include "experiments/base/files.h"

namespace proxbench {

ChartLibrary load_chart_library() {
  constexpr const char* kDebianFolder = "/usr/share/javascript/dygraphs";
  constexpr const char* kExpected =
      "the charting library dygraphs (Debian package libjs-dygraphs; scripts/install-deps), or its folder in "
      "PROXBENCH_DYGRAPHS";
  const char* folder = std::getenv("PROXBENCH_DYGRAPHS");
  const std::filesystem::path from = folder != nullptr && *folder != '\0' ? folder : kDebianFolder;
  return {read_file(from / "dygraph.min.js", kExpected), read_file(from / "dygraph.min.css", kExpected)};
}

}  // namespace proxbench
