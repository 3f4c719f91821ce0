#pragma once
/// Finds the interpreter that runs the Python package (python/README.md).

#include <string>
#include <vector>

namespace proxbench {

struct PythonProgram {
  std::string interpreter;  ///< empty: there is none
  std::string missing;      ///< what is missing; empty: nothing
};

/// Returns $PROXBENCH_PYTHON, or else /usr/bin/python3 or the first python3 on the PATH, if it finds these
/// modules. From then on, processes that this one starts find the package of its build tree or installation.
/// `expected` says what would help: "no Python that can show results: ...; expected EXPECTED", where
/// `purpose` is "show results".
PythonProgram find_python(const std::vector<std::string>& modules, const std::string& purpose,
                          const std::string& expected);

}  // namespace proxbench
