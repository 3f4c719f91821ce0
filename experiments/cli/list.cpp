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

using Facts = std::vector<Entry::Fact>;

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

Facts facts_of(const SolverInfo& info) {
  const Json needs{{"capabilities", names_of(info.needs.capabilities)},
                   {"l1", info.needs.l1},
                   {"l2", info.needs.l2},
                   {"smooth", info.needs.smooth},
                   {"loss", loss_name(info.needs.loss)}};
  return {{"paper", info.paper}, {"needs", needs, needs_text(info)}, {"scale_free", info.scale_free}};
}
Facts facts_of(const OracleInfo& info) {
  const std::vector<std::string> names = names_of(info.capabilities);
  return {{"paper", info.paper}, {"capabilities", names, "has " + joined(names)}};
}
Facts facts_of(const DataFormatInfo& info) {
  return {{"source", info.source}};
}
Facts facts_of(const MetricInfo& info) {
  const std::string better = info.better == MetricInfo::Better::kHigher ? "higher" : "lower";
  return {{"paper", info.paper}, {"better", better, better + " is better"}};
}

/// All entries of a registry.
template <class Info>
Kind kind_of(const char* title, const char* key, const Registry<Info>& registry,
             Registry<Info> Plugin::*plugin) {
  Kind out{title, key, ""};
  for (const Info& info : registry.items()) {
    Entry entry{info.name, info.help, facts_of(info), plugin_of(plugin, info.name)};
    if constexpr (requires { info.options; }) {
      entry.options = info.options;
      out.options_key = "options";
    }
    out.entries.push_back(std::move(entry));
  }
  return out;
}

/// Returns the line of an option: name, help, default, presets and allowed values.
std::string option_line(const OptionSpec& spec) {
  std::string values = spec.type_name(), standard, presets;
  if (const std::string constraint = spec.constraint(); !constraint.starts_with("any ")) values = constraint;
  if (spec.required)
    standard = "; required";
  else if (!spec.default_value.empty())
    standard = "; default: " + spec.default_value;
  for (const auto& [preset, value] : spec.preset_values)
    presets += fmt::format(" ({} with preset = {})", value, preset);
  return fmt::format("      {:<20} {}{}{}; {}\n", spec.name, spec.help, standard, presets, values);
}

void print(const Entry& entry, bool with_options) {
  fmt::print("  {:<22} {}{}\n", entry.name, entry.help,
             entry.plugin ? fmt::format(" (plug-in {})", entry.plugin->file.filename().string()) : "");
  for (const Entry::Fact& fact : entry.facts) {
    const std::string line =
        fact.line.empty() && fact.value.is_string() ? std::string(fact.value) : fact.line;
    if (!line.empty()) fmt::print("  {:<22} {}\n", "", line);
  }
  if (!with_options) return;
  for (const OptionSpec& spec : entry.options) fmt::print("{}", option_line(spec));
}

Json to_json(const Entry& entry, const std::string& options_key) {
  Json out{{"name", entry.name}, {"help", entry.help}};
  for (const Entry::Fact& fact : entry.facts) out[fact.key] = fact.value;
  out["plugin"] = entry.plugin ? Json(entry.plugin->file.string()) : Json();
  if (options_key.empty()) return out;
  out[options_key] = Json::array();
  for (const OptionSpec& spec : entry.options) {
    Json& option = out[options_key].emplace_back(Json{{"name", spec.name},
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

  /// Returns all kinds, or those that have an entry of this name, with this entry alone.
  std::vector<Kind> shown() const {
    std::vector<Kind> kinds = catalogue();
    if (name.empty()) return kinds;
    std::vector<std::string> known;
    for (Kind& kind : kinds) {
      for (const Entry& entry : kind.entries) known.push_back(entry.name);
      std::erase_if(kind.entries, [&](const Entry& entry) { return entry.name != name; });
    }
    require_known("name", name, known);
    std::erase_if(kinds, [](const Kind& kind) { return kind.entries.empty(); });
    return kinds;
  }

  void execute() const {
    if (fields) return print_fields();
    Json out;
    const bool with_options = options || !name.empty();
    for (const Kind& kind : shown()) {
      for (const Entry& entry : kind.entries) out[kind.key].push_back(to_json(entry, kind.options_key));
      if (json->count() > 0 || (kind.key == "config" && !with_options)) continue;
      fmt::print("{}\n", kind.title);
      for (const Entry& entry : kind.entries) print(entry, with_options);
      fmt::print("\n");
    }
    if (json->count() > 0) JsonFlag{file.empty() || file.front().empty() ? "-" : file.front()}.write(out);
  }

  /// The Python package reads this (python/README.md).
  static void print_fields() {
    Json out = fields_json();
    for (const ConfigSectionInfo& section : config_sections())
      if (section.name == "experiment" || section.name == "plot" || section.name == "paper")
        out["config"][section.name] =
            to_json({.name = section.name, .help = section.help, .options = section.keys}, "keys")["keys"];
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

std::vector<Kind> catalogue() {
  const SolverInfo& external = external_trainer();
  Kind trainers{"External trainers (solver = external)", "trainers", "options"};
  trainers.entries.push_back({.name = external.name,
                              .help = external.help,
                              .facts = {{"paper", external.paper}},
                              .options = external.options});
  Kind sections{"Config sections", "config", "keys"};
  for (const ConfigSectionInfo& info : config_sections())
    sections.entries.push_back({.name = info.name, .help = info.help, .options = info.keys});
  return {
      kind_of("Solvers (--solver, [solver.LABEL])", "solvers", solver_registry(), &Plugin::solvers),
      trainers,
      kind_of("Oracles (--oracle, oracle = NAME in [data.NAME])", "oracles", oracle_registry(),
              &Plugin::oracles),
      kind_of("Data formats (--format, [data.NAME])", "formats", data_format_registry(), &Plugin::formats),
      kind_of("Metrics of predictions", "metrics", metric_registry(), &Plugin::metrics),
      sections};
}

void add_list_commands(CLI::App& app) {
  add_command<ListCommand>(app, "list", "List solvers, oracles, data formats and metrics");
  add_command<CheckSolverCommand>(app, "check-solver", "Run the conformance suite on a solver");
}

}  // namespace proxbench
