#pragma once
/// Records as lines of CSV files. Each row of a table (core/base/schema.h) is a column.

#include <string>
#include <vector>

#include "core/base/schema.h"
#include "experiments/base/paths.h"

namespace proxbench {

/// Returns a value as text: empty for none and NaN, text unchanged, numbers in full precision. Maps become
/// "NAME=VALUE NAME=VALUE" and lists "VALUE VALUE", because commas separate the columns.
std::string csv_text(const Value& value);

/// Returns the values of a line. Throws Error with file and line if it does not hold the columns.
std::vector<Value> csv_values(const OptionTable& columns, const std::string& line, const fs::path& file,
                              std::uint64_t number);
/// Returns the lines behind the header. Throws Error if the file has another header.
std::vector<std::string> csv_lines(const std::string& header, const fs::path& file);
/// Cuts the file that a process may have died over after its last whole line. Adds the header if it has none.
void repair_csv(const std::string& header, const fs::path& file);

template <class Record>
std::string csv_header(const Schema<Record>& columns) {
  std::vector<std::string> names;
  for (const Row<Record>& column : columns) names.push_back(column.spec.name);
  return joined(names, ",");
}

template <class Record>
std::string csv_line(const Schema<Record>& columns, const Record& record) {
  std::vector<std::string> texts;
  for (const Row<Record>& column : columns) texts.push_back(csv_text(column.get(record)));
  return joined(texts, ",");
}

/// Throws Error with file and line if the line does not hold a record.
template <class Record>
Record record_of(const Schema<Record>& columns, const std::string& line, const fs::path& file,
                 std::uint64_t number) {
  const std::vector<Value> values = csv_values(columns.specs(), line, file, number);
  Record record{};
  std::size_t i = 0;
  for (const Row<Record>& column : columns) {
    if (column.set) column.set(record, values[i]);
    ++i;
  }
  return record;
}

/// Reads the records of a file: a header, then one line per record. Throws Error with file and line if the
/// file is malformed.
template <class Record>
std::vector<Record> read_csv(const Schema<Record>& columns, const fs::path& file) {
  std::vector<Record> out;
  for (const std::string& line : csv_lines(csv_header(columns), file))
    out.push_back(record_of(columns, line, file, out.size() + 2));
  return out;
}

}  // namespace proxbench
