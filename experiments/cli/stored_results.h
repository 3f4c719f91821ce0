#pragma once
/// Stored results as `table` and `plot` read them.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/cli/cli.h"
#include "experiments/config/config.h"
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
  std::string out, targets, x, solvers;
  bool allow_not_comparable = false, with_start = false;

  void add_to(CLI::App& sub) {
    sub.add_option("dirs", folders, "results of `proxbench run`")->required()->type_name("DIR...");
    sub.add_option("--out", out,
                   "folder for the results over all DIRs; with several DIRs, tables and figures of one DIR "
                   "stay in it [DIR if there is one]")
        ->type_name("OUT");
    sub.add_option("--targets", targets, "relative differences to f*, separated by commas [the config's]")
        ->type_name("REALS");
    sub.add_option("--solvers", solvers, "labels of the solvers to show, separated by commas [all]")
        ->type_name("NAMES");
    sub.add_flag("--with-start", with_start, "seconds count reading the data and set-up, too");
    sub.add_flag("--allow-not-comparable", allow_not_comparable, "also show timings that are not comparable");
  }

  std::vector<Source> read() const;
  /// Where goes what is made of all sources together.
  std::filesystem::path out_folder() const {
    if (!out.empty()) return out;
    if (folders.size() == 1) return folders.front();
    throw Error::usage("--out: found none, expected a folder for the results over all DIRs");
  }
  /// Where goes what is made of one of them.
  std::filesystem::path out_folder(const Source& source) const {
    return folders.size() == 1 ? out_folder() : source.folder;
  }
};

/// For what is made of single penalties. Throws Error where a source has paths alone.
void require_runs(const std::vector<Source>& sources);
std::vector<Run> all_runs(const std::vector<Source>& sources);

}  // namespace proxbench
