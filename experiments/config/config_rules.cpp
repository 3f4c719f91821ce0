#include "experiments/config/config_rules.h"

#include <algorithm>
#include <regex>

#include "experiments/config/format_registry.h"
#include "experiments/config/trainers.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Requires that lambda + mu > 0 for each lambda with each mu.
void check_penalties(const ExperimentConfig& config, const ConfigText& text) {
  if (std::ranges::count(config.mus.numbers, 0.0) == 0) return;
  for (const auto& [part, offset] : list_parts(text.value("experiment", "lambda")))
    if (double lambda = kNaN; parse_real(part, lambda) && lambda == 0.0)
      text.reject("experiment", "lambda",
                  fmt::format("found '{}' with mu = 0, expected lambda + mu > 0", part), offset);
}

/// Rejects each key that has no effect in this config, and each whose value contradicts other keys.
void check_conflicts(const ExperimentConfig& config, const ConfigText& text) {
  for (const IniSection& section : text.sections())
    for (const IniEntry& entry : section.entries)
      if (const std::string why = conflict_of(config, section.name, entry.key); !why.empty())
        text.reject_value(section.name, entry.key, why);
}

/// Requires that a list has one value for each value of another list.
void check_length(const ConfigText& text, const char* section, const char* key, std::size_t found,
                  const char* other, std::size_t expected) {
  if (text.given(section, key) && found != expected)
    text.reject(section, key,
                fmt::format("found {} values, expected {}: one for each of {}", found, expected, other));
}

/// Requires that each lambda of [paper] is in the grid, and that lists of numbers have one for each lambda.
void check_paper(const ExperimentConfig& config, const ConfigText& text) {
  const PaperConfig& paper = config.paper;
  check_length(text, "paper", "nnz", paper.nnz.size(), "lambda", paper.lambdas.size());
  check_length(text, "paper", "accuracy", paper.accuracy.size(), "lambda", paper.lambdas.size());
  const std::vector<ListPart> parts = list_parts(text.value("paper", "lambda"));
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (std::ranges::count(config.lambdas.numbers, paper.lambdas[i]) == 0)
      text.reject("paper", "lambda",
                  fmt::format("found {}, expected one of [experiment] lambda = {}", parts[i].text,
                              text.value("experiment", "lambda")),
                  parts[i].offset);
}

void check_slurm(const ExperimentConfig& config, const ConfigText& text) {
  if (config.slurm.time != "auto" && !slurm_seconds(config.slurm.time))
    text.reject("slurm", "time",
                fmt::format("found '{}', expected auto, MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, "
                            "DAYS-HOURS or DAYS-HOURS:MINUTES:SECONDS",
                            config.slurm.time));
  const int needed = config.threads * config.processes;
  if (config.slurm.cpus > 0 && config.slurm.cpus < needed)
    text.reject(
        "slurm", "cpus",
        fmt::format("found {}, expected at least the {} threads of a run", config.slurm.cpus, needed));
}

/// Returns for each problem of the grid (a data set with a penalty) why the solver cannot run on it. Returns
/// "" for those on which it can run, as far as this is known without the data.
std::vector<std::string> skip_reasons(const ExperimentConfig& config, const SolverInfo& solver) {
  std::vector<std::string> out;
  for (const DataConfig& data : config.data)
    for (const RunPenalty& one : config.penalties()) {
      const OracleInfo* oracle = known_oracle(data);
      if (!data.start.empty() && !solver.starts_anywhere)
        out.emplace_back("it cannot start from a model");
      else
        out.push_back(oracle ? unmet_needs(solver, one.penalty, config.loss.kind, *oracle)
                             : unmet_needs(solver, one.penalty, config.loss.kind));
    }
  return out;
}

/// Whether the solver can run on none of the problems. There may be no problems.
bool fits_none(const std::vector<std::string>& reasons) {
  return std::ranges::count(reasons, "") == 0;
}

/// Rejects each solver that can run on no problem, and names the solvers that can.
void check_solvers(const ExperimentConfig& config, const ConfigText& text) {
  for (const SolverConfig& solver : config.solvers) {
    const std::vector<std::string> reasons = skip_reasons(config, solver_or_trainer(solver.solver));
    if (reasons.empty() || !fits_none(reasons)) continue;
    std::vector<std::string> fitting;
    for (const SolverInfo& other : solver_registry().items())
      if (!fits_none(skip_reasons(config, other))) fitting.push_back(other.name);
    text.reject("solver." + solver.label,
                fmt::format("[solver.{}] can run on no problem of the config: {}; {}{}",
                            printable(solver.label), reasons.front(),
                            fitting.empty() ? "no solver can" : "solvers that fit: ", joined(fitting)));
  }
}

}  // namespace

