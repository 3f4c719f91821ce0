/// `run` and `check`: experiments from a config.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/results/tables/path_table.h"
#include "experiments/results/tables/result_tables.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace {

struct RunCommand {
  std::string config_file, out;
  std::vector<std::string> overrides, slurm;
  std::string launcher = "local";
  bool wait = false;
  bool dry_run = false, resolved = false, why = false, force = false, quiet = false, verbose = false;
  int jobs = 1;
  JsonFlag json;

  SweepOptions sweep() const { return {.force = force, .jobs = jobs, .launcher = launcher, .wait = wait}; }
};

/// The config with what the flags say. A login node's cores say nothing of the cluster's.
ExperimentConfig config_of(const RunCommand& command) {
  std::vector<std::string> overrides = command.overrides;
  for (const std::string& assignment : command.slurm) overrides.push_back("slurm." + assignment);
  ExperimentConfig config = load_config(command.config_file, overrides);
  if (command.launcher != "slurm") return config;
  if (config.threads == 0) config.threads = config.slurm.cpus;
  if (config.threads == 0)
    throw Error::usage(
        "[experiment] threads: found 0 (all cores), expected a number, or one for [slurm] cpus: "
        "it is what each job asks for");
  return config;
}

std::string limit_text(const RunParameters& run) {
  std::string out = fmt::format("tol {:g}", run.tol);
  if (run.time_limit > 0) out += fmt::format(", at most {:g} s", run.time_limit);
  if (run.max_iterations > 0) out += fmt::format(", at most {} iterations", run.max_iterations);
  return out;
}

nlohmann::ordered_json planned_json(const RunParameters& run) {
  const nlohmann::ordered_json all = parameters_json(run);
  nlohmann::ordered_json out;
  for (const char* key : {"name", "dataset", "lambda", "mu", "solver", "label", "repetition", "tol",
                          "time_limit", "max_iterations"})
    out[key] = all.at(key);
  return out;
}

nlohmann::ordered_json cells_json(const std::vector<SweepProblem>& problems) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const SweepProblem& problem : problems)
    for (const Cell& cell : problem.cells) {
      nlohmann::ordered_json& run = runs.emplace_back(planned_json(cell.run.parameters));
      run["stored"] = cell.stored;
      run["skipped"] = nullptr;
      if (!cell.skipped.empty()) run["skipped"] = cell.skipped;
      run["why"] = cell.why;
      run["key"] = cell.run.key.digest;
      run["estimated_seconds"] = cell.wall_seconds;  // NaN becomes null
    }
  return runs;
}

/// What missing runs and references may take, as far as something is known of it.
struct Estimate {
  double seconds = 0.0;
  std::size_t known = 0, unknown = 0;

  void add(double one) {
    ++(std::isnan(one) ? unknown : known);
    if (!std::isnan(one)) seconds += one;
  }
};

void print_problems(const RunCommand& command, const ExperimentConfig& config,
                    const std::vector<SweepProblem>& problems) {
  Estimate estimate;
  std::size_t runs = 0, missing = 0, references = 0;
  for (const SweepProblem& problem : problems) {
    if (problem.lacks_reference) {
      ++references;
      estimate.add(config.reference_time_limit > 0 ? config.reference_time_limit : kNaN);
    }
    for (const Cell& cell : problem.cells) {
      std::string what = cell.stored ? "stored" : cell.why.front();
      if (command.why && !cell.stored) what = fmt::format("{}", fmt::join(cell.why, "; "));
      if (!cell.skipped.empty()) what = fmt::format("{}: {}", kDoesNotFit, cell.skipped);
      fmt::print("{}  ({})  {}\n", cell.name(), limit_text(cell.run.parameters), what);
      ++runs;
      if (cell.stored) continue;
      ++missing;
      if (cell.skipped.empty()) estimate.add(cell.wall_seconds / command.jobs);
    }
  }
  for (const std::string& note : notes_of_skipped_solvers(config)) fmt::print("{}\n", note);
  fmt::print("{} runs, {} of them stored; {} references to make", runs, runs - missing, references);
  if (estimate.known > 0) fmt::print("; at most about {:.0f} s for what is missing", estimate.seconds);
  if (estimate.unknown > 0)
    fmt::print(" ({} have no limit and were never run: not counted)", estimate.unknown);
  fmt::print("\n");
}

std::filesystem::path out_folder(const RunCommand& command, const ExperimentConfig& config) {
  return command.out.empty() ? std::filesystem::path("results") / config.name
                             : std::filesystem::path(command.out);
}

