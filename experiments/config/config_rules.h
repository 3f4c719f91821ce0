#pragma once
/// What must hold of several keys of a config together: rules see the whole config, and the text it was read
/// from.

#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/config/ini.h"

namespace proxbench {

/// The text of a config, to say where what is wrong stands.
class ConfigText {
 public:
  ConfigText(const Ini& ini, Problems& problems) : ini_(ini), problems_(problems) {}

  bool given(std::string_view section, std::string_view key) const {
    return ini_.find(section, key) != nullptr;
  }
  /// As it is written; "" where the key is not given.
  std::string value(std::string_view section, std::string_view key) const;
  /// Adds "[section] key: what", where the value stands from a byte of it on; the section where it does not.
  void reject(const std::string& section, const std::string& key, const std::string& what,
              std::size_t offset = 0) const;
  /// The same of a value that is given: "found 'VALUE'" stands before `why`.
  void reject_value(const std::string& section, const std::string& key, const std::string& why) const;
  /// Adds what is wrong with a section; with the file, where it has none of this name.
  void reject(const std::string& section, const std::string& what) const;
  /// Whether the name is a known one; else rejects the key.
  bool check_name(const std::string& section, const std::string& key, const std::string& name,
                  const std::vector<std::string>& known) const;

 private:
  const Ini& ini_;
  Problems& problems_;
};

/// All rules, of a config whose values are right by themselves.
void check_rules(const ExperimentConfig& config, const ConfigText& text);

/// Why the name cannot be part of a file name: "'NAME', expected ..."; empty: it can.
std::string name_problem(std::string_view name);

}  // namespace proxbench
