/// `list`: prints everything that is registered, and its options. `check-solver`: the conformance suite over
/// one solver.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/cli/cli.h"
#include "experiments/config/config.h"
#include "experiments/config/trainers.h"
#include "experiments/conformance/conformance.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/job.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

std::vector<std::string> names_of(const std::vector<Capability>& capabilities) {
  std::vector<std::string> out;
  for (const Capability capability : capabilities) out.emplace_back(capability_name(capability));
  return out;
}

void add_facts(const SolverInfo& info, Json& out) {
  out["paper"] = info.paper;
  out["needs"] = {{"capabilities", names_of(info.needs.capabilities)},
                  {"l1", info.needs.l1},
                  {"l2", info.needs.l2},
                  {"smooth", info.needs.smooth},
                  {"loss", loss_name(info.needs.loss)}};
  out["scale_free"] = info.scale_free;
}
void add_facts(const OracleInfo& info, Json& out) {
  out["paper"] = info.paper;
  out["capabilities"] = names_of(info.capabilities);
}
void add_facts(const DataFormatInfo& info, Json& out) {
  out["source"] = info.source;
}
void add_facts(const MetricInfo& info, Json& out) {
  out["paper"] = info.paper;
  out["better"] = info.better == MetricInfo::Better::kHigher ? "higher" : "lower";
}

Json options_json(const OptionTable& table) {
  Json out = Json::array();
  for (const OptionSpec& spec : table) {
    Json& option = out.emplace_back(Json{{"name", spec.name},
                                         {"type", spec.type_name()},
                                         {"default", spec.default_value},
                                         {"constraint", spec.constraint()},
                                         {"help", spec.help},
                                         {"list", spec.list},
                                         {"required", spec.required}});
    if (!spec.preset_values.empty()) option["presets"] = spec.preset_values;
  }
  return out;
}

/// All items of a registry.
template <class Info>
Json items_of(const Registry<Info>& registry, Registry<Info> Plugin::*plugin) {
  Json out = Json::array();
  for (const Info& info : registry.items()) {
    Json& one = out.emplace_back(Json{{"name", info.name}, {"help", info.help}});
    add_facts(info, one);
    const LoadedPlugin* from = plugin_of(plugin, info.name);
    one["plugin"] = from ? Json(from->file.string()) : Json();
    if constexpr (requires { info.options; }) one["options"] = options_json(info.options);
  }
  return out;
}

// ---- the same as text

const std::map<std::string, const char*> kTitles{
    {"solvers", "Solvers (--solver, [solver.LABEL])"},
    {"trainers", "External trainers (solver = external)"},
    {"oracles", "Oracles (--oracle, oracle = NAME in [data.NAME])"},
    {"formats", "Data formats (--format, [data.NAME])"},
    {"metrics", "Metrics of predictions"},
    {"config", "Config sections"}};

/// "needs an oracle with 'sum' and 'one instance'; lambda > 0; scale-free".
std::string needs_text(const Json& needs, bool scale_free) {
  std::string out = "needs an oracle with '" +
                    joined(needs["capabilities"].get<std::vector<std::string>>(), "' and '") + "'";
  if (needs["loss"] == "hinge") out += "; loss = hinge";
  for (const auto& [need, text] :
       {std::pair("l1", "; lambda > 0"), {"l2", "; mu > 0"}, {"smooth", "; lambda = 0"}})
    if (needs[need].get<bool>()) out += text;
  return scale_free ? out + "; scale-free" : out;
}

/// Returns the line of a fact, or "" if it has none.
std::string fact_line(const std::string& key, const Json& item) {
  const Json& fact = item[key];
  if (key == "paper" || key == "source") return fact;
  if (key == "needs") return needs_text(fact, item["scale_free"]);
  if (key == "capabilities") return "has " + joined(fact.get<std::vector<std::string>>());
  return key == "better" ? fact.get<std::string>() + " is better" : "";
}

/// Returns the line of an option: name, help, default, presets and allowed values.
std::string option_line(const Json& option) {
  const std::string standard = option["default"], constraint = option["constraint"];
  std::string text =
      fmt::format("      {:<20} {}", option["name"].get<std::string>(), option["help"].get<std::string>());
  if (option["required"].get<bool>())
    text += "; required";
  else if (!standard.empty())
    text += "; default: " + standard;
  const Json presets = option.value("presets", Json::object());
  for (const auto& [preset, value] : presets.items())
    text += fmt::format(" ({} with preset = {})", value.get<std::string>(), preset);
  return text + "; " + (constraint.starts_with("any ") ? option["type"].get<std::string>() : constraint) +
         "\n";
}

void print(const Json& item, bool with_options) {
  const Json& plugin = item["plugin"];
  fmt::print("  {:<22} {}{}\n", item["name"].get<std::string>(), item["help"].get<std::string>(),
             plugin.is_null()
                 ? ""
                 : fmt::format(" (plug-in {})", fs::path(plugin.get<std::string>()).filename().string()));
  for (const auto& [key, value] : item.items())
    if (const std::string line = fact_line(key, item); !line.empty()) fmt::print("  {:<22} {}\n", "", line);
  if (!with_options) return;
  for (const char* options : {"options", "keys"})
    for (const Json& option : item.value(options, Json::array())) fmt::print("{}", option_line(option));
}

