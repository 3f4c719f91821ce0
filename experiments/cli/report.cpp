/// `report`: one interactive page over the stored results of several experiments.
#include "plots/report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

struct ReportCommand {
  std::string out;
  std::vector<std::filesystem::path> results;
  ReportOptions options;
};

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "report",
      "Write one HTML page with interactive curves and tables of stored results; it needs no network");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("--out", command->out, "the page; links to raw files are relative to it")
      ->required()
      ->type_name("FILE.html");
  sub->add_option("dirs", command->results, "results of `proxbench run`, in the order of the page")
      ->required()
      ->type_name("DIR...");
  sub->add_option("--title", command->options.title, "title of the page")->type_name("TEXT");
  sub->add_option("--note", command->options.notes, "a paragraph at the top, repeatable")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  command->options.warn = [](const std::string& text) { spdlog::warn("{}", text); };
  sub->callback([command] {
    write_report(command->results, command->out, command->options);
    fmt::print("{}\n", command->out);
  });
}

}  // namespace proxbench
