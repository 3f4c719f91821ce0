#include "plots/chart_library.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"

namespace proxbench {
namespace {

constexpr const char* kDebianFolder = "/usr/share/javascript/dygraphs";

std::string read_library_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.view().empty())
    throw Error("cannot draw charts: found no readable " + file.string() +
                ", expected the charting library dygraphs (Debian package libjs-dygraphs; "
                "scripts/install-deps), or its folder in PROXBENCH_DYGRAPHS");
  return std::move(text).str();
}

}  // namespace

ChartLibrary load_chart_library() {
  const char* folder = std::getenv("PROXBENCH_DYGRAPHS");
  const std::filesystem::path from = folder != nullptr && *folder != '\0' ? folder : kDebianFolder;
  return {read_library_file(from / "dygraph.min.js"), read_library_file(from / "dygraph.min.css")};
}

}  // namespace proxbench
