#include "experiments/cli/cli.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/config/config.h"
#include "experiments/config/data_files.h"
#include "experiments/results/results.h"
#include "experiments/run/launch.h"
#include "experiments/run/plugins.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/provenance.h"

namespace proxbench {
namespace {

constexpr int kDone = 0, kFailed = 1, kBadUsage = 2;
/// What several processes may do together.
constexpr std::string_view kSharedCommands[] = {"train", "select", "certify"};

extern "C" void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);  // the second one kills
}

std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void set_up_logging() {
  auto logger = spdlog::stderr_color_mt("proxbench");
  logger->set_pattern("%^%l%$: %v");
  spdlog::set_default_logger(logger);
}

/// CLI11 leaves an unknown command among the arguments it did not expect.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (std::find(commands.begin(), commands.end(), argv[1]) != commands.end()) return "";
  return fmt::format("unknown command '{}'{}; known: {}", argv[1], did_you_mean(argv[1], commands),
                     fmt::join(commands, ", "));
}

void refuse_commands_for_one_process(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = command->get_name();
    if (std::ranges::find(kSharedCommands, name) != std::end(kSharedCommands)) continue;
    command->preparse_callback([name](std::size_t) {
      throw Error::usage(fmt::format("{}: found {} processes, expected one; those that several may share: {}",
                                     name, launched_processes()->count(), fmt::join(kSharedCommands, ", ")));
    });
  }
}

/// Version, revision, compiler and instruction set of this program.
std::string version_text() {
  const Provenance made = provenance();
  return fmt::format("proxbench {}\nrevision {}{}\ncompiler {}\ninstruction set {}", made.version,
                     made.git_revision, made.git_dirty == "yes" ? ", with changes" : "", made.compiler,
                     made.instruction_set);
}

}  // namespace

std::atomic<bool> interrupted{false};

void stop_cleanly_on_interrupt() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

int run_command_line(int argc, char** argv) {
  set_up_logging();
  CLI::App app("Benchmark harness and trainers for l1-regularised conditional random fields", "proxbench");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);
  app.footer("Exit status: 0 done, 1 failed or interrupted, 2 bad usage or config.");
  app.fallthrough();  // so that it may also stand behind the command
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [](const std::vector<std::string>& files) {
           for (const std::string& file : files) load_plugin(file);
         },
         "load solvers, oracles, data formats and metrics from a shared library, repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  add_run_command(app);
  add_train_command(app);
  add_select_command(app);
  add_predict_command(app);
  add_certify_command(app);
  add_convert_command(app);
  add_list_command(app);
  add_check_solver_command(app);
  add_table_command(app);
  add_plot_command(app);
  add_report_command(app);
  add_export_command(app);
  add_scale_command(app);
  add_merge_command(app);
  add_status_command(app);
  add_cancel_command(app);
  add_slurm_task_command(app);
  add_completion_command(app);
  add_man_command(app);
  try {
    if (launched_processes() != nullptr) refuse_commands_for_one_process(app);
    instruction_set();  // a wrong PROXBENCH_ISA is told before any work
    if (!answer_completion(app, {argv + 1, argv + argc})) app.parse(argc, argv);
    return kDone;
  } catch (const CLI::ParseError& error) {
    if (const std::string unknown = unknown_command(app, argc, argv);
        error.get_exit_code() != 0 && !unknown.empty()) {
      fmt::print(stderr, "{}\nRun with --help for more information.\n", unknown);
      return kBadUsage;
    }
    return app.exit(error) == 0 ? kDone : kBadUsage;
  } catch (const ExitStatus& exit) {
    return exit.status;
  } catch (const Error& error) {
    spdlog::error("{}", error.what());
    return error.kind() == ErrorKind::kUsage ? kBadUsage : kFailed;
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory");
    return kFailed;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return kFailed;
  }
}

void RunFlags::add_to(CLI::App& command, const std::vector<std::string>& names) {
  for (const OptionSpec& spec : run_options()) {
    if (std::find(names.begin(), names.end(), spec.name) == names.end()) continue;
    std::string help = spec.help;
    if (!spec.choices.empty()) help += ": " + fmt::format("{}", fmt::join(spec.choices, ", "));
    command
        .add_option(flag_name(spec.name), text_[spec.name], fmt::format("{} [{}]", help, spec.default_value))
        ->type_name(spec.type == OptionType::kInt    ? "INT"
                    : spec.type == OptionType::kReal ? "REAL"
                                                     : "NAME");
  }
}

