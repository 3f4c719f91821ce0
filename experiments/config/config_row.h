#pragma once
/// Makes the row of a key from the member that takes its value.

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <set>
#include <type_traits>

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
      throw ValueError(std::string(error.what()) + ", or path(START, END, COUNT)");
    }
  }
  Options options({spec});
  set_option(options, spec, text, find);
  if constexpr (std::is_same_v<Value, bool>)
    out = options.boolean(spec.name);
  else if constexpr (std::is_integral_v<Value>)
    out = static_cast<Value>(options.integer(spec.name));
  else if constexpr (std::is_same_v<Value, double>)
    out = options.real(spec.name);
  else if constexpr (std::is_same_v<Value, Loss::Kind>)
    out = parse_loss(text, cost_name(Cost{})).kind;
  else if constexpr (std::is_same_v<Value, Cost>)
    out = parse_loss(loss_name(Loss::Kind::kHinge), text).cost;
  else if constexpr (std::is_same_v<Value, std::string>)
    out = options.string(spec.name);
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

/// Reads the parts of a list. Its errors are those of all parts.
template <class Value>
std::vector<ValueError> read_list(const OptionSpec& spec, bool repeats, const std::string& text,
                                  const FindFile& find, std::vector<Value>& out) {
  std::vector<ValueError> errors;
  std::set<std::string> seen;
  out.clear();
  for (const auto& [part, offset] : list_parts(text)) {
    const auto read = [&, &one = part] {
      if (one.empty()) throw ValueError("found nothing between commas, expected a value");
      read_value(spec, one, find, out.emplace_back());
      if (!seen.insert(value_text(out.back())).second && !repeats)
        throw ValueError(fmt::format("found '{}' again, expected each value once", one));
    };
    std::ranges::copy(errors_of(read, offset), std::back_inserter(errors));
  }
  return errors;
}

template <class Value>
struct ListOf {
  static constexpr bool kList = false;
  using Element = Value;
};
template <class Value>
struct ListOf<std::vector<Value>> {
  static constexpr bool kList = true;
  using Element = Value;
};

/// Makes the rows of one section.
template <class Section>
struct Row {
  /// `member` is a pointer to the member, or a function that returns it.
  template <class Member>
  ConfigKey<Section> operator()(Member member, const char* name, const std::string& help,
                                const KeyRules& rules = {}) const {
    using Value = std::remove_cvref_t<std::invoke_result_t<Member, Section&>>;
    using Element = typename ListOf<Value>::Element;
    constexpr bool kList = ListOf<Value>::kList;
    const Section defaults{};
    const OptionSpec spec{.name = name,
                          .type = std::is_same_v<Element, bool> ? OptionType::kBool
                                  : std::is_integral_v<Element> ? OptionType::kInt
                                  : std::is_same_v<Element, double> || std::is_same_v<Element, PathGrid>
                                      ? OptionType::kReal
                                      : OptionType::kString,
                          .default_value = value_text(std::invoke(member, defaults)),
                          .help = help,
                          .min = rules.min,
                          .max = rules.max,
                          .min_open = rules.min_open,
                          .choices = rules.choices,
                          .automatic = rules.automatic,
                          .file = rules.file};
    const auto read = [=](Section& section, const std::string& text,
                          const FindFile& find) -> std::vector<ValueError> {
      Value& out = std::invoke(member, section);
      if (kList && text.empty() && spec.type != OptionType::kString)
        return {ValueError("found nothing, expected a list")};
      if (rules.required && text.empty()) return {ValueError("found nothing, expected " + spec.help)};
      if constexpr (kList)
        return read_list(spec, rules.repeats, text, find, out);
      else
        return errors_of([&] {
          if (const std::size_t files = list_parts(text).size(); spec.file && files > 1)
            throw ValueError(fmt::format("found {} files, expected one", files));
          read_value(spec, text, find, out);
        });
    };
    const auto write = [=](const Section& section) { return value_text(std::invoke(member, section)); };
    return {spec, rules, kList, read, write};
  }
};

}  // namespace proxbench
