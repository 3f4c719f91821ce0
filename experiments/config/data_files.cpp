#include "experiments/config/data_files.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "core/base/error.h"
#include "experiments/base/files.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Returns the variable's value, or an empty text if it is not set.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_file(const fs::path& path) {
  std::error_code ignored;  // an unreadable folder counts as empty
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

/// Returns the folders that are searched for a relative path, in order.
std::vector<fs::path> data_folders(const fs::path& base) {
  std::vector<fs::path> folders{""};
  if (!base.empty() && base != ".") folders.push_back(base);
  if (const std::string data = environment("PROXBENCH_DATA"); !data.empty()) folders.emplace_back(data);
  folders.emplace_back("../shared/data");
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (!cache.empty())
    folders.push_back(fs::path(cache) / "proxbench" / "data");
  else if (!home.empty())
    folders.push_back(fs::path(home) / ".cache" / "proxbench" / "data");
  return folders;
}

}  // namespace

fs::path find_data_file(const std::string& given, const fs::path& base) {
  if (given == kStandardStream) return given;
  std::string tried;
  for (const fs::path& folder :
       fs::path(given).is_absolute() ? std::vector<fs::path>{""} : data_folders(base)) {
    const fs::path path = folder / given;
    if (is_file(path)) return path;
    tried += (tried.empty() ? " " : ", ") + path.string();
  }
  throw Error("no file '" + given + "'; looked at" + tried, ErrorKind::kInput);
}

}  // namespace proxbench
