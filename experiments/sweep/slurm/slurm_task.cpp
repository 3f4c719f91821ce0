#include "experiments/sweep/slurm/slurm_task.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdlib>

#include "core/base/error.h"
#include "experiments/config/slurm_time.h"
#include "experiments/sweep/local_launcher.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Another task has the problem only where Slurm has lost sight of it. This one waits for its end.
constexpr double kForAsLongAsItTakes = 1e9;

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

ProcessRules rules_of(const ExperimentConfig& config, double begin) {
  ProcessRules rules(config);
  if (!config.whole_nodes()) rules.not_comparable_because = "other jobs may have shared the node";
  if (const auto seconds = slurm_seconds(config.slurm.time))
    rules.ends_at = begin + *seconds - config.kill_grace - kJobMargin;
  // Where Slurm does not bind jobs to their CPUs, nobody knows which of the node's are this job's.
  std::int64_t given = 0;
  if (!config.whole_nodes() && parse_integer(environment_text("SLURM_CPUS_ON_NODE"), given) &&
      static_cast<std::size_t>(given) < usable_cpus().size())
    rules.pin = false;
  return rules;
}

/// What makes this node, or the config, another than when the task was submitted; empty: nothing.
std::string difference(const SlurmTask& task, const SweepWork& work) {
  const SweepProblem& problem = work.problems.front();
  if (task_key(problem) == task.key) return "";
  return fmt::format(
      "{}, {} or {}: the config, the data, the build or a plug-in is not the same on node {} as "
      "where the job was submitted",
      (work.out / "config.ini").string(), fmt::join(problem.job().files.train, ", "),
      worker_program().string(), environment_text("SLURMD_NODENAME"));
}

}  // namespace

void restrict_to(SweepProblem& problem, const std::string& label, const SlurmConfig& config) {
  if (config.split == "problem") return;
  const auto of_others = [&](const CellState* state) { return state->run.parameters.label != label; };
  std::erase_if(problem.cells, of_others);
  std::erase_if(problem.missing, of_others);
  problem.may_make_reference = label.empty();
}

std::string task_key(const SweepProblem& problem) {
  std::string keys;
  for (const CellState* state : problem.cells) keys += state->run.key.digest;
  return fmt::format("{:016x}", XXH3_64bits(keys.data(), keys.size()));
}

SweepResult do_slurm_task(const fs::path& array_folder, std::size_t index, const SweepHooks& hooks) {
  const double begin = wall_seconds();
  const SlurmArray array = read_array(fs::canonical(array_folder));
  const SlurmTask& task = array.tasks.at(index);
  const fs::path out = array.folder.parent_path().parent_path();
  const ExperimentConfig config = load_config(out / "config.ini");
  OutLock lock(out, kForAsLongAsItTakes, OutLock::problem(task.name()));
  recover_runs(out, task.runs);
  Digests digests(config);
  const SweepOptions options{.force = array.force, .launcher = "slurm"};
  SweepWork work{config, out, options, hooks, digests, lock};
  work.inspect(task.problem);
  if (work.problems.empty())
    throw Error(
        fmt::format("{}: found no problem {}, expected one", (out / "config.ini").string(), task.problem));
  SweepProblem& problem = work.problems.front();
  restrict_to(problem, task.solver, config.slurm);
  problem.lacks_reference = !problem.no_reference && problem.may_make_reference;
  SweepResult result;
  make_runs(work, rules_of(config, begin), result, difference(task, work));
  result.unsubmitted = problem.missing.size() - result.done;
  result.interrupted = hooks.stop();
  return result;
}

}  // namespace proxbench
