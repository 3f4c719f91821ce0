#pragma once
/// Records as lines of CSV files: a column a field.

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "experiments/config/ini.h"
#include "experiments/results/fields.h"

namespace proxbench {

template <class Record>
std::string csv_header(const std::vector<Field<Record>>& fields) {
  std::string out;
  for (const Field<Record>& field : fields) out += (out.empty() ? "" : ",") + field.name;
  return out;
}

template <class Record>
std::string csv_line(const std::vector<Field<Record>>& fields, const Record& record) {
  std::string out;
  for (const Field<Record>& field : fields)
    out += (&field == fields.data() ? "" : ",") + field_text(field.get(record));
  return out;
}

/// False where the text is no value of the type; null for an empty one that is no count.
inline bool parse_value(const std::string& text, FieldType type, nlohmann::json& out) {
  const auto number = [&](auto value) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    out = value;
    return status == std::errc{} && end == text.data() + text.size();
  };
  if (type == FieldType::kCount) return number(std::uint64_t{0});
  out = text;
  if (type == FieldType::kText) return true;
  if (!text.empty()) return number(0.0);
  out = nullptr;
  return true;
}

/// Throws Error with file and line where the line does not hold the fields.
template <class Record>
Record record_of(const std::vector<Field<Record>>& fields, const std::string& line,
                 const std::filesystem::path& file, std::uint64_t number) {
  const std::vector<std::string> texts = split_list(line);
  if (texts.size() != fields.size())
    throw Error::in_file(file.string(), number, std::to_string(texts.size()) + " fields",
                         std::to_string(fields.size()));
  Record record{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    nlohmann::json value;
    if (!parse_value(texts[i], fields[i].type, value))
      throw Error::in_file(file.string(), number, fmt::format("{} '{}'", fields[i].name, texts[i]),
                           fields[i].type == FieldType::kCount ? "a count" : "a number or an empty field");
    if (fields[i].set != nullptr) fields[i].set(record, value);
  }
  return record;
}

}  // namespace proxbench
