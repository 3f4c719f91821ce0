#pragma once
/// A job in a process of its own: starts, watches and stops it, and reads its result.

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/parallel.h"
#include "core/monitor/monitor.h"
#include "experiments/base/paths.h"
#include "experiments/base/process.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// Returns `proxbench-worker` from the folder of the running program. Throws Error if the folder lacks it.
fs::path worker_program();

struct JobLimits {
  double wall = 0.0;    ///< seconds of wall time until the process is asked to stop (SIGTERM); 0: no limit
  double grace = 10.0;  ///< seconds after which a process that was asked to stop is killed (SIGKILL)
};
/// Returns the limits of the process of a run. A job that only reads data has no wall limit.
JobLimits job_limits(const ExperimentConfig& config, const RunParameters& job);

/// Returns the settings of the process of a run, with the config's memory limit. The process is bound to CPUs
/// if the config asks for it and there are enough CPUs for `at_a_time` processes, of which this is number
/// `slot`. Its memory is then spread over the NUMA nodes of these CPUs (process.h), and OpenMP binds each of
/// its threads to one CPU. Threads of oneTBB and external trainers are not bound one by one: all threads
/// would inherit the single CPU of the first one. If a run has several processes, their launcher binds them.
ProcessSettings job_settings(const ExperimentConfig& config, const RunParameters& job,
                             const std::vector<int>& cpus, std::size_t slot, int at_a_time);

class JobProcess {
 public:
  /// Starts the run of this record, in a process that works in this folder, with job_settings() and
  /// job_limits(). The record gets the CPUs, memory nodes and environment.
  JobProcess(Run run, const fs::path& folder, const ExperimentConfig& config, const std::vector<int>& cpus,
             std::size_t slot, int at_a_time);

  /// Watches the process for at most `slice`; returns true once it has ended. Asks the process to stop if
  /// `interrupt` is set or its wall time is over, and kills it after the grace period.
  bool watch(std::chrono::milliseconds slice, bool interrupt);

  /// Returns the newest sample that was added to the trace since the last call.
  std::optional<Sample> newest_sample();

  /// Returns the seconds since the start of the process.
  double seconds() const;

  /// After the end of the process, returns the record that the process wrote, or else the record that it was
  /// started with. Adds what a dead process cannot write: status, reason, peak memory and wall time.
  Run result() const;

 private:
  enum class Asked { kByUser, kByLimit };

  Run run_;
  fs::path folder_;
  JobLimits limits_;
  long oom_kills_;  ///< the kernel's count before the start
  double start_;
  std::unique_ptr<Process> process_;
  std::optional<Asked> asked_;
  std::streamoff read_ = 0;
  std::uint64_t trace_lines_ = 0;
};

/// Fills in the values of the last sample, for a run that has no result of its own.
void add_last_sample(RunFigures& figures, const fs::path& trace_file);

}  // namespace proxbench
