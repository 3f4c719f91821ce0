#include <fmt/format.h>
#include <xxhash.h>

#include "core/base/error.h"
#include "experiments/config/config.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm/slurm_jobs.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Seconds to wait for a lock. Another task holds it only if Slurm has lost track of that task. This task
/// then waits for its end.
constexpr double kForAsLongAsItTakes = 1e9;

NodeRules rules_of(const ExperimentConfig& config, double begin) {
  NodeRules rules;
  if (const auto seconds = slurm_seconds(config.slurm.time))
    rules.ends_at = begin + *seconds - config.kill_grace - kJobMargin;
  if (config.whole_nodes()) return rules;
  rules.not_comparable_because = "other jobs may have shared the node";
  // If Slurm does not bind jobs to their CPUs, it is unknown which of the node's CPUs are this job's.
  std::int64_t given = 0;
  if (parse_integer(environment_text("SLURM_CPUS_ON_NODE"), given))
    rules.bind = static_cast<std::size_t>(given) >= usable_cpus().size();
  return rules;
}

}  // namespace

void restrict_to(SweepProblem& problem, const std::string& label, const SlurmConfig& config) {
  if (config.split == "problem") return;
  problem.lacks_reference = problem.lacks_reference && label.empty();
  std::erase_if(problem.cells, [&](const Cell& cell) { return cell.run.parameters.label != label; });
}

std::string task_key(const SweepProblem& problem) {
  std::string keys;
  for (const Cell& cell : problem.cells) keys += cell.run.key.digest;
  return fmt::format("{:016x}", XXH3_64bits(keys.data(), keys.size()));
}

SweepResult do_slurm_task(const fs::path& array_folder, std::size_t index, const Hooks& hooks) {
  const double begin = wall_seconds();
  const SlurmTask task = read_array(fs::canonical(array_folder)).at(index);
  const fs::path out = task.folder.parent_path().parent_path(), config_file = out / "config.ini";
  const ExperimentConfig config = load_config(config_file);
  OutLock lock(out, kForAsLongAsItTakes, OutLock::problem(task.name()));
  recover_runs(out, task.runs);
  const SweepOptions options{.force = task.force, .launcher = "slurm"};
  Sweep sweep{config, out, options, hooks, lock, inspect(config, out, options, task.problem)};
  if (sweep.problems.empty())
    throw Error(fmt::format("{}: found no problem {}, expected one", config_file.string(), task.problem));
  SweepProblem& problem = sweep.problems.front();
  restrict_to(problem, task.solver, config.slurm);
  SweepResult result;
  if (task_key(problem) == task.key)
    make_runs(sweep, rules_of(config, begin), result);
  else
    store_as_failed(
        sweep,
        fmt::format(
            "{}, {} or {}: the config, the data, the build or a plug-in is not the same on node {} as "
            "where the job was submitted",
            config_file.string(), fmt::join(data_job(config, problem.dataset).files.train, ", "),
            worker_program().string(), environment_text("SLURMD_NODENAME")),
        result);
  result.unsubmitted = problem.missing().size() - result.done;
  result.interrupted = hooks.stop();
  return result;
}

}  // namespace proxbench
