#pragma once
/// Records as lines of CSV files. Each field is a column.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/config/ini.h"
#include "experiments/results/fields.h"

namespace proxbench {

template <class Record>
std::string csv_header(const std::vector<Field<Record>>& fields) {
  std::vector<std::string> names;
  for (const Field<Record>& field : fields) names.push_back(field.name);
  return joined(names, ",");
}

/// Returns a value as text: empty for null and NaN, text unchanged, numbers in full precision.
inline std::string field_text(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float())
    return std::isnan(value.get<double>()) ? "" : fmt::format("{}", value.get<double>());
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Returns the text of a value in a CSV file. Objects become "NAME=VALUE NAME=VALUE" and lists "VALUE VALUE",
/// because commas separate the columns.
inline std::string csv_value(const nlohmann::ordered_json& value) {
  if (!value.is_structured()) return field_text(value);
  std::string out;
  for (const auto& [name, part] : value.items())
    out += (out.empty() ? "" : " ") + (value.is_object() ? name + "=" : "") + field_text(part);
  return out;
}

template <class Record>
std::string csv_line(const std::vector<Field<Record>>& fields, const Record& record) {
  std::string out;
  for (const Field<Record>& field : fields)
    out += (&field == fields.data() ? "" : ",") + csv_value(field.get(record));
  return out;
}

/// Returns false if the text is no value of the type. An empty real number becomes null. An empty count is no
/// value.
inline bool parse_value(const std::string& text, FieldType type, nlohmann::json& out) {
  const auto number = [&](auto value) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    out = value;
    return status == std::errc{} && end == text.data() + text.size();
  };
  if (type == FieldType::kNumbers) {
    std::istringstream pairs(text);
    for (std::string pair; pairs >> pair;) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos ||
          !parse_value(pair.substr(equals + 1), FieldType::kReal, out[pair.substr(0, equals)]))
        return false;
    }
    return true;
  }
  if (type == FieldType::kCount) return number(std::uint64_t{0});
  out = text;
  if (type == FieldType::kText) return true;
  if (!text.empty()) return number(0.0);
  out = nullptr;
  return true;
}

/// Throws Error with file and line if the line does not hold the fields.
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
                           fields[i].type == FieldType::kCount     ? "a count"
                           : fields[i].type == FieldType::kNumbers ? "NAME=NUMBER, separated by spaces"
                                                                   : "a number or an empty field");
    if (fields[i].set != nullptr) fields[i].set(record, value);
  }
  return record;
}

/// Cuts the file that a process may have died over after its last whole line. Adds the header if it has none.
template <class Record>
void repair_csv(const std::vector<Field<Record>>& fields, const std::filesystem::path& file) {
  const std::string text = text_of(file), whole = text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
  if (whole.empty() || whole != text)
    write_file_atomically(file, whole.empty() ? csv_header(fields) + "\n" : whole);
}

/// Reads the records of a file: a header, then one line per record. Throws Error with file and line if the
/// file is malformed.
template <class Record>
std::vector<Record> read_csv(const std::vector<Field<Record>>& fields, const std::filesystem::path& file) {
  std::istringstream in(read_file(file, kStoredResult));
  std::string line;
  std::uint64_t number = 1;
  std::getline(in, line);
  if (csv_header(fields) != line)
    throw Error::in_file(file.string(), 1, fmt::format("'{}'", line),
                         fmt::format("'{}'", csv_header(fields)));
  std::vector<Record> out;
  while (std::getline(in, line)) out.push_back(record_of(fields, line, file, ++number));
  return out;
}

}  // namespace proxbench
