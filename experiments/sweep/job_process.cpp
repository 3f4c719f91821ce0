#include "experiments/sweep/job_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/launch.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// How often the kernel has killed a process for want of memory.
long oom_kills() {
  std::ifstream in("/proc/vmstat");
  std::string key;
  for (long value = 0; in >> key >> value;)
    if (key == "oom_kill") return value;
  return 0;
}

/// The last line that says something.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t before = text.find_last_of('\n', end);
  return text.substr(before == std::string::npos ? 0 : before + 1,
                     end - (before == std::string::npos ? 0 : before + 1) + 1);
}

void set(Json& json, const std::string& status, const std::string& reason) {
  json["status"] = status;
  json["reason"] = reason;
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

JobProcess::JobProcess(const RunParameters& job, const fs::path& folder, ProcessSettings settings,
                       const JobLimits& limits)
    : folder_(folder), limits_(limits), oom_kills_(oom_kills()), start_(wall_seconds()) {
  write_json(folder / kJobFile, job_json(job));
  if (job.processes > 1) {
    std::istringstream words(launch_command(job.processes));
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

std::vector<Sample> JobProcess::new_samples() {
  std::vector<Sample> out;
  std::ifstream in(folder_ / "trace.csv", std::ios::binary);
  in.seekg(read_);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    if (trace_lines_++ > 0) out.push_back(parse_trace_line(line, folder_ / "trace.csv", trace_lines_));
  }
  return out;
}

double JobProcess::seconds() const {
  return wall_seconds() - start_;
}

Json JobProcess::result() const {
  Json json = json_of(folder_ / kResultFile);
  if (!json.is_object()) json = Json::object();
  const ProcessEnd& end = process_->end();
  const Json told = json.value("reason", Json());
  json["reason"] = nullptr;
  if (end.signal != 0)
    set_killed(json);
  else if (end.exit_status == kOutOfMemoryStatus)
    set(json, "out-of-memory", "memory ran out");
  else if (end.exit_status != 0)
    set(json, "failed", failure(told));
  else if (asked_ == Asked::kByLimit && json.value("status", "") == "interrupted")
    set(json, "time-limit", fmt::format("asked to stop after {:g} s of wall time", limits_.wall));
  if (!json.contains("peak_rss_bytes") || json["peak_rss_bytes"].is_null())
    json["peak_rss_bytes"] = end.peak_rss_bytes;
  return json;
}

void JobProcess::ask_to_stop(Asked by) {
  process_->send(SIGTERM);
  asked_ = by;
  asked_at_ = seconds();
}
void JobProcess::set_killed(Json& json) const {
  const int signal = process_->end().signal;
  if (asked_ == Asked::kByLimit && (killed_ || signal == SIGTERM))
    set(json, "time-limit",
        fmt::format("killed: did not stop within {:g} s of being asked to, after {:g} s of wall time",
                    limits_.grace, limits_.wall));
  else if (asked_ == Asked::kByUser && (killed_ || signal == SIGTERM))
    set(json, "interrupted", "killed: did not stop when asked to");
  else if (signal == SIGKILL && oom_kills() > oom_kills_)
    set(json, "out-of-memory", "killed by the kernel for want of memory");
  else
    set(json, fmt::format("crashed({})", signal_name(signal)), last_line(text_of(folder_ / "log.txt")));
  if (json["reason"] == "") json["reason"] = "ended by " + signal_name(signal);
}
std::string JobProcess::failure(const Json& told) const {
  if (told.is_string()) return told.get<std::string>();
  const std::string line = last_line(text_of(folder_ / "log.txt"));
  return line.empty() ? fmt::format("exit status {}", process_->end().exit_status) : line;
}

void repair_trace(const fs::path& file) {
  std::string text = text_of(file);
  const std::size_t end = text.find_last_of('\n');
  const std::string whole = end == std::string::npos ? trace_header() + "\n" : text.substr(0, end + 1);
  if (whole != text) write_file_atomically(file, whole);
}

void add_last_sample(Json& manifest, const fs::path& trace_file) {
  for (const Field<RunFigures>& field : run_figures())
    if (field.section.empty() && !manifest.contains(field.name)) manifest[field.name] = nullptr;
  const std::vector<Sample> trace = read_trace(trace_file);
  if (trace.empty()) return;
  const Sample& last = trace.back();
  manifest["objective"] = last.objective;
  manifest["loss"] = last.loss;
  manifest["nnz"] = last.nnz;
  manifest["iterations"] = last.iteration;
  manifest["passes"] = last.passes;
  manifest["updates"] = number_json(last.updates);
  manifest["seconds"] = last.seconds;
  manifest["cpu_seconds"] = last.cpu_seconds;
}

}  // namespace proxbench
