/// `slurm-task`: what each task of an array runs on its node.
#include "experiments/sweep/slurm/slurm_task.h"

#include <spdlog/spdlog.h>

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

struct SlurmTaskCommand {
  std::string folder;
  std::size_t index = 0;
};

void do_task(const SlurmTaskCommand& command) {
  ProgressPrinter progress(false);
  Hooks hooks;
  hooks.message = [&](const std::string& text) { progress.message(text); };
  hooks.warning = [&](const std::string& text) { progress.warning(text); };
  hooks.interrupt = &interrupted;
  stop_cleanly_on_interrupt();
  const SweepResult result = do_slurm_task(command.folder, command.index, hooks);
  if (result.interrupted) spdlog::warn("stopped by Slurm: cancelled, pre-empted or out of time");
  if (result.interrupted || result.failed + result.unsubmitted > 0) throw ExitStatus{1};
}

}  // namespace

void add_slurm_task_command(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("slurm-task", "Do one task of a job that `run --launcher slurm` submitted");
  sub->group("");
  auto command = std::make_shared<SlurmTaskCommand>();
  sub->add_option("folder", command->folder, "OUT/slurm/NAME")->required()->type_name("DIR");
  sub->add_option("index", command->index, "number of the task")->required()->type_name("INT");
  sub->callback([command] { do_task(*command); });
}

}  // namespace proxbench
