#pragma once
/// What `proxbench scale` measured, how each phase scales by it, and a model of more threads and processes
/// than were there (experiments/bench/SCALING.md).

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/results.h"
#include "experiments/results/statistics.h"

namespace proxbench {

/// The back end of runs by several processes of one thread each; the others are names of Backend. Their
/// "threads" are the processes.
inline constexpr const char* kProcessesBackend = "mpi";

/// As scale.json holds it: profiled runs, repetitions outermost, those of one problem together.
struct Scaling {
  std::string title;
  std::vector<Run> runs;
};
nlohmann::ordered_json scaling_json(const Scaling& scaling);
/// Throws Error (kInput) where it is no such file.
Scaling read_scaling(const std::filesystem::path& file);

/// One phase of one problem on one back end, or the total of its phases. Seconds are over repetitions;
/// speed-up and efficiency are of medians against 1 thread on the same back end.
struct PhaseScaling {
  std::string backend, phase;   ///< kTotal for the total
  PhaseCost one;                ///< of a run with 1 thread; its seconds are medians
  std::vector<Spread> seconds;  ///< at each number of threads
  std::vector<double> speedup, efficiency;
  double serial_fraction = 0.0;  ///< see there

  /// The share of the seconds at 1 thread that no parallel loop holds.
  double outside_loops() const { return 1.0 - one.loop_seconds / one.seconds; }
};
inline constexpr const char* kTotal = "total";

/// One data set, lambda and solver. All its runs ended at the same weights, to the last bit.
struct ScalingProblem {
  Runs runs;
  std::vector<int> threads;  ///< ascending
  std::vector<std::string> backends;
  std::vector<PhaseScaling>
      rows;  ///< of each back end the total, then the phases that were called or took time

  const Run& first() const { return *runs.front(); }
  /// "DATASET-lambdaLAMBDA-LABEL".
  std::string name() const;
  /// CPUs that the runs could use.
  int cpus() const { return static_cast<int>(first().provenance.cores); }
  bool oversubscribed() const { return threads.back() > cpus(); }
};
std::vector<ScalingProblem> scaling_problems(const std::vector<Run>& runs);

/// The serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1. Below 0
/// where the speed-up is more than p. NaN where nothing was measured at 1 thread, or nothing at more.
double serial_fraction(const std::vector<int>& threads, const std::vector<double>& seconds);

/// What a message between processes costs. No run measures it.
struct Network {
  double latency = 2e-6;    ///< seconds
  double bandwidth = 10e9;  ///< bytes a second
};

/// Seconds of a phase (not the total) on p threads, by Amdahl's law with its serial share: the fit where more
/// than 1 thread was measured, else what lies outside of loops.
double predicted_by_threads(const PhaseScaling& phase, int p);
/// Seconds of a phase on p processes of one thread. All phases but the solver's are shared by all; each sum
/// over instances crosses as an exchange of 2 ceil(log2 p) messages and 2 (p - 1)/p times its bytes.
double predicted_by_processes(const PhaseScaling& phase, const Network& network, int p);

}  // namespace proxbench
