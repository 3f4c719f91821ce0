#pragma once
/// Makes the rows of keys from the members that take their values.

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <set>
#include <type_traits>

#include "core/base/option_rows.h"
#include "experiments/config/config_keys.h"
#include "experiments/config/ini.h"

namespace proxbench {

/// Formats a value for a config.
template <class Value>
std::string value_text(const Value& value) {
  if constexpr (std::is_same_v<Value, Loss::Kind>)
    return loss_name(value);
  else if constexpr (std::is_same_v<Value, Cost>)
    return cost_name(value);
  else if constexpr (std::is_same_v<Value, PathGrid>)
    return value.text();
  else if constexpr (std::is_same_v<Value, double>)
    return std::isnan(value) ? "auto" : number_as_written(value);
  else
    return fmt::format("{}", value);
}
template <class Value>
std::string value_text(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(value_text(value));
  return joined(texts);
}

inline void read_choice(const std::string& text, Loss::Kind& out) {
  out = parse_loss(text, cost_name(Cost{})).kind;
}
inline void read_choice(const std::string& text, Cost& out) {
  out = parse_loss(loss_name(Loss::Kind::kHinge), text).cost;
}

/// Reads a text as a value of the key. Throws ValueError, and what `find` throws.
template <class Value>
void read_value(const OptionSpec& spec, const std::string& text, const FindFile& find, Value& out) {
  if constexpr (std::is_same_v<Value, PathGrid>) {
    if (looks_like_path(text)) {
      out = parse_path(text, out.of);
      return;
    }
    try {
      return read_value(spec, text, find, out.start.value);
    } catch (const ValueError& error) {
      throw ValueError(std::string(error.what()).append(kOrPath));
    }
  }
  Options options({spec});
  set_option(options, spec.name, text, find);
  if constexpr (std::is_enum_v<Value>)
    read_choice(text, out);
  else if constexpr (!std::is_same_v<Value, PathGrid>)
    out = option_value<Value>(options, spec.name);
}

/// Returns the error that `read` throws for a part of a value, which begins at this offset.
template <class Read>
std::vector<ValueError> errors_of(const Read& read, std::size_t offset = 0) {
  try {
    read();
  } catch (const ValueError& error) {
    return {ValueError(error.what(), offset + error.offset, error.kind())};
  } catch (const Error& error) {
    return {ValueError(error.what(), offset, error.kind())};
  }
  return {};
}

/// Whether `find` finds the file.
inline bool finds(const FindFile& find, const std::string& file) {
  try {
    return find != nullptr && !find(file).empty();
  } catch (const Error&) {
    return false;
  }
}

/// Splits a list of files at its commas, but not at those that are part of the name of a file.
inline std::vector<ListPart> file_list(std::string_view text, const FindFile& find) {
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

/// Reads the parts of a list, each into a copy of `fresh`. Its errors are those of all parts.
template <class Value>
std::vector<ValueError> read_list(const OptionSpec& spec, const std::string& text, const FindFile& find,
                                  const Value& fresh, std::vector<Value>& out) {
  std::vector<ValueError> errors;
  std::set<std::string> seen;
  out.clear();
  for (const auto& [part, offset] : spec.file ? file_list(text, find) : list_parts(text)) {
    const auto read = [&, &one = part] {
      if (one.empty()) throw ValueError("found nothing between commas, expected a value");
      read_value(spec, one, find, out.emplace_back(fresh));
      if (!seen.insert(value_text(out.back())).second && !spec.repeats)
        throw ValueError(fmt::format("found '{}' again, expected each value once", one));
    };
    std::ranges::copy(errors_of(read, offset), std::back_inserter(errors));
  }
  return errors;
}

/// These functions are only declared. The return type of the first is the type of a value, and that of the
/// second is the type of the values in a list.
template <class Value>
Value element_of(const Value&);
template <class Value>
Value element_of(const std::vector<Value>&);

/// Collects the rows of one section.
template <class Section>
struct Rows {
  std::vector<ConfigKey<Section>> keys;

  /// `member` is a pointer to the member, or a function that returns it. `spec` holds what does not follow
  /// from the other arguments.
  template <class Member>
  void operator()(Member member, const char* name, const std::string& help, OptionSpec spec = {},
                  const Stored& = {}) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Member, Section&>>;
    using Element = decltype(element_of(std::declval<Value>()));
    constexpr bool kList = !std::is_same_v<Value, Element>;
    const Section defaults{};
    spec.name = name;
    spec.type = std::is_same_v<Element, PathGrid> ? OptionType::kReal : option_type<Element>();
    spec.default_value = value_text(std::invoke(member, defaults));
    spec.help = help;
    spec.list = kList;
    Element fresh{};
    if constexpr (std::is_same_v<Value, std::vector<PathGrid>>)
      if (const Value& standard = std::invoke(member, defaults); !standard.empty()) fresh = standard.front();
    const auto read = [=](Section& section, const std::string& text,
                          const FindFile& find) -> std::vector<ValueError> {
      Value& out = std::invoke(member, section);
      if (kList && text.empty() && spec.type != OptionType::kString)
        return {ValueError("found nothing, expected a list")};
      if (spec.required && text.empty()) return {ValueError("found nothing, expected " + spec.help)};
      if constexpr (kList)
        return read_list(spec, text, find, fresh, out);
      else
        return errors_of([&] {
          if (const std::size_t files = spec.file ? file_list(text, find).size() : 1; files > 1)
            throw ValueError(fmt::format("found {} files, expected one", files));
          read_value(spec, text, find, out);
        });
    };
    const auto write = [=](const Section& section) { return value_text(std::invoke(member, section)); };
    keys.push_back({spec, read, write});
  }
};

}  // namespace proxbench
