/// `list`: everything that is registered, and its options.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/cli/cli.h"
#include "experiments/config/config.h"
#include "experiments/config/option_docs.h"
#include "experiments/config/trainers.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/plugins.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

struct ListCommand {
  bool options = false, markdown = false;
  std::vector<std::string> json;
};

nlohmann::ordered_json options_table_json(const OptionTable& table) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const OptionSpec& spec : table)
    out.push_back({{"name", spec.name},
                   {"type", spec.type_name()},
                   {"default", spec.default_value},
                   {"constraint", spec.constraint()},
                   {"help", spec.help}});
  for (std::size_t i = 0; i < table.size(); ++i)
    if (!table[i].preset_values.empty()) out[i]["presets"] = table[i].preset_values;
  return out;
}

/// " (plug-in FILE)", or "" for what is built in.
std::string origin_text(const LoadedPlugin* plugin) {
  return plugin == nullptr ? "" : fmt::format(" (plug-in {})", plugin->file.filename().string());
}

nlohmann::ordered_json origin_json(const LoadedPlugin* plugin) {
  if (plugin == nullptr) return nullptr;
  return plugin->file.string();
}

std::vector<std::string> names_of(const std::vector<Capability>& capabilities) {
  std::vector<std::string> out;
  for (const Capability capability : capabilities) out.emplace_back(capability_name(capability));
  return out;
}

/// "an oracle with 'sum' and 'one instance'; lambda > 0".
std::string needs_text(const Needs& needs) {
  std::vector<std::string> quoted;
  for (const std::string& name : names_of(needs.capabilities)) quoted.push_back("'" + name + "'");
  std::string out = fmt::format("an oracle with {}", fmt::join(quoted, " and "));
  if (needs.loss == Loss::Kind::kHinge) out += "; loss = hinge";
  if (needs.l1) out += "; lambda > 0";
  if (needs.l2) out += "; mu > 0";
  if (needs.smooth) out += "; lambda = 0";
  return out;
}

nlohmann::ordered_json list_json() {
  using Json = nlohmann::ordered_json;
  Json out;
  for (const SolverInfo& info : solver_registry().items())
    out["solvers"].push_back({{"name", info.name},
                              {"help", info.help},
                              {"paper", info.paper},
                              {"needs",
                               {{"capabilities", names_of(info.needs.capabilities)},
                                {"l1", info.needs.l1},
                                {"l2", info.needs.l2},
                                {"smooth", info.needs.smooth},
                                {"loss", loss_name(info.needs.loss)}}},
                              {"scale_free", info.scale_free},
                              {"plugin", origin_json(plugin_of(&Plugin::solvers, info.name))},
                              {"options", options_table_json(info.options)}});
  for (const OracleInfo& info : oracle_registry().items())
    out["oracles"].push_back({{"name", info.name},
                              {"help", info.help},
                              {"paper", info.paper},
                              {"capabilities", names_of(info.capabilities)},
                              {"plugin", origin_json(plugin_of(&Plugin::oracles, info.name))}});
  for (const DataFormatInfo& info : data_format_registry().items())
    out["formats"].push_back({{"name", info.name},
                              {"help", info.help},
                              {"source", info.source},
                              {"plugin", origin_json(plugin_of(&Plugin::formats, info.name))},
                              {"options", options_table_json(info.options)}});
  for (const MetricInfo& info : metric_registry().items())
    out["metrics"].push_back({{"name", info.name},
                              {"help", info.help},
                              {"paper", info.paper},
                              {"better", info.better == MetricInfo::Better::kHigher ? "higher" : "lower"},
                              {"plugin", origin_json(plugin_of(&Plugin::metrics, info.name))}});
  const auto contains = [](const std::vector<std::string>& names, const Json& name) {
    return std::ranges::find(names, name.get<std::string>()) != names.end();
  };
  for (const ConfigSectionInfo& section : config_sections()) {
    Json keys = options_table_json(section.keys);
    for (Json& key : keys) {
      key["list"] = contains(section.lists, key["name"]);
      key["required"] = contains(section.required, key["name"]);
    }
    out["config"].push_back({{"name", section.name}, {"help", section.help}, {"keys", keys}});
  }
  return out;
}

