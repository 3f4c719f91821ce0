#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace proxbench {

namespace fs = std::filesystem;

/// The folder of this program.
inline fs::path program_folder() {
  std::error_code ignored;  // without /proc the folder is not known
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// The value of a variable of the environment; "" if it is not set.
inline std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace proxbench
