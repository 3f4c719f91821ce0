#pragma once
/// Writes the job files of batches and submits them. For the holder of OUT's lock.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/sweep/launcher.h"
#include "experiments/sweep/slurm/slurm_jobs.h"
#include "experiments/sweep/slurm/slurm_task.h"

namespace proxbench {

class Batches {
 public:
  struct NewTask {
    std::string name, key;
    SlurmTask task;
  };

  Batches(const std::filesystem::path& out, const ExperimentConfig& config, Digests& digests);

  void read() { batches_ = read_batches(out_); }
  const std::vector<Batch>& all() const { return batches_; }
  /// Stores the jobs of batches whose submission was cut short; removes those that were never accepted.
  void note_jobs(const std::vector<QueuedTask>& queue);
  /// For when no job waits or runs.
  void remove_all();

  /// Throws Error (kUsage) where the cluster could never run a job of these problems.
  void check_limits(const std::vector<SweepProblem>& problems);
  Submission submit_probe();
  /// False while the job has not ended. Throws Error where it did not find what it looked for.
  bool probe_succeeded(std::int64_t job) const;

  SlurmTask problem_task(const SweepWork& work, const SweepProblem& problem);
  SlurmTask run_task(const SweepWork& work, const SweepProblem& problem, const CellState& cell,
                     const std::filesystem::path& facts);

  int array_size();
  /// One array. `dependency`: jobs or tasks, separated by ':', that must have succeeded; empty: none. Where
  /// it is not accepted, nothing stays behind; but without an answer the batch does, and note_jobs() will
  /// know.
  Submission submit(const std::vector<NewTask>& tasks, bool problems, const std::string& waits_for,
                    const std::string& dependency);

 private:
  SlurmTask common_task(const RunParameters& cell, bool force);
  JobRequest request(double seconds) const;
  /// Wall seconds of a job; 0: as long as the partition allows.
  double problem_seconds(const SweepProblem& problem) const;
  double run_seconds(const RunParameters& job) const;
  std::filesystem::path write_batch(const Batch& batch, const std::vector<NewTask>& tasks);

  std::filesystem::path out_, program_;
  const ExperimentConfig& config_;
  Digests& digests_;
  ProcessRules rules_;
  std::string host_;
  std::vector<Batch> batches_;
  std::filesystem::path probe_file_;
  int array_size_ = 0;
};

}  // namespace proxbench
