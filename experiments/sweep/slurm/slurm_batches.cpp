#include "experiments/sweep/slurm/slurm_batches.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/files.h"
#include "experiments/config/slurm_time.h"
#include "experiments/run/trainer.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Seconds that a job has beyond the wall limit and the grace of its process: to begin, and to store the run.
/// Finding f* reads the data twice.
constexpr double kMargin = 60.0, kDescribing = 600.0;
/// MiB that a job has beyond the private memory of its process.
constexpr double kOwnMemory = 256.0;
// Exit statuses of the probe.
constexpr int kNoFolder = 72, kNoProgram = 73, kNotWritable = 74;

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Eight hexadecimal digits that no other sweep has.
std::string fresh_token() {
  std::random_device device;
  return fmt::format("{:08x}", static_cast<unsigned>(device()));
}

std::string this_host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this machine";
}

/// The largest of the numbers that are names in a folder; 0: there are none.
std::int64_t last_number(const fs::path& folder) {
  std::int64_t last = 0, number = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (parse_integer(entry.path().filename().string(), number)) last = std::max(last, number);
  return last;
}

std::vector<std::string> job_arguments(const std::string& name, const SlurmConfig& config,
                                       const JobRequest& request) {
  // A node without these folders must not fail before the script can say so.
  std::vector<std::string> out{"--job-name=" + name, "--output=/dev/null", "--chdir=/", "--requeue"};
  for (std::string& argument : request_arguments(config, request)) out.push_back(std::move(argument));
  return out;
}

}  // namespace

Batches::Batches(const fs::path& out, const ExperimentConfig& config, Digests& digests)
    : out_(fs::canonical(out)),
      program_(worker_program().parent_path() / "proxbench"),
      config_(config),
      digests_(digests),
      rules_(config),
      host_(this_host()) {
  if (!config.whole_nodes()) rules_.not_comparable_because = "other jobs may have shared the node";
  if (const auto seconds = slurm_seconds(config.slurm.time)) {
    rules_.most_wall = *seconds - config.kill_grace - kMargin;
    if (rules_.most_wall <= 0)
      throw Error::usage(
          fmt::format("[slurm] time: found {}, expected more than the {:g} s of kill_grace and the {:g} s "
                      "that a job takes to begin and to store its run",
                      config.slurm.time, config.kill_grace, kMargin));
  }
}

void Batches::note_jobs(const std::vector<QueuedTask>& queue) {
  for (Batch& batch : batches_) {
    if (batch.job != 0) continue;
    for (const QueuedTask& task : queue)
      if (task.name == batch.job_name) batch.job = task.job;
    for (std::size_t i = 0; batch.job == 0 && i < batch.tasks.size(); ++i) {
      const Json begin = json_of(TaskFiles(batch.folder, static_cast<int>(i)).begin);
      if (begin.is_object())
        parse_integer(begin.value("job", "").substr(0, begin.value("job", "").find('_')), batch.job);
    }
    if (batch.job != 0)
      write_json(batch.folder / "batch.json", batch.to_json());
    else
      remove_batch(batch.folder);
  }
  std::erase_if(batches_, [](const Batch& batch) { return batch.job == 0; });
}

void Batches::remove_all() {
  std::vector<fs::path> all;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(out_ / "slurm", none))
    all.push_back(entry.path());
  for (const Batch& batch : batches_) remove_batch(batch.folder);
  for (const fs::path& path : all) fs::remove_all(path);
  batches_.clear();
}

JobRequest Batches::request(double seconds) const {
  JobRequest out;
  out.cpus = config_.slurm.cpus > 0 ? config_.slurm.cpus
                                      : resolved_threads(config_.threads) * config_.processes;
  out.seconds = slurm_seconds(config_.slurm.time).value_or(seconds);
  if (config_.memory_limit > 0) out.memory_mib = config_.memory_limit + kOwnMemory;
  out.exclusive = config_.whole_nodes();
  return out;
}

double Batches::run_seconds(const RunParameters& job) const {
  const JobLimits limits = rules_.limits(job.time_limit);
  return limits.wall > 0 ? limits.wall + limits.grace + kMargin : 0.0;
}

double Batches::problem_seconds(const SweepProblem& problem) const {
  if (problem.no_reference) return 0.0;
  const double seconds = run_seconds(reference_job(config_, problem.job()));
  return seconds > 0 ? seconds + kDescribing : 0.0;
}

void Batches::check_limits(const std::vector<SweepProblem>& problems) {
  double longest = 0.0;
  for (const SweepProblem& problem : problems) {
    longest = std::max(longest, problem_seconds(problem));
    for (const CellState* cell : problem.missing)
      longest = std::max(longest, run_seconds(cell->run.parameters));
  }
  check_request(config_.slurm, request(longest));
}

int Batches::array_size() {
  if (array_size_ == 0) array_size_ = max_array_size();
  return array_size_;
}

Submission Batches::submit_probe() {
  const std::string name = "proxbench-probe-" + fresh_token();
  const fs::path folder = out_ / "slurm", script = folder / (".script-" + name);
  make_folder(folder);
  probe_file_ = folder / ("." + name);
  write_file_atomically(probe_file_, "");
  write_file_atomically(
      script, fmt::format("#!/bin/sh\n"
                          "[ -e {0} ] || exit {2}\n"
                          "{1} man >/dev/null 2>&1 || exit {3}\n"
                          "echo seen >>{0} || exit {4}\n",
                          shell_quoted(probe_file_.string()), shell_quoted(program_.string()), kNoFolder,
                          kNoProgram, kNotWritable));
  JobRequest small = request(0.0);
  small.exclusive = false;
  small.cpus = 1;
  small.memory_mib = 0.0;
  small.seconds = 60.0;
  std::vector<std::string> arguments = job_arguments(name, config_.slurm, small);
  arguments.push_back(script.string());
  const Submission submission = submit_job(arguments);
  fs::remove(script);
  if (submission.outcome != Submission::Outcome::kAccepted) fs::remove(probe_file_);
  return submission;
}

