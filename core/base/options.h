#pragma once
/// Options of solvers, data readers and runs. One table per registered thing (name, type, default, bounds,
/// help) feeds parsing, validation, `proxbench list --options` and the documentation.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/value.h"

namespace proxbench {

/// kNumbers: numbers by name. kJson: anything else that only JSON can hold.
enum class OptionType { kInt, kReal, kBool, kString, kNumbers, kJson };

/// Where a field of the record of a run is shown. Each use includes the uses before it.
enum class FieldUse {
  kRecord,   ///< only in the record's own JSON
  kColumn,   ///< also a column of exports
  kSummary,  ///< also in the summary of `train`; null in the summary of `certify`
  kModel     ///< also in the summary of `certify`
};

/// What a row of a table says about its member (schema.h). Bounds apply to kInt and kReal; choices to kString
/// (empty: any text).
struct OptionSpec {
  std::string name = {};
  OptionType type = OptionType::kString;
  std::string default_value = {};
  std::string help = {};
  double min = -kInfinity;
  double max = kInfinity;
  bool min_open = false;  ///< the lower bound itself is excluded
  bool max_open = false;  ///< the upper bound itself is excluded
  std::vector<std::string> choices = {};
  bool automatic = false;  ///< kReal: "auto" is allowed in place of a number; real() then returns NaN
  /// Defaults that replace default_value, by the value of the table's option "preset".
  std::map<std::string, std::string> preset_values = {};
  /// kString: the value is the name of a file or "". The file is looked up like data files, and its content
  /// counts as data. A value of several lines is the content of the file itself. Models store it that way.
  bool file = false;
  bool list = false;  ///< several values; in a config, separated by commas
  // The next three are for keys of configs.
  bool required = false;  ///< there is no default
  bool repeats = false;   ///< a value may occur more than once in the list
  bool path = false;      ///< a path(START, END, COUNT) may stand for the number
  // The rest is for fields of records.
  std::string unit = {};
  std::string section = {};  ///< the JSON object that holds the field, e.g. "run.data"; empty: the top level
  std::string field = {};    ///< name of the field; empty: `name`
  std::optional<FieldUse> use = {};  ///< none: kColumn
  bool nullable = false;  ///< JSON has null, or nothing, for an empty text or list; reading it sets nothing

  const std::string& field_name() const { return field.empty() ? name : field; }
  FieldUse field_use(FieldUse standard = FieldUse::kColumn) const { return use.value_or(standard); }
  /// Whether the value `text` is the name of a file.
  bool names_file(std::string_view text) const {
    return file && !text.empty() && text.find('\n') == text.npos;
  }

  /// "integer", "real", "bool", "string", "numbers" or "JSON".
  std::string type_name() const;
  /// The allowed values in readable form: "1 <= memory <= 1000", "0 < sigma < 1", "one of a, b".
  std::string constraint() const;
  /// Returns the text as a value: NaN for "auto". If it is no value of the option, returns none and sets
  /// `expected`, e.g. to "an integer, 1 <= memory <= 1000".
  std::optional<Value> read(std::string_view text, std::string& expected) const;
};

using OptionTable = std::vector<OptionSpec>;

/// Values of the options in one table: the defaults (those of the preset, if the table has an option
/// "preset"), unless set() changes them.
class Options {
 public:
  Options() = default;
  explicit Options(const OptionTable& table);

  /// Parses and validates. Throws Error (kUsage) for an unknown name (with a did-you-mean) and for a bad
  /// value: "option sigma = 2: expected a finite real, 0 < sigma < 1".
  void set(std::string_view name, std::string_view text);

  /// Throw Error if the option has another type.
  std::int64_t integer(std::string_view name) const { return value(name).as<std::int64_t>(); }
  /// NaN for "auto".
  double real(std::string_view name) const { return value(name).as<double>(); }
  bool boolean(std::string_view name) const { return value(name).as<bool>(); }
  const std::string& string(std::string_view name) const;
  /// The value as one of the type of the option.
  Value value(std::string_view name) const;

  /// Every option with its current text, in table order.
  std::vector<std::pair<std::string, std::string>> items() const;
  const OptionTable& table() const { return table_; }
  /// Throws Error (kUsage) for an unknown name, with a did-you-mean.
  const OptionSpec& spec(std::string_view name) const;

 private:
  OptionTable table_;
  std::map<std::string, std::string, std::less<>> text_;  ///< values given to set()
};

/// The number as fmt's "{}" and Python's repr() write it: digits that read back to the same number, with an
/// exponent below 1e-04 and from 1e+16 on.
std::string number_text(double value);
/// The shortest text that reads back to the same number, as in data and model files.
std::string shortest_text(double value);

/// Parse the whole text as a finite double or a 64-bit integer. Return false if it is not one.
bool parse_real(std::string_view text, double& out);
bool parse_integer(std::string_view text, std::int64_t& out);

/// Joins the words with `between`.
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");
/// The candidate nearest to `word` by edit distance. Returns "" if none is near (distance > 1 + length/3) or
/// if `word` has more than 100 characters.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);
/// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// Returns "found 'NAME' (did you mean ...?), expected EXPECTED A, B" if the name is not among the known
/// ones, otherwise "".
std::string unknown_name(std::string_view name, const std::vector<std::string>& known,
                         const std::string& expected = "one of");
/// Throws Error (kUsage) with "WHAT: " and the text of unknown_name() if the name is not among the known
/// ones.
void require_known(const std::string& what, std::string_view name, const std::vector<std::string>& known,
                   const std::string& expected = "one of");

}  // namespace proxbench
