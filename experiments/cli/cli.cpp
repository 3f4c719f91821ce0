#include "experiments/cli/cli.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>

#include "core/base/memory.h"
#include "core/kernels/instruction_set.h"
#include "experiments/config/config.h"
#include "experiments/run/launch.h"
#include "experiments/run/training.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/run_key.h"

namespace proxbench {
namespace {

constexpr int kDone = 0, kFailed = 1, kBadUsage = 2;
/// Commands that several processes can run together.
constexpr std::string_view kSharedCommands[] = {"train", "select", "certify"};

extern "C" void on_interrupt(int signal) {
  interrupted = true;
  if (signal == SIGUSR1) out_of_time = true;
  std::signal(signal, SIG_DFL);  // a second signal ends the program
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

/// Throws Error (kUsage) if the first argument is neither a flag nor a command. CLI11 would report an unknown
/// command only as an unexpected argument.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  if (!app.get_subcommands(named).empty()) return;
  std::vector<std::string> commands;
  for (const CLI::App* command : shown_commands(app)) commands.push_back(command->get_name());
  require_known("command", argv[1], commands);
}

/// Throws Error (kUsage) with a did-you-mean if one of the arguments is a flag that the command does not
/// have. CLI11 would report it only as an unexpected argument.
void require_known_flags(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  std::string commands;
  for (const CLI::App* one = &app; one != nullptr;) {
    for (const CLI::Option* option : one->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const std::vector<CLI::App*> parsed = one->get_subcommands();
    one = parsed.empty() ? nullptr : parsed.front();
    if (one != nullptr) commands += " " + one->get_name();
  }
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i], flag = argument.substr(0, argument.find('='));
    if (flag.starts_with("--") && flag.size() > 2 && !contains(known, flag))
      throw Error::usage(fmt::format("found {}{}, expected a flag of `proxbench{} --help`", flag,
                                     did_you_mean(flag, known), commands));
  }
}

void refuse_commands_for_one_process(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    const std::string name = command->get_name();
    if (std::ranges::find(kSharedCommands, name) != std::end(kSharedCommands)) continue;
    command->preparse_callback([name](std::size_t) {
      throw Error::usage(
          fmt::format("{}: found {} processes, expected one; commands that several processes may share: {}",
                      name, launched_processes()->count(), fmt::join(kSharedCommands, ", ")));
    });
  }
}

/// The version, revision, compiler and instruction set of this program, and the digest of the code that
/// decides results.
std::string version_text() {
  const Provenance made = provenance();
  return fmt::format("proxbench {}\nrevision {}{}\ncompiler {}\ninstruction set {}\ncode {}", made.version,
                     made.git_revision, made.git_dirty == "yes" ? ", with changes" : "", made.compiler,
                     made.instruction_set, program_digest());
}

}  // namespace

std::atomic<bool> interrupted{false}, out_of_time{false};

void stop_cleanly_on_interrupt() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, on_interrupt);
}

StopScope interruptible(std::string doing) {
  stop_cleanly_on_interrupt();
  return {StopToken(Interrupt(&interrupted)), std::move(doing)};
}

