#pragma once
/// The command line: the only code that prints, reads signals and decides the exit status.

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/parallel.h"
#include "core/data/dataset.h"
#include "core/monitor.h"
#include "experiments/config/config.h"
#include "experiments/config/data_format.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Exit status 0: done; 1: failed or interrupted; 2: bad usage or config.
int run_command_line(int argc, char** argv);

/// Each adds a subcommand whose callback does the work and throws Error, or ExitStatus where the work was
/// done but did not succeed.
void add_run_command(CLI::App& app);  // and `check`
void add_train_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_certify_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_check_solver_command(CLI::App& app);
void add_table_command(CLI::App& app);
void add_plot_command(CLI::App& app);
void add_select_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_scale_command(CLI::App& app);
void add_merge_command(CLI::App& app);
void add_status_command(CLI::App& app);
void add_cancel_command(CLI::App& app);
void add_slurm_task_command(CLI::App& app);  // hidden: what a job runs
void add_completion_command(CLI::App& app);
void add_man_command(CLI::App& app);

/// Prints what may stand at the cursor, where a completion script asks with `__complete WORDS...`; false
/// where the arguments are no such question.
bool answer_completion(CLI::App& app, const std::vector<std::string>& arguments);

/// The files completion.bash, completion.zsh and manual.roff, which CMake puts into the program.
std::string_view completion_script(std::string_view shell);
std::string_view manual_sections();

/// Ends a command with this exit status; what there is to say has been said.
struct ExitStatus {
  int status;
};

/// Draws the figures that the config asks for below OUT/figures. What cannot be drawn honestly, figures
/// against seconds that are not comparable and comparisons without a problem that all solvers were run on, is
/// left out, and `warn` is told.
void draw_figures_of_run(const std::vector<Run>& runs, const std::filesystem::path& out,
                         const Presentation& presentation,
                         const std::function<void(const std::string&)>& warn);
/// The same of paths.
void draw_paths_of_run(const std::vector<Run>& paths, const std::filesystem::path& out,
                       const Presentation& presentation, const std::function<void(const std::string&)>& warn);

/// Set by Ctrl-C; the second Ctrl-C kills.
extern std::atomic<bool> interrupted;
void stop_cleanly_on_interrupt();

/// The command line's --lambda, --mu, ... as they were typed, so that Options judges them; "" where not
/// given.
class RunFlags {
 public:
  /// Adds --NAME (with '-' for '_') for these rows of run_options().
  void add_to(CLI::App& command, const std::vector<std::string>& names);
  bool given(const std::string& name) const { return !text_.at(name).empty(); }
  /// Defaults, overridden by what was given. Throws Error (kUsage).
  Options parse() const;

 private:
  std::map<std::string, std::string> text_;
};

struct RunParameters;
/// --loss and --cost. Throws Error (kUsage) where there is a cost of the log loss.
Loss loss_of(const RunFlags& flags, const Options& run);

class LoadedData;
struct RunOutcome;
/// Prints F, its parts, nonzeros, kkt and the bound on min F.
void print_certificate(const RunOutcome& outcome);
/// Prints the accuracy on the test set, then a line for each other metric; nothing without a test set.
void print_test_metrics(const RunOutcome& outcome, const LoadedData& data);

/// 0: all cores.
Parallel make_parallel(const Options& run);

/// --format, --train, --test, --hierarchy, --oracle and --data-option.
struct DataFlags {
  std::string format;
  std::string oracle;  ///< in place of the format's; "" where not given
  std::vector<std::string> train, test, options;
  std::string hierarchy;

  void add_to(CLI::App& command);
  /// The files as they were found. Throws Error where there are none.
  DataFiles find() const;
  /// The format's options, with what --data-option says. Throws Error (kUsage).
  Options options_of(const DataFormatInfo& info) const;
};

/// The data that the flags name, for the oracle that they name. Throws Error.
DataPair read_data(const DataFlags& flags, const DataFormatInfo& format, const Options& options,
                   const Processes* processes = nullptr);

/// "12 positions", "3 groups" of candidates, or "60 labels" of multi-label data: what an accuracy is a share
/// of.
std::string graded_text(const Dataset& data);

/// A line for each of these metrics but the first, accuracy.
void print_other_metrics(const std::map<std::string, double>& metrics);

/// Sets "key=value" of each. Throws Error (kUsage) that names the flag.
void set_options(Options& options, const std::vector<std::string>& assignments, const std::string& flag);

/// --json FILE, with "-" for standard output.
struct JsonFlag {
  std::string file;
  void add_to(CLI::App& command);
  bool to_stdout() const { return file == "-"; }
  /// Throws Error where the file cannot be written; called before the work starts.
  void check() const;
  void write(const nlohmann::ordered_json& result) const;
};

/// Throws Error where a file of this name could not be written; "" is no file. Leaves nothing behind.
void check_writable(const std::string& file);

/// Progress on stderr: a line that refreshes itself on a terminal, plain lines every few seconds elsewhere.
class ProgressPrinter {
 public:
  /// quiet: warnings only.
  explicit ProgressPrinter(bool quiet);
  ~ProgressPrinter() { clear_line(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  void sample(const std::string& name, const Sample& sample);
  void message(const std::string& text);
  void warning(const std::string& text);

 private:
  void clear_line();
  bool quiet_, terminal_, open_line_ = false;
  double last_ = 0.0;  ///< wall seconds
};

/// What `train` and `select` take: data, solver, the settings of its runs, and where model and result go.
struct TrainingFlags {
  DataFlags data;
  RunFlags run;
  std::string solver, model;         ///< "": the best known for the objective
  std::vector<std::string> options;  ///< "key=value" of the solver
  bool quiet = false;
  JsonFlag json;

  /// `names`: the rows of run_options() that the command has.
  void add_to(CLI::App& command, const std::vector<std::string>& names);
  /// Throws Error (kUsage) where there is no --format, or none of that name.
  const DataFormatInfo& format() const;
  /// A gap target without a tolerance has tol = 0: else that might end the run before the gap is reached.
  /// Without --solver the solver is left open where it depends on the data. Throws Error (kUsage).
  RunParameters settings(const Penalty& penalty) const;
  /// Sets the solver that settings() left open.
  void choose_solver(const LoadedData& loaded, RunParameters& settings, ProgressPrinter& progress) const;
  void write_model(const LoadedData& trained, const RunParameters& settings, const SparseVector& w) const;
  bool prints() const { return !quiet && !json.to_stdout(); }
};

/// What the data are, and what their readers noted.
void tell_data(ProgressPrinter& progress, const LoadedData& data);

}  // namespace proxbench
