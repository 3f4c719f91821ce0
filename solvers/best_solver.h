#pragma once
/// The solvers that `train`, `select` and reference runs use if the user names none. solvers/RESULTS.md has
/// the measurements.

#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/oracle.h"
#include "core/solver.h"

namespace proxbench {

/// The best solver known for lambda > 0.
inline constexpr const char* kBestForL1 = "prox-newton";

/// The best solver known for an objective. A null `oracle` or `data` means that the oracle or the data are
/// not known yet.
std::string best_solver(const Penalty& penalty, Loss::Kind loss, const OracleInfo* oracle = nullptr,
                        const Dataset* data = nullptr);

/// The solvers that have no unmet_needs() for this objective with their default options.
std::vector<std::string> fitting_solvers(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle);

/// The error message if fitting_solvers() is empty.
std::string no_solver_text(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle);

}  // namespace proxbench
