#pragma once
/// The command line: the only code that prints, reads signals and decides the exit status.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/parallel.h"
#include "core/data/dataset.h"
#include "core/monitor/monitor.h"
#include "experiments/base/files.h"
#include "experiments/base/paths.h"
#include "experiments/config/config_sections.h"
#include "experiments/config/format_registry.h"
#include "experiments/config/ini_values.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/plugins.h"

namespace proxbench {

/// Exit status 0: done; 1: failed or interrupted; 2: bad usage or config.
int run_command_line(int argc, char** argv);

/// Adds a command. Command::add_to() adds its flags. Command::execute() does the work and throws Error, or
/// ExitStatus if the work was done without success.
template <class Command>
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help) {
  CLI::App* sub = app.add_subcommand(name, help);
  auto command = std::make_shared<Command>();
  command->add_to(*sub);
  sub->callback([command] { command->execute(); });
  return sub;
}

void add_run_commands(CLI::App& app);  // run, check
void add_describe_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_select_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_certify_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_list_commands(CLI::App& app);    // list, check-solver
void add_python_commands(CLI::App& app);  // table, plot, report, export, merge, scale
void add_status_command(CLI::App& app);
void add_completion_command(CLI::App& app);

/// Shows what a command has stored: runs `python -m proxbench COMMAND ARGUMENTS` (python/README.md) and
/// returns its exit status. If the package cannot be started, warns with one sentence that ends with
/// `stored`, and returns 0: nothing that was measured is lost.
int show_by_python(const std::string& command, const std::vector<std::string>& arguments,
                   const std::string& stored);

/// Returns the commands that are not hidden.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);

/// Everything that `list` shows, by kind: the registered items, with those of the plug-ins loaded so far, and
/// the sections of configs. Completion and the option tables of the READMEs use it, too.
Json catalogue();

/// If the arguments are `__complete WORDS...`, as the completion script calls the program, prints the words
/// that may follow and returns true. Otherwise returns false.
bool answer_completion(const CLI::App& app, const std::vector<std::string>& arguments);

/// The files completion.bash and python/proxbench/commands.json, which CMake embeds in the program.
std::string_view completion_script();
std::string_view package_commands();

/// Thrown to end a command with this exit status. All messages have been printed by then.
struct ExitStatus {
  int status;
};

/// Set by the first Ctrl-C, SIGTERM or SIGUSR1. The second one kills the program.
extern std::atomic<bool> interrupted;
/// Set by SIGUSR1, which a cluster sends before the time of a job ends.
extern std::atomic<bool> out_of_time;
void stop_cleanly_on_interrupt();
/// Also makes Ctrl-C end the work in this scope, by an error that says what it was doing.
StopScope interruptible(std::string doing);

using ModelHeader = std::map<std::string, std::string>;

/// A command would write a file that it reads. No result of it must be written.
struct OutputIsInput : Error {
  using Error::Error;
};

/// Returns the name of a file that a command reads. Throws Error (kUsage) if a flag names this file as an
/// output.
std::string input_file(const std::string& name);
/// Returns the data file that a flag names. Throws Error if there is none, and what input_file() throws.
std::string file_in_reach(const std::string& name);

