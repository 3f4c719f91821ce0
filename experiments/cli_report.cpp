/// `report`: a page over the stored results of several experiments.
#include <fmt/format.h>

#include "experiments/cli.h"
#include "plots/report.h"

namespace proxbench {
namespace {

struct ReportCommand {
  std::string out;
  std::vector<std::filesystem::path> results;
  ReportOptions options;
};

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("report",
                                     "Write a page (index.html, index.md) that shows stored results beside "
                                     "what their configs say of a paper");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("out", command->out, "folder of the page; figures and tables are copied into it")
      ->required()
      ->type_name("OUT");
  sub->add_option("dirs", command->results, "results of `proxbench run`, in the order of the page")
      ->required()
      ->type_name("DIR...");
  sub->add_option("--title", command->options.title, "title of the page")->type_name("TEXT");
  sub->add_option("--note", command->options.notes, "a paragraph at the top, repeatable")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  sub->callback([command] {
    fmt::print("{}\n", write_report(command->results, command->out, command->options).string());
  });
}

}  // namespace proxbench
