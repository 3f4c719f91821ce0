#pragma once
/// Which solver `train`, `select` and references take where none is named. The measurements are in
/// RESULTS.md.

#include <string>
#include <vector>

#include "core/oracle.h"
#include "core/solver.h"

namespace proxbench {

/// The best solver known where lambda > 0.
inline constexpr const char* kBestForL1 = "prox-qn";

/// The best solver known for an objective. `oracle`: null where it is not known yet.
std::string best_solver(const Penalty& penalty, Loss::Kind loss, const OracleInfo* oracle = nullptr);

/// The solvers that have no unmet_needs() with their defaults.
std::vector<std::string> fitting_solvers(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle);

}  // namespace proxbench
