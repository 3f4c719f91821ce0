#include "experiments/results/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "experiments/base/files.h"
#include "experiments/config/ini.h"
#include "experiments/results/fields.h"

namespace proxbench {
namespace {

template <class T>
std::optional<Value> number_of(const std::string& text) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(Value{value}) : std::nullopt;
}

/// Returns none if the text is no value of the type. An empty real number is no value of a record. An empty
/// count is wrong.
std::optional<Value> value_in(const std::string& text, OptionType type) {
  if (type == OptionType::kInt) return number_of<std::uint64_t>(text);
  if (type == OptionType::kReal) return text.empty() ? Value{} : number_of<double>(text);
  if (type != OptionType::kNumbers) return Value{text};
  Value::Map out;
  std::istringstream pairs(text);
  for (std::string pair; pairs >> pair;) {
    const std::size_t equals = pair.find('=');
    const auto number =
        equals == pair.npos ? std::nullopt : value_in(pair.substr(equals + 1), OptionType::kReal);
    if (!number) return std::nullopt;
    out.emplace_back(pair.substr(0, equals), *number);
  }
  return Value{std::move(out)};
}

}  // namespace

std::string csv_text(const Value& value) {
  if (value.none()) return "";
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* truth = value.get_if<bool>()) return *truth ? "true" : "false";
  if (const auto* number = value.get_if<double>())
    return std::isnan(*number) ? "" : fmt::format("{}", *number);
  if (const auto* integer = value.get_if<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto* count = value.get_if<std::uint64_t>()) return fmt::format("{}", *count);
  std::vector<std::string> texts;
  if (const auto* list = value.get_if<Value::List>())
    for (const Value& one : *list) texts.push_back(csv_text(one));
  else
    for (const auto& [name, one] : value.as<Value::Map>()) texts.push_back(name + "=" + csv_text(one));
  return joined(texts, " ");
}

std::vector<Value> csv_values(const OptionTable& columns, const std::string& line, const fs::path& file,
                              std::uint64_t number) {
  const std::vector<std::string> texts = split_list(line);
  if (texts.size() != columns.size())
    throw Error::in_file(file.string(), number, std::to_string(texts.size()) + " fields",
                         std::to_string(columns.size()));
  std::vector<Value> out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::optional<Value> value = value_in(texts[i], columns[i].type);
    if (!value)
      throw Error::in_file(file.string(), number, fmt::format("{} '{}'", columns[i].name, texts[i]),
                           columns[i].type == OptionType::kInt       ? "a count"
                           : columns[i].type == OptionType::kNumbers ? "NAME=NUMBER, separated by spaces"
                                                                     : "a number or an empty field");
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string> csv_lines(const std::string& header, const fs::path& file) {
  std::istringstream in(read_file(file, kStoredResult));
  std::string line;
  std::getline(in, line);
  if (header != line)
    throw Error::in_file(file.string(), 1, fmt::format("'{}'", line), fmt::format("'{}'", header));
  std::vector<std::string> out;
  while (std::getline(in, line)) out.push_back(line);
  return out;
}

void repair_csv(const std::string& header, const fs::path& file) {
  const std::string text = text_of(file), whole = text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
  if (whole.empty() || whole != text) write_file_atomically(file, whole.empty() ? header + "\n" : whole);
}

}  // namespace proxbench
