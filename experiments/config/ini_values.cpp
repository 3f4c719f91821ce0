#include "experiments/config/ini_values.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "experiments/config/ini.h"
#include "experiments/config/penalty_path.h"

namespace proxbench {
namespace {

/// Reads one value, which is no list.
Value read_one(const OptionSpec& spec, const std::string& text, const FindFile& find) {
  if (spec.path && looks_like_path(text)) return {parse_path(text, spec.name).text()};
  if (spec.names_file(text)) return {find(text)};
  std::string expected;
  if (std::optional<Value> value = spec.read(text, expected)) return *std::move(value);
  throw ValueError(fmt::format("found '{}', expected {}{}", text, expected,
                               spec.path ? ", or path(START, END, COUNT)" : ""));
}

/// Whether `find` finds the file.
bool finds(const FindFile& find, const std::string& file) {
  try {
    return find != nullptr && !find(file).empty();
  } catch (const Error&) {
    return false;
  }
}

/// Splits a list of files at its commas, but not at those that are part of the name of a file.
std::vector<ListPart> file_list(std::string_view text, const FindFile& find) {
  const std::vector<ListPart> parts = list_parts(text);
  std::vector<ListPart> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.push_back(parts[i]);
    if (finds(find, parts[i].text)) continue;
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      const std::size_t end = parts[j].offset + parts[j].text.size();
      const std::string name(text.substr(parts[i].offset, end - parts[i].offset));
      if (!finds(find, name)) continue;
      out.back().text = name;
      i = j;
      break;
    }
  }
  return out;
}

}  // namespace

std::string ini_text(const Value& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* truth = value.get_if<bool>()) return *truth ? "true" : "false";
  if (const auto* real = value.get_if<double>()) return std::isnan(*real) ? "auto" : number_text(*real);
  if (const auto* integer = value.get_if<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto* count = value.get_if<std::uint64_t>()) return fmt::format("{}", *count);
  std::vector<std::string> texts;
  for (const Value& one : value.as<Value::List>()) texts.push_back(ini_text(one));
  return joined(texts);
}

std::vector<ValueError> read_ini_value(const OptionSpec& spec, const std::string& text, const FindFile& find,
                                       Value& out) {
  if (spec.list && text.empty() && spec.type != OptionType::kString)
    return {ValueError("found nothing, expected a list")};
  if (spec.required && text.empty()) return {ValueError("found nothing, expected " + spec.help)};
  std::vector<ListPart> parts{{text, 0}};
  if (spec.file || spec.list) parts = spec.file ? file_list(text, find) : list_parts(text);
  if (!spec.list && parts.size() > 1)
    return {ValueError(fmt::format("found {} files, expected one", parts.size()))};
  if (!spec.list) parts = {{text, 0}};
  std::vector<ValueError> errors;
  Value::List values;
  std::set<std::string> seen;
  for (const auto& [part, offset] : parts) try {
      if (spec.list && part.empty()) throw ValueError("found nothing between commas, expected a value");
      values.push_back(read_one(spec, part, find));
      if (spec.list && !spec.repeats && !seen.insert(ini_text(values.back())).second)
        throw ValueError(fmt::format("found '{}' again, expected each value once", part));
    } catch (const ValueError& error) {
      errors.emplace_back(error.what(), offset + error.offset, error.kind());
    } catch (const Error& error) {  // of `find`
      errors.emplace_back(error.what(), offset, error.kind());
    }
  if (errors.empty()) out = spec.list ? Value{std::move(values)} : std::move(values.front());
  return errors;
}

void set_option(Options& options, const std::string& name, const std::string& text, const FindFile& find) {
  const OptionSpec& spec = options.spec(name);
  const Value value = read_one(spec, text, find);
  options.set(name, spec.file ? value.as<std::string>() : text);
}

}  // namespace proxbench
