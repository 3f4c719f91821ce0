#pragma once
/// Tables of members. Each row names a member of a struct and says its type, bounds, default, unit, where it
/// is used and what it means. An option of a solver, a key of a config, a flag of the command line, a field
/// of a record and a column of a CSV file are rows of this kind:
///
///     const Schema<Settings> rows({
///         option(&Settings::memory, "memory", "40", "pairs kept", {1, 1000}, "10"),
///         choice(&Settings::order, "order", "random", "order of visits",
///                {{"random", Order::kRandom}, {"cyclic", Order::kCyclic}}),
///         part(&Settings::line_search, line_search_rows())});
///
/// The preset `paper` has memory = 10. rows.table() is the table for the registry, and rows.read() makes
/// settings from its values. A table with preset values begins with an option `preset`.
///
/// The forms that follow from a table: solver options (Options), INI and flags
/// (experiments/config/ini_values.h), JSON (experiments/base/json_values.h), CSV (experiments/results/csv.h),
/// documentation (experiments/cli/list.cpp and experiments/results/fields.h).

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/options.h"
#include "core/base/value.h"

namespace proxbench {

template <class T>
struct Row {
  OptionSpec spec;
  std::function<Value(const T&)> get;
  std::function<void(T&, const Value&)> set;  ///< null: the value follows from other members
};

template <class T>
class Schema {
 public:
  Schema() = default;
  explicit Schema(Row<T> row) : rows_{std::move(row)} {}
  /// The rows of all parts, in order.
  explicit Schema(const std::vector<Schema>& parts) {
    for (const Schema& part : parts) rows_.insert(rows_.end(), part.begin(), part.end());
  }

  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  std::size_t size() const { return rows_.size(); }
  /// Returns null if there is none.
  const Row<T>* find(std::string_view name) const {
    const auto found = std::ranges::find(rows_, name, [](const Row<T>& row) { return row.spec.name; });
    return found == rows_.end() ? nullptr : &*found;
  }

  /// Returns the same rows with their specs, getters or setters changed by `change`.
  template <class Change>
  Schema with(const Change& change) const {
    Schema out = *this;
    for (Row<T>& row : out.rows_) change(row);
    return out;
  }

  /// Returns the same rows as fields of this section, with this use, where their specs leave these open.
  Schema in(const std::string& section, FieldUse use) const {
    return with([&](Row<T>& row) {
      if (row.spec.section.empty()) row.spec.section = section;
      row.spec.use = row.spec.field_use(use);
    });
  }

  OptionTable specs() const {
    OptionTable out;
    for (const Row<T>& row : rows_) out.push_back(row.spec);
    return out;
  }
  /// specs(), behind `preset` if the default of an option depends on it.
  OptionTable table() const {
    OptionTable out = specs();
    if (std::ranges::any_of(out, [](const OptionSpec& spec) { return !spec.preset_values.empty(); }))
      out.insert(out.begin(), {.name = "preset",
                               .default_value = "best",
                               .help = "the defaults of the other options: the best known, or the paper's",
                               .choices = {"best", "paper"}});
    return out;
  }

  void read(const Options& options, T& settings) const {
    for (const Row<T>& row : rows_) row.set(settings, options.value(row.spec.name));
  }
  T read(const Options& options) const {
    T settings{};
    read(options, settings);
    return settings;
  }
  /// Returns a function that makes a Thing from the settings in given options, for SolverInfo::make.
  template <class Thing>
  auto maker() const {
    return [rows = *this](const Options& options) { return std::make_unique<Thing>(rows.read(options)); };
  }

  /// All members by name.
  Value value_of(const T& record) const {
    Value::Map out;
    for (const Row<T>& row : rows_) out.emplace_back(row.spec.name, row.get(record));
    return {std::move(out)};
  }
  /// Sets all members. Throws Error if one is missing or has another type.
  void assign(T& record, const Value& value) const {
    const auto& map = value.as<Value::Map>();
    for (const Row<T>& row : rows_) {
      const auto found = std::ranges::find(map, row.spec.name, [](const auto& named) { return named.first; });
      if (found == map.end()) throw Error("found no key " + row.spec.name);
      row.set(record, found->second);
    }
  }

