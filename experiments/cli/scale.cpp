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

struct ScaleCommand : ConfigFlags, OutputFlags {
  std::string out, threads, backends, solvers, predict = "16,64,128";
  int repetitions = 3;
  std::int64_t iterations = 50;
  double latency = Network{}.latency * 1e6, bandwidth = Network{}.bandwidth / 1e9;
  bool redraw = false;

  void add_to(CLI::App& command) {
    ConfigFlags::add_to(command);
    command.add_option("--out", out, "folder for scale.json, .csv, .md and figures [results/NAME]")
        ->type_name("DIR");
    auto* redraws = command.add_flag("--redraw", redraw,
                                     "make tables, model and figures again from DIR/scale.json; run nothing");
    const auto measured = [&](const std::string& flag, auto& value, const std::string& help) {
      CLI::Option* option = command.add_option(flag, value, help);
      redraws->excludes(option);
      return option;
    };
    measured("--threads", threads,
             "numbers of threads, separated by commas; 1 is always among them [1 to all CPUs]")
        ->type_name("INTS");
    measured("--backend", backends,
             "openmp, tbb, or mpi (processes of one thread), separated by commas [openmp,tbb]")
        ->type_name("NAMES");
    measured("--solver", solvers,
             "labels of the solvers to measure, separated by commas [the first of the config]")
        ->type_name("NAMES");
    measured("--repetitions", repetitions, "runs of each kind [3]")->check(CLI::Range(1, 1000));
    measured("--iterations", iterations, "most iterations of a run [50]")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    command
        .add_option("--predict", predict,
                    fmt::format("numbers of threads and processes that the model predicts for, separated by "
                                "commas [{}]",
                                predict))
        ->type_name("INTS");
    command
        .add_option(
            "--latency", latency,
            fmt::format("microseconds of a message between processes that the model assumes [{:g}]", latency))
        ->check(CLI::NonNegativeNumber)
        ->type_name("REAL");
    command
        .add_option("--network-bandwidth", bandwidth,
                    fmt::format("GB/s between processes that the model assumes [{:g}]", bandwidth))
        ->check(CLI::PositiveNumber)
        ->type_name("REAL");
    OutputFlags::add_to(command);
  }

  void execute() const {
    const ExperimentConfig config = load_config(config_file, overrides);
    const fs::path folder = out.empty() ? fs::path("results") / config.name : fs::path(out);
    const std::vector<int> predicted = predicted_numbers();
    stop_cleanly_on_interrupt();
    const Scaling scaling = redraw ? read_scaling(folder / "scale.json") : measure(config, folder);
    const std::vector<PhaseScaling> rows = phase_scalings(scaling);
    const std::vector<Json> records = scaling_records(rows);
    Json report = scaling;
    report["phases"] = records;
    write_json(folder / "scale.json", report);
    write_file_atomically(folder / "scale.csv", csv_text(records));
    const Network network{.latency = latency / 1e6, .bandwidth = bandwidth * 1e9};
    const std::string text =
        markdown_document(scaling.title, scaling_tables(scaling, rows, predicted, network));
    write_file_atomically(folder / "scale.md", text);
    json.write(report);
    const std::vector<fs::path> figures = draw_scaling(scaling, rows, folder);
    if (!prints()) return;
    fmt::print("{}\n", text);
    for (const fs::path& figure : figures) fmt::print("{}\n", figure.string());
  }

 private:
  /// The numbers of threads and processes that the model is asked for.
  std::vector<int> predicted_numbers() const {
    std::vector<int> numbers;
    for (const std::string& part : split_list(predict)) {
      std::int64_t number = 0;
      if (!parse_integer(part, number) || number < 1 || number > 1'000'000)
        throw Error::usage(
            fmt::format("--predict: found '{}', expected integers from 1 on, separated by commas", part));
      numbers.push_back(static_cast<int>(number));
    }
    return numbers;
  }

  Scaling measure(const ExperimentConfig& config, const fs::path& folder) const {
    ScalingOptions options = parse_scaling_options(config, threads, backends, solvers);
    options.repetitions = repetitions;
    options.iterations = iterations;
    make_folder(folder);
    const OutLock lock(folder);
    ProgressPrinter progress(quiet);
    return run_scaling(config, options, folder / fmt::format(".scale-{}", getpid()), progress.hooks());
  }
};

}  // namespace

void add_scale_command(CLI::App& app) {
  add_command<ScaleCommand>(app, "scale",
                            "Measure how the runs of a config scale with threads and processes, by phase");
}

}  // namespace proxbench
