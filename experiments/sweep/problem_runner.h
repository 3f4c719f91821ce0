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

/// A run that is asked for.
struct RunTask {
  RunParameters job;           ///< without a target to stop at
  nlohmann::ordered_json key;  ///< RunKey::to_json()
};

/// What holds for all processes of a sweep.
struct ProcessRules {
  double wall_limit;    ///< seconds; NaN: 60 + 3 * time_limit, none without a time limit; 0: none
  double kill_grace;    ///< seconds between SIGTERM and SIGKILL
  double memory_limit;  ///< MiB; 0: none
  bool pin;
  int jobs = 1;              ///< at a time
  double stop_at;            ///< relative difference to f*; 0: none
  Reference::Wanted wanted;  ///< of f*
  /// When the last process has to stop, by wall_seconds().
  double ends_at = std::numeric_limits<double>::infinity();
  std::string not_comparable_because = "";  ///< empty: timings are comparable

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
    RunTask task;
    std::filesystem::path folder;
    std::size_t slot;
    std::unique_ptr<JobProcess> child;
    nlohmann::ordered_json now;  ///< provenance of its start
  };

  /// `cpus`: those that processes may be bound to.
  ProblemRunner(const std::filesystem::path& out, ProcessRules rules, std::vector<int> cpus,
                const SweepHooks& hooks);

  /// Reads the data once in a process of its own, to learn what they are: facts(), with "reason" where they
  /// cannot be read, or not be served by their oracle. The folder is removed.
  void describe(const RunParameters& data_job, const std::filesystem::path& folder);
  const nlohmann::ordered_json& facts() const { return facts_; }
  /// The status of runs on data with a "reason".
  std::string skipped_status() const;

  /// Where f* of this job of the data is stored.
  std::filesystem::path reference_file_of(const RunParameters& job) const;
  /// Takes a stored f* that serves; false where there is none.
  bool find_reference(const RunParameters& job);
  /// Finds f* in a process of its own. Returns what is to be stored as reference_file_of(); null where that
  /// failed or was interrupted.
  nlohmann::ordered_json make_reference(const RunParameters& job, const std::filesystem::path& folder,
                                        const std::string& source_digest, const std::string& program_digest);
  void clear_reference() { reference_.reset(); }
  const std::optional<Reference>& reference() const { return reference_; }

  /// Why the run cannot be made on the data, whose facts are known; empty: it can.
  std::string unmet(const RunTask& task) const;
  /// `slot`: which of the runs that are made at a time.
  Running start(const RunTask& task, const std::filesystem::path& folder, std::size_t slot) const;
  /// Of a run whose process has ended: makes its folder whole and returns its manifest.
  nlohmann::ordered_json finish(const Running& run) const;
  /// Makes a folder of a run that was not started.
  nlohmann::ordered_json skip(const RunTask& task, const std::filesystem::path& folder,
                              const std::string& status, const std::string& reason) const;
  void report_samples(JobProcess& child, const std::string& name) const;

 private:
  nlohmann::ordered_json base_manifest(const RunTask& task, const nlohmann::ordered_json& result) const;
  void add_missing(nlohmann::ordered_json& manifest, const std::filesystem::path& trace) const;
  nlohmann::ordered_json full_provenance(const nlohmann::ordered_json& now) const;
  ProcessSettings settings(const RunParameters& job, std::size_t slot) const;
  void warn_if_loose(const RunParameters& job) const;

  std::filesystem::path out_;
  ProcessRules rules_;
  std::vector<int> cpus_;
  const SweepHooks& hooks_;
  nlohmann::ordered_json provenance_;
  nlohmann::ordered_json facts_ = nlohmann::ordered_json::object();
  std::optional<Reference> reference_;
};

/// What should worry people of a finished run: its failure, or an end below f*.
std::vector<std::string> run_warnings(const RunParameters& job, const nlohmann::ordered_json& manifest,
                                      const std::optional<Reference>& reference);
/// Whether a manifest tells of a failure of the sweep: a solver that does not fit is none.
bool failed_run(const nlohmann::ordered_json& manifest);

}  // namespace proxbench
