#pragma once
/// Where data files are looked for, so that configs need not name one machine's folders.

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace proxbench {

/// The folders that are searched for a relative path, in order: the current one (the path as given), `base`
/// (that of the config), $PROXBENCH_DATA, ../shared/data, ${XDG_CACHE_HOME:-$HOME/.cache}/proxbench/data.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& base);

/// The first file found; an absolute path is taken as it is. Throws Error (kInput) that lists where it
/// looked.
std::filesystem::path find_data_file(const std::string& given, const std::filesystem::path& base);

/// The value of an option as `text` gives it: where the option names a file, that file as find_data_file()
/// finds it. Texts of several lines (OptionSpec::file) and those of other options stay as they are.
std::string find_option_file(const OptionSpec& spec, const std::string& text,
                             const std::filesystem::path& base);

}  // namespace proxbench
