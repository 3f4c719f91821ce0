#include "experiments/config/trainers.h"

#include "solvers/solvers.h"

namespace proxbench {

const SolverInfo& external_trainer() {
  static const SolverInfo info{
      .name = kExternal,
      .help = "an external trainer, timed as a process; for sweeps (experiments/trainers/README.md)",
      .paper = "benchopt (Moreau et al. 2022): runs that stop later and later",
      .options = {{.name = "adapter",
                   .default_value = "",
                   .help = "its adapter: a name in experiments/trainers, or a file with a '/'",
                   .required = true},
                  {.name = "program",
                   .default_value = "",
                   .help = "the program; not given: the adapter finds it on PATH"},
                  {.name = "algorithm",
                   .default_value = "",
                   .help = "one of the adapter's; not given: the first that fits the penalty"}},
      .make = {},
      .needs = {.capabilities = {}},
      .starts_anywhere = false};
  return info;
}

const SolverInfo& solver_or_trainer(const std::string& name) {
  return name == kExternal ? external_trainer() : solver_registry().find(name);
}

std::vector<std::string> solver_and_trainer_names() {
  std::vector<std::string> names = solver_registry().names();
  names.emplace_back(kExternal);
  return names;
}

}  // namespace proxbench
