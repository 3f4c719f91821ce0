#include "experiments/sweep/job_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/config/trainers.h"
#include "experiments/results/csv.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/launch.h"
#include "experiments/run/python_plugin.h"

namespace proxbench {
namespace {

/// Returns how often the kernel has killed a process because memory ran out.
long oom_kills() {
  std::ifstream in("/proc/vmstat");
  std::string key;
  for (long value = 0; in >> key >> value;)
    if (key == "oom_kill") return value;
  return 0;
}

/// Returns the most informative line of a log: the last one of a worker, or the first one of a launcher of
/// several processes (mpirun frames its message in rows of dashes).
std::string reason_line(const std::string& log, bool first) {
  std::istringstream lines(log);
  std::string reason;
  for (std::string line; std::getline(lines, line);)
    if (std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) != 0; }) &&
        (reason.empty() || !first))
      reason = line;
  return reason;
}

}  // namespace

fs::path worker_program() {
  const fs::path worker = program_folder() / "proxbench-worker";
  if (::access(worker.c_str(), X_OK) != 0)
    throw Error(worker.string() + ": not there or not a program; it is built and installed with proxbench");
  return worker;
}

JobLimits job_limits(const ExperimentConfig& config, const RunParameters& job) {
  if (job.solver.empty()) return {0.0, config.kill_grace};
  // An external trainer may use its time limit once for each of its stops.
  const bool limited = job.time_limit > 0 && job.solver != kExternal;
  const double automatic = limited ? 60.0 + 3.0 * job.time_limit : 0.0;
  return {std::isnan(config.wall_limit) ? automatic : config.wall_limit, config.kill_grace};
}

ProcessSettings job_settings(const ExperimentConfig& config, const RunParameters& job,
                             const std::vector<int>& cpus, std::size_t slot, int at_a_time) {
  ProcessSettings settings;
  settings.memory_limit = static_cast<std::uint64_t>(config.memory_limit * 1024 * 1024);
  const auto threads = static_cast<std::size_t>(job.threads);
  if (!config.pin || job.processes > 1 || threads * static_cast<std::size_t>(at_a_time) > cpus.size())
    return settings;
  const auto first = cpus.begin() + static_cast<std::ptrdiff_t>(slot * threads);
  settings.cpus.assign(first, first + static_cast<std::ptrdiff_t>(threads));
  if (parse_backend(job.backend) == Backend::kOpenMP && job.solver != kExternal)
    // Lists CPU numbers, because OMP_PLACES=threads needs /sys, which containers may lack.
    settings.environment = {"OMP_PROC_BIND=true",
                            fmt::format("OMP_PLACES={{{}}}", fmt::join(settings.cpus, "},{"))};
  else
    settings.environment = {"OMP_PROC_BIND=false"};  // overrides the user's setting of OpenMP
  if (may_place_memory()) settings.memory_nodes = memory_nodes_of(settings.cpus);
  return settings;
}

JobProcess::JobProcess(Run run, const fs::path& folder, const ExperimentConfig& config,
                       const std::vector<int>& cpus, std::size_t slot, int at_a_time)
    : run_(std::move(run)),
      folder_(folder),
      limits_(job_limits(config, run_.parameters)),
      oom_kills_(oom_kills()),
      start_(wall_seconds()) {
  ProcessSettings settings = job_settings(config, run_.parameters, cpus, slot, at_a_time);
  run_.timing.cpus = settings.cpus.empty() ? usable_cpus() : settings.cpus;
  run_.timing.memory_nodes = settings.memory_nodes;
  run_.timing.environment = settings.environment;
  write_record(folder / kJobFile, run_);
  if (const int processes = run_.parameters.processes; processes > 1) {
    std::istringstream words(launch_command(processes));
    for (std::string word; words >> word;) settings.command.push_back(word);
  }
  const bool in_python = std::ranges::any_of(run_.parameters.plugins, is_python);
  for (const std::string& word : in_python ? python_worker() : std::vector{worker_program().string()})
    settings.command.push_back(word);
  settings.command.push_back((folder / kJobFile).string());
  settings.command.push_back(folder.string());
  settings.log = folder / "log.txt";
  process_ = std::make_unique<Process>(settings);
}

bool JobProcess::watch(std::chrono::milliseconds slice, bool interrupt) {
  if (process_->wait_for(slice)) return true;
  if (!asked_ && interrupt) asked_ = Asked::kByUser;
  if (!asked_ && limits_.wall > 0 && seconds() >= limits_.wall) asked_ = Asked::kByLimit;
  if (asked_) process_->stop(limits_.grace);
  return false;
}

std::optional<Sample> JobProcess::newest_sample() {
  std::string newest;
  std::ifstream in(folder_ / "trace.csv", std::ios::binary);
  in.seekg(read_);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    if (trace_lines_++ > 0) newest = line;  // skips the header
  }
  if (newest.empty()) return std::nullopt;
  return record_of(trace_columns(), newest, folder_ / "trace.csv", trace_lines_);
}

double JobProcess::seconds() const {
  return wall_seconds() - start_;
}

Run JobProcess::result() const {
  const ProcessEnd& end = process_->end();
  const fs::path file = folder_ / kManifestFile;
  // A process that dies leaves no record, because the record appears as a whole.
  Run run = fs::exists(file) ? read_record(file) : run_;
  const auto set = [&](const std::string& status, const std::string& reason) {
    run.set_status(status);
    run.result.reason = reason;
  };
  const auto stopped = [&](Asked by) {
    return asked_ == by && (process_->killed() || end.signal == SIGTERM);
  };
  const std::string line = reason_line(text_of(folder_ / "log.txt"), run_.parameters.processes > 1);
  const char* const time_limit = status_name(Status::kTimeLimit);
  if (end.signal != 0 && stopped(Asked::kByLimit))
    set(time_limit,
        fmt::format("killed: did not stop within {:g} s of being asked to, after {:g} s of wall time",
                    limits_.grace, limits_.wall));
  else if (end.signal != 0 && stopped(Asked::kByUser))
    set(status_name(Status::kInterrupted), "killed: did not stop when asked to");
  else if (end.signal == SIGKILL && oom_kills() > oom_kills_)
    set("out-of-memory", "killed by the kernel for want of memory");
  else if (end.signal != 0)
    set(fmt::format("crashed({})", signal_name(end.signal)),
        line.empty() ? "ended by " + signal_name(end.signal) : line);
  else if (end.exit_status == kOutOfMemoryStatus)
    set("out-of-memory", "memory ran out");
  else if (end.exit_status != 0 && run.result.status < Status::kFailed)
    set("failed", line.empty() ? fmt::format("exit status {}", end.exit_status) : line);
  else if (asked_ == Asked::kByLimit && run.result.status == Status::kInterrupted)
    set(time_limit, fmt::format("asked to stop after {:g} s of wall time", limits_.wall));
  if (!run.result.peak_rss_bytes) run.result.peak_rss_bytes = end.peak_rss_bytes;
  run.result.wall_seconds = seconds();
  return run;
}

void add_last_sample(RunFigures& figures, const fs::path& trace_file) {
  const std::vector<Sample> trace = read_trace(trace_file);
  if (trace.empty()) return;
  const Sample& last = trace.back();
  figures.certificate.objective = last.objective;
  figures.certificate.loss = last.loss;
  figures.certificate.nnz = last.nnz;
  figures.iterations = last.iteration;
  figures.passes = last.passes;
  figures.updates = last.updates;
  figures.seconds = last.seconds;
  figures.cpu_seconds = last.cpu_seconds;
}

}  // namespace proxbench
