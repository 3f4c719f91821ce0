#pragma once
/// Data, f* and runs of one problem on this machine, each in a process of its own: the working part of a
/// local launcher. Nothing here needs the config.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/fields.h"
#include "experiments/results/reference.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/sweep_hooks.h"

namespace proxbench {

struct ExperimentConfig;

/// What holds for all processes of a sweep.
struct ProcessRules {
  double wall_limit;    ///< seconds; NaN: 60 + 3 * time_limit, none without a time limit; 0: none
  double kill_grace;    ///< seconds between SIGTERM and SIGKILL
  double memory_limit;  ///< MiB; 0: none
  bool pin;
  int jobs = 1;                             ///< at a time
  double stop_at;                           ///< relative difference to f*; 0: none
  WantedReference wanted;                   ///< of f*
  std::string not_comparable_because = "";  ///< empty: timings are comparable
  /// When the last process has to stop, by wall_seconds().
  double ends_at = std::numeric_limits<double>::infinity();

  explicit ProcessRules(const ExperimentConfig& config, int runs_at_a_time = 1);
  JobLimits limits(double time_limit) const;
  /// Of a process without a limit of its own.
  JobLimits until_the_end() const;
};

class ProblemRunner {
 public:
  /// How long a process is watched before its trace is looked at again.
  static constexpr std::chrono::milliseconds kSlice{500};

  struct Running {
    std::filesystem::path folder;
    std::size_t slot;
    std::unique_ptr<JobProcess> child;
  };

  /// `cpus`: those that processes may be bound to.
  ProblemRunner(const std::filesystem::path& out, ProcessRules rules, std::vector<int> cpus,
                const SweepHooks& hooks);

  /// Reads the data once in a process of its own, to learn what they are: facts(), with a reason if they
  /// cannot be read, or their oracle cannot serve them. The folder is removed.
  void describe(const RunParameters& data_job, const std::filesystem::path& folder);
  const RunFigures& facts() const { return facts_; }
  /// How runs end on data with a reason.
  std::string skipped_status() const;

  /// Where f* of this job of the data is stored.
  std::filesystem::path reference_file_of(const RunParameters& job) const;
  /// Takes a stored f* that serves; false where there is none.
  bool find_reference(const RunParameters& job);
  /// Finds f* in a process of its own. Returns the record that is to be stored as reference_file_of(); none
  /// if that failed or was interrupted. `run`: its parameters and key.
  std::optional<Run> make_reference(Run run, const std::filesystem::path& folder);
  void clear_reference() { reference_.reset(); }
  const std::optional<Run>& reference() const { return reference_; }

  /// Why the run cannot be made on the data, whose facts are known; empty: it can.
  std::string unmet(const RunParameters& job) const;
  /// Starts the run with these parameters and this key. `slot`: which of the runs that are made at a time.
  Running start(Run run, const std::filesystem::path& folder, std::size_t slot) const;
  /// Of a run whose process has ended: makes its folder whole and returns its record.
  Run finish(const Running& running) const;
  /// Makes a folder of a run that was not started.
  Run skip(Run run, const std::filesystem::path& folder, const std::string& status,
           const std::string& reason) const;
  void report_samples(JobProcess& child, const std::string& name) const;

 private:
  /// Sets what the record of a run says before it starts.
  void begin(Run& run) const;
  /// Adds what a run that failed cannot tell of itself, and writes the manifest.
  void store(Run& run, const std::filesystem::path& folder) const;
  ProcessSettings settings(const RunParameters& job, std::size_t slot) const;
  void warn_if_loose() const;

  std::filesystem::path out_;
  ProcessRules rules_;
  std::vector<int> cpus_;
  const SweepHooks& hooks_;
  RunFigures facts_;
  std::optional<Run> reference_;
};

/// What should worry people of a finished run: its failure, or an end below f*.
std::vector<std::string> run_warnings(const Run& run, const std::optional<Run>& reference);
/// Whether it is a failure of the sweep: a solver that does not fit is none.
bool failed_run(const Run& run);

}  // namespace proxbench