std::string name_problem(std::string_view name) {
  const auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  if (!name.empty() && name.front() != '.' && name.front() != '-' && std::ranges::all_of(name, safe))
    return "";
  return fmt::format(
      "'{}', expected letters, digits, '_', '+', '-' and '.', with a letter, digit, '_' or '+' first", name);
}

void check_rules(const ExperimentConfig& config, const ConfigText& text) {
  if (const std::string problem = name_problem(config.name); !problem.empty())
    text.reject("experiment", "name", "found " + problem);
  check_penalties(config, text);
  check_conflicts(config, text);
  text.check_name("experiment", "reference_solver", config.reference_solver, solver_registry().names());
  check_length(text, "plot", "x_max", config.plot.x_max.size(), "x", config.plot.x.size());
  check_paper(config, text);
  check_slurm(config, text);
  check_solvers(config, text);
}

void check_files(const ConfigText& text) {
  for (const IniSection& section : text.sections()) {
    const std::string name = text.value(section.name, "format");
    if (section.kind() != "data" || !data_format_registry().contains(name)) continue;
    const bool needs_files = data_format_registry().find(name).needs_files;
    if (needs_files && text.value(section.name, "train").empty())
      text.reject(section.name, section.title() + " has no training file, expected train = FILE");
    for (const char* key : {"train", "test", "hierarchy"})
      if (!needs_files && text.given(section.name, key))
        text.reject_value(section.name, key,
                          fmt::format(", expected no file: the data of format {} are generated", name));
  }
}

std::string conflict_of(const ExperimentConfig& config, const std::string& section, const std::string& key) {
  const std::string name = section.substr(0, section.find('.')) + "." + key;
  const PlotConfig& plot = config.plot;
  const bool paths = config.has_paths(), singles = config.has_singles(), f_star = config.reference != "none";
  const std::string path =
      fmt::format(", but [experiment] {} has ", config.lambdas.paths.empty() ? "mu" : "lambda");
  const auto any = [](const std::vector<std::string>& chosen, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* one) { return contains(chosen, one); });
  };
  if (name == "experiment.cost" && !config.loss.hinge()) return " with loss = log, expected loss = hinge";
  if (name == "experiment.targets" && !f_star)
    return ", but reference = none gives no f*, expected no such key";
  if (name == "experiment.stop_at" && config.stop_at > 0 && paths)
    return path + "a path(...), which has no f* to stop at, expected 0";
  if (name == "data.start" && paths)
    return path + "a path(...), which starts from w = 0, expected no such key";
  if (name == "plot.kinds" && !paths && contains(plot.kinds, "path"))
    return ", but neither lambda nor mu of [experiment] has a path(...), expected one to draw";
  const auto of_paths = [](const std::string& kind) { return kind == "path" || kind == "grid"; };
  if (name == "plot.kinds" && !singles && !std::ranges::all_of(plot.kinds, of_paths))
    return path + "nothing but a path(...), expected kinds = path or grid";
  const bool of_curves = name == "experiment.targets" || name.starts_with("experiment.reference_") ||
                         (section == "plot" && key != "kinds");
  if (of_curves && !singles) return path + "nothing but a path(...), which has no f*, expected no such key";
  const bool needs_f_star =
      (name == "experiment.stop_at" && config.stop_at > 0) ||
      (name == "plot.kinds" && any(plot.kinds, {"profile", "data-profile", "ecdf", "quality"})) ||
      (name == "plot.quantities" && any(plot.quantities, {"objective", "suboptimality", "dual"})) ||
      (name == "paper.costs" && config.paper.costs);
  return needs_f_star && !f_star ? ", which needs f*, but [experiment] reference = none" : "";
}

const OracleInfo* known_oracle(const RunData& data) {
  const Registry<DataFormatInfo>& formats = data_format_registry();
  std::string oracle = data.oracle;
  if (oracle.empty() && formats.contains(data.format)) oracle = formats.find(data.format).oracle;
  return oracle.empty() ? nullptr : &oracle_registry().find(oracle);
}

std::optional<double> slurm_seconds(std::string_view text) {
  static const std::regex form(R"((?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?)");
  std::cmatch fields;
  if (!std::regex_match(text.data(), text.data() + text.size(), fields, form)) return std::nullopt;
  const auto number = [&](std::size_t i) { return fields[i].matched ? std::stod(fields[i].str()) : 0.0; };
  const bool minutes_first = !fields[1].matched && !fields[4].matched;
  const double seconds = minutes_first ? number(2) * 60 + number(3)
                                       : ((number(1) * 24 + number(2)) * 60 + number(3)) * 60 + number(4);
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace proxbench
