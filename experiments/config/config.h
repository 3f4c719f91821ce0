#pragma once
/// The typed config of an experiment: a grid of data sets x lambdas x mus x solvers x repetitions. It is read
/// from an INI file, the files that it includes, and --set overrides. All errors are reported at once, each
/// with its line and column.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/options.h"
#include "experiments/base/paths.h"
#include "experiments/base/text.h"
#include "experiments/config/format_registry.h"
#include "experiments/config/penalty_path.h"
#include "experiments/config/run_settings.h"

namespace proxbench {

/// The default of the key targets of [experiment].
inline std::vector<double> default_targets() {
  return {1e-2, 1e-4, 1e-6, 1e-8};
}

/// The files are those that were found.
struct DataConfig : RunData {
  std::string name;  ///< name of the section, or of the format for a plain [data]
  Options options;   ///< of the format
};

struct SolverConfig : StopRules {
  std::string label;
  std::string solver;  ///< registered name
  Options options;
};

/// Which figures are drawn, and how. The Python package draws them.
struct PlotConfig {
  std::vector<std::string> kinds{"curves"};
  std::vector<std::string> x{"seconds"}, quantities{"objective", "nnz", "accuracy"};
  std::vector<double> x_max{};  ///< one for each x, or none
  bool log_seconds = false;
  std::string repetitions = "band";
  double shift = 1.0, par = 10.0;
};

/// The paper's statement about the figure or table that a config makes.
struct PaperConfig {
  std::string item;                            ///< "Figure 1"; empty: the config has no section [paper]
  std::string caption;                         ///< what the item shows, in our words
  std::string reports;                         ///< what the paper reports
  std::string differs;                         ///< what differs here, and why
  std::vector<double> lambdas, nnz, accuracy;  ///< the paper's numbers: one for each lambda, or none
  bool data = false;                           ///< the item is a table of the data sets
  bool costs = false;                          ///< the item is a table of the costs to targets
};

/// The resources that a sweep's jobs request from Slurm. See experiments/sweep/slurm.cpp.
struct SlurmConfig {
  std::string partition;           ///< empty: the cluster's default
  std::string account;             ///< empty: the user's default
  std::string time = "auto";       ///< in Slurm's format, or "auto"
  int cpus = 0;                    ///< 0: as many as threads
  std::string constraint;          ///< empty: none
  std::string exclusive = "auto";  ///< whole nodes: "true" or "false"; see whole_nodes()
};

/// Returns the seconds of a time in Slurm's format: "MINUTES", "MINUTES:SECONDS", "HOURS:MINUTES:SECONDS",
/// "DAYS-HOURS", "DAYS-HOURS:MINUTES" or "DAYS-HOURS:MINUTES:SECONDS". Returns none if the text has another
/// form, or is 0.
std::optional<double> slurm_seconds(std::string_view text);

/// A whole config. The stop rules here are the defaults of solvers whose sections give none. Repetition r
/// runs with seed + r - 1.
struct ExperimentConfig : RunSettings, PenaltyGrid {
  /// A single run has one thread and no warm-up unless it is told otherwise.
  ExperimentConfig() {
    threads = 0;
    warm_up = 0.2;
  }

  std::string name, title;
  // Only the Python package uses these three. They are checked here, with all other keys.
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  PlotConfig plot;
  PaperConfig paper;

  std::vector<std::string> plugins;  ///< files of plug-ins
  int repetitions = 1;
  double stop_at = 0.0;               ///< relative difference to f* at which a run stops; 0: it does not
  double wall_limit = kNaN;           ///< seconds of a run's process; NaN: 60 + 3 * time_limit; 0: no limit
  double kill_grace = 10.0;           ///< seconds between SIGTERM and SIGKILL
  double memory_limit = 0.0;          ///< MiB of a run's process; 0: no limit
  bool pin = true;                    ///< bind each run to its own CPUs
  std::string order = "interleaved";  ///< or "grid"
  std::string reference = "run";      ///< or "none": f* is not computed
  std::string reference_solver = {};  ///< gives f*, with its defaults; read_config() never leaves it empty
  double reference_tol = 1e-9, reference_gap = 1e-9, reference_time_limit = 600.0;  ///< of the reference run
  std::vector<DataConfig> data;
  std::vector<SolverConfig> solvers;
  SlurmConfig slurm;
  std::vector<std::string> includes;            ///< files that were included, in the order of reading
  std::vector<std::string> missing_files = {};  ///< a message for each data file that was not found

  /// Whether f* is computed for the runs of single penalties.
  bool has_reference() const { return has_singles() && reference != "none"; }

  /// Whether each Slurm job gets a whole node.
  bool whole_nodes() const {
    return slurm.exclusive == "auto" ? has_paths() || contains(plot.x, "seconds") : slurm.exclusive == "true";
  }

  /// Returns an INI text that reads back to the same config. It has all defaults written out and no includes.
  std::string to_ini() const;
};

/// Returns the name of the experiment from OUT/config.ini, or "" if there is no such file. Throws Error
/// (kUsage) if the file is no config.
std::string stored_experiment(const fs::path& config_file);

/// Loads a plug-in, unless it is loaded. Called before the solvers and data of the config are read.
using LoadPlugin = std::function<void(const fs::path& file)>;

/// Parses a config. `source` names the text in messages. Included files are read from `folder`. Relative data
/// files are also searched there, or in the folder of the included file that names them. With an empty
/// folder, includes are not allowed and no file is read. Throws Error (kUsage) with all problems:
/// "file:line:column: [section] key: found X, expected Y".
ExperimentConfig parse_config(std::string_view text, const std::string& source, const fs::path& folder,
                              const std::vector<std::string>& overrides = {}, const LoadPlugin& load = {});
/// Reads the file and parses it. Also throws Error (kUsage) if it cannot be read. With `find_data` false,
/// missing data files are no error: their names stay as written, and ExperimentConfig::missing_files lists
/// them.
ExperimentConfig load_config(const fs::path& file, const std::vector<std::string>& overrides = {},
                             const LoadPlugin& load = {}, bool find_data = true);

/// Searches for a data file, so that configs need not name one machine's folders. Returns the first file
/// found. An absolute path, and "-" for standard input, is returned unchanged. A relative path is searched in
/// the current folder, in `base` (the config's folder), $PROXBENCH_DATA,
/// ../shared/data and ${XDG_CACHE_HOME:-$HOME/.cache}/proxbench/data, in this order. Throws Error (kInput)
/// that lists the searched places.
fs::path find_data_file(const std::string& given, const fs::path& base);

}  // namespace proxbench
