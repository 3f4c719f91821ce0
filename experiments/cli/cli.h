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
#include "experiments/base/files.h"
#include "experiments/config/config_keys.h"
#include "experiments/config/data_format.h"
#include "experiments/results/results.h"
#include "experiments/run/hooks.h"

namespace proxbench {

using Json = nlohmann::ordered_json;

/// Exit status 0: done; 1: failed or interrupted; 2: bad usage or config.
int run_command_line(int argc, char** argv);

/// Adds a command. Command::add_to() adds its flags; Command::execute() does the work and throws Error, or
/// ExitStatus where the work was done but did not succeed.
template <class Command>
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help) {
  CLI::App* sub = app.add_subcommand(name, help);
  auto command = std::make_shared<Command>();
  command->add_to(*sub);
  sub->callback([command] { command->execute(); });
  return sub;
}

/// The commands, by their files.
void add_run_commands(CLI::App& app);  // run, check
void add_train_command(CLI::App& app);
void add_select_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_certify_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_check_solver_command(CLI::App& app);
void add_table_command(CLI::App& app);
void add_plot_command(CLI::App& app);
void add_export_commands(CLI::App& app);  // export, merge, report
void add_scale_command(CLI::App& app);
void add_job_commands(CLI::App& app);  // status, cancel and, hidden, slurm-task
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

/// Flags that are keys of a section of configs, as they were typed. Type, choices and help are those of the
/// keys' rows, which judge the values too.
template <class Section>
class KeyFlags {
 public:
  /// `standard`: what help says of the default; empty: that of the row.
  explicit KeyFlags(std::string standard = "") : standard_(std::move(standard)) {}
  /// Adds --KEY (with '-' for '_'), or `flag`. `help`: in place of the row's.
  void add(CLI::App& command, const std::string& key, std::string help = "", std::string flag = "");
  bool given(const std::string& key) const { return !text(key).empty(); }
  /// As it was typed; "" where it was not given.
  std::string text(const std::string& key) const { return flags_.contains(key) ? flags_.at(key).text : ""; }
  /// As if it had been typed.
  void set(const std::string& key, const std::string& text) { flags_.at(key).text = text; }
  /// Takes what was given into the section. Throws Error (kUsage).
  void read(Section& section) const;

 private:
  struct Flag {
    std::string flag, text;
  };
  std::string standard_;
  std::map<std::string, Flag> flags_;
};
using RunFlags = KeyFlags<ExperimentConfig>;

/// What the flags say, as a config has it. Throws Error (kUsage), also where there is a cost of the log loss.
ExperimentConfig config_of(const RunFlags& flags);
/// Its lambda and mu. Throws Error (kUsage) where they are no single numbers, or none is above 0.
Penalty penalty_of(const ExperimentConfig& config);

struct RunParameters;
class LoadedData;
struct RunOutcome;
/// Prints F, its parts, nonzeros, kkt and the bound on min F.
void print_certificate(const RunOutcome& outcome);
/// Prints the accuracy on the test set, then a line for each other metric; nothing without a test set.
void print_test_metrics(const RunOutcome& outcome, const LoadedData& data);

/// Of its threads (0: all cores) and back end.
Parallel make_parallel(const ExperimentConfig& config);

/// --format, --train, --test, --hierarchy, --oracle and --data-option.
struct DataFlags {
  KeyFlags<DataConfig> keys;
  std::vector<std::string> options;

  void add_to(CLI::App& command);
  /// What the flags say, with the files as they were found. The header of a model says what they leave open:
  /// the format, and for data of its own format options and oracle. Throws Error.
  DataConfig read(const std::map<std::string, std::string>& header = {}) const;
};
DataPair read_data(const DataConfig& data, const Processes* processes = nullptr);

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
  bool to_stdout() const { return file == kStandardStream; }
  void write(const Json& result) const;
};

/// What a command says: --json and --quiet.
struct OutputFlags {
  JsonFlag json;
  bool quiet = false;
  void add_to(CLI::App& command);
  /// Whether anything is printed: not where some result goes to standard output.
  bool prints() const;
};

/// The config that a command takes, and --set.
struct ConfigFlags {
  std::string config_file;
  std::vector<std::string> overrides;
  void add_to(CLI::App& command);
};

/// A flag that takes one value, and may be given again.
CLI::Option* add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                            const std::string& help, const std::string& type);
/// A folder that the command takes, as `proxbench run` leaves it.
void add_results(CLI::App& command, std::string& folder);
/// The same of one or several.
void add_results(CLI::App& command, std::vector<std::string>& folders);
/// Throws Error where the folder holds no results.
void require_results(const std::string& folder);
/// A file that the command writes; "-" is standard output. Where it cannot be written, that is told before
/// any work.
CLI::Option* add_output(CLI::App& command, const std::string& flag, std::string& file,
                        const std::string& help, const std::string& type);
/// Help of --option.
inline constexpr const char* kSolverOption = "option of the solver; see `proxbench list --options`";

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
  /// Hooks that tell all this, and end the work on Ctrl-C.
  Hooks hooks();

 private:
  void clear_line();
  bool quiet_, terminal_, open_line_ = false;
  double last_ = 0.0;  ///< wall seconds
};

/// What commands that use a model take.
struct ModelFlags : OutputFlags {
  DataFlags data;
  RunFlags run;
  std::string model;

  CLI::Option* add_to(CLI::App& command);  ///< returns --model
};

/// What `train` and `select` take: data, solver, the settings of its runs, and where model and result go.
struct TrainingFlags : OutputFlags {
  DataFlags data;
  RunFlags run;
  std::string solver, model;         ///< "": the best known for the objective
  std::vector<std::string> options;  ///< "key=value" of the solver

  void add_to(CLI::App& command);
  /// A gap target without a tolerance has tol = 0: else that might end the run before the gap is reached.
  /// Without --solver the solver is left open where it depends on the data. Throws Error (kUsage).
  RunParameters settings_for(const ExperimentConfig& asked, const Penalty& penalty) const;
  /// Reads the data and tells what they are; sets the solver that settings_for() left open. From then on
  /// Ctrl-C stops cleanly.
  std::unique_ptr<LoadedData> load(const DataConfig& config, const Processes* processes,
                                   const Parallel& parallel, RunParameters& settings,
                                   ProgressPrinter& progress) const;
  void write_model(const DataConfig& config, const LoadedData& trained, const RunParameters& settings,
                   const SparseVector& w) const;

 private:
  void set_solver(const std::string& name, RunParameters& settings) const;
};

}  // namespace proxbench
