#pragma once
/// The tables of what a config may say, a row for each key. Reading, checking, to_ini(), completion,
/// `proxbench list --options` and the documentation follow from them. Type, default and whether a key takes a
/// list follow from the member that its row names.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "experiments/config/config.h"
#include "experiments/config/path_grid.h"

namespace proxbench {

/// What the row of a key says of its values, beside their type.
struct KeyRules {
  double min = -kInfinity, max = kInfinity;
  bool min_open = false;   ///< the lower bound itself is excluded
  bool automatic = false;  ///< "auto" stands for NaN
  std::vector<std::string> choices = {};
  bool file = false;  ///< the value names a file
  bool required = false;
  bool repeats = false;  ///< a value may stand more than once in the list
  /// Why the key means nothing in a config, as an error says it behind the value; "" where it means
  /// something. Null: it always does.
  std::string (*idle)(const ExperimentConfig&) = nullptr;
};

template <class Section>
struct ConfigKey {
  OptionSpec spec;
  KeyRules rules;
  bool list;
  /// Takes the text of a value into the section. Returns what is wrong with it.
  std::function<std::vector<PathProblem>(Section&, const std::string& text)> read;
  std::function<std::string(const Section&)> write;
};

/// Of ExperimentConfig, DataConfig, SolverConfig, PlotConfig, PaperConfig and SlurmConfig, in the order in
/// which they are documented. The options of a solver or format are keys of its section too.
template <class Section>
const std::vector<ConfigKey<Section>>& keys_of();
template <>
const std::vector<ConfigKey<ExperimentConfig>>& keys_of();
template <>
const std::vector<ConfigKey<DataConfig>>& keys_of();
template <>
const std::vector<ConfigKey<SolverConfig>>& keys_of();
template <>
const std::vector<ConfigKey<PlotConfig>>& keys_of();
template <>
const std::vector<ConfigKey<PaperConfig>>& keys_of();
template <>
const std::vector<ConfigKey<SlurmConfig>>& keys_of();

/// The key of this name, which there is.
template <class Section>
const ConfigKey<Section>& find_key(std::string_view name) {
  return *std::ranges::find(keys_of<Section>(), name, [](const auto& key) { return key.spec.name; });
}

/// With ", " between them.
std::string joined(const std::vector<std::string>& names);
bool contains(const std::vector<std::string>& names, std::string_view name);
/// Returns "", or "found 'TEXT', expected CONSTRAINT" where the text is no value of the option.
std::string set_option(Options& options, const OptionSpec& spec, const std::string& text);

}  // namespace proxbench
