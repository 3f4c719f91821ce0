/// `export`: stored results as tables for other programs.
#include "experiments/results/tables/export.h"

#include <fmt/format.h>

#include "experiments/cli/cli.h"
#include "experiments/results/tables/path_table.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  std::string folder, out;
  bool samples = false, points = false;

  bool one_table() const { return samples || points || out == "-"; }
};

std::vector<ExportTable> tables_of(const ExportCommand& command) {
  std::vector<Run> runs =
      read_all_runs(command.folder, load_presentation(fs::path(command.folder) / "config.ini"));
  if (command.samples) return {table_of_samples(runs)};
  std::vector<ExportTable> tables;
  if (!command.points) tables.push_back(table_of_runs(runs));
  if (!command.one_table()) tables.push_back(table_of_samples(runs));
  const std::vector<Run> paths = take_paths(runs);
  if (command.points) require_paths(paths, command.folder);
  if (command.points || (!command.one_table() && !paths.empty())) tables.push_back(table_of_points(paths));
  return tables;
}

/// Where a table goes in CSV: the first into the file itself, the others beside it as NAME-TABLE.csv.
fs::path csv_file(const fs::path& out, const ExportTable& table, bool first) {
  if (first) return out;
  return out.parent_path() /
         fmt::format("{}-{}{}", out.stem().string(), table.name, out.extension().string());
}

void export_results(const ExportCommand& command) {
  const bool to_stdout = command.out == "-";
  if (!to_stdout) check_writable(command.out);
  const std::vector<ExportTable> tables = tables_of(command);
  if (fs::path(command.out).extension() == ".sqlite") return write_sqlite(command.out, tables);
  for (const ExportTable& table : tables) {
    if (to_stdout)
      fmt::print("{}", csv_text(table));
    else
      write_file_atomically(csv_file(command.out, table, &table == &tables.front()), csv_text(table));
  }
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "export", "Write stored runs, their samples and the points of paths as CSV files or one SQLite file");
  auto command = std::make_shared<ExportCommand>();
  sub->add_option("dir", command->folder, "results of `proxbench run`")->required()->type_name("DIR");
  sub->add_option("--out", command->out,
                  "FILE.sqlite with a table each; or FILE.csv for runs, with FILE-samples.csv and "
                  "FILE-points.csv beside it; '-': runs as CSV on standard output")
      ->required()
      ->type_name("FILE.csv|FILE.sqlite");
  sub->add_flag("--samples", command->samples, "only the samples of the traces");
  sub->add_flag("--points", command->points, "only the points of the paths")->excludes("--samples");
  sub->callback([command] { export_results(*command); });
}

}  // namespace proxbench
