#pragma once
/// The lines of model files (model.h).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/line_reader.h"

namespace proxbench {

inline constexpr std::string_view kModelLine = "# proxbench model 1";
inline constexpr std::string_view kLines = "# lines=", kChecksum = "# checksum=";
inline constexpr std::string_view kUnary = "unary\t";
inline constexpr std::string_view kUnaryLine = "unary<TAB>feature<TAB>output<TAB>weight";

/// Escapes a name for model files.
std::string escaped_name(std::string_view name);
std::vector<std::string> escaped_names(const std::vector<std::string>& names);
/// Returns the name of its escaped text. Throws with in.fail() if an escape is unknown.
std::string unescaped(const LineReader& in, std::string_view text);
/// The escaped names with a TAB after each.
std::string key_of(const std::vector<std::string>& names);
/// The beginning of a text in quotes, for messages.
std::string shown_text(std::string_view text);

std::string header_text(const std::map<std::string, std::string>& header,
                        const std::vector<std::string>& labels);
/// `feature` and `output` are escaped.
void add_unary(std::string& out, const std::string& feature, const std::string& output, double weight);
/// Returns a whole file, of the text below its first three lines.
std::string sealed(std::string&& below);

}  // namespace proxbench