int run_command_line(int argc, char** argv) {
  set_up_logging();
  CLI::App app(
      "Benchmark harness and trainers for conditional random fields and max-margin models, with l1 and l2 "
      "penalties",
      "proxbench");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);
  app.footer("Exit status: 0 done, 1 failed or interrupted, 2 bad usage or config.");
  app.fallthrough();  // --plugin may also follow the command
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [](const std::vector<std::string>& files) {
           for (const std::string& file : files) load_plugin(file);
         },
         "load solvers, oracles, data formats and metrics from a shared library, or solvers from a file of "
         "Python; "
         "repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  for (const auto add : {add_run_commands, add_describe_command, add_train_command, add_select_command,
                         add_predict_command, add_evaluate_command, add_certify_command, add_convert_command,
                         add_list_commands, add_python_commands, add_status_command, add_completion_command})
    add(app);
  // Behind the commands, which would inherit the flag.
  app.set_help_all_flag("--help-all", "print the help of all commands");
  try {
    if (launched_processes() != nullptr) refuse_commands_for_one_process(app);
    instruction_set();  // reports a wrong PROXBENCH_ISA before any work
    if (!answer_completion(app, {argv + 1, argv + argc})) {
      require_known_command(app, argc, argv);
      try {
        app.parse(argc, argv);
      } catch (const CLI::ParseError& error) {
        const bool success = dynamic_cast<const CLI::Success*>(&error) != nullptr;  // help or the version
        if (!success) require_known_flags(app, argc, argv);
        if (app.exit(error) != 0) return kBadUsage;  // else help was asked for, or the version
      }
    }
    finish_standard_output();
    return kDone;
  } catch (const ExitStatus& exit) {
    return exit.status;
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory: {:.3g} GB of this machine's {:.3g} GB are free", free_memory() / kGigabyte,
                  machine_memory() / kGigabyte);
    return kFailed;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    const auto* ours = dynamic_cast<const Error*>(&error);
    return ours && ours->kind() == ErrorKind::kUsage ? kBadUsage : kFailed;
  }
}

std::string file_in_reach(const std::string& name) {
  return input_file(find_data_file(name, "").string());
}

ExperimentConfig ConfigFlags::load(const std::vector<std::string>& more, bool with_data) const {
  std::vector<std::string> all = overrides;
  all.insert(all.end(), more.begin(), more.end());
  const ExperimentConfig config = load_config(input_file(config_file), all, require_plugin, with_data);
  for (const std::string& file : config.includes) input_file(file);
  for (DataConfig data : config.data) {
    auto options = option_texts(data.options);
    for (const std::string* file : named_files(data, data.options.table(), options)) input_file(*file);
  }
  return config;
}

ExperimentConfig config_of(const RunFlags& flags, const ModelHeader& header) {
  ExperimentConfig config;
  flags.read(config, header);
  if (!config.loss.hinge() && flags.given("cost"))
    throw Error::usage(fmt::format("--cost {}: found loss = log, expected --loss hinge", flags.text("cost")));
  return config;
}

Penalty penalty_of(const ExperimentConfig& config) {
  if (config.several())
    throw Error::usage(
        "--lambda and --mu: found a list or path, expected a number each (`proxbench select` tries several)");
  config.largest().check();
  return config.largest();
}

Parallel make_parallel(const ExperimentConfig& config) {
  // Processes on one machine share its cores.
  const int threads =
      config.threads > 0 ? config.threads : std::max(1, resolved_threads(0) / launched_processes_here());
  return Parallel(threads, parse_backend(config.backend), launched_processes());
}

void DataFlags::add_to(CLI::App& command) {
  for (const char* key : {"format", "oracle", "train", "test", "hierarchy"}) keys.add(command, key);
  add_repeatable(command, "--data-option", options, "option of the format; see `proxbench list --options`",
                 "KEY=VALUE");
}

DataConfig DataFlags::read(const ModelHeader& header) const {
  constexpr std::string_view kPrefix = "data-option.";
  const bool own =
      header.contains("format") && (!keys.given("format") || keys.text("format") == header.at("format"));
  DataConfig data;
  keys.read(data, own ? header : ModelHeader());
  if (data.format.empty()) throw Error::usage("--format is missing, expected --format NAME");
  data.options = Options(data_format_registry().find(data.format).options);
  for (const auto& [key, value] : header)
    if (own && key.starts_with(kPrefix)) data.options.set(key.substr(kPrefix.size()), value);
  set_options(data.options, options, "--data-option");
  return data;
}

DataPair read_data(const DataConfig& data, const Processes* processes) {
  return read_data(data_format_registry().find(data.format), data.files, data.options, data.oracle,
                   processes);
}