/// Flags that are keys of a config section, with their values as typed. The keys' rows give types, choices
/// and help, and check the values.
template <class Section>
class KeyFlags {
 public:
  /// `standard` is the default shown in help; if empty, the row's default is shown.
  explicit KeyFlags(std::string standard = "") : standard_(std::move(standard)) {}
  /// Errors do not offer a path in place of a wrong number.
  void take_no_paths() { paths_ = false; }
  /// Adds --KEY (with '-' for '_'), or `flag` if given. `help` replaces the row's help. The flag of a bool
  /// takes no value.
  void add(CLI::App& command, const std::string& name, std::string help = "", std::string flag = "") {
    const OptionSpec& spec = keys_of<Section>().find(name)->spec;
    const bool list = spec.list && help.empty();  // a special help text describes a single value
    if (flag.empty()) {
      flag = "--" + name;
      std::ranges::replace(flag, '_', '-');
    }
    if (help.empty()) help = spec.help;
    if (list) help += ", separated by commas";
    if (!spec.choices.empty()) help += ": " + joined(spec.choices);
    const std::string& standard = standard_.empty() ? spec.default_value : standard_;
    if (!standard.empty()) help += fmt::format(" [{}]", standard);
    if (spec.type == OptionType::kBool) {
      flags_[name] = command.add_flag_function(
          flag, [](auto) {}, help);
      return;
    }
    flags_[name] = command
                       .add_option_function<std::vector<std::string>>(
                           flag, [](const auto&) {}, help)
                       ->type_name(spec.file                        ? "FILE"
                                   : spec.type == OptionType::kInt  ? "INT"
                                   : spec.type == OptionType::kReal ? list ? "REALS" : "REAL"
                                   : list                           ? "NAMES"
                                                                    : "NAME");
    // A flag may also take several files in a row, as the shell expands a pattern.
    if (!list || !spec.file) flags_[name]->expected(1);
  }
  /// Returns the value as typed, or "" if the flag was not given.
  std::string text(const std::string& key) const {
    return flags_.contains(key) ? joined(flags_.at(key)->results()) : "";
  }
  bool given(const std::string& key) const { return !text(key).empty(); }
  /// Sets the given flags in the section. Other values come from the header of the model. Throws Error.
  void read(Section& section, const ModelHeader& header = {}) const {
    for (const auto& [name, flag] : flags_) {
      const bool stored = !given(name) && header.contains(name);
      const std::string typed = stored ? header.at(name) : text(name);
      if (typed.empty()) continue;
      const Row<Section>& key = *keys_of<Section>().find(name);
      OptionSpec spec = key.spec;
      spec.path = spec.path && (paths_ || looks_like_path(typed));
      Value value;
      for (const ValueError& error : read_ini_value(spec, typed, file_in_reach, value))
        throw Error(fmt::format("{}: {}", flag->get_name(), error.what()), error.kind());
      key.set(section, value);
    }
  }

 private:
  std::string standard_;
  bool paths_ = true;
  std::map<std::string, CLI::Option*> flags_;  ///< by key
};
using RunFlags = KeyFlags<ExperimentConfig>;

/// Returns the flags as a config. Throws Error (kUsage), also for a cost with the log loss.
ExperimentConfig config_of(const RunFlags& flags, const ModelHeader& header = {});
/// Returns lambda and mu of the config. Throws Error (kUsage) if they are not single numbers, or if neither
/// is above 0.
Penalty penalty_of(const ExperimentConfig& config);

struct Model;
struct RunParameters;
class LoadedData;
class Tagger;
struct RunOutcome;
/// What a certificate proves, or why it proves nothing.
std::string proof_text(const Certificate& c);
/// Prints F, its parts, nonzeros, kkt and the bound on min F.
void print_certificate(const RunOutcome& outcome);
/// Prints the accuracy on the test set, then one line for each other metric. Prints nothing without a test
/// set.
void print_test_metrics(const RunOutcome& outcome, const LoadedData& data);

/// Uses the config's threads (0: all cores) and back end.
Parallel make_parallel(const ExperimentConfig& config);

/// --format, --train, --test, --hierarchy, --oracle and --data-option.
struct DataFlags {
  KeyFlags<DataConfig> keys;
  std::vector<std::string> options;

  void add_to(CLI::App& command);
  /// Returns the flags as a config, with files resolved. Without a flag, the format comes from the header of
  /// the model. For data of this format, so do options and oracle. Throws Error.
  DataConfig read(const ModelHeader& header = {}) const;
};
DataPair read_data(const DataConfig& data, const Processes* processes = nullptr);

/// What an accuracy counts: "12 positions", "3 groups" of candidates, or "60 labels" of multi-label data.
std::string graded_text(const Dataset& data);

/// Prints one line for each of these metrics except the first, accuracy.
void print_other_metrics(const std::map<std::string, double>& metrics);

/// Sets each "key=value". Throws Error (kUsage) with the name of the flag.
void set_options(Options& options, const std::vector<std::string>& assignments, const std::string& flag);

