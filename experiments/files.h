#pragma once
/// Files as whole texts and JSON.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace proxbench {

/// Empty where the file cannot be read.
std::string text_of(const std::filesystem::path& file);

/// Null where the file is missing or is no JSON.
nlohmann::ordered_json json_of(const std::filesystem::path& file);

/// Indented, by way of write_file_atomically(); bytes that are no UTF-8 become replacement characters. Throws
/// Error where it cannot be written.
void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json);

}  // namespace proxbench
