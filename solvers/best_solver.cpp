#include "solvers/best_solver.h"

#include <algorithm>

#include "core/base/error.h"
#include "solvers/solvers.h"

namespace proxbench {

std::string best_solver(const Penalty& penalty, Loss::Kind loss, const OracleInfo* oracle) {
  if (loss == Loss::Kind::kLog) return penalty.lambda > 0.0 ? kBestForL1 : "lbfgs";
  // Label sets have no exact max oracle.
  const bool has_max =
      oracle == nullptr ||
      std::ranges::find(oracle->capabilities, Capability::kInstanceMax) != oracle->capabilities.end();
  return has_max ? "bcfw" : "gdmm";
}

std::vector<std::string> fitting_solvers(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle) {
  std::vector<std::string> out;
  for (const SolverInfo& info : solver_registry().items())
    if (unmet_needs(info, penalty, loss, oracle).empty()) out.push_back(info.name);
  return out;
}

std::string no_solver_text(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle) {
  return all_parts("no solver has a ", loss_name(loss), " loss with ", penalty.text(), " on oracle '",
                   oracle.name, "'");
}

}  // namespace proxbench
