/// `scale`: measures how each phase of a run scales with threads and processes.
#include <fmt/format.h>
#include <unistd.h>

#include "experiments/cli/cli.h"
#include "experiments/results/scaling_model.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/scaling.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Adds a flag that takes a list.
template <class Value>
CLI::Option* add_list(CLI::App& command, const std::string& flag, std::vector<Value>& values,
                      const std::string& help, const std::string& type) {
  return command.add_option(flag, values, help)->delimiter(',')->allow_extra_args(false)->type_name(type);
}

struct ScaleCommand : SweepFlags {
  ScalingOptions options;
  std::vector<int> predict{16, 64, 128};
  double latency = Network{}.latency * 1e6, bandwidth = Network{}.bandwidth / 1e9;
  bool redraw = false;

  void add_to(CLI::App& command) {
    SweepFlags::add_to(command, "folder for scale.json, .csv, .md and figures");
    auto* redraws = command.add_flag("--redraw", redraw,
                                     "make tables, model and figures again from DIR/scale.json; run nothing");
    redraws->excludes(
        add_list(command, "--threads", options.threads,
                 "numbers of threads, separated by commas; 1 is always among them [1 to all CPUs]", "INTS")
            ->check(CLI::Range(1, 4096)));
    redraws->excludes(
        add_list(command, "--backend", options.backends,
                 "openmp, tbb, or mpi (processes of one thread), separated by commas [openmp,tbb]", "NAMES")
            ->check(CLI::IsMember({"openmp", "tbb", kProcessesBackend})));
    redraws->excludes(
        add_list(command, "--solver", options.solvers,
                 "labels of the solvers to measure, separated by commas [the first of the config]", "NAMES"));
    redraws->excludes(command.add_option("--repetitions", options.repetitions, "runs of each kind [3]")
                          ->check(CLI::Range(1, 1000)));
    redraws->excludes(command.add_option("--iterations", options.iterations, "most iterations of a run [50]")
                          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000})));
    add_list(command, "--predict", predict,
             fmt::format("numbers of threads and processes that the model predicts for, separated by "
                         "commas [{}]",
                         fmt::join(predict, ",")),
             "INTS")
        ->check(CLI::Range(1, 1'000'000));
    command
        .add_option(
            "--latency", latency,
            fmt::format("time of a message between processes that the model assumes, in microseconds [{:g}]",
                        latency))
        ->check(CLI::NonNegativeNumber)
        ->type_name("REAL");
    command
        .add_option("--network-bandwidth", bandwidth,
                    fmt::format("GB/s between processes that the model assumes [{:g}]", bandwidth))
        ->check(CLI::PositiveNumber)
        ->type_name("REAL");
  }

  void execute() const {
    const ExperimentConfig config = load();
    const fs::path folder = folder_of(config);
    stop_cleanly_on_interrupt();
    const Scaling scaling = redraw ? read_scaling(folder / "scale.json") : measure(config, folder);
    const std::vector<ScalingProblem> problems = scaling_problems(scaling.runs);
    const std::vector<Json> records = scaling_records(problems);
    Json report = scaling_json(scaling);
    report["phases"] = records;
    write_json(folder / "scale.json", report);
    write_file_atomically(folder / "scale.csv", csv_text(records));
    const Network network{.latency = latency / 1e6, .bandwidth = bandwidth * 1e9};
    const std::string text = markdown_document(scaling.title, scaling_tables(problems, predict, network));
    write_file_atomically(folder / "scale.md", text);
    json.write(report);
    const std::vector<fs::path> figures = draw_all(scaling_charts(problems), folder);
    if (!prints()) return;
    fmt::print("{}\n", text);
    for (const fs::path& figure : figures) fmt::print("{}\n", figure.string());
  }

 private:
  Scaling measure(const ExperimentConfig& config, const fs::path& folder) const {
    const ScalingOptions asked = completed(options, config);
    make_folder(folder);
    const OutLock lock(folder);
    ProgressPrinter progress(quiet);
    return run_scaling(config, asked, folder / fmt::format(".scale-{}", getpid()), progress.hooks());
  }
};

}  // namespace

void add_scale_command(CLI::App& app) {
  add_command<ScaleCommand>(app, "scale",
                            "Measure how the runs of a config scale with threads and processes, by phase");
}

}  // namespace proxbench
