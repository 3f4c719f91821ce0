#pragma once
/// Where data files are looked for, so that configs need not name one machine's folders.

#include <filesystem>
#include <string>

namespace proxbench {

/// The first file found; an absolute path is taken as it is, and so is "-", standard input. A relative one is
/// looked for in the current folder, in `base` (that of the config), $PROXBENCH_DATA, ../shared/data and
/// ${XDG_CACHE_HOME:-$HOME/.cache}/proxbench/data, in this order. Throws Error (kInput) that lists where it
/// looked.
std::filesystem::path find_data_file(const std::string& given, const std::filesystem::path& base);

}  // namespace proxbench
