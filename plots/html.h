#pragma once
/// Builds parts of a page.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/table_text.h"

namespace proxbench {

/// Return plots/web/report.js, report.css and dygraphs-licence.txt, which are part of the program.
std::string_view report_script();
std::string_view report_style();
std::string_view chart_library_licence();

/// Encodes the bytes for use in a URL.
std::string percent_encoded(const std::string& bytes);
/// Returns links from a page in a folder to those files that exist.
std::string links_html(const std::vector<std::filesystem::path>& files,
                       const std::filesystem::path& page_folder);
/// Returns a box that scrolls by itself, also by keyboard.
std::string scroll_html(const std::string& label, const std::string& inside);
std::string table_html(const TextTable& table);
std::string details_html(const std::string& summary, const std::string& inside, const char* attributes = "");
/// Returns JSON that can be put into a script element: no "<" can end it or open a comment. Bytes that are
/// not UTF-8 become the replacement character.
std::string json_in_html(const nlohmann::json& data);

}  // namespace proxbench
