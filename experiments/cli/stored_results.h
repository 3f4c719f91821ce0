#pragma once
/// Stored results for `table` and `plot`.

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
  std::vector<Run> runs;  ///< runs of single penalties
  std::vector<Run> paths;
};

/// The flags of the commands that read stored results.
struct ReadFlags {
  std::vector<std::string> folders;
  std::string out, solvers;
  KeyFlags<PlotConfig> plot{"the config's"};  ///< overrides the configs
  RunFlags experiment{"the config's"};
  bool allow_not_comparable = false, with_start = false;

  void add_to(CLI::App& command);
  std::vector<Source> read() const;
  /// The output folder for results over all sources.
  std::filesystem::path out_folder() const;
  /// The output folder for results of one source.
  std::filesystem::path out_folder(const Source& source) const {
    return folders.size() == 1 ? out_folder() : source.folder;
  }
};

/// Throws Error if a source has only paths: results over single penalties need runs.
void require_runs(const std::vector<Source>& sources);
std::vector<Run> all_runs(const std::vector<Source>& sources);

}  // namespace proxbench
