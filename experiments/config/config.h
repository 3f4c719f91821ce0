#pragma once
/// The typed config of an experiment: a grid of data sets x lambdas x solvers x repetitions, read from an INI
/// file, what it includes, and --set overrides. Everything that is wrong is reported at once, each with its
/// line and column.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/parallel.h"
#include "core/loss.h"
#include "experiments/base/numbers.h"
#include "experiments/config/data_format.h"
#include "experiments/config/path_grid.h"

namespace proxbench {

/// What the keys of one kind of section may be, from the rows of config_keys.h: for completion,
/// `proxbench list --options` and the documentation.
struct ConfigSectionInfo {
  std::string name;  ///< "experiment", "data", "solver", "plot", ...
  std::string help;
  OptionTable keys;
  std::set<std::string> lists;     ///< keys that take several values, separated by commas
  std::set<std::string> required;  ///< keys without a default
};
/// In the order in which they are documented.
const std::vector<ConfigSectionInfo>& config_sections();

/// A share of the clock so large that every sample is evaluated in full.
inline constexpr double kNoSamplingBudget = 1e6;

/// Of the key targets of [experiment].
inline std::vector<double> default_targets() {
  return {1e-2, 1e-4, 1e-6, 1e-8};
}

struct DataConfig {
  std::string name;  ///< of the section, or of the format for a plain [data]
  std::string format;
  DataFiles files;          ///< as they were found
  Options options;          ///< of the format
  std::string oracle = "";  ///< in place of the format's; empty: that
  std::string start = "";   ///< the model file as it was found; empty: runs start from w = 0
};

/// What ends a run.
struct StopRules {
  double tol = 1e-6;                ///< of a solver: 0 where a gap is given and no tol
  double gap = 0.0;                 ///< relative gap at which a run stops; 0: it does not
  double time_limit = 0.0;          ///< seconds on the clock; 0: no limit
  std::int64_t max_iterations = 0;  ///< 0: no limit
};

struct SolverConfig : StopRules {
  std::string label;
  std::string solver;  ///< registered name
  Options options;
};

/// Which figures are drawn and how; see make_curves(), make_profiles() and geometric_means().
struct PlotConfig {
  std::vector<std::string> kinds{"curves"};
  std::vector<std::string> x{"seconds"}, quantities{"objective", "nnz", "accuracy"};
  std::vector<double> x_max{};  ///< one for each x, or none
  bool log_seconds = false;
  std::string repetitions = "band";
  double shift = 1.0, par = 10.0;
  bool with_start = false;  ///< seconds are those of the clock and what came before it
};

/// What the paper says about the figure or table that a config makes; see PaperRow and ReportItem.
struct PaperConfig {
  std::string item;                            ///< "Figure 1"; empty: the config has no section [paper]
  std::string caption;                         ///< what is shown, in our words
  std::string reports;                         ///< what the paper reports
  std::string differs;                         ///< what differs here, and why
  std::vector<double> lambdas, nnz, accuracy;  ///< numbers of the paper: one for each lambda, or none
  bool data = false;                           ///< the item is a table of the data sets
  bool costs = false;                          ///< the item is a table of what targets cost
};

/// What the jobs of a sweep ask of Slurm; see experiments/sweep/slurm/slurm_launcher.h.
struct SlurmConfig {
  std::string partition;           ///< empty: the cluster's default
  std::string time = "auto";       ///< in Slurm's words, or "auto"
  int cpus = 0;                    ///< 0: as many as threads
  std::string constraint;          ///< empty: none
  std::string exclusive = "auto";  ///< whole nodes: "true" or "false"; see whole_nodes()
  std::string split = "problem";   ///< what a job makes: or "solver"
};

/// What tables, figures and reports need of the config beside stored results.
struct Presentation {
  std::string name, title;
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  PlotConfig plot;
  PaperConfig paper;
  /// What a data set was made from but its seed: data sets with the same text differ by nothing else.
  std::map<std::string, std::string> sources;
  std::vector<std::string> datasets, labels;  ///< of data sets and solvers, in order; empty: not known
};

/// The stop rules are those of solvers whose sections give none.
struct ExperimentConfig : Presentation, StopRules {
  std::vector<double> lambdas;      ///< each a run of its own
  std::vector<PathGrid> paths;      ///< each a run for all its lambdas; with it no mu_path
  double mu = 0.0;                  ///< 0 where it is a path
  std::optional<PathGrid> mu_path;  ///< with each of the lambdas a run for all its mus
  Loss loss;
  int threads = 0;  ///< 0: all cores
  int processes = 1;
  Backend backend = Backend::kOpenMP;
  int repetitions = 1;
  std::uint64_t seed = 1;  ///< repetition r runs with seed + r - 1
  bool sample_kkt = false;
  bool profile = false;               ///< results tell how the time of each run was spent
  double sampling_budget = 0.01;      ///< see MonitorOptions; kNoSamplingBudget and above: no limit
  double warm_up = 0.2;               ///< seconds of inference before the clock starts
  double stop_at = 0.0;               ///< relative difference to f* at which a run stops; 0: it does not
  double wall_limit = kNaN;           ///< seconds of a run's process; NaN: 60 + 3 * time_limit; 0: no limit
  double kill_grace = 10.0;           ///< seconds between SIGTERM and SIGKILL
  double memory_limit = 0.0;          ///< MiB of a run's process; 0: no limit
  bool pin = true;                    ///< each run on CPUs of its own
  std::string order = "interleaved";  ///< or "grid"
  std::string decoding = "structure";
  std::string reference = "run";      ///< or "none": there is no f*
  std::string reference_solver = {};  ///< with its defaults, gives f*; read_config() never leaves it empty
  double reference_tol = 1e-9, reference_gap = 1e-9, reference_time_limit = 600.0;  ///< of that run
  std::vector<DataConfig> data;
  std::vector<SolverConfig> solvers;
  SlurmConfig slurm;
  std::vector<std::string> includes;  ///< files that were included, in the order of reading

  bool has_paths() const { return mu_path || !paths.empty(); }
  /// Runs of a single penalty.
  bool has_singles() const { return !mu_path && !lambdas.empty(); }
  /// Whether f* is found for the runs of single penalties.
  bool has_reference() const { return has_singles() && reference != "none"; }

  /// Whether each job of Slurm takes a whole node.
  bool whole_nodes() const;

  /// An INI text that reads back to the same config, every default written out and without includes.
  std::string to_ini() const;
};

/// A sentence for each solver that cannot run on some of the problems (a data set with a penalty). One that
/// fits none of them is an error of the config.
std::vector<std::string> notes_of_skipped_solvers(const ExperimentConfig& config);

/// From OUT/config.ini; the defaults where there is none. Throws Error (kUsage) where its values are wrong.
Presentation load_presentation(const std::filesystem::path& config_file);

/// `source` names the text in messages; what it includes is read from `folder`, and relative data files are
/// also looked for there (those of an included file in its own folder). An empty folder: no includes, no file
/// is read. Throws Error (kUsage) with all problems: "file:line:column: [section] key: found X, expected Y".
ExperimentConfig parse_config(std::string_view text, const std::string& source,
                              const std::filesystem::path& folder,
                              const std::vector<std::string>& overrides = {});
/// Reads the file first; throws Error (kUsage) also where that fails.
ExperimentConfig load_config(const std::filesystem::path& file,
                             const std::vector<std::string>& overrides = {});

}  // namespace proxbench
