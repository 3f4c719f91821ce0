#pragma once
/// Searches for data files, so that configs need not name one machine's folders.

#include <filesystem>
#include <string>

namespace proxbench {

/// Returns the first file found. An absolute path, and "-" for standard input, is returned unchanged. A
/// relative path is searched in the current folder, in `base` (the config's folder), $PROXBENCH_DATA,
/// ../shared/data and ${XDG_CACHE_HOME:-$HOME/.cache}/proxbench/data, in this order. Throws Error (kInput)
/// that lists the searched places.
std::filesystem::path find_data_file(const std::string& given, const std::filesystem::path& base);

}  // namespace proxbench
