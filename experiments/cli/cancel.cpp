/// `cancel`: ends the jobs of a folder.
#include <fmt/format.h>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/slurm/slurm_jobs.h"

namespace proxbench {
namespace {

void cancel(const std::string& folder) {
  const std::filesystem::path out = folder;
  if (!std::filesystem::is_directory(out / "runs"))
    throw Error(folder + ": found no folder 'runs', expected the results of `proxbench run`");
  constexpr double kPatience = 60.0;  // seconds: a sweep that submits jobs holds the lock
  const OutLock lock(out, kPatience);
  const SubmittedJobs jobs = submitted_jobs(out);
  if (!jobs.queue) throw Error(jobs.no_answer);
  std::size_t queued = 0, running = 0;
  for (const QueuedTask& task : *jobs.queue)
    if (task.live()) ++(task.state == "PENDING" ? queued : running);
  if (queued + running > 0) cancel_jobs(jobs.names());
  fmt::print("{}: {} queued and {} running tasks cancelled; stored runs stay\n", folder, queued, running);
}

}  // namespace

void add_cancel_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("cancel", "End the jobs of a folder that wait or run");
  auto folder = std::make_shared<std::string>();
  sub->add_option("dir", *folder, "results of `proxbench run`")->required()->type_name("DIR");
  sub->callback([folder] { cancel(*folder); });
}

}  // namespace proxbench
