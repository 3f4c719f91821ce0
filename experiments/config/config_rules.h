#pragma once
/// Rules about several keys of a config. They see the whole config and the text from which it was read.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/oracle.h"
#include "experiments/config/config.h"
#include "experiments/config/ini.h"

namespace proxbench {

/// The text of a config, used to give the locations of errors.
class ConfigText {
 public:
  ConfigText(const Ini& ini, Problems& problems) : ini_(ini), problems_(problems) {}

  const auto& sections() const { return ini_.sections; }
  bool given(std::string_view section, std::string_view key) const {
    return ini_.find(section, key) != nullptr;
  }
  /// Returns the value as written; "" if the key is not given.
  std::string value(std::string_view section, std::string_view key) const {
    const IniEntry* entry = ini_.find(section, key);
    return entry ? entry->value : "";
  }
  /// Adds the error "[section] key: what", located `offset` bytes into the value. If the key is not given,
  /// the location is that of the section.
  void reject(const std::string& section, const std::string& key, const std::string& what,
              std::size_t offset = 0) const {
    const std::string text = fmt::format("[{}] {}: {}", printable(section), key, what);
    if (const IniEntry* entry = ini_.find(section, key))
      problems_.add(entry->at(offset), text);
    else
      reject(section, text);
  }
  /// Adds the error "found 'VALUE'" followed by `why`, for a value that is given.
  void reject_value(const std::string& section, const std::string& key, const std::string& why) const {
    reject(section, key, fmt::format("found '{}'{}", value(section, key), why));
  }
  /// Adds an error of a section. Its location is the file if there is no section of this name.
  void reject(const std::string& section, const std::string& what) const {
    const IniSection* found = ini_.sections.find(section);
    problems_.add(found ? found->where : Location{ini_.files.front().name}, what);
  }
  /// Whether the name is known. If it is not, rejects the key.
  bool check_name(const std::string& section, const std::string& key, const std::string& name,
                  const std::vector<std::string>& known) const {
    const std::string unknown = unknown_name(name, known);
    if (!unknown.empty()) reject(section, key, unknown);
    return unknown.empty();
  }

 private:
  const Ini& ini_;
  Problems& problems_;
};

/// Checks all rules for a config whose single values are correct.
void check_rules(const ExperimentConfig& config, const ConfigText& text);
/// Requires that each data set has a training file if its format reads files, and no file if it does not.
void check_files(const ConfigText& text);

/// Returns why a key of a section has no effect in this config, or why its value contradicts other keys. An
/// error message shows it after the value. Returns "" if there is no such reason.
std::string conflict_of(const ExperimentConfig& config, const std::string& section, const std::string& key);

/// Returns the oracle of these data, or null if it is not known before they are read.
const OracleInfo* known_oracle(const RunData& data);

/// Returns why the name cannot be part of a file name: "'NAME', expected ...". Returns an empty text if it
/// can.
std::string name_problem(std::string_view name);

}  // namespace proxbench
