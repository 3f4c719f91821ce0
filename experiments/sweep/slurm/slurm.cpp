#include "experiments/sweep/slurm/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
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

/// The first line that is no warning, without the program's name.
std::string slurm_problem(const ProgramOutput& output) {
  std::istringstream lines(output.err);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("error: ");
    if (at != std::string::npos) line = line.substr(at + 7);
    if (!line.empty()) text += (text.empty() ? "" : "; ") + line;
  }
  if (!text.empty()) return text;
  return output.given_up ? "no answer" : fmt::format("exit status {}", output.end.exit_status);
}

/// What the command writes. Throws Error where it fails.
std::string answer_of(const std::vector<std::string>& command) {
  const ProgramOutput output = run_slurm(command);
  if (output.given_up || output.end.exit_status != 0)
    throw Error(fmt::format("{}: {}", command.front(), slurm_problem(output)));
  return output.out;
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

std::string in_one(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

/// The "KEY=VALUE" words of a line of scontrol.
std::map<std::string, std::string> words_of(std::string line) {
  std::map<std::string, std::string> out;
  std::replace(line.begin(), line.end(), '\n', ' ');
  for (const std::string& word : split_at(line, ' '))
    if (const std::size_t at = word.find('='); at != std::string::npos)
      out[word.substr(0, at)] = word.substr(at + 1);
  return out;
}

/// A number of Slurm's, which may end in '+'; infinite where it is none ("UNLIMITED").
double limit_in(const std::string& text) {
  double value = 0;
  const bool number = parse_real(text.substr(0, text.find('+')), value);
  return number ? value : std::numeric_limits<double>::infinity();
}

bool says(const std::string& text, std::initializer_list<const char*> any) {
  return std::any_of(any.begin(), any.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

}  // namespace

bool QueuedTask::live() const {
  for (const char* ended : {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL",
                            "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"})
    if (state == ended) return false;
  return true;
}

std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& job_names) {
  std::vector<QueuedTask> out;
  if (job_names.empty()) return out;
  const std::string answer = answer_of({"squeue", "--noheader", "--array", "--states=all",
                                        "--name=" + in_one(job_names), "--format=%j|%F|%K|%T|%r|%N"});
  for (const std::string& line : split_at(answer, '\n')) {
    const std::vector<std::string> fields = split_at(line + "| ", '|');
    std::int64_t job = 0, index = 0;
    if (fields.size() < 6 || !parse_integer(fields[1], job))
      throw Error("squeue: found line '" + line + "', expected NAME|JOB|INDEX|STATE|REASON|NODE");
    if (!parse_integer(fields[2], index)) index = 0;  // "N/A": a job without an array
    out.push_back({fields[0], job, static_cast<int>(index), fields[3], fields[4], fields[5]});
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

std::vector<std::string> request_arguments(const SlurmConfig& config, const JobRequest& request) {
  std::vector<std::string> out{"--nodes=1", "--ntasks=1", fmt::format("--cpus-per-task={}", request.cpus)};
  if (!config.partition.empty()) out.push_back("--partition=" + config.partition);
  if (!config.constraint.empty()) out.push_back("--constraint=" + config.constraint);
  if (request.exclusive) out.emplace_back("--exclusive");
  if (request.seconds > 0) out.push_back(fmt::format("--time={:.0f}", std::ceil(request.seconds / 60)));
  if (request.memory_mib > 0)
    out.push_back(fmt::format("--mem={:.0f}M", request.memory_mib));
  else if (request.exclusive)
    out.emplace_back("--mem=0");
  return out;
}

void check_request(const SlurmConfig& config, const JobRequest& request) {
  std::vector<std::string> names;
  std::map<std::string, std::string> found;
  for (const std::string& line : split_at(answer_of({"scontrol", "--oneliner", "show", "partition"}), '\n')) {
    std::map<std::string, std::string> words = words_of(line);
    names.push_back(words["PartitionName"]);
    if (config.partition.empty() ? words["Default"] == "YES" : words["PartitionName"] == config.partition)
      found = words;
  }
  if (found.empty() && config.partition.empty()) {
    const std::string text = in_one(names);
    throw Error::usage("[slurm] partition: found none, and the cluster has no default; expected one of " +
                       text);
  }
  if (found.empty())
    throw Error::usage(fmt::format("[slurm] partition: found '{}'{}, expected one of {}", config.partition,
                                   did_you_mean(config.partition, names), fmt::join(names, ", ")));
  const std::string& partition = found["PartitionName"];
  const std::optional<double> longest = slurm_seconds(found["MaxTime"]);
  if (longest && std::ceil(request.seconds / 60) * 60 > *longest)
    throw Error::usage(
        fmt::format("[slurm] time: found {:.0f} min, expected at most the {} of partition {} "
                    "(--slurm time=... ends runs before it, split=solver makes a job of each solver)",
                    std::ceil(request.seconds / 60), found["MaxTime"], partition));
  // "CPUs|MiB" of each kind of node.
  double cpus = 0, memory = 0;
  for (const std::string& line :
       split_at(answer_of({"sinfo", "--noheader", "--exact", "--partition=" + partition, "--format=%c|%m"}),
                '\n')) {
    const std::vector<std::string> fields = split_at(line, '|');
    if (fields.size() != 2) continue;
    cpus = std::max(cpus, limit_in(fields[0]));
    memory = std::max(memory, limit_in(fields[1]));
  }
  cpus = std::min(cpus, limit_in(found["MaxCPUsPerNode"]));
  memory = std::min(memory, limit_in(found["MaxMemPerNode"]));
  if (request.cpus > cpus)
    throw Error::usage(
        fmt::format("[slurm] cpus: found {}, expected at most the {:g} of a node of partition {}",
                    request.cpus, cpus, partition));
  if (request.memory_mib > memory)
    throw Error::usage(
        fmt::format("memory_limit: a job asks for {:.0f} MiB, expected at most the {:g} MiB of a node of "
                    "partition {}",
                    request.memory_mib, memory, partition));
}

}  // namespace proxbench