Options RunFlags::parse() const {
  Options options(run_options());
  for (const auto& [name, text] : text_) {
    if (text.empty()) continue;
    try {
      options.set(name, text);
    } catch (const Error& error) {
      throw Error::usage(fmt::format("{}: {}", flag_name(name), error.what()));
    }
  }
  return options;
}

Parallel make_parallel(const Options& run) {
  const auto asked = static_cast<int>(run.integer("threads"));
  // Processes of one machine share its cores.
  const int threads = asked > 0 ? asked : std::max(1, resolved_threads(0) / launched_processes_here());
  return Parallel(threads, parse_backend(run.string("backend")), launched_processes());
}

void DataFlags::add_to(CLI::App& command) {
  command.add_option("--format", format, "data format; see `proxbench list`")->type_name("NAME");
  command.add_option("--oracle", oracle, "oracle to use instead of the format's; see `proxbench list`")
      ->type_name("NAME");
  command.add_option("--train", train, "training files, separated by commas")
      ->delimiter(',')
      ->type_name("FILE");
  command.add_option("--test", test, "test files, separated by commas")->delimiter(',')->type_name("FILE");
  command.add_option("--hierarchy", hierarchy, "file with the hierarchy of classes")->type_name("FILE");
  command
      .add_option("--data-option", options,
                  "option of the format, repeatable; see `proxbench list --options`")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

DataFiles DataFlags::find() const {
  DataFiles files;
  for (const std::string& file : train) files.train.push_back(find_data_file(file, "").string());
  for (const std::string& file : test) files.test.push_back(find_data_file(file, "").string());
  if (!hierarchy.empty()) files.hierarchy = find_data_file(hierarchy, "").string();
  return files;
}

Options DataFlags::options_of(const DataFormatInfo& info) const {
  Options out(info.options);
  set_options(out, options, "--data-option");
  return out;
}

void set_options(Options& options, const std::vector<std::string>& assignments, const std::string& flag) {
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error::usage(fmt::format("{} {}: expected key=value", flag, assignment));
    const std::string name = assignment.substr(0, equals);
    std::string value = assignment.substr(equals + 1);
    try {
      for (const OptionSpec& spec : options.table())
        if (spec.name == name) value = find_option_file(spec, value, "");
      options.set(name, value);
    } catch (const Error& error) {
      throw Error::usage(fmt::format("{} {}: {}", flag, assignment, error.what()));
    }
  }
}

void check_writable(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // a file that does not exist yet is what we hope for
  if (file.empty() || !writes_files()) return;
  if (fs::is_directory(file, ignored)) throw Error(file + ": cannot be written: it is a folder");
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) return;  // a device or pipe
  const fs::path probe = fs::path(file).replace_filename("." + fs::path(file).filename().string() + ".probe");
  try {
    write_file_atomically(probe, "");
  } catch (const Error& error) {
    throw Error(fmt::format("{}: cannot be written ({})", file, error.what()));
  }
  fs::remove(probe, ignored);
}

void JsonFlag::add_to(CLI::App& command) {
  command.add_option("--json", file, "write the result as JSON; '-' for standard output")->type_name("FILE");
}
void JsonFlag::check() const {
  if (!to_stdout()) check_writable(file);
}
void JsonFlag::write(const nlohmann::ordered_json& result) const {
  if (file.empty()) return;
  const std::string text = result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (to_stdout())
    fmt::print("{}", text);
  else
    write_file_atomically(file, text);
}

ProgressPrinter::ProgressPrinter(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressPrinter::sample(const std::string& name, const Sample& sample) {
  constexpr double kRefresh = 0.2, kLine = 5.0;  // seconds
  if (quiet_) return;
  const double now = wall_seconds();
  if (now - last_ < (terminal_ ? kRefresh : kLine)) return;
  last_ = now;
  std::string line = fmt::format("{}: {:.1f} s, iteration {}, objective {:.10g}, nnz {}", name,
                                 sample.seconds, sample.iteration, sample.objective, sample.nnz);
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K{}", line.substr(0, terminal_width() - 1));  // what wraps cannot be cleared
    std::fflush(stderr);
    open_line_ = true;
  } else {
    spdlog::info("{}", line);
  }
}

void ProgressPrinter::clear_line() {
  if (open_line_) fmt::print(stderr, "\r\x1b[K");
  open_line_ = false;
}

void ProgressPrinter::message(const std::string& text) {
  if (quiet_) return;
  clear_line();
  spdlog::info("{}", text);
}

void ProgressPrinter::warning(const std::string& text) {
  clear_line();
  spdlog::warn("{}", text);
}

}  // namespace proxbench