SweepResult sweep(const RunCommand& command, const ExperimentConfig& config,
                  const std::filesystem::path& out) {
  ProgressPrinter progress(command.quiet);
  Hooks hooks;
  hooks.message = [&](const std::string& text) { progress.message(text); };
  if (command.verbose || command.why) hooks.detail = hooks.message;
  hooks.warning = [&](const std::string& text) { progress.warning(text); };
  hooks.on_sample = [&](const std::string& name, const Sample& sample) { progress.sample(name, sample); };
  hooks.interrupt = &interrupted;
  SweepResult result = run_sweep(config, out, command.sweep(), hooks);
  if (result.interrupted && result.outstanding + result.unsubmitted == 0) {
    progress.warning(fmt::format("interrupted; {} runs are kept in {}, the same command goes on from there{}",
                                 result.folders.size(), out.string(),
                                 config.has_paths() ? " (an interrupted path starts again)" : ""));
    throw ExitStatus{1};
  }
  return result;
}

/// Of jobs that go on after this process: how to come back to them. False where there are none.
bool tell_outstanding(const RunCommand& command, const std::string& experiment, const SweepResult& result,
                      const std::filesystem::path& out) {
  if (result.outstanding + result.unsubmitted == 0) return false;
  const std::string text = fmt::format(
      "{} jobs go on without this process; `proxbench status {}` shows them, the same command with --wait "
      "waits for "
      "them and makes tables and figures, `proxbench cancel {}` ends them",
      result.outstanding, out.string(), out.string());
  command.json.write({{"experiment", experiment},
                      {"out", out.string()},
                      {"done", result.done},
                      {"stored_before", result.cached},
                      {"failed", result.failed},
                      {"outstanding", result.outstanding},
                      {"unsubmitted", result.unsubmitted}});
  if (result.interrupted)
    spdlog::warn("interrupted; {}", text);
  else if (!command.quiet)
    spdlog::info("{}", text);
  if (result.interrupted || result.unsubmitted > 0) throw ExitStatus{1};
  return true;
}

void run(const RunCommand& command) {
  const ExperimentConfig config = config_of(command);
  const std::filesystem::path out = out_folder(command, config);
  if (command.dry_run) {
    const std::vector<SweepProblem> problems = inspect(config, out, command.sweep());
    if (!command.json.to_stdout() && !command.quiet) {
      if (!config.includes.empty()) fmt::print("includes {}\n", fmt::join(config.includes, ", "));
      print_problems(command, config, problems);
    }
    command.json.write({{"experiment", config.name},
                        {"includes", config.includes},
                        {"out", out.string()},
                        {"notes", notes_of_skipped_solvers(config)},
                        {"references", std::ranges::count_if(problems, &SweepProblem::lacks_reference)},
                        {"runs", cells_json(problems)}});
    return;
  }
  command.json.check();
  stop_cleanly_on_interrupt();
  const SweepResult result = sweep(command, config, out);
  if (tell_outstanding(command, config.name, result, out)) return;

  const Presentation& presentation = config;
  std::vector<Run> all = read_all_runs(out, presentation);
  if (const std::string left_out = leave_out_strangers(out, presentation, all); !left_out.empty())
    spdlog::warn("{}", left_out);
  if (std::all_of(all.begin(), all.end(), [](const Run& one) { return one.failed(); }))
    throw Error("no run of " + config.name + " succeeded");
  std::vector<Run> runs = all;
  const std::vector<Run> paths = take_paths(runs);
  const bool prints = !command.quiet && !command.json.to_stdout();
  if (!paths.empty()) {
    const TableSet tables = path_tables(paths, runs, config.title);
    tables.write(out / "tables");
    if (prints) fmt::print("{}\n", tables.text("md"));
  }
  if (!runs.empty()) {
    write_result_tables(runs, out, presentation);
    for (const TableSet& tables : result_tables(runs, presentation))
      if (prints) fmt::print("{}\n", tables.text("md"));
  }
  nlohmann::ordered_json summaries = nlohmann::ordered_json::array();
  for (const Run& stored : all)
    if (std::find(result.folders.begin(), result.folders.end(), stored.folder) != result.folders.end())
      summaries.push_back(run_json(stored));
  command.json.write({{"experiment", config.name},
                      {"out", out.string()},
                      {"done", result.done},
                      {"stored_before", result.cached},
                      {"failed", result.failed},
                      {"runs", summaries}});
  const auto warn = [](const std::string& text) { spdlog::warn("{}", text); };
  if (!runs.empty()) draw_figures_of_run(runs, out, presentation, warn);
  draw_paths_of_run(paths, out, presentation, warn);
  if (prints) fmt::print("Results: {}\n", out.string());
  if (result.failed > 0)
    throw Error(fmt::format("{} of {} runs failed", result.failed, result.done + result.cached));
}

