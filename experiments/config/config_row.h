#pragma once
/// Makes the row of a key from the member that takes its value.

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <type_traits>

#include "experiments/config/config_keys.h"

namespace proxbench {

/// Formats a value for a config. Numbers look as people write them: 1e-6, not 1e-06.
template <class Value>
std::string value_text(const Value& value) {
  if constexpr (std::is_same_v<Value, Loss::Kind>) {
    return loss_name(value);
  } else if constexpr (std::is_same_v<Value, Cost>) {
    return cost_name(value);
  } else if constexpr (std::is_same_v<Value, Backend>) {
    return backend_name(value);
  } else {
    std::string text = fmt::format("{}", value);
    const std::size_t zero = std::is_same_v<Value, double> ? text.find("e-0") : text.npos;
    if (zero != text.npos) text.erase(zero + 2, 1);
    return text == "nan" ? "auto" : text;
  }
}
template <class Value>
std::string value_text(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(value_text(value));
  return joined(texts);
}

/// Reads a text as a value of the key. Returns the error in it, or "".
template <class Value>
std::string read_value(const OptionSpec& spec, const std::string& text, Value& out) {
  Options options({spec});
  if (std::string problem = set_option(options, spec, text); !problem.empty()) return problem;
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
  else if constexpr (std::is_same_v<Value, Backend>)
    out = parse_backend(text);
  else
    out = text;
  return "";
}

inline std::vector<PathProblem> if_any(const PathProblem& problem) {
  if (problem.text.empty()) return {};
  return {problem};
}

/// Reads the parts of a list one by one with `take`. It returns the error in a part, or otherwise sets the
/// canonical text of the value, by which repetitions are found.
template <class Take>
std::vector<PathProblem> read_list(const std::string& text, bool repeats, Take take) {
  std::vector<PathProblem> problems;
  std::set<std::string> seen;
  for (const auto& [part, offset] : list_parts(text)) {
    std::string same;
    PathProblem problem;
    if (part.empty())
      problem.text = "found nothing between commas, expected a value";
    else if (problem = take(part, same); problem.text.empty() && !seen.insert(same).second && !repeats)
      problem.text = fmt::format("found '{}' again, expected each value once", part);
    if (!problem.text.empty()) problems.push_back({offset + problem.offset, problem.text});
  }
  return problems;
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
    const Section defaults{};
    const OptionSpec spec{.name = name,
                          .type = std::is_same_v<Element, bool>     ? OptionType::kBool
                                  : std::is_integral_v<Element>     ? OptionType::kInt
                                  : std::is_same_v<Element, double> ? OptionType::kReal
                                                                    : OptionType::kString,
                          .default_value = value_text(std::invoke(member, defaults)),
                          .help = help,
                          .min = rules.min,
                          .max = rules.max,
                          .min_open = rules.min_open,
                          .choices = rules.choices,
                          .automatic = rules.automatic,
                          .file = rules.file};
    const auto read = [=](Section& section, const std::string& text) -> std::vector<PathProblem> {
      Value& out = std::invoke(member, section);
      if (rules.required && text.empty()) return {{0, "found nothing, expected " + spec.help}};
      if constexpr (ListOf<Value>::kList) {
        out.clear();
        if (text.empty() && spec.type != OptionType::kString) return {{0, "found nothing, expected a list"}};
        return read_list(text, rules.repeats, [&](const std::string& part, std::string& same) {
          PathProblem problem{0, read_value(spec, part, out.emplace_back())};
          same = value_text(out.back());
          return problem;
        });
      } else {
        return if_any({0, read_value(spec, text, out)});
      }
    };
    const auto write = [=](const Section& section) { return value_text(std::invoke(member, section)); };
    return {spec, rules, ListOf<Value>::kList, read, write};
  }
};

}  // namespace proxbench
