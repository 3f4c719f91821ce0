/// `merge`: results of several folders in one.
#include "experiments/results/merge.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

struct MergeCommand {
  std::vector<std::string> folders;
  std::string out;
};

void merge(const MergeCommand& command) {
  const MergeResult result = merge_results({command.folders.begin(), command.folders.end()}, command.out);
  ProgressPrinter progress(false);
  for (const std::string& note : result.notes) progress.warning(note);
  fmt::print("{}: {} runs, {} references\n", command.out, result.runs, result.references);
}

}  // namespace

void add_merge_command(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("merge", "Combine the results of several folders or machines in a new folder");
  auto command = std::make_shared<MergeCommand>();
  sub->add_option("dirs", command->folders, "results of `proxbench run`")
      ->required()
      ->expected(1, -1)
      ->type_name("DIR...");
  sub->add_option("--out", command->out, "folder for the combined results; new or empty")
      ->required()
      ->type_name("DIR");
  sub->callback([command] { merge(*command); });
}

}  // namespace proxbench
