/// `slurm-task`: what each task of an array runs on its node.
#include "experiments/sweep/slurm/slurm_task.h"

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

struct SlurmTaskCommand {
  std::string folder;
  int index = 0;
};

void do_task(const SlurmTaskCommand& command) {
  ProgressPrinter progress(false);
  SweepHooks hooks;
  hooks.message = [&](const std::string& text) { progress.message(text); };
  hooks.warning = [&](const std::string& text) { progress.warning(text); };
  hooks.interrupt = &interrupted;
  stop_cleanly_on_interrupt();
  if (!do_slurm_task(command.folder, command.index, hooks)) throw ExitStatus{1};
}

}  // namespace

void add_slurm_task_command(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("slurm-task", "Do one task of a job that `run --launcher slurm` submitted");
  sub->group("");
  auto command = std::make_shared<SlurmTaskCommand>();
  sub->add_option("folder", command->folder, "OUT/slurm/NUMBER")->required()->type_name("DIR");
  sub->add_option("index", command->index, "number of the task")->required()->type_name("INT");
  sub->callback([command] { do_task(*command); });
}

}  // namespace proxbench
