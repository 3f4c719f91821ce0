/// `list`: prints everything that is registered, and its options.
#include <fmt/format.h>

#include <algorithm>
#include <set>

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

/// A registered item, or a section of configs.
struct Entry {
  std::string name, help;
  Json facts = Json::object();          ///< further facts
  std::vector<std::string> lines = {};  ///< the same facts as text
  const LoadedPlugin* plugin = nullptr;
  OptionTable options = {};
  std::set<std::string> lists = {}, required = {};  ///< names of options

  void print(bool with_options) const;
  Json to_json(const char* options_key) const;
};

/// All entries of one kind.
struct Kind {
  const char *title, *key, *options_key;  ///< title, and keys in JSON
  std::vector<Entry> entries = {};
};

std::vector<std::string> names_of(const std::vector<Capability>& capabilities) {
  std::vector<std::string> out;
  for (const Capability capability : capabilities) out.emplace_back(capability_name(capability));
  return out;
}

/// "needs an oracle with 'sum' and 'one instance'; lambda > 0; scale-free".
std::string needs_text(const SolverInfo& info) {
  const Needs& needs = info.needs;
  std::string out =
      fmt::format("needs an oracle with '{}'", fmt::join(names_of(needs.capabilities), "' and '"));
  if (needs.loss == Loss::Kind::kHinge) out += "; loss = hinge";
  if (needs.l1) out += "; lambda > 0";
  if (needs.l2) out += "; mu > 0";
  if (needs.smooth) out += "; lambda = 0";
  return info.scale_free ? out + "; scale-free" : out;
}

std::vector<Kind> all_kinds() {
  Kind solvers{"Solvers (--solver, [solver.LABEL])", "solvers", "options"};
  for (const SolverInfo& info : solver_registry().items()) {
    const Json needs{{"capabilities", names_of(info.needs.capabilities)},
                     {"l1", info.needs.l1},
                     {"l2", info.needs.l2},
                     {"smooth", info.needs.smooth},
                     {"loss", loss_name(info.needs.loss)}};
    solvers.entries.push_back({info.name,
                               info.help,
                               {{"paper", info.paper}, {"needs", needs}, {"scale_free", info.scale_free}},
                               {info.paper, needs_text(info)},
                               plugin_of(&Plugin::solvers, info.name),
                               info.options});
  }
  const SolverInfo& external = external_trainer();
  const Kind trainers{"Programs of their own (solver = external)",
                      "trainers",
                      "options",
                      {{.name = external.name,
                        .help = external.help,
                        .facts = {{"paper", external.paper}},
                        .lines = {external.paper},
                        .options = external.options}}};
  Kind oracles{"Oracles (--oracle, oracle = NAME in [data.NAME])", "oracles", ""};
  for (const OracleInfo& info : oracle_registry().items()) {
    const std::vector<std::string> names = names_of(info.capabilities);
    oracles.entries.push_back({info.name,
                               info.help,
                               {{"paper", info.paper}, {"capabilities", names}},
                               {info.paper, fmt::format("has {}", fmt::join(names, ", "))},
                               plugin_of(&Plugin::oracles, info.name)});
  }
  Kind formats{"Data formats (--format, [data.NAME])", "formats", "options"};
  for (const DataFormatInfo& info : data_format_registry().items())
    formats.entries.push_back({info.name,
                               info.help,
                               {{"source", info.source}},
                               {info.source},
                               plugin_of(&Plugin::formats, info.name),
                               info.options});
  Kind metrics{"Metrics of predictions", "metrics", ""};
  for (const MetricInfo& info : metric_registry().items()) {
    const std::string better = info.better == MetricInfo::Better::kHigher ? "higher" : "lower";
    metrics.entries.push_back({info.name,
                               info.help,
                               {{"paper", info.paper}, {"better", better}},
                               {info.paper, better + " is better"},
                               plugin_of(&Plugin::metrics, info.name)});
  }
  Kind sections{"Config sections", "config", "keys"};
  for (const ConfigSectionInfo& info : config_sections())
    sections.entries.push_back({.name = info.name,
                                .help = info.help,
                                .options = info.keys,
                                .lists = info.lists,
                                .required = info.required});
  return {solvers, trainers, oracles, formats, metrics, sections};
}

void print_option(const OptionSpec& spec, bool required) {
  std::string values = spec.type_name(), standard, presets;
  if (const std::string constraint = spec.constraint(); !constraint.starts_with("any ")) values = constraint;
  if (required)
    standard = "; required";
  else if (!spec.default_value.empty())
    standard = "; default: " + spec.default_value;
  for (const auto& [preset, value] : spec.preset_values)
    presets += fmt::format(" ({} with preset = {})", value, preset);
  fmt::print("      {:<20} {}{}{}; {}\n", spec.name, spec.help, standard, presets, values);
}

void Entry::print(bool with_options) const {
  fmt::print("  {:<22} {}{}\n", name, help,
             plugin ? fmt::format(" (plug-in {})", plugin->file.filename().string()) : "");
  for (const std::string& line : lines) fmt::print("  {:<22} {}\n", "", line);
  if (!with_options) return;
  for (const OptionSpec& spec : options) print_option(spec, required.contains(spec.name));
}

Json Entry::to_json(const char* options_key) const {
  Json out{{"name", name}, {"help", help}};
  out.update(facts);
  out["plugin"] = plugin ? Json(plugin->file.string()) : Json();
  if (*options_key == '\0') return out;
  out[options_key] = Json::array();
  for (const OptionSpec& spec : options) {
    Json& option = out[options_key].emplace_back(Json{{"name", spec.name},
                                                      {"type", spec.type_name()},
                                                      {"default", spec.default_value},
                                                      {"constraint", spec.constraint()},
                                                      {"help", spec.help},
                                                      {"list", lists.contains(spec.name)},
                                                      {"required", required.contains(spec.name)}});
    if (!spec.preset_values.empty()) option["presets"] = spec.preset_values;
  }
  return out;
}

struct ListCommand {
  bool options = false, markdown = false;
  std::vector<std::string> file;
  CLI::Option* json = nullptr;

  void add_to(CLI::App& command) {
    auto* with_options =
        command.add_flag("--options", options, "also print all options and the keys of configs");
    json = command.add_option("--json", file, "write JSON to FILE, or to standard output")
               ->expected(0, 1)
               ->type_name("[FILE]");
    command.add_flag("--markdown", markdown, "print the tables of --options as Markdown")
        ->needs(with_options)
        ->excludes(json);
  }

  void execute() const {
    if (json->count() > 0)
      write_json_list();
    else if (markdown)
      print_blocks();
    else
      print_list();
  }

 private:
  void write_json_list() const {
    Json out;
    for (const Kind& kind : all_kinds())
      for (const Entry& entry : kind.entries) out[kind.key].push_back(entry.to_json(kind.options_key));
    JsonFlag{file.empty() || file.front().empty() ? "-" : file.front()}.write(out);
  }

  /// Prints the blocks that scripts/update-docs puts into the READMEs.
  static void print_blocks() {
    for (const auto& blocks : {option_blocks(), field_blocks()})
      for (const DocBlock& block : blocks) fmt::print("{}", block.text);
  }

  void print_list() const {
    for (const Kind& kind : all_kinds()) {
      if (std::string_view(kind.key) == "config" && !options) continue;
      fmt::print("{}\n", kind.title);
      for (const Entry& entry : kind.entries) entry.print(options);
      fmt::print("\n");
    }
  }
};

}  // namespace

void add_list_command(CLI::App& app) {
  add_command<ListCommand>(app, "list", "List solvers, oracles, data formats and metrics");
}

}  // namespace proxbench
