#pragma once
/// The values of a section of a config: checked by the section's table, with defaults where the file says
/// nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/config/ini.h"

namespace proxbench {

bool contains(const std::vector<std::string>& names, std::string_view name);
/// With ", " between them.
std::string joined(const std::vector<std::string>& names);
/// "" where the text is a value of the option, else "found 'TEXT', expected CONSTRAINT".
std::string value_problem(const OptionSpec& spec, const std::string& text);
PathOf path_of(std::string_view key);

/// The values of one section: what its table says, overridden by what the file says.
class Values {
 public:
  /// `keys`: the section's own and those of the solver or format. Null section: defaults only.
  Values(const ConfigSectionInfo& info, const IniSection* section, const std::string& title,
         Problems& problems);

  /// All required keys are there and all values are valid.
  bool complete() const { return complete_; }
  const std::string& text(std::string_view key) const { return text_.find(key)->second; }
  std::vector<std::string> list(std::string_view key) const;
  /// NaN for "auto".
  double real(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  std::vector<PathGrid> paths(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  bool boolean(std::string_view key) const;
  /// Where the value stands, from a byte of it on; the section where it does not.
  Location where(std::string_view key, std::size_t offset = 0) const;
  bool given(std::string_view key) const { return section_ && section_->find(key); }

 private:
  struct ValueProblem {
    std::size_t offset;  ///< of what is wrong in the value
    std::string text;
  };

  /// What is wrong with the text of a path; none: nothing.
  static std::optional<ValueProblem> path_problem(const OptionSpec& spec, std::string_view text);

  std::vector<ListPart> parts(std::string_view key) const;

  std::vector<ValueProblem> problems_of(const OptionSpec& spec, const std::string& value) const;

  std::vector<ValueProblem> list_problems(const OptionSpec& spec, const std::string& value) const;

  const ConfigSectionInfo& info_;
  const IniSection* section_;
  std::map<std::string, std::string, std::less<>> text_;
  bool complete_ = true;
};

}  // namespace proxbench
