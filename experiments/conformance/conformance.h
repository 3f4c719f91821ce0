#pragma once
/// What every solver must keep to (solvers/README.md), tried on small problems: for solvers of our own and
/// for those of plug-ins.
///
/// Nothing here trusts the solver: optimality is judged by certify(), which knows F and its minimum-norm
/// subgradient alone, and values by another solver that shares little code with it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/solver.h"

namespace proxbench {

struct ConformanceCheck {
  std::string name;  ///< the statement: "stops when interrupted"
  bool passed = false;
  std::string found = {};  ///< what was seen; where it failed, on which problem
};

struct ConformanceSettings {
  std::uint64_t seed = 1;  ///< of the solver; the problems are the same every time
  std::string only = {};   ///< just the checks whose name holds this text
  std::function<void(const ConformanceCheck&)> on_check = {};  ///< called after each
};

/// Runs the checks, one after the other; seconds for most solvers. A solver that throws, or that goes on
/// after it was told to stop, fails the check; one that neither infers nor calls the monitor again hangs it.
/// Throws Error (kUsage) where no check has `only` in its name.
std::vector<ConformanceCheck> check_solver(const SolverInfo& solver, const Options& options,
                                           const ConformanceSettings& settings = {});

}  // namespace proxbench
