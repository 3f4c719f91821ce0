#pragma once
/// `solver = external`: an external program instead of a solver (experiments/trainers).

#include "core/solver.h"

namespace proxbench {

inline constexpr const char* kExternal = "external";

/// Returns its options and its needs, as far as they are known without asking an adapter. It makes no solver.
const SolverInfo& external_trainer();
/// Returns the registered solver of this name, or external_trainer(). Throws Error (kUsage) if the name is
/// neither.
const SolverInfo& solver_or_trainer(const std::string& name);
/// Returns the names of all of them.
std::vector<std::string> solver_and_trainer_names();

}  // namespace proxbench