void print_verdict(const RunCommand& command, const ExperimentConfig& config, std::size_t runs) {
  if (command.resolved) return fmt::print("{}", config.to_ini());
  fmt::print("{}: good; {} runs of {} data sets, {} lambdas and paths, {} solvers, {} repetitions\n",
             command.config_file, runs, config.data.size(), config.lambdas.size() + config.paths.size(),
             config.solvers.size(), config.repetitions);
  if (!config.includes.empty()) fmt::print("includes {}\n", fmt::join(config.includes, ", "));
  for (const std::string& note : notes_of_skipped_solvers(config)) fmt::print("{}\n", note);
}

void check(const RunCommand& command) {
  nlohmann::ordered_json result{{"config", command.config_file}, {"valid", true}, {"error", nullptr}};
  try {
    const ExperimentConfig config = load_config(command.config_file, command.overrides);
    const std::vector<RunParameters> plan = plan_runs(config);
    result["includes"] = config.includes;
    result["notes"] = notes_of_skipped_solvers(config);
    for (const RunParameters& run : plan) result["runs"].push_back(planned_json(run));
    if (command.resolved) result["resolved"] = config.to_ini();
    command.json.write(result);
    if (!command.json.to_stdout()) print_verdict(command, config, plan.size());
  } catch (const Error& error) {
    result["valid"] = false;
    result["error"] = error.what();
    command.json.write(result);
    throw;
  }
}

void add_config_flags(CLI::App& app, RunCommand& command) {
  app.add_option("config", command.config_file, "the experiment, an INI file")
      ->required()
      ->type_name("CONFIG.ini");
  app.add_option("--set", command.overrides, "override a value of the config, repeatable")
      ->allow_extra_args(false)
      ->type_name("SECTION.KEY=VALUE");
  command.json.add_to(app);
}

}  // namespace

void add_run_command(CLI::App& app) {
  {
    CLI::App* sub = app.add_subcommand("run", "Run an experiment: all its runs, tables and figures");
    auto command = std::make_shared<RunCommand>();
    add_config_flags(*sub, *command);
    sub->add_option("--out", command->out, "folder for the results [results/NAME]")->type_name("DIR");
    sub->add_flag("--dry-run", command->dry_run,
                  "print the grid, what of it is stored, and how long the rest may take; run nothing");
    auto* why = sub->add_flag("--why", command->why, "print why each run that is not stored must be made");
    sub->add_flag("--force", command->force, "make all runs and references again");
    sub->add_option(
           "--jobs", command->jobs,
           "runs at a time, each on CPUs of its own; above 1, timings are stored as not comparable [1]")
        ->check(CLI::Range(1, 1024))
        ->type_name("INT");
    std::vector<std::string> names;
    for (const LauncherInfo& info : launchers()) names.push_back(info.name);
    auto* launcher =
        sub->add_option("--launcher", command->launcher,
                        "what makes the runs: processes of this machine, or jobs of a Slurm cluster [local]")
            ->check(CLI::IsMember(names))
            ->type_name("NAME");
    sub->add_option("--slurm", command->slurm,
                    "what jobs ask for, repeatable: partition, time, cpus, constraint, exclusive, split; as "
                    "in [slurm]")
        ->needs(launcher)
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    sub->add_flag(
           "--wait", command->wait,
           "wait until all jobs have ended, then make tables and figures; Ctrl-C leaves the jobs running")
        ->needs(launcher);
    auto* quiet = sub->add_flag("--quiet", command->quiet, "print warnings and errors only")->excludes(why);
    sub->add_flag("--verbose", command->verbose, "print more progress messages")->excludes(quiet);
    sub->callback([command] { run(*command); });
  }
  CLI::App* sub = app.add_subcommand("check", "Check a config without running it");
  auto command = std::make_shared<RunCommand>();
  add_config_flags(*sub, *command);
  sub->add_flag("--resolved", command->resolved,
                "print the resolved config: with its includes, --set and every default");
  sub->callback([command] { check(*command); });
}

}  // namespace proxbench
