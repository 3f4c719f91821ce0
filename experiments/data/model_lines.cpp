#include "experiments/data/model_lines.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "experiments/base/files.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

/// Each character of kEscaped is written as a backslash and the character at the same place of kCodes.
constexpr std::string_view kEscaped = "\t\n\r\\", kCodes = "tnr\\";

/// Removes the first line from the text and returns it without its line break.
std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

std::string escaped_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const std::size_t code = kEscaped.find(c);
    if (code == kEscaped.npos)
      out += c;
    else
      (out += '\\') += kCodes[code];
  }
  return out;
}

std::vector<std::string> escaped_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(escaped_name(name));
  return out;
}

std::string unescaped(const LineReader& in, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::size_t code = ++i < text.size() ? kCodes.find(text[i]) : kCodes.npos;
    if (code == kCodes.npos) in.fail(fmt::format("escape in '{}'", text), "\\t, \\n, \\r or \\\\");
    out += kEscaped[code];
  }
  return out;
}

std::string key_of(const std::vector<std::string>& names) {
  std::string key;
  for (const std::string& name : names) key += escaped_name(name) + '\t';
  return key;
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("'{}{}'", escaped_name(text.substr(0, kShown)), text.size() > kShown ? "..." : "");
}

std::string header_text(const std::map<std::string, std::string>& header,
                        const std::vector<std::string>& labels) {
  std::string out, names;
  for (const auto& [key, value] : header) out += fmt::format("# {}={}\n", key, escaped_name(value));
  for (const std::string& name : labels) names += (names.empty() ? "" : "\t") + escaped_name(name);
  return labels.empty() ? out : out + fmt::format("# labels={}\n", names);
}

void add_unary(std::string& out, const std::string& feature, const std::string& output, double weight) {
  (((((out += kUnary) += feature) += '\t') += output) += '\t') += shortest_text(weight);
  out += '\n';
}

std::string sealed(std::string&& below) {
  std::uint64_t lines = 3, checksum = 0;
  for (std::string_view rest = below; !rest.empty(); ++lines) {
    const std::string_view line = take_line(rest);
    checksum = XXH3_64bits_withSeed(line.data(), line.size(), checksum);
  }
  return std::move(below.insert(
      0, fmt::format("{}\n{}{}\n{}{}\n", kModelLine, kLines, lines, kChecksum, digest_text(checksum))));
}

}  // namespace proxbench
