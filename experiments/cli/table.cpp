/// `table`: makes tables from stored results.
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

struct TableCommand : ReadFlags {
  std::string kind, format = "md";  // kind "": summary, or path if there are only paths
  std::string columns;
  JsonFlag json;

  void add_to(CLI::App& command) {
    ReadFlags::add_to(command);
    plot.add(command, "shift");
    plot.add(command, "par");
    command
        .add_option(
            "--kind", kind,
            "table to print: summary of each DIR; means (shifted geometric means) over the problems of all "
            "DIRs; path, cost and points of the paths of each DIR [summary, or path if there are paths "
            "alone]")
        ->check(CLI::IsMember({"summary", "means", "path"}))
        ->type_name("NAME");
    command
        .add_option("--format", format,
                    "what to print: md (Markdown), latex (for the package booktabs), csv [md]")
        ->check(CLI::IsMember({"md", "latex", "csv"}))
        ->type_name("NAME");
    command
        .add_option("--columns", columns,
                    "columns of the summary behind the solver, by their names in CSV, separated by commas; "
                    "all: those that say something; default: at most 9 that have a value")
        ->type_name("NAMES");
    json.add_to(command);
  }

  void execute() const {
    const std::vector<Source> sources = read();
    const bool paths =
        kind == "path" ||
        (kind.empty() && std::ranges::all_of(sources, [](const Source& one) { return one.runs.empty(); }));
    if (!columns.empty() && (paths || kind == "means"))
      throw Error::usage("columns: found '" + columns + "', expected them with --kind summary only");
    Json records = Json::array();
    const std::string text = paths ? text_of_paths(sources, records) : text_of_runs(sources, records);
    json.write(records);
    if (prints()) fmt::print("{}", text);
  }

 private:
  std::string text_of_paths(const std::vector<Source>& sources, Json& records) const {
    std::string text;
    for (const Source& source : sources) {
      require_paths(source.paths, source.folder);
      const TableSet set = path_tables(source.paths, source.runs, source.presentation.title);
      set.write(out_folder(source) / "tables");
      text += set.text(format);
      for (const Json& path : paths_json(source.paths, source.runs)) records.push_back(path);
    }
    return text;
  }

  std::string text_of_runs(const std::vector<Source>& sources, Json& records) const {
    require_runs(sources);
    const std::vector<std::string> shown = split_list(columns);
    std::string text;
    for (const Source& source : sources) {
      for (const TableSet& set : write_result_tables(source.runs, out_folder(source), source.presentation,
                                                     shown, allow_not_comparable)) {
        text += (text.empty() ? "" : "\n") + set.text(format);
        if (set.name != "summary") continue;
        for (const Json& record : set.records) records.push_back(record);
      }
    }
    Presentation first = sources.front().presentation;
    if (kind != "means" && (sources.size() == 1 || first.targets.empty())) return text;
    // Means over the problems of all sources use the presentation of the first source.
    if (sources.size() > 1) first.title.clear();  // it describes only the first source
    const TableSet means = means_tables(all_runs(sources), first, allow_not_comparable);
    means.write(out_folder() / "tables");
    return kind == "means" ? means.text(format) : text;
  }
};

}  // namespace

void add_table_command(CLI::App& app) {
  add_command<TableCommand>(app, "table", "Write the tables of stored results to DIR/tables, and print them");
}

}  // namespace proxbench
