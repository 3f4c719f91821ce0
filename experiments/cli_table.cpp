/// `table` and `plot`: tables and figures from stored results.
#include <fmt/format.h>

#include "core/error.h"
#include "experiments/cli.h"
#include "experiments/ini.h"
#include "experiments/paper_table.h"

namespace proxbench {
namespace {

struct TableCommand {
  std::string folder, targets;
  std::string format = "markdown";
  JsonFlag json;
};

nlohmann::ordered_json table_json(const std::vector<TableGroup>& groups, const TableOptions& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const TableGroup& group : groups) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const TableRow& row : group.rows) {
      nlohmann::ordered_json seconds = nlohmann::ordered_json::object();
      for (std::size_t i = 0; i < options.targets.size(); ++i)
        seconds[fmt::format("{}", options.targets[i])] = row.seconds[i];
      rows.push_back({{"solver", row.label},
                      {"status", row.status},
                      {"repetitions", row.repetitions},
                      {"seconds_to", seconds},
                      {"ratio_to_fastest", row.ratio},
                      {"final_difference", row.final_difference},
                      {"nnz", row.nnz},
                      {"relative_kkt", row.relative_kkt},
                      {"iterations", row.iterations},
                      {"passes", row.passes},
                      {"seconds", row.total_seconds},
                      {"test_accuracy", row.test_accuracy}});
    }
    out.push_back({{"dataset", group.dataset},
                   {"lambda", group.lambda},
                   {"description", group.description},
                   {"reference_objective", group.reference_objective},
                   {"reference_relative_kkt", group.reference_kkt},
                   {"rows", rows}});
  }
  return out;
}

std::vector<double> parse_targets(const std::string& text) {
  std::vector<double> targets;
  for (const std::string& part : split_list(text))
    if (!parse_real(part, targets.emplace_back()) || !(targets.back() > 0))
      throw Error::usage(
          fmt::format("--targets: found '{}', expected reals above 0, separated by commas", part));
  return targets;
}

void table(const TableCommand& command) {
  command.json.check();
  const std::filesystem::path out = command.folder;
  TableOptions options;
  const Presentation presentation = load_presentation(out / "config.ini");
  options.title = presentation.title;
  options.targets = command.targets.empty() ? presentation.targets : parse_targets(command.targets);
  const std::vector<StoredRun> runs = read_results(out);
  const std::vector<TableGroup> groups = summarize(runs, options);
  write_result_tables(runs, out, presentation, options);
  command.json.write(table_json(groups, options));
  if (command.json.to_stdout()) return;
  if (!presentation.paper.lambdas.empty()) {
    const std::vector<PaperRow> rows = compare_with_paper(runs, presentation);
    const std::vector<TextTable> tables{paper_table(rows, presentation)};
    fmt::print("{}\n", command.format == "csv"     ? csv_paper_table(rows)
                       : command.format == "latex" ? latex_document("", tables)
                                                   : markdown_document("", tables));
  }
  fmt::print("{}", command.format == "csv"     ? csv_table(groups, options)
                   : command.format == "latex" ? latex_table(groups, options)
                                               : markdown_table(groups, options));
}

struct PlotCommand {
  std::string folder;
  std::string x, quantities;
  bool log_seconds = false;
};

void plot(const PlotCommand& command) {
  const std::filesystem::path out = command.folder;
  CurveOptions options = curve_options(load_presentation(out / "config.ini").plot);
  if (!command.x.empty()) {
    options.x = split_list(command.x);
    options.x_max.clear();  // the config's are for its own axes
  }
  if (!command.quantities.empty()) options.quantities = split_list(command.quantities);
  options.log_seconds = options.log_seconds || command.log_seconds;
  for (const std::filesystem::path& figure : make_curves(read_results(out), out / "figures", options))
    fmt::print("{}\n", figure.string());
}

}  // namespace

void write_result_tables(const std::vector<StoredRun>& runs, const std::filesystem::path& out,
                         const Presentation& presentation, const TableOptions& options) {
  write_tables(runs, out / "tables", options);
  write_paper_table(runs, out / "tables", presentation);
}

CurveOptions curve_options(const PlotConfig& plot) {
  return {.x = plot.x,
          .quantities = plot.quantities,
          .x_max = plot.x_max,
          .log_seconds = plot.log_seconds,
          .floor = plot.floor};
}

void add_table_command(CLI::App& app) {
  {
    CLI::App* sub =
        app.add_subcommand("table", "Write the tables of stored results to DIR/tables, and print them");
    auto command = std::make_shared<TableCommand>();
    sub->add_option("dir", command->folder, "results of `proxbench run`")->required()->type_name("DIR");
    sub->add_option("--format", command->format, "what is printed: markdown, latex, csv [markdown]")
        ->check(CLI::IsMember({"markdown", "latex", "csv"}))
        ->type_name("NAME");
    sub->add_option("--targets", command->targets,
                    "relative differences to f*, separated by commas [the config's]")
        ->type_name("REALS");
    command->json.add_to(*sub);
    sub->callback([command] { table(*command); });
  }
  CLI::App* sub = app.add_subcommand("plot", "Draw the curves of stored results into DIR/figures");
  auto command = std::make_shared<PlotCommand>();
  sub->add_option("dir", command->folder, "results of `proxbench run`")->required()->type_name("DIR");
  sub->add_option("--x", command->x,
                  "what the curves are drawn against: seconds, passes, iterations, separated by commas [the "
                  "config's]")
      ->type_name("NAMES");
  sub->add_option("--quantities", command->quantities,
                  "what is drawn: objective, nnz, accuracy, separated by commas [the config's]")
      ->type_name("NAMES");
  sub->add_flag("--log-seconds", command->log_seconds, "seconds on a log axis");
  sub->callback([command] { plot(*command); });
}

}  // namespace proxbench
