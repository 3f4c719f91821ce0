#pragma once
/// The monitor is the only reader of the clock. A solver calls it once an iteration; it pauses the clock,
/// takes a sample where one is due, and says whether to go on (DESIGN section 4).

#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "core/types.h"

namespace proxbench {

/// Wall time in seconds from some moment on, for what is not on the timed clock: set-up, loading.
double wall_seconds();

/// Per-position accuracy of w on a data set; unknown gold outputs count as misses.
class TestSet {
 public:
  /// Both are borrowed. The oracle is that of the data.
  TestSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel,
          Decoding decoding = Decoding::kStructure);
  double accuracy(const SparseVector& w) const;
  std::vector<Index> decode(const SparseVector& w) const;

 private:
  const Dataset& data_;
  const Oracle& oracle_;
  Parallel parallel_;
  Decoding decoding_;
};

/// One row of a trace. What was not measured is NaN.
struct Sample {
  double seconds = 0.0;      ///< wall time on the clock since the start
  double cpu_seconds = 0.0;  ///< CPU time of the process on the clock
  std::int64_t iteration = 0;
  double passes = 0.0;
  double objective = 0.0;  ///< F, computed from the iterate
  double loss = 0.0;       ///< l, computed from the iterate
  std::uint64_t nnz = 0;
  std::uint64_t working_set = 0;
  double kkt = std::numeric_limits<double>::quiet_NaN();
  double test_accuracy = std::numeric_limits<double>::quiet_NaN();
};

/// F and its optimality measure at one point.
struct Certificate {
  double objective = 0.0, loss = 0.0, l1 = 0.0, kkt = 0.0;
  std::uint64_t nnz = 0;
};
/// From one inference and one full gradient; l1 is ||w||_1 (without lambda).
Certificate certify(Objective& objective, const SparseVector& w);

struct MonitorOptions {
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds on the clock
  std::int64_t max_iterations = std::numeric_limits<std::int64_t>::max();
  /// After the first `dense_samples` iterations a sample is taken when the clock has grown by this share.
  double sample_growth = 0.01;
  std::int64_t dense_samples = 30;
  bool sample_kkt = false;  ///< a full gradient for each sample, off the clock
};

/// Why a solver stopped.
enum class Status { kConverged, kMaxIterations, kTimeLimit, kInterrupted, kStalled, kDiverged };
/// "converged", "max-iterations", "time-limit", "interrupted", "stalled" (no further decrease within
/// rounding) or "diverged".
const char* status_name(Status status);

class Monitor {
 public:
  /// `evaluator` is an objective of the monitor's own; `solver_objective` is asked for its passes only. All
  /// borrowed.
  Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
          const TestSet* test = nullptr);

  /// Called after each sample, off the clock.
  std::function<void(const Sample&)> on_sample;
  /// Set from outside (Ctrl-C) to stop at the next iteration.
  const std::atomic<bool>* interrupt = nullptr;

  /// Takes the sample of the starting point and starts the clock. Called by the solver once it is ready to
  /// iterate from w (allocation of its buffers comes before, all of its work on the problem after).
  void start(const SparseVector& w);

  /// Once an iteration, with the number of iterations done. False: stop, for the reason in stop_status().
  bool step(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);
  /// The same for solvers that keep w dense; the copy is made off the clock.
  bool step(std::int64_t iteration, std::span<const double> w);
  /// The same for solvers that keep w in a form of their own: iterate() makes its nonzeros, off the clock and
  /// only where a sample is due. What it returns must not depend on whether it was called before.
  bool step(std::int64_t iteration, const std::function<SparseVector()>& iterate, std::uint64_t working_set);

  /// Stops the clock and makes sure the last iterate has been sampled. Called by whoever called the solver.
  void finish(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);

  Status stop_status() const { return stop_status_; }
  double seconds() const { return seconds_; }
  double cpu_seconds() const { return cpu_seconds_; }
  const std::vector<Sample>& trace() const { return trace_; }

 private:
  void pause();
  void resume();
  bool due(std::int64_t iteration) const;
  bool proceed(std::int64_t iteration);
  void take_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);

  Objective& evaluator_;
  const Objective& solver_objective_;
  MonitorOptions options_;
  const TestSet* test_;
  Scores scores_;
  Residual residual_;
  std::vector<Sample> trace_;
  Status stop_status_ = Status::kMaxIterations;
  bool running_ = false;
  double seconds_ = 0.0, cpu_seconds_ = 0.0, wall_mark_ = 0.0, cpu_mark_ = 0.0;
};

}  // namespace proxbench
