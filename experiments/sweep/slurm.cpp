#include "experiments/sweep/slurm.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/files.h"
#include "experiments/base/process.h"
#include "experiments/base/text.h"
#include "experiments/run/plugins.h"
#include "experiments/run/training.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/run_key.h"

namespace proxbench {
namespace {

using std::chrono::seconds;

/// After MessageTimeout, 10 s by default, a command itself reports that the controller does not answer.
constexpr seconds kTimeout{60}, kBetweenLooks{5}, kYears{1'000'000'000};
/// Seconds to wait for another process that plans a sweep in OUT.
constexpr double kLockTimeout = 300.0;
/// Seconds that a job gets to start and to store its runs, and to read the data.
constexpr double kJobMargin = 60.0, kReadingData = 600.0;
/// MiB that a job gets in addition to the private memory of its process.
constexpr double kOwnMemory = 256.0;
/// The message of sbatch about a full queue. sbatch then tries again for two minutes.
constexpr const char* kFull = "sleeping and retrying";

using Tasks = std::map<std::size_t, QueuedTask>;

fs::path absolute_path(const fs::path& out) {
  return fs::weakly_canonical(fs::absolute(out));
}

ProgramOutput run_slurm(const std::vector<std::string>& command, seconds timeout,
                        const std::function<bool(const std::string&)>& give_up = {}) {
  try {
    return run_program(command, timeout, give_up);
  } catch (const Error& error) {
    throw Error(fmt::format("{}; expected Slurm's commands on the PATH", error.what()));
  }
}

/// Returns what a failed command printed, in one line, without "NAME: error: ".
std::string problem_of(const ProgramOutput& output) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(output.err, '\n'))
    if (!line.empty())
      lines.emplace_back(line.substr(line.find("error: ") == line.npos ? 0 : line.find("error: ") + 7));
  if (!lines.empty()) return joined(lines, "; ");
  return output.given_up ? fmt::format("no answer within {} s", kTimeout.count())
                         : fmt::format("exit status {}", output.end.exit_status);
}

/// Returns the sum of the time limits of a problem's runs; infinite if one has no limit.
double limit_of(const SweepProblem& problem, const ExperimentConfig& config) {
  double sum = kJobMargin + kReadingData;
  const auto add = [&](const Run& run) {
    const JobLimits limits = job_limits(config, run.parameters);
    sum += limits.wall > 0 ? limits.wall + limits.grace : kInfinity;
  };
  for (const Cell* cell : problem.missing()) add(cell->run);
  if (problem.lacks_reference) add(*problem.reference);
  return sum;
}

/// Returns the seconds before the end of a job at which its run is asked to stop.
double warning_time(const ExperimentConfig& config) {
  const double margin = config.kill_grace + kJobMargin;
  if (const auto limit = slurm_seconds(config.slurm.time); limit && *limit <= margin)
    throw Error::usage(fmt::format(
        "[slurm] time: found {}, expected more than the {:g} s of kill_grace and the {:g} s that a "
        "job takes to start and to store its runs",
        config.slurm.time, config.kill_grace, kJobMargin));
  return margin;
}

/// Returns the resources that each task asks for, as arguments of sbatch.
std::vector<std::string> resources(const ExperimentConfig& config, double limit) {
  const SlurmConfig& asked = config.slurm;
  const int threads = resolved_threads(config.threads) * config.processes;
  std::vector<std::string> out{"nodes=1", "ntasks=1",
                               fmt::format("cpus-per-task={}", asked.cpus > 0 ? asked.cpus : threads),
                               fmt::format("signal=B:USR1@{:.0f}", warning_time(config)), "requeue"};
  for (const auto& [name, value] : {std::pair("partition", asked.partition),
                                    {"account", asked.account},
                                    {"constraint", asked.constraint}})
    if (!value.empty()) out.push_back(fmt::format("{}={}", name, shell_word(value)));
  if (config.whole_nodes()) out.emplace_back("exclusive");
  limit = slurm_seconds(asked.time).value_or(limit);
  if (std::isfinite(limit)) out.push_back(fmt::format("time={:.0f}", std::ceil(limit / 60)));
  if (config.memory_limit > 0) out.push_back(fmt::format("mem={:.0f}M", config.memory_limit + kOwnMemory));
  if (config.memory_limit <= 0 && config.whole_nodes()) out.emplace_back("mem=0");
  return out;
}

/// Returns the command that makes the runs of the problem in "$@".
std::string task_command(const Sweep& sweep, const fs::path& out) {
  std::string command = shell_word((worker_program().parent_path() / "proxbench").string());
  for (const LoadedPlugin& plugin : loaded_plugins())
    command += " --plugin " + shell_word(plugin.file.string());
  command +=
      fmt::format(" run {} --out {}", shell_word((out / "config.ini").string()), shell_word(out.string()));
  if (!sweep.config.whole_nodes()) command += " --shared \"$SLURM_CPUS_ON_NODE\"";
  if (sweep.options.replace) command += " --replace";
  if (sweep.options.force) command += " --force";
  return command + " --only \"$@\"";
}

/// Submits the script. With `wait`, returns once its tasks have ended, or at once if the progress ask to
/// stop.
void submit(const fs::path& script, bool wait, const Progress& progress) {
  std::vector<std::string> command{"sbatch", "--parsable"};
  if (wait) command.emplace_back("--wait");
  command.push_back(script.string());
  const ProgramOutput output = run_slurm(command, wait ? kYears : kTimeout, [&](const std::string& err) {
    return progress.stop() || err.find(kFull) != err.npos;
  });
  const std::string number = output.out.substr(0, output.out.find_first_of(";\n"));
  if (std::int64_t job = 0; progress.stop() || parse_integer(number, job)) return;
  throw Error(fmt::format("sbatch: {}; {}", problem_of(output),
                          output.given_up && output.err.empty()
                              ? "the job may be in the queue, and the same command submits what is not"
                              : "nothing was submitted"));
}

void wait_for_tasks(const std::string& name, const Progress& progress) {
  while (!progress.stop() && !queued_tasks(name).empty())
    for (seconds waited{0}; waited < kBetweenLooks && !progress.stop(); ++waited)
      std::this_thread::sleep_for(seconds(1));
}

/// Counts what became of the runs that were missing before the jobs.
void count_results(const Sweep& before, SweepResult& result) {
  const std::vector<SweepProblem> now = inspect(before.config, before.out, {.shared = before.options.shared});
  result.outstanding = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    result.done += before.problems[i].missing().size();
    result.failed += now[i].missing().size();
  }
}

