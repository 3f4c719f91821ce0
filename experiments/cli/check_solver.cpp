/// `check-solver`: the conformance suite over one solver.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/cli/cli.h"
#include "experiments/conformance/conformance.h"
#include "experiments/run/job.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

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

void add_check_solver_command(CLI::App& app) {
  add_command<CheckSolverCommand>(app, "check-solver", "Run the conformance suite on a solver");
}

}  // namespace proxbench
