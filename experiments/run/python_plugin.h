#pragma once
/// Plug-ins that are files of Python: each registers solvers with `proxbench.solver`. Only Python runs such a
/// solver: `python3 -m proxbench.worker` makes the runs of a sweep, like `proxbench-worker`.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/plugin.h"
#include "experiments/base/paths.h"

namespace proxbench {

/// Whether a plug-in is a file of Python.
bool is_python(const fs::path& file);

/// Returns a solver as python/proxbench/custom_solvers.py describes it, without make.
SolverInfo described_solver(const nlohmann::json& description);

/// Asks Python for the solvers of the file. Their make() throws Error. Throws Error with what Python found.
Plugin python_plugin(const fs::path& file);

/// The command of the worker in Python, without its arguments. Throws Error if it cannot be started.
std::vector<std::string> python_worker();

}  // namespace proxbench