/// Submits the missing runs that are not queued. Releases the lock after submitting, or before waiting.
void submit_missing(const Sweep& sweep, bool wait, OutLock& lock) {
  const std::string name = job_name(sweep.config, sweep.out);
  const Tasks queued = queued_tasks(name);
  if (!queued.empty() && has_other_settings(sweep.config, sweep.out))
    throw Error::usage(
        fmt::format("{}: found the config of tasks in the queue, expected that of this command; "
                    "`scancel --name={}` ends the tasks; nothing was submitted",
                    (sweep.out / "config.ini").string(), name));
  const fs::path file = sweep.out / "slurm" / "array.sh";
  const std::string script = batch_script(sweep, queued);
  sweep.write_config();
  sweep.progress.inform(
      fmt::format("{} tasks are in the queue{}; `scancel --name={}` ends them", queued.size(),
                  script.empty() ? "" : ", and those of " + file.string() + " follow", name));
  if (script.empty()) return lock.release();
  make_folder(file.parent_path());
  write_file_atomically(file, script);
  if (wait) lock.release();
  submit(file, wait, sweep.progress);
  lock.release();
}

}  // namespace

std::string job_name(const ExperimentConfig& config, const fs::path& out) {
  const std::string text =
      absolute_path(out).string() + "\n" + joined(problem_names(plan_runs(config)), "\n");
  return fmt::format("proxbench-{}-{:08x}", file_name_part(config.name),
                     XXH3_64bits(text.data(), text.size()) >> 32);
}

fs::path task_log(const fs::path& out, const std::string& job_name, const std::string& number) {
  return absolute_path(out) / "slurm" / fmt::format("{}-{}.log", job_name, number);
}

std::map<std::size_t, QueuedTask> queued_tasks(const std::string& job_name) {
  const ProgramOutput output = run_slurm(
      {"squeue", "--noheader", "--array", "--name=" + job_name, "--format=%K|%F_%K|%T|%r|%N"}, kTimeout);
  if (output.given_up || output.end.exit_status != 0)
    throw Error(fmt::format("squeue: {}", problem_of(output)));
  Tasks tasks;
  for (const std::string_view line : split(output.out, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string_view> fields = split(line, '|');
    fields.resize(std::max<std::size_t>(fields.size(), 5));  // the node may be empty
    std::int64_t number = 0;
    if (!parse_integer(fields[0], number))
      throw Error(fmt::format("squeue: found '{}', expected NUMBER|JOB|STATE|REASON|NODE", line));
    tasks[static_cast<std::size_t>(number)] = {std::string(fields[1]), std::string(fields[2]),
                                               std::string(fields[3]), std::string(fields[4])};
  }
  return tasks;
}

std::string batch_script(const Sweep& sweep, const Tasks& queued) {
  const fs::path out = absolute_path(sweep.out);
  const std::string name = job_name(sweep.config, out);
  std::string numbers, cases;
  double limit = 0.0;
  for (std::size_t i = 0; i < sweep.problems.size(); ++i) {
    const SweepProblem& problem = sweep.problems[i];
    if (problem.complete() || queued.contains(i)) continue;
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ",", i);
    cases += fmt::format("  {}) set -- {} --key {} ;;\n", i, shell_word(problem.name), key_of(problem));
    limit = std::max(limit, limit_of(problem, sweep.config));
  }
  if (cases.empty()) return "";
  const std::string log = replaced((out / "slurm").string(), {{'%', "%%"}}) + "/" + name + "-%a.log";
  std::string text =
      fmt::format("#!/bin/sh\n#SBATCH --job-name={}\n#SBATCH --array={}\n#SBATCH --output={}\n", name,
                  numbers, shell_word(log));
  for (const std::string& argument : resources(sweep.config, limit)) text += "#SBATCH --" + argument + "\n";
  return text + fmt::format(
                    "cd {} || exit\nexport PROXBENCH_ISA={}\ncase $SLURM_ARRAY_TASK_ID in\n{}esac\n"
                    "exec {}\n",
                    shell_word(fs::current_path().string()), instruction_set_name(instruction_set()), cases,
                    task_command(sweep, out));
}

SweepResult submit_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                         bool wait, const Progress& progress) {
  require_own_folder(config, out);
  prepare_out(out);
  OutLock lock(out, kLockTimeout);
  Sweep sweep{config, out, options, progress};
  sweep.find_missing();
  SweepResult result;
  for (const SweepProblem& problem : sweep.problems) {
    result.cached += problem.cells.size() - problem.missing().size();
    if (!problem.complete()) ++result.outstanding;
  }
  if (result.outstanding == 0)
    sweep.write_config();
  else
    submit_missing(sweep, wait, lock);
  if (wait && result.outstanding > 0) wait_for_tasks(job_name(config, out), progress);
  result.interrupted = progress.stop();
  if (wait && !result.interrupted) count_results(sweep, result);
  result.folders = sweep.stored_folders();
  return result;
}

}  // namespace proxbench