/// Adds a flag that takes one value and may be repeated.
CLI::Option* add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                            const std::string& help, const std::string& type);
/// Adds a flag for an output file; "-" is standard output. A file that cannot be written, that another flag
/// writes, or that the command reads is an error before any work.
CLI::Option* add_output(CLI::App& command, const std::string& flag, std::string& file,
                        const std::string& help, const std::string& type);

/// Adds files that are written beside the file of an output flag.
void add_outputs(const std::string& flag, const std::vector<fs::path>& files);

/// --json FILE, with "-" for standard output.
struct JsonFlag {
  std::string file;
  void add_to(CLI::App& command) {
    add_output(command, "--json", file, "write the result as JSON; '-' for standard output", "FILE");
  }
  void write(const Json& result) const { write(result, {}); }
  /// Writes these files too, all of them or none.
  void write(const Json& result, NamedTexts files) const {
    if (!file.empty()) files.emplace_back(file, json_text(result));
    write_files_together(files);
  }
};

/// The flags --json and --quiet.
struct OutputFlags {
  JsonFlag json;
  bool quiet = false;
  void add_to(CLI::App& command) {
    json.add_to(command);
    command.add_flag("--quiet", quiet, "print results, warnings and errors only");
  }
};

/// Whether the command prints anything. It does not if a result goes to standard output.
bool prints();

/// The config file that a command takes, and --set.
struct ConfigFlags {
  std::string config_file;
  std::vector<std::string> overrides;
  void add_to(CLI::App& command) {
    command.add_option("config", config_file, "the experiment, an INI file")
        ->required()
        ->type_name("CONFIG.ini");
    add_repeatable(command, "--set", overrides, "override a value of the config", "SECTION.KEY=VALUE");
  }
  /// Returns the config with --set and these overrides. Without `with_data`, missing data files are allowed.
  ExperimentConfig load(const std::vector<std::string>& more = {}, bool with_data = true) const;
};

/// Help of --option.
inline constexpr const char* kSolverOption = "option of the solver; see `proxbench list --options`";

/// Shows progress on stderr: one line that is refreshed on a terminal, otherwise a new line every few
/// seconds.
class ProgressPrinter {
 public:
  /// If quiet, shows only warnings.
  explicit ProgressPrinter(bool quiet);
  ~ProgressPrinter() { clear_line(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  void sample(const std::string& name, const Sample& sample);
  /// These show nothing if the text is empty.
  void message(const std::string& text);
  void warning(const std::string& text);
  /// Returns functions that call these, and that stop the work on Ctrl-C.
  Progress callbacks();

 private:
  void clear_line();
  bool quiet_, terminal_, open_line_ = false;
  double last_ = 0.0;  ///< wall seconds
};

/// The flags of commands that use a model.
struct ModelFlags : OutputFlags {
  DataFlags data;
  RunFlags run;
  std::string model;

  CLI::Option* add_to(CLI::App& command);  ///< returns --model
  /// Returns a tagger that labels the data with the stored model.
  Tagger tagger(const Model& stored, TestLabels labels) const;
};

/// The flags of `train` and `select`: data, solver, settings of its runs, and the files for the model and the
/// result.
struct TrainingFlags : OutputFlags {
  DataFlags data;
  RunFlags run;
  std::string solver, model;         ///< solver "": the best known one for the objective
  std::vector<std::string> options;  ///< solver options, "key=value"

  void add_to(CLI::App& command);
  /// Without --solver, no solver is set. Throws Error (kUsage).
  RunParameters settings_for(const ExperimentConfig& asked, const Penalty& penalty) const;
  /// Reads the data, prints a description, and sets the best solver without --solver. From then on,
  /// Ctrl-C stops cleanly.
  std::unique_ptr<LoadedData> load(const DataConfig& config, const Processes* processes,
                                   const Parallel& parallel, RunParameters& settings,
                                   ProgressPrinter& progress) const;
  /// Returns the file of --model with its text, or nothing without --model.
  NamedTexts model_file(const DataConfig& config, const LoadedData& trained, const RunParameters& settings,
                        const SparseVector& w) const;

 private:
  void set_solver(const std::string& name, RunParameters& settings) const;
};

}  // namespace proxbench
