/// `table`: tables from stored results.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/cli/stored_results.h"
#include "experiments/config/ini.h"
#include "experiments/results/tables/path_table.h"
#include "experiments/results/tables/result_tables.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

bool paths_alone(const std::vector<Source>& sources) {
  return std::all_of(sources.begin(), sources.end(),
                     [](const Source& source) { return source.runs.empty(); });
}

struct TableCommand {
  ReadFlags read;
  std::string kind, format = "md";  // kind "": summary, or path where there are paths alone
  std::string columns;
  double shift = 0.0, par = 0.0;  // 0: the config's
  JsonFlag json;
};

void table_of_paths(const TableCommand& command, const std::vector<Source>& sources) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string text;
  for (const Source& source : sources) {
    require_paths(source.paths, source.folder);
    const TableSet set = path_tables(source.paths, source.runs, source.presentation.title);
    set.write(command.read.out_folder(source) / "tables");
    text += set.text(command.format);
    for (nlohmann::ordered_json& path : paths_json(source.paths, source.runs)) all.push_back(std::move(path));
  }
  command.json.write(all);
  if (!command.json.to_stdout()) fmt::print("{}", text);
}

/// The means over the problems of all sources, by the presentation of the first.
TableSet means_of(const TableCommand& command, const std::vector<Source>& sources) {
  Presentation presentation = sources.front().presentation;
  if (sources.size() > 1) presentation.title.clear();  // it is the first one's
  TableSet means = means_tables(
      geometric_means(all_runs(sources), presentation, command.read.allow_not_comparable), presentation);
  means.write(command.read.out_folder() / "tables");
  return means;
}

void table(const TableCommand& command) {
  command.json.check();
  std::vector<Source> sources = command.read.read();
  const bool paths = command.kind == "path" || (command.kind.empty() && paths_alone(sources));
  if (!command.columns.empty() && (paths || command.kind == "means"))
    throw Error::usage("columns: found '" + command.columns + "', expected them with --kind summary only");
  if (paths) return table_of_paths(command, sources);
  require_runs(sources);
  const std::vector<std::string> columns = split_list(command.columns);
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  std::string text;
  for (Source& source : sources) {
    if (command.shift > 0.0) source.presentation.plot.shift = command.shift;
    if (command.par > 0.0) source.presentation.plot.par = command.par;
    const bool allow = command.read.allow_not_comparable;
    write_result_tables(source.runs, command.read.out_folder(source), source.presentation, columns, allow);
    for (const TableSet& set : result_tables(source.runs, source.presentation, columns, allow)) {
      text += (text.empty() ? "" : "\n") + set.text(command.format);
      if (set.name == "summary")
        for (const nlohmann::ordered_json& record : set.records) records.push_back(record);
    }
  }
  if (command.kind == "means" || (sources.size() > 1 && !sources.front().presentation.targets.empty())) {
    const TableSet means = means_of(command, sources);
    if (command.kind == "means") text = means.text(command.format);
  }
  command.json.write(records);
  if (!command.json.to_stdout()) fmt::print("{}", text);
}

}  // namespace

void add_table_command(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("table", "Write the tables of stored results to DIR/tables, and print them");
  auto command = std::make_shared<TableCommand>();
  command->read.add_to(*sub);
  sub->add_option(
         "--kind", command->kind,
         "table to print: summary of each DIR; means (shifted geometric means) over the problems of all "
         "DIRs; path, cost and points of the paths of each DIR [summary, or path if there are paths alone]")
      ->check(CLI::IsMember({"summary", "means", "path"}))
      ->type_name("NAME");
  sub->add_option("--format", command->format,
                  "what to print: md (Markdown), latex (for the package booktabs), csv [md]")
      ->check(CLI::IsMember({"md", "latex", "csv"}))
      ->type_name("NAME");
  sub->add_option(
         "--columns", command->columns,
         "columns of the summary behind the solver, by their names in CSV, separated by commas; all: those "
         "that say something; default: at most 9 that have a value")
      ->type_name("NAMES");
  sub->add_option(
         "--x", command->read.x,
         "costs to average: seconds, passes, updates, iterations, separated by commas [the config's]")
      ->type_name("NAMES");
  sub->add_option("--shift", command->shift, "shift of the means [the config's]")
      ->check(CLI::PositiveNumber)
      ->type_name("REAL");
  sub->add_option("--par", command->par,
                  "a failure costs this many times its limit in the means, >= 1 [the config's]")
      ->check(CLI::Range(1.0, 1e9))
      ->type_name("REAL");
  command->json.add_to(*sub);
  sub->callback([command] { table(*command); });
}

}  // namespace proxbench
