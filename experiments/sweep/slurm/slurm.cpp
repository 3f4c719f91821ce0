#include "experiments/sweep/slurm/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/process.h"
#include "experiments/config/slurm_time.h"

namespace proxbench {
namespace {

/// A command waits for a controller that is gone (MessageTimeout, 10 s unless set) and then says so itself.
constexpr std::chrono::seconds kPatience{60};

ProgramOutput run_slurm(const std::vector<std::string>& command,
                        const std::function<bool(const std::string&)>& give_up = {}) {
  try {
    return run_program(command, kPatience, give_up);
  } catch (const Error& error) {
    throw Error(fmt::format("{}; expected Slurm's commands on the PATH", error.what()));
  }
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

/// What a command complains of, without its name.
std::string slurm_problem(const ProgramOutput& output) {
  std::vector<std::string> lines = split_at(output.err, '\n');
  std::erase(lines, "");
  for (std::string& line : lines)
    if (const std::size_t at = line.find("error: "); at != std::string::npos) line = line.substr(at + 7);
  if (!lines.empty()) return fmt::format("{}", fmt::join(lines, "; "));
  return output.given_up ? "no answer" : fmt::format("exit status {}", output.end.exit_status);
}

/// What the command writes, as lines of fields between '|'. Throws Error where it fails.
std::vector<std::vector<std::string>> answer_of(const std::vector<std::string>& command) {
  const ProgramOutput output = run_slurm(command);
  if (output.given_up || output.end.exit_status != 0)
    throw Error(fmt::format("{}: {}", command.front(), slurm_problem(output)));
  std::vector<std::vector<std::string>> out;
  for (const std::string& line : split_at(output.out, '\n')) out.push_back(split_at(line, '|'));
  return out;
}

bool says(const std::string& text, std::initializer_list<const char*> any) {
  return std::ranges::any_of(any, [&](const char* part) { return text.find(part) != std::string::npos; });
}

}  // namespace

bool QueuedTask::live() const {
  constexpr const char* kEnded[] = {"BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
                                    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};
  return std::find(std::begin(kEnded), std::end(kEnded), state) == std::end(kEnded);
}

std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& job_names) {
  std::vector<QueuedTask> out;
  if (job_names.empty()) return out;
  for (std::vector<std::string>& fields :
       answer_of({"squeue", "--noheader", "--array", "--states=all",
                  fmt::format("--name={}", fmt::join(job_names, ",")), "--format=%j|%F|%K|%T|%r|%N"})) {
    std::int64_t job = 0, index = 0;
    fields.resize(std::max<std::size_t>(fields.size(), 6));  // the node may be empty
    if (!parse_integer(fields[1], job))
      throw Error(fmt::format("squeue: found '{}', expected NAME|JOB|INDEX|STATE|REASON|NODE",
                              fmt::join(fields, "|")));
    if (!parse_integer(fields[2], index)) index = 0;  // "N/A": a job without an array
    out.push_back({fields[0], job, index, fields[3], fields[4], fields[5]});
  }
  return out;
}

void cancel_jobs(const std::vector<std::string>& job_names) {
  for (const std::string& name : job_names) answer_of({"scancel", "--name=" + name});
}

Submission submit_job(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"sbatch", "--parsable"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // With a full queue sbatch tries again for two minutes.
  const auto retrying = [](const std::string& err) { return says(err, {"sleeping and retrying"}); };
  const ProgramOutput output = run_slurm(command, retrying);
  Submission result{Submission::Outcome::kRefused, 0, slurm_problem(output)};
  const std::string number = output.out.substr(0, output.out.find_first_of(";\n"));
  if (output.end.exit_status == 0 && parse_integer(number, result.job))
    result.outcome = Submission::Outcome::kAccepted;
  else if (retrying(output.err) ||
           says(output.err, {"MaxSubmitJob", "job submit limit", "temporarily unavailable", "queue full",
                             "Invalid job array specification"}))
    result.outcome = Submission::Outcome::kFull;
  else if (output.given_up || output.end.exit_status == 0 ||
           says(output.err, {"Unable to contact", "timed out", "Socket", "Zero Bytes"}))
    result.outcome = Submission::Outcome::kUnreachable;
  return result;
}

std::vector<std::string> JobRequest::arguments(const SlurmConfig& config) const {
  std::vector<std::string> out{"--nodes=1", "--ntasks=1", fmt::format("--cpus-per-task={}", cpus)};
  if (!config.partition.empty()) out.push_back("--partition=" + config.partition);
  if (!config.constraint.empty()) out.push_back("--constraint=" + config.constraint);
  if (exclusive) out.emplace_back("--exclusive");
  if (seconds > 0) out.push_back(fmt::format("--time={:.0f}", std::ceil(seconds / 60)));
  if (memory_mib > 0 || exclusive)  // 0: all of the node
    out.push_back(fmt::format("--mem={:.0f}M", memory_mib));
  return out;
}

void check_request(const SlurmConfig& config, const JobRequest& request) {
  std::vector<std::string> names;
  std::string partition, longest;
  double cpus = 0, memory = 0;  // of the largest node
  for (const auto& fields : answer_of({"sinfo", "--noheader", "--exact", "--format=%P|%l|%c|%m"})) {
    double node_cpus = 0, node_memory = 0;
    if (fields.size() != 4 || !parse_real(fields[2], node_cpus) || !parse_real(fields[3], node_memory))
      continue;
    const bool standard = fields[0].ends_with('*');
    names.push_back(fields[0].substr(0, fields[0].size() - (standard ? 1 : 0)));
    if (config.partition.empty() ? !standard : names.back() != config.partition) continue;
    partition = names.back();
    longest = fields[1];
    cpus = std::max(cpus, node_cpus);
    memory = std::max(memory, node_memory);
  }
  const auto refuse = [](const std::string& what) { throw Error::usage(what); };
  if (partition.empty())
    refuse(fmt::format("[slurm] partition: found {}{}, expected one of {}",
                       config.partition.empty() ? "none, and the cluster has no default"
                                                : fmt::format("'{}'", config.partition),
                       did_you_mean(config.partition, names), fmt::join(names, ", ")));
  const double minutes = std::ceil(request.seconds / 60);
  if (const std::optional<double> limit = slurm_seconds(longest); limit && 60 * minutes > *limit)
    refuse(fmt::format(
        "[slurm] time: found {:.0f} min, expected at most the {} of partition {} (--slurm time=... "
        "ends runs before it, split=solver makes a job of each solver)",
        minutes, longest, partition));
  if (request.cpus > cpus)
    refuse(fmt::format("[slurm] cpus: found {}, expected at most the {:g} of a node of partition {}",
                       request.cpus, cpus, partition));
  if (request.memory_mib > memory)
    refuse(
        fmt::format("memory_limit: a job asks for {:.0f} MiB, expected at most the {:g} MiB of a node of "
                    "partition {}",
                    request.memory_mib, memory, partition));
}

}  // namespace proxbench
