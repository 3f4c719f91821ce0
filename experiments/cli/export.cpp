/// `export`: stored results as one CSV file.
#include "experiments/results/tables/export.h"

#include <fmt/format.h>

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

struct ExportCommand {
  std::string folder, out;
  bool samples = false, points = false;
};

std::string csv_of(const ExportCommand& command) {
  std::vector<Run> runs = read_all_runs(command.folder);
  if (command.samples) return csv_of_samples(runs);
  if (!command.points) return csv_of_runs(runs);
  const std::vector<StoredPath> paths = take_paths(runs);
  require_paths(paths, command.folder);
  return csv_of_points(paths);
}

void export_results(const ExportCommand& command) {
  const bool to_stdout = command.out == "-";
  if (!to_stdout) check_writable(command.out);
  const std::string text = csv_of(command);
  if (to_stdout)
    fmt::print("{}", text);
  else
    write_file_atomically(command.out, text);
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("export", "Write all stored runs into one CSV file");
  auto command = std::make_shared<ExportCommand>();
  sub->add_option("dir", command->folder, "results of `proxbench run`")->required()->type_name("DIR");
  sub->add_option("--out", command->out, "the file; '-' for standard output")
      ->required()
      ->type_name("FILE.csv");
  sub->add_flag("--samples", command->samples, "a row for each sample of the traces, not for each run");
  sub->add_flag("--points", command->points, "a row for each lambda of the paths, not for each run")
      ->excludes("--samples");
  sub->callback([command] { export_results(*command); });
}

}  // namespace proxbench
