#pragma once
/// Starts the Python package, which shows stored results (python/README.md). python/proxbench/commands.json
/// declares its commands and their flags.

#include <string>
#include <vector>

#include "experiments/cli/cli.h"

namespace proxbench {

/// The flags of a command of the package. The program parses them like the flags of its own commands, so that
/// help, completion, the manual page and errors are the same. The package reads their values.
class PythonFlags {
 public:
  /// Adds the flags of a command, and its folders if `with_folders`.
  void add_to(CLI::App& app, const std::string& command, bool with_folders = true);
  /// Returns the folders and flags as they were typed.
  std::vector<std::string> arguments() const;

 private:
  struct Flag {
    std::string name;
    CLI::Option* option;
    bool repeats;  ///< each value is a flag of its own; otherwise commas join them
  };
  void add(CLI::App& app, const nlohmann::json& spec);

  std::vector<Flag> flags_;
  KeyFlags<PlotConfig> plot_{"the config's"};
  RunFlags experiment_{"the config's"};
};

/// Returns "" if the package can be started, otherwise one sentence that names what is missing.
std::string missing_python();

/// Becomes `python -m proxbench COMMAND ARGUMENTS`. Throws Error if the package cannot be started.
[[noreturn]] void become_python(const std::string& command, const std::vector<std::string>& arguments);

/// Shows what a command has measured and stored: runs `python -m proxbench COMMAND ARGUMENTS` and returns its
/// exit status. If the package cannot be started, warns with one sentence that ends with `stored`, and
/// returns 0: nothing that was measured is lost.
int show_by_python(const std::string& command, const std::vector<std::string>& arguments,
                   const std::string& stored);

}  // namespace proxbench