struct ListCommand {
  bool options = false, fields = false;
  std::string name;
  std::vector<std::string> file;
  CLI::Option* json = nullptr;

  void add_to(CLI::App& command) {
    auto* with_options =
        command.add_flag("--options", options, "also print all options and the keys of configs");
    command
        .add_option("name", name,
                    "show only this solver, oracle, data format, metric or config section, with its options")
        ->type_name("NAME");
    json = command.add_option("--json", file, "write JSON to FILE, or to standard output")
               ->expected(0, 1)
               ->type_name("[FILE]");
    command
        .add_flag(
            "--fields", fields,
            "print as JSON the fields of stored results, and the keys of configs that say how to show them")
        ->excludes(with_options)
        ->excludes(json);
  }

  /// Returns the catalogue, or what it has of this name.
  Json shown() const {
    const Json all = catalogue();
    if (name.empty()) return all;
    Json out;
    std::vector<std::string> known;
    for (const auto& [kind, items] : all.items())
      for (const Json& item : items) {
        known.push_back(item["name"]);
        if (known.back() == name) out[kind].push_back(item);
      }
    require_known("name", name, known);
    return out;
  }

  void execute() const {
    if (fields) return print_fields();
    const bool with_options = options || !name.empty();
    const Json out = shown();
    if (json->count() > 0)
      return JsonFlag{file.empty() || file.front().empty() ? "-" : file.front()}.write(out);
    for (const auto& [kind, items] : out.items()) {
      if (kind == "config" && !with_options) continue;
      fmt::print("{}\n", kTitles.at(kind));
      for (const Json& item : items) print(item, with_options);
      fmt::print("\n");
    }
  }

  /// The Python package reads this (python/README.md).
  static void print_fields() {
    Json out = fields_json();
    for (const ConfigSectionInfo& section : config_sections())
      if (section.name == "experiment" || section.name == "plot" || section.name == "paper")
        out["config"][section.name] = options_json(section.keys);
    fmt::print("{}", json_text(out));
  }
};

void print_check(const ConformanceCheck& check) {
  fmt::print("{}  {}: {}\n", check.passed ? "ok    " : "FAILED", check.name, check.found);
  std::fflush(stdout);
}

Json conformance_json(const SolverInfo& solver, const Options& options, std::uint64_t seed,
                      const std::vector<ConformanceCheck>& checks, bool passed) {
  Json out{{"solver", solver.name}, {"options", option_texts(options)}, {"seed", seed}, {"passed", passed}};
  out["checks"] = Json::array();
  for (const ConformanceCheck& check : checks)
    out["checks"].push_back({{"name", check.name}, {"passed", check.passed}, {"found", check.found}});
  return out;
}

struct CheckSolverCommand {
  std::string name, only;
  std::vector<std::string> assignments;
  RunFlags run;
  JsonFlag json;

  void add_to(CLI::App& command) {
    command.add_option("solver", name, "solver; see `proxbench list`")->required()->type_name("NAME");
    add_repeatable(command, "--option", assignments, kSolverOption, "KEY=VALUE");
    command.add_option("--only", only, "run only the checks whose name contains this text");
    run.add(command, "seed");
    json.add_to(command);
  }

  void execute() const {
    const SolverInfo& solver = solver_registry().find(name);
    Options options(solver.options);
    set_options(options, assignments, "--option");
    ConformanceSettings settings;
    settings.seed = config_of(run).seed;
    settings.only = only;
    if (prints()) settings.on_check = print_check;
    const std::vector<ConformanceCheck> checks = check_solver(solver, options, settings);
    const auto passed = static_cast<std::size_t>(std::ranges::count_if(checks, &ConformanceCheck::passed));
    json.write(conformance_json(solver, options, settings.seed, checks, passed == checks.size()));
    if (prints()) fmt::print("{}: {} of {} checks passed\n", name, passed, checks.size());
    if (passed < checks.size()) throw ExitStatus{1};
  }
};

}  // namespace

Json catalogue() {
  const SolverInfo& external = external_trainer();
  Json sections = Json::array();
  for (const ConfigSectionInfo& info : config_sections())
    sections.push_back(
        {{"name", info.name}, {"help", info.help}, {"plugin", nullptr}, {"keys", options_json(info.keys)}});
  return {{"solvers", items_of(solver_registry(), &Plugin::solvers)},
          {"trainers", Json::array({{{"name", external.name},
                                     {"help", external.help},
                                     {"paper", external.paper},
                                     {"plugin", nullptr},
                                     {"options", options_json(external.options)}}})},
          {"oracles", items_of(oracle_registry(), &Plugin::oracles)},
          {"formats", items_of(data_format_registry(), &Plugin::formats)},
          {"metrics", items_of(metric_registry(), &Plugin::metrics)},
          {"config", sections}};
}

void add_list_commands(CLI::App& app) {
  add_command<ListCommand>(app, "list", "List solvers, oracles, data formats and metrics");
  add_command<CheckSolverCommand>(app, "check-solver", "Run the conformance suite on a solver");
}

}  // namespace proxbench
