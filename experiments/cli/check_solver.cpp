/// `check-solver`: the conformance suite over one solver.
#include <fmt/format.h>

#include "experiments/cli/cli.h"
#include "experiments/conformance/conformance.h"
#include "experiments/run/job.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

struct CheckSolverCommand {
  std::string solver, only;
  std::vector<std::string> options;
  RunFlags run;
  JsonFlag json;
};

void print_check(const ConformanceCheck& check) {
  fmt::print("{}  {}: {}\n", check.passed ? "ok    " : "FAILED", check.name, check.found);
  std::fflush(stdout);
}

nlohmann::ordered_json conformance_json(const SolverInfo& solver, const Options& options, std::uint64_t seed,
                                        const std::vector<ConformanceCheck>& checks, bool passed) {
  nlohmann::ordered_json out{
      {"solver", solver.name}, {"options", option_texts(options)}, {"seed", seed}, {"passed", passed}};
  out["checks"] = nlohmann::ordered_json::array();
  for (const ConformanceCheck& check : checks)
    out["checks"].push_back({{"name", check.name}, {"passed", check.passed}, {"found", check.found}});
  return out;
}

void check_one(const CheckSolverCommand& command) {
  const SolverInfo& solver = solver_registry().find(command.solver);
  Options options(solver.options);
  set_options(options, command.options, "--option");
  command.json.check();
  const bool quiet = command.json.to_stdout();
  ConformanceSettings settings;
  settings.seed = static_cast<std::uint64_t>(command.run.parse().integer("seed"));
  settings.only = command.only;
  if (!quiet) settings.on_check = print_check;
  const std::vector<ConformanceCheck> checks = check_solver(solver, options, settings);
  const auto failed = std::count_if(checks.begin(), checks.end(),
                                    [](const ConformanceCheck& check) { return !check.passed; });
  command.json.write(conformance_json(solver, options, settings.seed, checks, failed == 0));
  if (!quiet)
    fmt::print("{}: {} of {} checks passed\n", solver.name, checks.size() - static_cast<std::size_t>(failed),
               checks.size());
  if (failed > 0) throw ExitStatus{1};
}

}  // namespace

void add_check_solver_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("check-solver", "Run the conformance suite on a solver");
  auto command = std::make_shared<CheckSolverCommand>();
  sub->add_option("solver", command->solver, "solver; see `proxbench list`")->required()->type_name("NAME");
  sub->add_option("--option", command->options,
                  "option of the solver, repeatable; see `proxbench list --options`")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  sub->add_option("--only", command->only, "run only the checks whose name contains this text")
      ->type_name("TEXT");
  command->run.add_to(*sub, {"seed"});
  command->json.add_to(*sub);
  sub->callback([command] { check_one(*command); });
}

}  // namespace proxbench
