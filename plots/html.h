#pragma once
/// Parts of a page.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"

namespace proxbench {

/// As it can stand in an address.
std::string percent_encoded(const std::string& bytes);
/// Links from a page in a folder to those that exist of the files in another.
std::string links_html(const std::filesystem::path& in, const std::vector<std::string>& names,
                       const std::filesystem::path& page_folder);
/// The names of the files in a folder, in alphabetical order, that begin and end so.
std::vector<std::string> files_in(const std::filesystem::path& folder, const std::string& begin,
                                  const std::string& end);
/// A box that scrolls by itself, also by keyboard.
std::string scroll_html(const std::string& label, const std::string& inside);
std::string table_html(const TextTable& table);
std::string details_html(const std::string& summary, const std::string& inside, const char* attributes = "");
/// Bytes that are no UTF-8 become the replacement character.
std::string json_text(const nlohmann::json& data);
/// JSON that can stand in a script element: no "<" can end it or open a comment.
std::string json_in_html(const nlohmann::json& data);

}  // namespace proxbench
