#pragma once
/// Stored results as `table` and `plot` read them.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/cli/cli.h"
#include "experiments/results/results.h"
#include "experiments/results/tables/path_table.h"

namespace proxbench {

/// The results of one folder.
struct Source {
  std::filesystem::path folder;
  Presentation presentation;
  std::vector<Run> runs;  ///< of single penalties
  std::vector<Run> paths;
};

/// Flags of the commands that read them.
struct ReadFlags {
  std::vector<std::string> folders;
  std::string out, solvers;
  KeyFlags<PlotConfig> plot{"the config's"};  ///< in place of what the configs say
  RunFlags experiment{"the config's"};
  bool allow_not_comparable = false, with_start = false;

  void add_to(CLI::App& command);
  std::vector<Source> read() const;
  /// Where goes what is made of all sources together.
  std::filesystem::path out_folder() const;
  /// Where goes what is made of one of them.
  std::filesystem::path out_folder(const Source& source) const {
    return folders.size() == 1 ? out_folder() : source.folder;
  }
};

/// For what is made of single penalties. Throws Error where a source has paths alone.
void require_runs(const std::vector<Source>& sources);
std::vector<Run> all_runs(const std::vector<Source>& sources);

}  // namespace proxbench
