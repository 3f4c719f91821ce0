#pragma once
/// Option tables in which each row names the member of a settings struct that takes its value:
///
///     const OptionRows<Settings> rows({
///         option(&Settings::memory, "memory", "40", "pairs kept", {1, 1000}, "10"),
///         choice(&Settings::order, "order", "random", "order of visits",
///                {{"random", Order::kRandom}, {"cyclic", Order::kCyclic}}),
///         part(&Settings::line_search, line_search_rows())});
///
/// The preset `paper` has memory = 10. The types of the options follow from the members. rows.table() is the
/// table for the registry, and rows.read() makes settings from its values. A table with preset values begins
/// with an option `preset`.

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/options.h"

namespace proxbench {

/// The `preset_values` of an option that the preset `paper` changes.
inline std::map<std::string, std::string> paper(std::string value) {
  if (value.empty()) return {};
  return {{"paper", std::move(value)}};
}

/// Bounds of a number. Open bounds are excluded.
struct Range {
  double min = -kInfinity, max = kInfinity;
  bool min_open = false, max_open = false;
};

/// min < x < max.
constexpr Range inside(double min, double max) {
  return {min, max, true, true};
}
/// min < x <= max.
constexpr Range above(double min, double max = kInfinity) {
  return {min, max, true};
}

/// Describes an option. A nonempty `of_paper` is its default in the preset `paper`. option() sets the type.
inline OptionSpec describe(std::string name, std::string default_value, std::string help, Range range = {},
                           std::string of_paper = "") {
  return {std::move(name),
          OptionType::kString,
          std::move(default_value),
          std::move(help),
          range.min,
          range.max,
          range.min_open,
          range.max_open,
          {},
          false,
          paper(std::move(of_paper))};
}

/// One option, or several that fill one member.
template <class Settings>
struct OptionRow {
  OptionTable specs;
  std::function<void(const Options&, Settings&)> read;
};

/// The type of an option that is stored as a `Value`.
template <class Value>
constexpr OptionType option_type() {
  return std::same_as<Value, bool>    ? OptionType::kBool
         : std::integral<Value>       ? OptionType::kInt
         : std::floating_point<Value> ? OptionType::kReal
                                      : OptionType::kString;
}
template <class Value>
Value option_value(const Options& options, const std::string& name) {
  if constexpr (std::same_as<Value, bool>)
    return options.boolean(name);
  else if constexpr (std::integral<Value>)
    return static_cast<Value>(options.integer(name));
  else if constexpr (std::floating_point<Value>)
    return options.real(name);
  else
    return options.string(name);
}

/// An option that is a number, a bool or a text. A real whose default is "auto" accepts "auto", which reads
/// as NaN.
template <class Settings, class Value>
OptionRow<Settings> option(Value Settings::*member, OptionSpec spec) {
  spec.type = option_type<Value>();
  if (spec.type == OptionType::kReal && spec.default_value == "auto") spec.automatic = true;
  const auto read = [member, name = spec.name](const Options& options, Settings& settings) {
    settings.*member = option_value<Value>(options, name);
  };
  return {{std::move(spec)}, read};
}

template <class Settings, class Value>
OptionRow<Settings> option(Value Settings::*member, std::string name, std::string default_value,
                           std::string help, Range range = {}, std::string of_paper = "") {
  return option(member, describe(name, default_value, help, range, std::move(of_paper)));
}

/// An option that is one of several named values.
template <class Settings, class Value>
OptionRow<Settings> choice(Value Settings::*member, OptionSpec spec,
                           std::vector<std::pair<std::string, std::type_identity_t<Value>>> values) {
  for (const auto& [name, value] : values) spec.choices.push_back(name);
  const auto read = [member, name = spec.name, values](const Options& options, Settings& settings) {
    settings.*member =
        std::ranges::find(values, options.string(name), &std::pair<std::string, Value>::first)->second;
  };
  return {{std::move(spec)}, read};
}

template <class Settings, class Value>
OptionRow<Settings> choice(Value Settings::*member, std::string name, std::string default_value,
                           std::string help,
                           std::vector<std::pair<std::string, std::type_identity_t<Value>>> values,
                           std::string of_paper = "") {
  return choice(member, describe(name, default_value, help, {}, std::move(of_paper)), std::move(values));
}

template <class Settings>
class OptionRows {
 public:
  explicit OptionRows(std::vector<OptionRow<Settings>> rows) : rows_(std::move(rows)) {}

  OptionTable table() const {
    OptionTable out = specs();
    if (std::ranges::any_of(out, [](const OptionSpec& spec) { return !spec.preset_values.empty(); }))
      out.insert(out.begin(), {.name = "preset",
                               .default_value = "best",
                               .help = "the defaults of the other options: the best known, or the paper's",
                               .choices = {"best", "paper"}});
    return out;
  }
  /// The table without `preset`.
  OptionTable specs() const {
    OptionTable out;
    for (const OptionRow<Settings>& row : rows_) out.insert(out.end(), row.specs.begin(), row.specs.end());
    return out;
  }

  void read(const Options& options, Settings& settings) const {
    for (const OptionRow<Settings>& row : rows_) row.read(options, settings);
  }
  Settings read(const Options& options) const {
    Settings settings{};
    read(options, settings);
    return settings;
  }

  /// Returns a function that makes a T from the settings in given options, for SolverInfo::make.
  template <class T>
  auto maker() const {
    return [rows = *this](const Options& options) { return std::make_unique<T>(rows.read(options)); };
  }

 private:
  std::vector<OptionRow<Settings>> rows_;
};

/// The rows of a settings struct that is a member of a larger one.
template <class Settings, class Part>
OptionRow<Settings> part(Part Settings::*member, const OptionRows<Part>& rows) {
  return {rows.specs(), [member, rows](const Options& options, Settings& settings) {
            rows.read(options, settings.*member);
          }};
}

}  // namespace proxbench
