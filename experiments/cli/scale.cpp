/// `scale`: how a run scales with threads and processes, by phase.
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/config/ini.h"
#include "experiments/results/tables/scaling_table.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/scaling.h"
#include "plots/scaling_plot.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

struct ScaleCommand {
  std::string config_file, out, threads, backends, solvers, predict = "16,64,128";
  std::vector<std::string> overrides;
  int repetitions = 3;
  std::int64_t iterations = 50;
  double latency = Network{}.latency * 1e6, bandwidth = Network{}.bandwidth / 1e9;
  bool redraw = false, quiet = false;
  JsonFlag json;
};

/// The numbers of threads and processes that the model is asked for.
std::vector<int> predicted_numbers(const ScaleCommand& command) {
  std::vector<int> out;
  for (const std::string& part : split_list(command.predict)) {
    std::int64_t threads = 0;
    if (!parse_integer(part, threads) || threads < 1 || threads > 1'000'000)
      throw Error::usage(
          fmt::format("--predict: found '{}', expected integers from 1 on, separated by commas", part));
    out.push_back(static_cast<int>(threads));
  }
  return out;
}

Scaling measure(const ScaleCommand& command, const ExperimentConfig& config, const fs::path& out) {
  ScalingOptions options = parse_scaling_options(config, command.threads, command.backends, command.solvers);
  options.repetitions = command.repetitions;
  options.iterations = command.iterations;
  make_folder(out);
  const OutLock lock(out);
  ProgressPrinter progress(command.quiet);
  Hooks hooks;
  hooks.message = [&](const std::string& text) { progress.message(text); };
  hooks.warning = [&](const std::string& text) { progress.warning(text); };
  hooks.interrupt = &interrupted;
  return run_scaling(config, options, out / fmt::format(".scale-{}", getpid()), hooks);
}

void scale(const ScaleCommand& command) {
  const ExperimentConfig config = load_config(command.config_file, command.overrides);
  const fs::path out = command.out.empty() ? fs::path("results") / config.name : fs::path(command.out);
  const std::vector<int> predicted = predicted_numbers(command);
  command.json.check();
  stop_cleanly_on_interrupt();
  const Scaling scaling = command.redraw ? read_scaling(out / "scale.json") : measure(command, config, out);
  const std::vector<PhaseScaling> rows = phase_scalings(scaling);
  nlohmann::ordered_json report = scaling;
  const std::vector<nlohmann::ordered_json> records = scaling_records(rows);
  report["phases"] = records;
  write_json(out / "scale.json", report);
  write_file_atomically(out / "scale.csv", csv_text(records));
  const Network network{.latency = command.latency / 1e6, .bandwidth = command.bandwidth * 1e9};
  const std::string text =
      markdown_document(scaling.title, scaling_tables(scaling, rows, predicted, network));
  write_file_atomically(out / "scale.md", text);
  if (!command.quiet && !command.json.to_stdout()) fmt::print("{}\n", text);
  command.json.write(report);
  for (const fs::path& figure : draw_scaling(scaling, rows, out))
    if (!command.quiet && !command.json.to_stdout()) fmt::print("{}\n", figure.string());
}

}  // namespace

void add_scale_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "scale", "Measure how the runs of a config scale with threads and processes, by phase");
  auto command = std::make_shared<ScaleCommand>();
  sub->add_option("config", command->config_file, "the experiment, an INI file")
      ->required()
      ->type_name("CONFIG.ini");
  sub->add_option("--set", command->overrides, "override a value of the config, repeatable")
      ->allow_extra_args(false)
      ->type_name("SECTION.KEY=VALUE");
  sub->add_option("--out", command->out, "folder for scale.json, .csv, .md and figures [results/NAME]")
      ->type_name("DIR");
  sub->add_option("--threads", command->threads,
                  "numbers of threads, separated by commas; 1 is always among them [1 to all CPUs]")
      ->type_name("INTS");
  sub->add_option("--backend", command->backends,
                  "openmp, tbb, or mpi (processes of one thread), separated by commas [openmp,tbb]")
      ->type_name("NAMES");
  sub->add_option("--solver", command->solvers,
                  "labels of the solvers to measure, separated by commas [the first of the config]")
      ->type_name("NAMES");
  sub->add_option("--repetitions", command->repetitions, "runs of each kind [3]")
      ->check(CLI::Range(1, 1000))
      ->type_name("INT");
  sub->add_option("--iterations", command->iterations, "most iterations of a run [50]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->type_name("INT");
  sub->add_option("--predict", command->predict,
                  fmt::format("numbers of threads and processes that the model predicts for, separated by "
                              "commas [{}]",
                              command->predict))
      ->type_name("INTS");
  sub->add_option("--latency", command->latency,
                  fmt::format("microseconds of a message between processes that the model assumes [{:g}]",
                              command->latency))
      ->check(CLI::NonNegativeNumber)
      ->type_name("REAL");
  sub->add_option("--network-bandwidth", command->bandwidth,
                  fmt::format("GB/s between processes that the model assumes [{:g}]", command->bandwidth))
      ->check(CLI::PositiveNumber)
      ->type_name("REAL");
  sub->add_flag("--redraw", command->redraw,
                "make tables, model and figures again from DIR/scale.json; run nothing")
      ->excludes("--threads")
      ->excludes("--backend")
      ->excludes("--solver")
      ->excludes("--repetitions")
      ->excludes("--iterations");
  sub->add_flag("--quiet", command->quiet, "print warnings and errors only");
  command->json.add_to(*sub);
  sub->callback([command] { scale(*command); });
}

}  // namespace proxbench
