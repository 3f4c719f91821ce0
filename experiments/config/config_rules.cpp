#include "experiments/config/config_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "experiments/config/config_keys.h"
#include "experiments/config/trainers.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Requires that at most one of lambda and mu is a path, and that lambda + mu > 0.
void check_penalties(const ExperimentConfig& config, const ConfigText& text) {
  const auto path = std::ranges::find_if(config.lambdas, &PathGrid::is_path);
  if (config.mu.is_path() && path != config.lambdas.end())
    text.reject("experiment", "mu",
                fmt::format("found '{}' beside lambda = {}, expected one of them to be a path",
                            config.mu.text(), path->text()));
  if (config.mu.value() > 0.0) return;
  const std::vector<ListPart> parts = list_parts(text.value("experiment", "lambda"));
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (config.lambdas[i].value() == 0.0)
      text.reject("experiment", "lambda",
                  fmt::format("found '{}' with mu = 0, expected lambda + mu > 0", parts[i].text),
                  parts[i].offset);
}

/// Rejects each key of the section that has no effect in this config, and each whose value contradicts other
/// keys.
template <class Section>
void check_idle_keys(const ExperimentConfig& config, const std::string& section, const ConfigText& text) {
  for (const ConfigKey<Section>& key : keys_of<Section>()) {
    const std::string why = key.idle && text.given(section, key.spec.name) ? key.idle(config) : "";
    if (!why.empty()) text.reject_value(section, key.spec.name, why);
  }
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
  std::vector<std::string> unknown;
  std::size_t first = 0;
  const std::vector<ListPart> parts = list_parts(text.value("paper", "lambda"));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto same = [&](const PathGrid& one) { return !one.is_path() && one.value() == paper.lambdas[i]; };
    if (std::ranges::any_of(config.lambdas, same)) continue;
    if (unknown.empty()) first = parts[i].offset;
    unknown.push_back(parts[i].text);
  }
  if (!unknown.empty())
    text.reject("paper", "lambda",
                fmt::format("found {}, expected one of [experiment] lambda = {}", joined(unknown),
                            text.value("experiment", "lambda")),
                first);
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
std::vector<std::string> unmet_needs_of(const ExperimentConfig& config, const SolverInfo& solver) {
  std::vector<std::string> out;
  for (const DataConfig& data : config.data)
    for (const PathGrid& lambda : config.lambdas) {
      const Penalty penalty{lambda.value(), config.mu.value()};
      if (!data.start.empty() && !solver.starts_anywhere)
        out.emplace_back("it cannot start from a model");
      else if (data.oracle.empty())
        out.push_back(unmet_needs(solver, penalty, config.loss.kind));
      else
        out.push_back(unmet_needs(solver, penalty, config.loss.kind, oracle_registry().find(data.oracle)));
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
    const std::vector<std::string> reasons = unmet_needs_of(config, solver_or_trainer(solver.solver));
    if (reasons.empty() || !fits_none(reasons)) continue;
    std::vector<std::string> fitting;
    for (const SolverInfo& other : solver_registry().items())
      if (!fits_none(unmet_needs_of(config, other))) fitting.push_back(other.name);
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
  check_idle_keys<ExperimentConfig>(config, "experiment", text);
  check_idle_keys<PlotConfig>(config, "plot", text);
  check_idle_keys<PaperConfig>(config, "paper", text);
  text.check_name("experiment", "reference_solver", config.reference_solver, solver_registry().names());
  check_length(text, "plot", "x_max", config.plot.x_max.size(), "x", config.plot.x.size());
  check_paper(config, text);
  check_slurm(config, text);
  check_solvers(config, text);
}

std::vector<std::string> notes_of_skipped_solvers(const ExperimentConfig& config) {
  std::vector<std::string> out;
  for (const SolverConfig& solver : config.solvers) {
    std::vector<std::string> reasons = unmet_needs_of(config, solver_or_trainer(solver.solver));
    const std::size_t problems = reasons.size();
    std::erase(reasons, "");
    if (!reasons.empty())
      out.push_back(fmt::format("{} is skipped on {} of {} problems: {}", solver.label, reasons.size(),
                                problems, reasons.front()));
  }
  return out;
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
