#pragma once
/// Which solver `train`, `select` and references take where none is named. The measurements are in
/// RESULTS.md.

#include <string>
#include <vector>

#include "core/oracle.h"
#include "core/solver.h"

namespace proxbench {

/// The best solver known where lambda > 0.
inline constexpr const char* kBestForL1 = "prox-newton";

/// The best solver known for an objective. `oracle`: null where it is not known yet.
std::string best_solver(const Penalty& penalty, Loss::Kind loss, const OracleInfo* oracle = nullptr);

/// The solvers that have no unmet_needs() with their defaults.
std::vector<std::string> fitting_solvers(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle);

/// prox-qn and prox-newton were one solver with presets. What to write for an option of it that `solver` has not;
/// empty: nothing is known of it.
std::string former_option(const std::string& solver, const std::string& option);

}  // namespace proxbench
