/// `table`: tables from stored results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/cli/stored_results.h"
#include "experiments/config/ini.h"
#include "experiments/results/tables/cost_table.h"
#include "experiments/results/tables/data_table.h"
#include "experiments/results/tables/means_table.h"
#include "experiments/results/tables/paper_table.h"
#include "experiments/results/tables/path_table.h"

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

nlohmann::ordered_json spreads_json(const TableRow& row, const TableOptions& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [name, spread] : named_spreads(row, options))
    out[name] = {{"median", number_json(spread.median)}, {"q25", number_json(spread.q25)},
                 {"q75", number_json(spread.q75)},       {"min", number_json(spread.min)},
                 {"max", number_json(spread.max)},       {"n", spread.n}};
  return out;
}

nlohmann::ordered_json row_json(const TableRow& row, const TableOptions& options) {
  nlohmann::ordered_json seconds = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < options.targets.size(); ++i)
    seconds[fmt::format("{}", options.targets[i])] = number_json(row.seconds[i]);
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const FailureCount& failure : row.failures)
    failures.push_back({{"status", failure.status}, {"reason", failure.reason}, {"count", failure.count}});
  return {{"solver", row.label},
          {"machine", row.machine},
          {"status", row.status},
          {"repetitions", row.repetitions},
          {"failed", row.failed()},
          {"failures", failures},
          {"not_comparable", row.not_comparable},
          {"seconds_to", seconds},
          {"ratio_to_fastest", number_json(row.ratio)},
          {"final_difference", number_json(row.final_difference)},
          {"nnz", number_json(row.nnz)},
          {"relative_kkt", number_json(row.relative_kkt)},
          {"relative_gap", number_json(row.relative_gap)},
          {"iterations", number_json(row.iterations)},
          {"passes", number_json(row.passes)},
          {"updates", number_json(row.updates)},
          {"seconds", number_json(row.total_seconds)},
          {"test_accuracy", number_json(row.test_accuracy)},
          {"spread", spreads_json(row, options)}};
}

nlohmann::ordered_json table_json(const Source& source, const TableOptions& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const TableGroup& group : summarize(source.runs, options)) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const TableRow& row : group.rows) rows.push_back(row_json(row, options));
    out.push_back({{"experiment", source.runs.front().parameters.experiment},
                   {"dataset", group.dataset},
                   {"lambda", group.lambda},
                   {"mu", group.mu},
                   {"description", group.description},
                   {"reference_objective", number_json(group.best.objective)},
                   {"reference_relative_kkt", number_json(group.best.relative_kkt)},
                   {"reference_relative_gap", number_json(group.best.relative_gap)},
                   {"reference_accuracy", number_json(group.accuracy)},
                   {"rows", rows}});
  }
  return out;
}

TableOptions table_options(const Source& source, const TableCommand& command) {
  return {.title = source.presentation.title,
          .targets = source.presentation.targets,
          .columns = split_list(command.columns),
          .allow_not_comparable = command.read.allow_not_comparable};
}

MeansOptions means_options(const Presentation& presentation, const TableOptions& options) {
  return {.title = options.title,
          .measures = presentation.plot.x,
          .targets = options.targets,
          .shift = presentation.plot.shift,
          .par = presentation.plot.par,
          .allow_not_comparable = options.allow_not_comparable};
}

void print_summary(const Source& source, const TableOptions& options, const std::string& format) {
  const Presentation& presentation = source.presentation;
  if (!presentation.paper.lambdas.empty()) {
    const std::vector<PaperRow> rows = compare_with_paper(source.runs, presentation);
    const std::vector<TextTable> tables{paper_table(rows, presentation)};
    fmt::print("{}\n", format == "csv"     ? csv_paper_table(rows)
                       : format == "latex" ? latex_document("", tables)
                                           : markdown_document("", tables));
  }
  const std::vector<TableGroup> groups = summarize(source.runs, options);
  fmt::print("{}", format == "csv"     ? csv_table(groups, options)
                   : format == "latex" ? latex_table(groups, options)
                                       : markdown_table(groups, options));
}