void print_options(const OptionTable& table, const std::vector<std::string>& required = {}) {
  for (const OptionSpec& spec : table) {
    const bool needed = std::find(required.begin(), required.end(), spec.name) != required.end();
    std::string values = spec.type_name();
    if (const std::string constraint = spec.constraint(); !constraint.starts_with("any "))
      values = constraint;
    const std::string standard = needed                       ? "; required"
                                 : spec.default_value.empty() ? ""
                                                              : "; default: " + spec.default_value;
    std::string presets;
    for (const auto& [preset, value] : spec.preset_values)
      presets += fmt::format(" ({} with preset = {})", value, preset);
    fmt::print("      {:<20} {}{}{}; {}\n", spec.name, spec.help, standard, presets, values);
  }
}

/// "  NAME  HELP (plug-in FILE)", and lines below it.
void print_entry(const std::string& name, const std::string& help, const LoadedPlugin* plugin,
                 const std::vector<std::string>& below) {
  fmt::print("  {:<22} {}{}\n", name, help, origin_text(plugin));
  for (const std::string& line : below) fmt::print("  {:<22} {}\n", "", line);
}

void print_list(bool options) {
  fmt::print("Solvers (--solver, [solver.LABEL])\n");
  for (const SolverInfo& info : solver_registry().items()) {
    print_entry(info.name, info.help, plugin_of(&Plugin::solvers, info.name),
                {info.paper, "needs " + needs_text(info.needs) + (info.scale_free ? "; scale-free" : "")});
    if (options) print_options(info.options);
  }
  const SolverInfo& trainer = external_trainer();
  print_entry(trainer.name, trainer.help, nullptr, {trainer.paper});
  if (options) print_options(trainer.options);
  fmt::print("\nOracles (--oracle, oracle = NAME in [data.NAME])\n");
  for (const OracleInfo& info : oracle_registry().items())
    print_entry(info.name, info.help, plugin_of(&Plugin::oracles, info.name),
                {info.paper, fmt::format("has {}", fmt::join(names_of(info.capabilities), ", "))});
  fmt::print("\nData formats (--format, [data.NAME])\n");
  for (const DataFormatInfo& info : data_format_registry().items()) {
    print_entry(info.name, info.help, plugin_of(&Plugin::formats, info.name), {info.source});
    if (options) print_options(info.options);
  }
  fmt::print("\nMetrics of predictions\n");
  for (const MetricInfo& info : metric_registry().items())
    print_entry(
        info.name,
        info.help + (info.better == MetricInfo::Better::kHigher ? "; higher" : "; lower") + " is better",
        plugin_of(&Plugin::metrics, info.name), {info.paper});
  if (!options) return;
  fmt::print("\nConfig sections\n");
  for (const ConfigSectionInfo& section : config_sections()) {
    print_entry(section.name, section.help, nullptr, {});
    print_options(section.keys, section.required);
  }
}

/// The blocks that scripts/update-docs puts into the READMEs.
void print_markdown() {
  for (const DocBlock& block : option_blocks()) fmt::print("{}", block.text);
  for (const DocBlock& block : field_blocks()) fmt::print("{}", block.text);
}

}  // namespace

void add_list_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("list", "List solvers, oracles, data formats and metrics");
  auto command = std::make_shared<ListCommand>();
  CLI::Option* options =
      sub->add_flag("--options", command->options, "also print all options and the keys of configs");
  CLI::Option* json = sub->add_option("--json", command->json, "write JSON to FILE, or to standard output")
                          ->expected(0, 1)
                          ->type_name("[FILE]");
  sub->add_flag("--markdown", command->markdown, "print the tables of --options as Markdown")
      ->needs(options)
      ->excludes(json);
  sub->callback([command, json] {
    if (command->markdown) return print_markdown();
    if (json->count() == 0) return print_list(command->options);
    JsonFlag flag;
    flag.file = command->json.empty() || command->json.front().empty() ? "-" : command->json.front();
    flag.write(list_json());
  });
}

}  // namespace proxbench
