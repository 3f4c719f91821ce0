#include "core/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace proxbench {
namespace {

constexpr std::string_view kAuto = "auto";

bool parse_boolean(std::string_view text, bool& out) {
  out = text == "true" || text == "yes" || text == "on" || text == "1";
  return out || text == "false" || text == "no" || text == "off" || text == "0";
}

/// Whether the number is within the bounds.
bool within_bounds(const OptionSpec& spec, double value) {
  const bool above = spec.min_open ? value > spec.min : value >= spec.min;
  const bool below = spec.max_open ? value < spec.max : value <= spec.max;
  return above && below;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += between;
    out += words[i];
  }
  return out;
}

std::string shortest_text(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string number_text(double value) {
  const double size = std::abs(value);
  const bool plain = size == 0.0 || (size >= 1e-4 && size < 1e16) || !std::isfinite(value);
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value,
                                plain ? std::chars_format::fixed : std::chars_format::scientific)
                      .ptr};
}

std::string OptionSpec::type_name() const {
  constexpr const char* kNames[] = {"integer", "real", "bool", "string", "numbers", "JSON"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string OptionSpec::constraint() const {
  if (type == OptionType::kBool) return "true or false";
  if (type == OptionType::kString) return choices.empty() ? "any text" : "one of " + joined(choices);
  std::string out = name;
  if (std::isfinite(min)) out = number_text(min) + (min_open ? " < " : " <= ") + out;
  if (std::isfinite(max)) out += (max_open ? " < " : " <= ") + number_text(max);
  if (out == name) out = "any " + type_name();
  return automatic ? out + ", or auto" : out;
}

std::optional<Value> OptionSpec::read(std::string_view text, std::string& expected) const {
  std::int64_t integer = 0;
  double real = kNaN;
  bool boolean = false;
  if (type == OptionType::kInt) {
    if (parse_integer(text, integer) && within_bounds(*this, static_cast<double>(integer)))
      return Value{integer};
    expected = "an integer, " + constraint();
  } else if (type == OptionType::kReal) {
    if ((automatic && text == kAuto) || (parse_real(text, real) && within_bounds(*this, real)))
      return Value{real};
    expected = "a finite real, " + constraint();
  } else if (type == OptionType::kBool) {
    if (parse_boolean(text, boolean)) return Value{boolean};
    expected = constraint();
  } else {
    if (choices.empty() || std::ranges::find(choices, text) != choices.end()) return Value{std::string(text)};
    expected = constraint() + did_you_mean(text, choices);
  }
  return std::nullopt;
}

Options::Options(const OptionTable& table) : table_(table) {}

void Options::set(std::string_view name, std::string_view text) {
  const OptionSpec& row = spec(name);
  std::string expected;
  if (!row.read(text, expected))
    throw Error::usage("option ", row.name, " = ", text, ": expected ", expected);
  text_[row.name] = text;
}

Value Options::value(std::string_view name) const {
  const OptionSpec& row = spec(name);
  std::string expected;
  if (std::optional<Value> found = row.read(string(name), expected)) return *std::move(found);
  throw Error("option " + row.name + " = " + string(name) + ": expected " + expected);
}

const std::string& Options::string(std::string_view name) const {
  const OptionSpec& row = spec(name);
  if (const auto set = text_.find(row.name); set != text_.end()) return set->second;
  if (row.preset_values.empty()) return row.default_value;
  const auto preset = row.preset_values.find(string("preset"));
  return preset != row.preset_values.end() ? preset->second : row.default_value;
}

std::vector<std::pair<std::string, std::string>> Options::items() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const OptionSpec& row : table_) out.emplace_back(row.name, string(row.name));
  return out;
}

const OptionSpec& Options::spec(std::string_view name) const {
  std::vector<std::string> names;
  for (const OptionSpec& row : table_) names.push_back(row.name);
  require_known("option", name, names);
  return *std::ranges::find(table_, name, &OptionSpec::name);
}

bool parse_real(std::string_view text, double& out) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || !std::isfinite(value)) return false;
  // from_chars reports numbers too small for a double as out of range. strtod reads them as zero.
  if (status == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (!std::isfinite(value)) return false;
  } else if (status != std::errc{}) {
    return false;
  }
  out = value;
  return true;
}

bool parse_integer(std::string_view text, std::int64_t& out) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return false;
  out = value;
  return true;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  // The cost of the distance is the product of both lengths. A longer word is no misspelt name.
  constexpr std::size_t kLongest = 100;
  std::string best;
  if (word.size() > kLongest) return best;
  std::size_t best_distance = 1 + word.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() >= word.size() + best_distance)
      continue;  // the distance is at least the difference in length
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string name = nearest_name(word, candidates);
  return name.empty() ? "" : " (did you mean '" + name + "'?)";
}

std::string unknown_name(std::string_view name, const std::vector<std::string>& known,
                         const std::string& expected) {
  if (std::ranges::find(known, name) != known.end()) return "";
  return all_parts("found '", name, "'", did_you_mean(name, known), ", expected ",
                   known.empty() ? "none" : expected + " " + joined(known));
}

void require_known(const std::string& what, std::string_view name, const std::vector<std::string>& known,
                   const std::string& expected) {
  if (const std::string unknown = unknown_name(name, known, expected); !unknown.empty())
    throw Error::usage(what, ": ", unknown);
}

}  // namespace proxbench