void print_means(const std::vector<Run>& runs, const MeansOptions& options, const std::string& format) {
  const std::vector<MeansGroup> groups = geometric_means(runs, options);
  const std::vector<TextTable> tables = means_tables(groups, options);
  fmt::print("{}", format == "csv"     ? csv_means(groups, options)
                   : format == "latex" ? latex_document(options.title, tables)
                                       : markdown_document(options.title, tables));
}

nlohmann::ordered_json paths_json(const Source& source) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const StoredPath& path : source.paths) {
    const RunParameters& run = path.run.parameters;
    const PathCost cost = path_cost(path, source.runs);
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const PathPoint& point : path.points) {
      nlohmann::ordered_json& json = points.emplace_back();
      for (const Field<PathPoint>& field : path_columns()) json[field.name] = field.get(point);
    }
    out.push_back({{"experiment", run.experiment},
                   {"dataset", run.dataset},
                   {"path", run.path},
                   {"solver", run.label},
                   {"repetition", run.repetition},
                   {"status", path.run.status()},
                   {"comparable", path.run.timing.comparable},
                   {"seconds", number_json(cost.seconds)},
                   {"single_seconds", number_json(cost.single_seconds)},
                   {"seconds_ratio", number_json(cost.seconds_ratio())},
                   {"passes_ratio", number_json(cost.passes_ratio())},
                   {"points", points}});
  }
  return out;
}

void print_paths(const Source& source, const std::string& format) {
  const std::vector<TextTable> tables = path_tables(source.paths, source.runs);
  fmt::print("{}", format == "csv"     ? csv_paths(source.paths)
                   : format == "latex" ? latex_document(source.presentation.title, tables)
                                       : markdown_document(source.presentation.title, tables));
}

void table_of_paths(const TableCommand& command, const std::vector<Source>& sources) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Source& source : sources) {
    require_paths(source.paths, source.folder);
    write_path_tables(source.paths, source.runs, command.read.out_folder(source) / "tables",
                      source.presentation.title);
    for (nlohmann::ordered_json& path : paths_json(source)) all.push_back(std::move(path));
  }
  command.json.write(all);
  if (command.json.to_stdout()) return;
  for (const Source& source : sources) print_paths(source, command.format);
}

void table(const TableCommand& command) {
  command.json.check();
  std::vector<Source> sources = command.read.read();
  const bool paths = command.kind == "path" || (command.kind.empty() && paths_alone(sources));
  if (!command.columns.empty() && (paths || command.kind == "means"))
    throw Error::usage("columns: found '" + command.columns + "', expected them with --kind summary only");
  if (paths) return table_of_paths(command, sources);
  require_runs(sources);
  const fs::path out = command.read.out_folder();
  for (Source& source : sources) {
    if (command.shift > 0.0) source.presentation.plot.shift = command.shift;
    if (command.par > 0.0) source.presentation.plot.par = command.par;
  }
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const Source& source : sources) {
    const TableOptions options = table_options(source, command);
    write_result_tables(source.runs, command.read.out_folder(source), source.presentation, options);
    for (nlohmann::ordered_json& group : table_json(source, options)) groups.push_back(std::move(group));
  }
  command.json.write(groups);

  const std::vector<Run> all = all_runs(sources);
  MeansOptions means = means_options(sources.front().presentation, table_options(sources.front(), command));
  if (sources.size() > 1) means.title.clear();  // it is the first one's
  if (!means.targets.empty()) write_means(all, out / "tables", means);
  if (command.json.to_stdout()) return;
  if (command.kind == "means") return print_means(all, means, command.format);
  for (const Source& source : sources) {
    if (&source != &sources.front()) fmt::print("\n");
    print_summary(source, table_options(source, command), command.format);
  }
}

}  // namespace

void write_result_tables(const std::vector<Run>& runs, const fs::path& out, const Presentation& presentation,
                         const TableOptions& options) {
  write_tables(runs, out / "tables", options);
  write_paper_table(runs, out / "tables", presentation);
  if (presentation.paper.costs) write_cost_table(runs, options.targets, out / "tables");
  if (presentation.paper.data) write_data_table(runs, out / "tables");
  if (!options.targets.empty()) write_means(runs, out / "tables", means_options(presentation, options));
}

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
         "columns of the summary behind the solver, by their names in CSV, separated by commas; all; "
         "or, by default, at most 9 that have a value")
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