 private:
  std::vector<Row<T>> rows_;
};

/// The type of a member, or of the values in a list.
template <class T>
constexpr OptionType option_type() {
  if constexpr (std::same_as<T, bool>)
    return OptionType::kBool;
  else if constexpr (std::integral<T>)
    return OptionType::kInt;
  else if constexpr (std::floating_point<T>)
    return OptionType::kReal;
  else if constexpr (std::same_as<T, std::string>)
    return OptionType::kString;
  else if constexpr (WrittenAsValue<T>)
    return T::kType;
  else if constexpr (IsOptional<T> || IsList<T>)
    return option_type<typename T::value_type>();
  else
    return std::same_as<T, std::map<std::string, double>> ? OptionType::kNumbers : OptionType::kJson;
}

/// The row of the value that `access` returns for a T. The value can be set if that is a reference. `spec`
/// holds everything that does not follow from the other arguments.
template <class T, class Access>
Schema<T> computed(const Access& access, std::string name, std::string help, OptionSpec spec = {}) {
  using Member = std::remove_cvref_t<std::invoke_result_t<Access, const T&>>;
  spec.name = std::move(name);
  spec.help = std::move(help);
  spec.type = option_type<Member>();
  spec.list = spec.list || IsList<Member>;
  Row<T> row{std::move(spec), [=](const T& record) { return value_of(std::invoke(access, record)); },
             nullptr};
  if constexpr (std::is_lvalue_reference_v<std::invoke_result_t<Access, T&>>)
    row.set = [=](T& record, const Value& value) { assign(std::invoke(access, record), value); };
  return Schema<T>(std::move(row));
}

/// The row of a member.
template <class T, class Member>
Schema<T> row(Member T::*member, std::string name, std::string help = "", OptionSpec spec = {}) {
  return computed<T>(member, std::move(name), std::move(help), std::move(spec));
}

/// The rows of a part of a T, which `access` returns.
template <class T, class Part, class Access>
Schema<T> rows_of(const Access& access, const Schema<Part>& part) {
  std::vector<Schema<T>> out;
  for (const Row<Part>& one : part) {
    Row<T> row{one.spec, [=, get = one.get](const T& whole) { return get(std::invoke(access, whole)); },
               nullptr};
    if (one.set)
      row.set = [=, set = one.set](T& whole, const Value& v) { set(std::invoke(access, whole), v); };
    out.emplace_back(std::move(row));
  }
  return Schema<T>(out);
}
template <class T, class Part>
Schema<T> part(Part T::*member, const Schema<Part>& rows) {
  return rows_of<T>(member, rows);
}
/// The rows of a class from which T is derived.
template <class T, class Base>
Schema<T> base_rows(const Schema<Base>& rows) {
  return rows_of<T>(
      [](auto& whole) -> auto& { return whole; }, rows);
}

/// A member that has one of several named values.
template <class T, class Member>
Schema<T> choice(Member T::*member, OptionSpec spec,
                 std::vector<std::pair<std::string, std::type_identity_t<Member>>> values) {
  using Named = std::pair<std::string, Member>;
  if (spec.choices.empty())
    for (const Named& one : values) spec.choices.push_back(one.first);
  const auto get = [=](const T& record) -> Value {
    return {std::ranges::find(values, record.*member, &Named::second)->first};
  };
  const auto set = [=](T& record, const Value& value) {
    const auto found = std::ranges::find(values, value.as<std::string>(), &Named::first);
    if (found == values.end()) throw Error("found '", value.as<std::string>(), "', expected one of a list");
    record.*member = found->second;
  };
  return Schema<T>(Row<T>{std::move(spec), get, set});
}

// ---- Short forms for options of solvers, whose defaults are texts.

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
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .help = std::move(help),
          .min = range.min,
          .max = range.max,
          .min_open = range.min_open,
          .max_open = range.max_open,
          .preset_values = paper(std::move(of_paper))};
}

/// An option that is a number, a bool or a text. A real whose default is "auto" accepts "auto", which reads
/// as NaN.
template <class T, class Member>
Schema<T> option(Member T::*member, OptionSpec spec) {
  if (std::floating_point<Member> && spec.default_value == "auto") spec.automatic = true;
  return row(member, spec.name, spec.help, spec);
}
template <class T, class Member>
Schema<T> option(Member T::*member, std::string name, std::string default_value, std::string help,
                 Range range = {}, std::string of_paper = "") {
  return option(member, describe(name, default_value, help, range, std::move(of_paper)));
}
template <class T, class Member>
Schema<T> choice(Member T::*member, std::string name, std::string default_value, std::string help,
                 std::vector<std::pair<std::string, std::type_identity_t<Member>>> values,
                 std::string of_paper = "") {
  return choice(member, describe(name, default_value, help, {}, std::move(of_paper)), std::move(values));
}

}  // namespace proxbench
