/// Writes a config as an INI file, with all values that came from defaults.

#include <fmt/format.h>

#include "experiments/config/config_keys.h"

namespace proxbench {
namespace {

std::string line_of(const std::string& key, const std::string& value) {
  std::string line = fmt::format("{} = {}\n", key, value);
  // A backslash at the end would join the next line. So another backslash and an empty line to join are
  // added.
  if (line.ends_with("\\\n")) line.insert(line.size() - 1, "\\\n");
  return line;
}

/// Omits keys that have no effect in the config, and keys that are empty by default.
template <class Section>
std::string section_ini(const ExperimentConfig& config, const std::string& title, const Section& section) {
  std::string out = fmt::format("[{}]\n", title);
  for (const ConfigKey<Section>& key : keys_of<Section>()) {
    const std::string text = key.write(section);
    const bool idle = key.rules.idle && !key.rules.idle(config).empty();
    if (!idle && !(text.empty() && key.spec.default_value.empty())) out += line_of(key.spec.name, text);
  }
  return out;
}

std::string options_ini(const Options& options) {
  std::string out;
  for (const auto& [key, value] : options.items()) out += line_of(key, value);
  return out;
}

}  // namespace

std::string ExperimentConfig::to_ini() const {
  std::string out = section_ini(*this, "experiment", *this);
  for (const DataConfig& one : data)
    out += "\n" + section_ini(*this, "data." + one.name, one) + options_ini(one.options);
  for (const SolverConfig& one : solvers)
    out += "\n" + section_ini(*this, "solver." + one.label, one) + options_ini(one.options);
  out += "\n" + section_ini(*this, "slurm", slurm) + "\n" + section_ini(*this, "plot", plot);
  return paper.item.empty() ? out : out + "\n" + section_ini(*this, "paper", paper);
}

}  // namespace proxbench
