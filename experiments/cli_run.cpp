/// `run` and `check`: experiments from a config.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/error.h"
#include "experiments/cli.h"
#include "experiments/paper_table.h"
#include "experiments/sweep.h"

namespace proxbench {
namespace {

struct RunCommand {
  std::string config_file, out;
  std::vector<std::string> overrides;
  bool dry_run = false, quiet = false;
  JsonFlag json;
};

std::string limit_text(const SolverConfig& solver) {
  std::string out = fmt::format("tol {:g}", solver.tol);
  if (solver.time_limit > 0) out += fmt::format(", at most {:g} s", solver.time_limit);
  if (solver.max_iterations > 0) out += fmt::format(", at most {} iterations", solver.max_iterations);
  return out;
}

nlohmann::ordered_json plan_json(const std::vector<PlannedRun>& plan) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const PlannedRun& run : plan)
    runs.push_back({{"name", run.name()},
                    {"dataset", run.data->name},
                    {"lambda", run.lambda},
                    {"solver", run.solver->solver},
                    {"label", run.solver->label},
                    {"repetition", run.repetition},
                    {"tol", run.solver->tol},
                    {"time_limit", run.solver->time_limit},
                    {"max_iterations", run.solver->max_iterations}});
  return runs;
}

void print_plan(const std::vector<PlannedRun>& plan) {
  double limit = 0.0;
  bool limited = true;
  for (const PlannedRun& run : plan) {
    fmt::print("{}  ({})\n", run.name(), limit_text(*run.solver));
    limit += run.solver->time_limit;
    limited = limited && run.solver->time_limit > 0;
  }
  fmt::print("{} runs", plan.size());
  if (limited) fmt::print(", at most {:g} s on the clock together", limit);
  fmt::print("; and a reference run for each data set and lambda\n");
}

void run(const RunCommand& command) {
  const ExperimentConfig config = load_config(command.config_file, command.overrides);
  const std::vector<PlannedRun> plan = plan_runs(config);
  if (command.dry_run) {
    if (!command.json.to_stdout() && !command.quiet) print_plan(plan);
    command.json.write({{"experiment", config.name}, {"runs", plan_json(plan)}});
    return;
  }
  const std::filesystem::path out = command.out.empty() ? std::filesystem::path("results") / config.name
                                                        : std::filesystem::path(command.out);
  prepare_out(out);
  command.json.check();
  stop_cleanly_on_interrupt();

  SweepResult result;
  {
    ProgressPrinter progress(command.quiet);
    SweepHooks hooks;
    hooks.message = [&](const std::string& text) { progress.message(text); };
    hooks.warning = [&](const std::string& text) { progress.warning(text); };
    hooks.on_sample = [&](const std::string& name, const Sample& sample) { progress.sample(name, sample); };
    hooks.interrupt = &interrupted;
    result = run_sweep(config, out, hooks);
    if (result.interrupted) {
      progress.warning(fmt::format("interrupted after {} of {} runs, which are kept in {}",
                                   result.folders.size(), plan.size(), out.string()));
      throw ExitStatus{1};
    }
    if (result.folders.empty()) throw Error("no run of " + config.name + " succeeded");
  }

  const std::vector<StoredRun> runs = read_results(out);
  const TableOptions table{.title = config.title, .targets = config.targets};
  const Presentation presentation = load_presentation(out / "config.ini");
  write_result_tables(runs, out, presentation, table);
  if (!command.quiet && !command.json.to_stdout()) {
    fmt::print("{}\n", markdown_table(summarize(runs, table), table));
    if (!config.paper.lambdas.empty())
      fmt::print("{}\n",
                 markdown_document("", {paper_table(compare_with_paper(runs, presentation), presentation)}));
  }
  nlohmann::ordered_json summaries = nlohmann::ordered_json::array();
  for (const StoredRun& stored : runs)
    if (std::find(result.folders.begin(), result.folders.end(), stored.folder) != result.folders.end())
      summaries.push_back(nlohmann::ordered_json(stored.summary));
  command.json.write({{"experiment", config.name}, {"out", out.string()}, {"runs", summaries}});
  draw_figures_of_run(runs, out, presentation, [](const std::string& text) { spdlog::warn("{}", text); });
  if (!command.quiet && !command.json.to_stdout()) fmt::print("Results: {}\n", out.string());
  if (result.failed > 0) throw Error(fmt::format("{} of {} runs failed", result.failed, plan.size()));
}

void check(const RunCommand& command) {
  nlohmann::ordered_json result{{"config", command.config_file}, {"valid", true}, {"error", nullptr}};
  try {
    const ExperimentConfig config = load_config(command.config_file, command.overrides);
    const std::vector<PlannedRun> plan = plan_runs(config);
    result["runs"] = plan_json(plan);
    command.json.write(result);
    if (!command.json.to_stdout())
      fmt::print("{}: good; {} runs of {} data sets, {} lambdas, {} solvers, {} repetitions\n",
                 command.config_file, plan.size(), config.data.size(), config.lambdas.size(),
                 config.solvers.size(), config.repetitions);
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
    sub->add_flag("--dry-run", command->dry_run, "print what would be run, and run nothing");
    sub->add_flag("--quiet", command->quiet, "print warnings and errors only");
    sub->callback([command] { run(*command); });
  }
  CLI::App* sub = app.add_subcommand("check", "Check a config without running it");
  auto command = std::make_shared<RunCommand>();
  add_config_flags(*sub, *command);
  sub->callback([command] { check(*command); });
}

}  // namespace proxbench
