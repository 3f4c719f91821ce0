/// `scale`: measures how each phase of a run scales with threads and processes.
#include <fmt/format.h>
#include <unistd.h>

#include "experiments/cli/cli.h"
#include "experiments/cli/python.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/scaling.h"

namespace proxbench {
namespace {

/// Adds a flag that takes a list.
template <class Value>
CLI::Option* add_list(CLI::App& command, const std::string& flag, std::vector<Value>& values,
                      const std::string& help, const std::string& type) {
  return command.add_option(flag, values, help)->delimiter(',')->allow_extra_args(false)->type_name(type);
}

struct ScaleCommand : SweepFlags {
  ScalingOptions options;
  PythonFlags shown;  ///< the flags of what the package makes of scale.json
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
    shown.add_to(command, "scale", false);
  }

  void execute() const {
    const ExperimentConfig config = load({}, !redraw);
    const fs::path folder = folder_of(config), file = folder / "scale.json";
    if (redraw) {
      if (const std::string missing = missing_python(); !missing.empty()) throw Error(missing);
    } else {
      stop_cleanly_on_interrupt();
      write_json(file, scaling_json(measure(config, folder)));
    }
    std::vector<std::string> arguments{folder.string()};
    std::ranges::copy(shown.arguments(), std::back_inserter(arguments));
    if (!prints()) arguments.push_back("--quiet");
    const int status =
        show_by_python("scale", arguments,
                       fmt::format("what was measured is stored in {}: `proxbench scale {} --redraw` shows "
                                   "it once these are there",
                                   file.string(), config_file));
    if (status != 0) throw ExitStatus{status};
    // The package has put the speed-ups of each phase into the file.
    if (!json.file.empty()) json.write(Json::parse(read_file(file, kStoredResult)));
  }

 private:
  Scaling measure(const ExperimentConfig& config, const fs::path& folder) const {
    const ScalingOptions asked = completed(options, config);
    make_folder(folder);
    const OutLock lock(folder);
    ProgressPrinter progress(quiet);
    return run_scaling(config, asked, folder / fmt::format(".scale-{}", getpid()), progress.callbacks());
  }
};

}  // namespace

void add_scale_command(CLI::App& app) {
  add_command<ScaleCommand>(app, "scale",
                            "Measure how the runs of a config scale with threads and processes, by phase");
}

}  // namespace proxbench
