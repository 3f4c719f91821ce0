#pragma once
/// The measurements of `proxbench scale`, how each phase scales, and a model that predicts times for more
/// threads and processes than were measured (experiments/bench/SCALING.md).

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"
#include "experiments/results/statistics.h"

namespace proxbench {

/// The back end name of runs by several processes of one thread each. Other names are those of Backend. For
/// this one, "threads" counts processes.
inline constexpr const char* kProcessesBackend = "mpi";

/// The contents of scale.json: profiled runs, problem by problem and, within a problem, repetition by
/// repetition.
struct Scaling {
  std::string title;
  std::vector<Run> runs;
};
nlohmann::ordered_json scaling_json(const Scaling& scaling);
/// Throws Error (kInput) if the file is not a scale.json.
Scaling read_scaling(const std::filesystem::path& file);

/// One phase of one problem on one back end, or the total of its phases. Seconds are spreads over
/// repetitions. Speed-up and efficiency compare medians with 1 thread on the same back end.
struct PhaseScaling {
  std::string backend, phase;   ///< kTotal for the total
  PhaseCost one;                ///< of a run with 1 thread; `seconds` is a median
  std::vector<Spread> seconds;  ///< at each number of threads
  std::vector<double> speedup, efficiency;
  double serial_fraction = 0.0;  ///< by serial_fraction()

  /// The share of the seconds at 1 thread that is spent outside parallel loops.
  double outside_loops() const { return 1.0 - one.loop_seconds / one.seconds; }
};
inline constexpr const char* kTotal = "total";

/// One data set, lambda and solver. All its runs ended at the same weights, to the last bit.
struct ScalingProblem {
  Runs runs;
  std::vector<int> threads;  ///< ascending
  std::vector<std::string> backends;
  std::vector<PhaseScaling>
      rows;  ///< for each back end, the total and then the phases that were called or took time

  const Run& first() const { return *runs.front(); }
  /// Returns "DATASET-lambdaLAMBDA-LABEL".
  std::string name() const;
  /// The number of CPUs that the runs could use.
  int cpus() const { return static_cast<int>(first().provenance.cores); }
  bool oversubscribed() const { return threads.back() > cpus(); }
};
std::vector<ScalingProblem> scaling_problems(const std::vector<Run>& runs);

/// Fits the serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1. It is
/// below 0 if the speed-up exceeds p. Returns NaN if there is no measurement at 1 thread, or none at more.
double serial_fraction(const std::vector<int>& threads, const std::vector<double>& seconds);

/// The cost of a message between processes. No run measures it.
struct Network {
  double latency = 2e-6;    ///< seconds
  double bandwidth = 10e9;  ///< bytes per second
};

/// Predicts the seconds of a phase (not the total) on p threads by Amdahl's law. The serial share is the
/// fitted one if more than 1 thread was measured, and otherwise the share outside parallel loops.
double predicted_by_threads(const PhaseScaling& phase, int p);
/// Predicts the seconds of a phase on p processes of one thread. All phases except the solver's are divided
/// among the processes. Each sum over instances costs an exchange of 2 ceil(log2 p) messages and 2 (p - 1)/p
/// times its bytes.
double predicted_by_processes(const PhaseScaling& phase, const Network& network, int p);

/// Returns for each problem the measurements, and the model's predictions for the numbers of threads and
/// processes in `predicted`.
std::vector<TextTable> scaling_tables(const std::vector<ScalingProblem>& problems,
                                      const std::vector<int>& predicted, const Network& network);
/// Returns a record for each row and number of threads.
std::vector<nlohmann::ordered_json> scaling_records(const std::vector<ScalingProblem>& problems);

}  // namespace proxbench
