#include "experiments/sweep/slurm/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <sstream>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/process.h"
#include "experiments/config/config.h"

namespace proxbench {
namespace {

/// Longer than MessageTimeout (10 s by default), after which a command itself reports that the controller
/// does not answer.
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

/// Returns the error message of a command without the command's name.
std::string slurm_problem(const ProgramOutput& output) {
  std::vector<std::string> lines = split_at(output.err, '\n');
  std::erase(lines, "");
  for (std::string& line : lines)
    if (const std::size_t at = line.find("error: "); at != std::string::npos) line = line.substr(at + 7);
  if (!lines.empty()) return fmt::format("{}", fmt::join(lines, "; "));
  return output.given_up ? "no answer" : fmt::format("exit status {}", output.end.exit_status);
}

/// Returns the command's output as lines of fields between '|'. Throws Error if the command fails.
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
  // If the queue is full, sbatch retries for two minutes.
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

void check_size(const SlurmConfig& config, double seconds, int cpus, double memory_mib) {
  std::vector<std::string> command{"sinfo", "--noheader", "--exact", "--format=%P|%l|%c|%m"};
  if (!config.partition.empty()) command.push_back("--partition=" + config.partition);
  std::string partition, longest;
  double most_cpus = 0, most_memory = 0;  // of any node
  for (const std::vector<std::string>& fields : answer_of(command)) {
    double node_cpus = 0, node_memory = 0;
    if (fields.size() != 4 || !parse_real(fields[2], node_cpus) || !parse_real(fields[3], node_memory) ||
        (config.partition.empty() && !fields[0].ends_with('*')))
      continue;
    partition = fields[0].substr(0, fields[0].find('*'));
    longest = fields[1];
    most_cpus = std::max(most_cpus, node_cpus);
    most_memory = std::max(most_memory, node_memory);
  }
  if (partition.empty()) return;  // sbatch will report that the partition does not exist
  const double minutes = std::ceil(seconds / 60);
  if (const auto limit = slurm_seconds(longest); limit && 60 * minutes > *limit)
    throw Error::usage(fmt::format(
        "[slurm] time: found {:.0f} min, expected at most the {} of partition {} (--slurm time=... "
        "ends runs before it, split=solver makes a job of each solver)",
        minutes, longest, partition));
  if (cpus > most_cpus)
    throw Error::usage(
        fmt::format("[slurm] cpus: found {}, expected at most the {:g} of a node of partition {}", cpus,
                    most_cpus, partition));
  if (memory_mib > most_memory)
    throw Error::usage(fmt::format(
        "memory_limit: a job asks for {:.0f} MiB, expected at most the {:g} MiB of a node of partition {}",
        memory_mib, most_memory, partition));
}

}  // namespace proxbench
