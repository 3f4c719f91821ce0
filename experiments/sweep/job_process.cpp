#include "experiments/sweep/job_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/field_csv.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/launch.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// How often the kernel has killed a process for want of memory.
long oom_kills() {
  std::ifstream in("/proc/vmstat");
  std::string key;
  for (long value = 0; in >> key >> value;)
    if (key == "oom_kill") return value;
  return 0;
}

/// The last line that says something of a worker, the first of what launches several (mpirun frames its
/// complaint in rows of dashes).
std::string telling_line(const std::string& log, bool first) {
  std::istringstream lines(log);
  std::string telling;
  for (std::string line; std::getline(lines, line);)
    if (std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) != 0; }) &&
        (telling.empty() || !first))
      telling = line;
  return telling;
}

void set(RunFigures& figures, const std::string& failure, const std::string& reason) {
  figures.status.reset();
  figures.failure = failure;
  figures.reason = reason;
}
void set(RunFigures& figures, Status status, const std::string& reason) {
  figures.status = status;
  figures.failure.clear();
  figures.reason = reason;
}

}  // namespace

fs::path worker_program() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  const fs::path worker = self.parent_path() / "proxbench-worker";
  if (failure || ::access(worker.c_str(), X_OK) != 0)
    throw Error(worker.string() + ": not there or not a program; it is built and installed with proxbench");
  return worker;
}

void pin(ProcessSettings& settings, const std::vector<int>& cpus, std::size_t first, std::size_t threads,
         Backend backend) {
  const auto begin = cpus.begin() + static_cast<std::ptrdiff_t>(first);
  settings.cpus.assign(begin, begin + static_cast<std::ptrdiff_t>(threads));
  if (backend ==
      Backend::kOpenMP)  // each by its number: OMP_PLACES=threads needs /sys, which containers may lack
    settings.environment = {"OMP_PROC_BIND=true",
                            fmt::format("OMP_PLACES={{{}}}", fmt::join(settings.cpus, "},{"))};
  else
    settings.environment = {"OMP_PROC_BIND=false"};  // whatever the user has set for OpenMP
  if (may_place_memory()) settings.memory_nodes = memory_nodes_of(settings.cpus);
}

JobProcess::JobProcess(Run run, const fs::path& folder, ProcessSettings settings, const JobLimits& limits)
    : run_(std::move(run)),
      folder_(folder),
      limits_(limits),
      oom_kills_(oom_kills()),
      start_(wall_seconds()) {
  write_record(folder / kJobFile, run_);
  if (const int processes = run_.parameters.processes; processes > 1) {
    std::istringstream words(launch_command(processes));
    for (std::string word; words >> word;) settings.command.push_back(word);
  }
  for (const std::string& word : {worker_program().string(), (folder / kJobFile).string(), folder.string()})
    settings.command.push_back(word);
  settings.log = folder / "log.txt";
  process_ = std::make_unique<Process>(settings);
}

bool JobProcess::watch(std::chrono::milliseconds slice, bool interrupt) {
  if (process_->wait_for(slice)) return true;
  if (!asked_ && interrupt) ask_to_stop(Asked::kByUser);
  if (!asked_ && limits_.wall > 0 && seconds() >= limits_.wall) ask_to_stop(Asked::kByLimit);
  if (asked_ && !killed_ && seconds() - asked_at_ >= limits_.grace) {
    process_->send(SIGKILL);
    killed_ = true;
  }
  return false;
}

std::optional<Sample> JobProcess::newest_sample() {
  std::string newest;
  std::ifstream in(folder_ / "trace.csv", std::ios::binary);
  in.seekg(read_);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    if (trace_lines_++ > 0) newest = line;  // behind the header
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
  // A process that dies leaves none, since it appears as a whole.
  Run run = fs::exists(file) ? read_record(file) : run_;
  RunFigures& figures = run.result;
  if (end.signal != 0) {
    set_killed(figures);
  } else if (end.exit_status == kOutOfMemoryStatus) {
    set(figures, "out-of-memory", "memory ran out");
  } else if (end.exit_status != 0 && figures.failure.empty()) {
    const std::string line = telling_line(text_of(folder_ / "log.txt"), run_.parameters.processes > 1);
    set(figures, "failed", line.empty() ? fmt::format("exit status {}", end.exit_status) : line);
  } else if (asked_ == Asked::kByLimit && figures.status == Status::kInterrupted) {
    set(figures, Status::kTimeLimit, fmt::format("asked to stop after {:g} s of wall time", limits_.wall));
  }
  if (!figures.peak_rss_bytes) figures.peak_rss_bytes = end.peak_rss_bytes;
  figures.wall_seconds = seconds();
  return run;
}

void JobProcess::ask_to_stop(Asked by) {
  process_->send(SIGTERM);
  asked_ = by;
  asked_at_ = seconds();
}

void JobProcess::set_killed(RunFigures& figures) const {
  const int signal = process_->end().signal;
  if (asked_ == Asked::kByLimit && (killed_ || signal == SIGTERM))
    set(figures, Status::kTimeLimit,
        fmt::format("killed: did not stop within {:g} s of being asked to, after {:g} s of wall time",
                    limits_.grace, limits_.wall));
  else if (asked_ == Asked::kByUser && (killed_ || signal == SIGTERM))
    set(figures, Status::kInterrupted, "killed: did not stop when asked to");
  else if (signal == SIGKILL && oom_kills() > oom_kills_)
    set(figures, "out-of-memory", "killed by the kernel for want of memory");
  else
    set(figures, fmt::format("crashed({})", signal_name(signal)),
        telling_line(text_of(folder_ / "log.txt"), false));
  if (figures.reason.empty()) figures.reason = "ended by " + signal_name(signal);
}

void repair_trace(const fs::path& file) {
  std::string text = text_of(file);
  const std::size_t end = text.find_last_of('\n');
  const std::string whole =
      end == std::string::npos ? csv_header(trace_columns()) + "\n" : text.substr(0, end + 1);
  if (whole != text) write_file_atomically(file, whole);
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
