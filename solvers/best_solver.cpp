#include "solvers/best_solver.h"

#include <algorithm>

#include "core/base/error.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// With l2 alone, dual steps on one instance at a time are faster than L-BFGS if features occur fewer times
/// than this, on average. A step then changes few weights, where L-BFGS has vectors of all weights.
constexpr double kFewOccurrences = 30.0;

/// Whether features are rare. False where processes share the data, since dual steps need all instances.
bool features_are_rare(const DesignMatrix& x) {
  return !x.shared() &&
         static_cast<double>(x.nonzeros()) < kFewOccurrences * static_cast<double>(x.features());
}

}  // namespace

std::string best_solver(const Penalty& penalty, Loss::Kind loss, const OracleInfo* oracle,
                        const DesignMatrix* x) {
  if (loss == Loss::Kind::kLog) {
    if (penalty.lambda > 0.0) return kBestForL1;
    const bool dual = x != nullptr && features_are_rare(*x) && oracle != nullptr &&
                      unmet_needs(solver_registry().find("oeg"), penalty, loss, *oracle).empty();
    return dual ? "oeg" : "lbfgs";
  }
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
