#pragma once
/// Checks on small problems that a solver does what every solver must do (solvers/README.md). For built-in
/// solvers and for solvers of plug-ins.
///
/// Nothing here trusts the solver. certify(), which uses only F and its minimum-norm subgradient, judges
/// optimality. Another solver, which shares little code with the one under test, judges values.

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
  std::string found = {};  ///< what was seen; after a failure, also on which problem
};

struct ConformanceSettings {
  std::uint64_t seed = 1;  ///< for the solver only: the problems are always the same
  std::string only = {};   ///< run only the checks whose name contains this text
  std::function<void(const ConformanceCheck&)> on_check = {};  ///< called after each check
};

/// Runs the checks one after the other, in seconds for most solvers. A solver fails a check if it throws, or
/// goes on after it should have stopped. A solver that neither makes an inference nor calls the monitor again
/// makes the check hang. Throws Error (kUsage) if no check has `only` in its name.
std::vector<ConformanceCheck> check_solver(const SolverInfo& solver, const Options& options,
                                           const ConformanceSettings& settings = {});

}  // namespace proxbench
