#include "core/solver.h"

namespace proxbench {

std::string unmet_needs(const SolverInfo& solver, const Oracle& oracle, const std::string& oracle_name,
                        const Penalty& penalty) {
  for (const Capability capability : solver.needs.capabilities)
    if (!has_capability(oracle, capability))
      return "solver '" + solver.name + "' needs an oracle with '" + capability_name(capability) +
             "', which oracle '" + oracle_name + "' has not";
  if (solver.needs.l1 && penalty.lambda == 0.0)
    return "solver '" + solver.name + "' needs an l1 penalty: found lambda = 0, expected lambda > 0";
  if (solver.needs.l2 && penalty.mu == 0.0)
    return "solver '" + solver.name + "' needs an l2 penalty: found mu = 0, expected mu > 0";
  return "";
}

}  // namespace proxbench
