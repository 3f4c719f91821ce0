#pragma once
/// `solver = external`: a program of its own in the place of a solver (experiments/trainers).

#include "core/solver.h"

namespace proxbench {

inline constexpr const char* kExternal = "external";

/// Its options, and what it needs as far as no adapter is asked. It makes no solver.
const SolverInfo& external_trainer();
/// The registered solver of this name, or external_trainer(). Throws Error (kUsage) where there is neither.
const SolverInfo& solver_or_trainer(const std::string& name);
/// The names of all of them.
std::vector<std::string> solver_and_trainer_names();

}  // namespace proxbench
