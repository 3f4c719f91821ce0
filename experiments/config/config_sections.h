#pragma once
/// The sections of a config and the tables of their keys. Reading, checking, to_ini(), completion, `proxbench
/// list --options` and the documentation all use them.

#include <string>
#include <vector>

#include "core/base/schema.h"
#include "experiments/config/config.h"

namespace proxbench {

/// The keys of ExperimentConfig, DataConfig, SolverConfig, PlotConfig, PaperConfig or SlurmConfig, in the
/// order of the documentation. The options of a solver or format are also keys of its section.
template <class Section>
const Schema<Section>& keys_of();

/// Returns the rows of the section, and of its solver or format if that is known.
template <class Section>
OptionTable table_of(const Options* own = nullptr) {
  OptionTable out = keys_of<Section>().specs();
  if (own) out.insert(out.end(), own->table().begin(), own->table().end());
  return out;
}

/// The keys of one kind of section.
struct ConfigSectionInfo {
  std::string name;  ///< "experiment", "data", "solver", "plot", ...
  std::string help;
  OptionTable keys;
};
/// Returns the sections in the order of the documentation.
const std::vector<ConfigSectionInfo>& config_sections();

}  // namespace proxbench