void set_options(Options& options, const std::vector<std::string>& assignments, const std::string& flag) {
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error::usage(fmt::format("{} {}: expected key=value", flag, assignment));
    try {
      set_option(options, assignment.substr(0, equals), assignment.substr(equals + 1), file_in_reach);
    } catch (const Error& error) {
      throw Error::usage(fmt::format("{} {}: {}", flag, assignment, error.what()));
    }
  }
}

namespace {

/// The flag whose result goes to standard output.
std::string flag_to_stdout;
/// The files that flags write, and the flags.
std::map<fs::path, std::string> written_files;

/// Whether all readers and writers of this name share one file: not for devices and pipes.
bool is_plain(const std::string& file) {
  std::error_code ignored;  // a file that cannot be examined is an error where it is opened
  return !file.empty() && file != kStandardStream &&
         (!fs::exists(file, ignored) || fs::is_regular_file(file, ignored));
}

fs::path canonical_name(const std::string& file) {
  std::error_code failure;
  const fs::path name = fs::weakly_canonical(fs::absolute(file), failure);
  return failure ? fs::path(file) : name;
}

/// Throws Error if a file with this name could not be written, or if another flag writes it. Leaves no file
/// behind.
void check_writable(const std::string& flag, const std::string& file) {
  if (file == kStandardStream) {
    if (!flag_to_stdout.empty())
      throw Error::usage(fmt::format("{} and {}: both go to standard output, expected a file for one of them",
                                     flag_to_stdout, flag));
    flag_to_stdout = flag;
  } else if (std::error_code ignored; !file.empty() && !fs::is_fifo(file, ignored)) {
    const FileWriter probe(file);
    if (!is_plain(file)) return;
    if (const auto [other, added] = written_files.emplace(canonical_name(file), flag);
        !added && other->second != flag)
      throw Error::usage(
          fmt::format("{} and {}: both write {}, expected a file for each", other->second, flag, file));
  }
}

}  // namespace

std::string input_file(const std::string& name) {
  if (!is_plain(name)) return name;
  if (const auto output = written_files.find(canonical_name(name)); output != written_files.end())
    throw OutputIsInput(fmt::format("{} {}: found a file that the command reads, expected another name",
                                    output->second, name),
                        ErrorKind::kUsage);
  return name;
}

void add_outputs(const std::string& flag, const std::vector<fs::path>& files) {
  for (const fs::path& file : files)
    if (is_plain(file.string())) written_files.emplace(canonical_name(file.string()), flag);
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

bool prints() {
  return flag_to_stdout.empty();
}

CLI::Option* add_output(CLI::App& command, const std::string& flag, std::string& file,
                        const std::string& help, const std::string& type) {
  return command.add_option(flag, file, help)->type_name(type)->each([flag](const std::string& given) {
    check_writable(flag, given);
  });
}

CLI::Option* add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                            const std::string& help, const std::string& type) {
  return command.add_option(flag, values, help + "; repeatable")->allow_extra_args(false)->type_name(type);
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
    fmt::print(stderr, "\r\x1b[K{}", line.substr(0, terminal_width() - 1));  // only one row can be cleared
    std::fflush(stderr);
    open_line_ = true;
  } else {
    spdlog::info("{}", line);
  }
}

Progress ProgressPrinter::callbacks() {
  Progress out;
  out.message = [this](const std::string& text) { message(text); };
  out.warning = [this](const std::string& text) { warning(text); };
  out.on_sample = [this](const std::string& name, const Sample& one) { sample(name, one); };
  out.stop = &interrupted;
  return out;
}

void ProgressPrinter::clear_line() {
  if (open_line_) fmt::print(stderr, "\r\x1b[K");
  open_line_ = false;
}

void ProgressPrinter::message(const std::string& text) {
  if (quiet_ || text.empty()) return;
  clear_line();
  spdlog::info("{}", text);
}

void ProgressPrinter::warning(const std::string& text) {
  if (text.empty()) return;
  clear_line();
  spdlog::warn("{}", text);
}

}  // namespace proxbench
