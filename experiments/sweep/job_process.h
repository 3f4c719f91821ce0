#pragma once
/// A job in a process of its own: started, watched, stopped, and what became of it.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/parallel.h"
#include "core/monitor.h"
#include "experiments/base/process.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// `proxbench-worker`, which stands beside the program that is running. Throws Error where it does not.
std::filesystem::path worker_program();

struct JobLimits {
  double wall = 0.0;    ///< seconds of wall time after which it is asked to stop (SIGTERM); 0: no limit
  double grace = 10.0;  ///< seconds after which a process that was asked to stop is killed (SIGKILL)
};
/// Of the process of a run.
JobLimits job_limits(const ExperimentConfig& config, const RunParameters& job);

/// The process may run on `threads` of these CPUs, from number `first` on. Its memory is spread over their
/// NUMA nodes (process.h). With `bind_each` OpenMP binds each of its threads to one CPU. Not for processes
/// whose threads or child processes are not OpenMP's own: these inherit the one CPU of the first thread.
void pin(ProcessSettings& settings, const std::vector<int>& cpus, std::size_t first, std::size_t threads,
         bool bind_each);
/// The process of a run, within the config's memory limit. It is bound where the config says so, and there
/// are CPUs for `at_a_time` of them, of which it is number `slot`. Several processes are bound by what
/// launches them.
ProcessSettings job_settings(const ExperimentConfig& config, const RunParameters& job,
                             const std::vector<int>& cpus, std::size_t slot = 0, int at_a_time = 1);

class JobProcess {
 public:
  /// Starts the run that the record asks for, in a process that works in this folder; of `settings` command
  /// and log are set here.
  JobProcess(Run run, const std::filesystem::path& folder, ProcessSettings settings, const JobLimits& limits);

  /// Watches it for so long at most; true once it has ended. Asks it to stop where `interrupt` is set or its
  /// wall time is over, and kills it where it does not within the grace.
  bool watch(std::chrono::milliseconds slice, bool interrupt);

  /// The last of the samples that have been added to its trace since the last call.
  std::optional<Sample> newest_sample();

  /// Since its start.
  double seconds() const;

  /// After its end: the record that it wrote, or the one it was started with, with what a dead process cannot
  /// say: status, reason, peak memory and wall time.
  Run result() const;

 private:
  enum class Asked { kByUser, kByLimit };

  void ask_to_stop(Asked by);

  Run run_;
  std::filesystem::path folder_;
  JobLimits limits_;
  long oom_kills_;  ///< of the kernel, before the start
  double start_;
  std::unique_ptr<Process> process_;
  std::optional<Asked> asked_;
  double asked_at_ = 0.0;
  bool killed_ = false;
  std::streamoff read_ = 0;
  std::uint64_t trace_lines_ = 0;
};

/// Ends the trace of a killed run after its last whole line, and gives it a header where it has none.
void repair_trace(const std::filesystem::path& file);

/// What the last sample of a run says that has no result of its own.
void add_last_sample(RunFigures& figures, const std::filesystem::path& trace_file);

}  // namespace proxbench