bool Batches::probe_succeeded(std::int64_t job) const {
  if (!text_of(probe_file_).empty()) {
    fs::remove(probe_file_);
    return true;
  }
  const std::optional<JobEnd> known = job_end(job);
  if (!known || known->state == "COMPLETED") return false;  // then its word is on its way to this machine
  const JobEnd& end = *known;
  fs::remove(probe_file_);
  std::string what = fmt::format("the probe job ended as {} with status {}", end.state, end.exit_status);
  if (end.exit_status == kNoFolder)
    what = fmt::format(
        "{}: node {} does not see this folder; expected one on a file system that all nodes share",
        out_.string(), end.node);
  if (end.exit_status == kNotWritable)
    what = fmt::format("{}: node {} cannot write to this folder", out_.string(), end.node);
  if (end.exit_status == kNoProgram)
    what =
        fmt::format("{}: cannot be run on node {}; expected a program on a file system that all nodes share",
                    program_.string(), end.node);
  throw Error(what + "; nothing was submitted");
}

SlurmTask Batches::common_task(const RunParameters& cell, bool force) {
  return {.problem = false,
          .rules = rules_.to_json(),
          .exclusive = config_.whole_nodes(),
          .force = force,
          .source_digest = digests_.source(cell),
          .program_digest = digests_.program(),
          .submit_host = host_,
          .data_job = data_job(config_, cell),
          .reference = std::nullopt,
          .runs = {},
          .facts = {}};
}

SlurmTask Batches::problem_task(const SweepWork& work, const SweepProblem& problem) {
  SlurmTask task = common_task(problem.job(), work.options.force);
  task.problem = true;
  if (!problem.no_reference) task.reference = work.reference_of(problem);
  for (const CellState* cell : problem.missing) task.runs.push_back(cell->run);
  return task;
}

SlurmTask Batches::run_task(const SweepWork& work, const SweepProblem& problem, const CellState& cell,
                            const fs::path& facts) {
  SlurmTask task = common_task(problem.job(), work.options.force);
  task.runs = {cell.run};
  task.facts = fs::relative(facts, out_ / "slurm");
  return task;
}

fs::path Batches::write_batch(const Batch& batch, const std::vector<NewTask>& tasks) {
  const fs::path hidden = batch.folder.parent_path() / ("." + batch.folder.filename().string());
  fs::remove_all(hidden);
  make_folder(hidden);
  const std::string folder = shell_quoted(batch.folder.string());
  write_file_atomically(hidden / "script",
                        fmt::format("#!/bin/sh\n"
                                    "[ -d {0} ] || exit {1}\n"
                                    "exec >{0}/\"$SLURM_ARRAY_TASK_ID\".log 2>&1\n"
                                    "export PROXBENCH_ISA={2}\n"
                                    "exec {3} slurm-task {0} \"$SLURM_ARRAY_TASK_ID\"\n",
                                    folder, kNoFolder, instruction_set_name(instruction_set()),
                                    shell_quoted(program_.string())));
  for (std::size_t i = 0; i < tasks.size(); ++i)
    write_json(hidden / TaskFiles("", static_cast<int>(i)).job, tasks[i].task.to_json());
  write_json(hidden / "batch.json", batch.to_json());
  fs::rename(hidden, batch.folder);
  return batch.folder;
}

Submission Batches::submit(const std::vector<NewTask>& tasks, bool problems, const std::string& waits_for,
                           const std::string& dependency) {
  make_folder(out_ / "slurm");
  Batch batch{.folder = out_ / "slurm" / fmt::format("{:06}", last_number(out_ / "slurm") + 1),
              .job_name = fmt::format("proxbench-{}-{}", config_.name, fresh_token()),
              .job = 0,
              .problems = problems,
              .waits_for = waits_for,
              .tasks = {}};
  double seconds = 0.0;
  bool limited = true;
  for (const NewTask& task : tasks) {
    batch.tasks.push_back({task.name, task.key});
    const Run* run =
        problems ? (task.task.reference ? &*task.task.reference : nullptr) : &task.task.runs.front();
    const double own = run != nullptr ? run_seconds(run->parameters) : 0.0;
    limited = limited && own > 0;
    seconds = std::max(seconds, own + (problems ? kDescribing : 0.0));
  }
  write_batch(batch, tasks);
  std::vector<std::string> arguments =
      job_arguments(batch.job_name, config_.slurm, request(limited ? seconds : 0.0));
  arguments.push_back(fmt::format("--array=0-{}", tasks.size() - 1));
  if (!dependency.empty()) {
    arguments.push_back("--dependency=afterok:" + dependency);
    arguments.emplace_back("--kill-on-invalid-dep=yes");
  }
  arguments.push_back((batch.folder / "script").string());
  const Submission submission = submit_job(arguments);
  if (submission.outcome == Submission::Outcome::kAccepted) {
    batch.job = submission.job;
    write_json(batch.folder / "batch.json", batch.to_json());
    batches_.push_back(std::move(batch));
  } else if (submission.outcome != Submission::Outcome::kUnreachable) {
    remove_batch(batch.folder);
  }
  return submission;
}

}  // namespace proxbench
