/// `export`, `merge` and `report`: turn stored results into tables for other programs, one folder, or a page.
/// `convert`: writes a data set in the format of another trainer.
#include "experiments/results/tables/export.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "experiments/cli/cli.h"
#include "experiments/data/convert.h"
#include "experiments/results/merge.h"
#include "experiments/results/tables/path_table.h"
#include "plots/report.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  std::string folder, out;
  bool samples = false, points = false;

  void add_to(CLI::App& command) {
    add_results(command, folder);
    add_output(command, "--out", out,
               "FILE.sqlite with a table each; or FILE.csv for runs, with FILE-samples.csv and "
               "FILE-points.csv beside it; '-': runs as CSV on standard output",
               "FILE.csv|FILE.sqlite")
        ->required();
    command.add_flag("--samples", samples, "only the samples of the traces");
    command.add_flag("--points", points, "only the points of the paths")->excludes("--samples");
  }

  std::vector<ExportTable> tables() const {
    std::vector<Run> runs =
        read_all_runs(folder, load_presentation(fs::path(folder) / "config.ini"), warn_of_result);
    if (samples) return {table_of_samples(runs)};
    if (points) {
      runs = take_paths(runs);
      require_paths(runs, folder);
    }
    std::vector<ExportTable> all{points ? table_of_points(runs) : table_of_runs(runs)};
    if (points || out == "-") return all;
    all.push_back(table_of_samples(runs));
    if (ExportTable of_paths = table_of_points(runs); !of_paths.rows.empty())
      all.push_back(std::move(of_paths));
    return all;
  }

  /// In CSV, the first table goes into the file itself, and the others beside it into NAME-TABLE.csv.
  void execute() const {
    const std::vector<ExportTable> all = tables();
    fs::path file = out;
    if (file.extension() == ".sqlite") return write_sqlite(file, all);
    NamedTexts files;
    for (const ExportTable& table : all)
      files.emplace_back(files.empty()
                             ? file
                             : file.parent_path() / fmt::format("{}-{}{}", file.stem().string(), table.name,
                                                                file.extension().string()),
                         csv_text(table));
    write_files_together(files);
  }
};

struct MergeCommand {
  std::vector<std::string> folders;
  std::string out;

  void add_to(CLI::App& command) {
    add_results(command, folders);
    command.add_option("--out", out, "folder for the combined results; new or empty")
        ->required()
        ->type_name("DIR");
  }

  void execute() const {
    const MergeResult result = merge_results({folders.begin(), folders.end()}, out);
    for (const std::string& note : result.notes) spdlog::warn("{}", note);
    fmt::print("{}: {} runs, {} references\n", out, result.runs, result.references);
  }
};

struct ReportCommand {
  std::string out;
  std::vector<std::string> folders;
  ReportOptions options;

  void add_to(CLI::App& command) {
    command.add_option("--out", out, "the page; links to raw files are relative to it")
        ->required()
        ->type_name("FILE.html");
    add_results(command, folders);
    command.add_option("--title", options.title, "title of the page")->type_name("TEXT");
    add_repeatable(command, "--note", options.notes, "a paragraph at the top", "TEXT");
    options.warn = warn_of_result;
  }

  void execute() const {
    write_report({folders.begin(), folders.end()}, out, options);
    fmt::print("{}\n", out);
  }
};

struct ConvertCommand {
  DataFlags data;
  std::string to, out;

  void add_to(CLI::App& command) {
    data.add_to(command);
    std::string help;
    std::vector<std::string> names;
    for (const TargetFormat& target : target_formats()) {
      names.push_back(target.name);
      help += fmt::format("\n{}: {}", target.name, target.help);
    }
    command.add_option("--to", to, "the format to write")->required()->check(CLI::IsMember(names));
    add_output(
        command, "--out", out,
        "the file to write; beside it FILE.template (crf++, crfsparse) and FILE.names (crfsparse, libsvm)",
        "FILE")
        ->required();
    command.footer("Formats:" + help);
  }

  void execute() const {
    if (data.keys.given("test"))
      throw Error::usage("--test: found a test set, expected --train alone: one data set is converted");
    const ConvertedFiles written = converted_files(to, out);
    add_outputs("--out", {written.names, written.template_file});
    const DataPair read = read_data(data.read());
    const ConvertedFiles files = convert(read.train, to, out);
    for (const std::filesystem::path& file : {files.data, files.template_file, files.names})
      if (!file.empty()) fmt::print("{}\n", file.string());
  }
};

}  // namespace

void add_export_commands(CLI::App& app) {
  add_command<ReportCommand>(
      app, "report",
      "Write one HTML page with interactive curves and tables of stored results; it needs no network");
  add_command<ExportCommand>(
      app, "export",
      "Write stored runs, their samples and the points of paths as CSV files or one SQLite file");
  add_command<MergeCommand>(app, "merge",
                            "Combine the results of several folders or machines in a new folder");
}

void add_convert_command(CLI::App& app) {
  add_command<ConvertCommand>(
      app, "convert", "Write a data set in the format of another trainer; prints the files that it wrote");
}

}  // namespace proxbench
