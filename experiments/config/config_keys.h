#pragma once
/// The tables of config keys, with one row for each key. Reading, checking, to_ini(), completion, `proxbench
/// list --options` and the documentation all use them. The member that a row names determines the key's type
/// and default, and whether it takes a list.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "experiments/base/text.h"
#include "experiments/config/config.h"
#include "experiments/config/path_grid.h"

namespace proxbench {

/// Returns the file that a name in a value stands for. Throws Error if there is none.
using FindFile = std::function<std::string(const std::string& name)>;

template <class Section>
struct ConfigKey {
  OptionSpec spec;
  /// Reads the text of a value into the section. Returns the errors in it.
  std::function<std::vector<ValueError>(Section&, const std::string& text, const FindFile&)> read;
  std::function<std::string(const Section&)> write;
};

/// The keys of ExperimentConfig, DataConfig, SolverConfig, PlotConfig, PaperConfig and SlurmConfig, in the
/// order of the documentation. The options of a solver or format are also keys of its section.
template <class Section>
const std::vector<ConfigKey<Section>>& keys_of();

/// Returns the rows of the section, and of its solver or format if that is known.
template <class Section>
OptionTable table_of(const Options* own = nullptr) {
  OptionTable out;
  for (const ConfigKey<Section>& key : keys_of<Section>()) out.push_back(key.spec);
  if (own) out.insert(out.end(), own->table().begin(), own->table().end());
  return out;
}

/// Returns the key of this name, or the end of the keys.
template <class Section>
auto key_named(std::string_view name) {
  return std::ranges::find(keys_of<Section>(), name, [](const auto& key) { return key.spec.name; });
}

/// Sets the option; the name of a file is replaced by the file that is found. Throws ValueError if the text
/// is no value of it, Error (kUsage) that names the options if there is no such option, and what `find`
/// throws.
void set_option(Options& options, const std::string& name, const std::string& text, const FindFile& find);

}  // namespace proxbench
