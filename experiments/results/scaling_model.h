#pragma once
/// How each phase scales by what `proxbench scale` measured, and a model of more threads and processes than
/// were there (experiments/bench/SCALING.md).

#include <string>
#include <vector>

#include "experiments/results/scaling_record.h"
#include "experiments/results/statistics.h"

namespace proxbench {

/// One phase of one problem on one back end, or the total of its phases. Seconds are over repetitions;
/// speed-up and efficiency are of medians against 1 thread on the same back end.
struct PhaseScaling {
  const ScalingProblem* problem = nullptr;
  std::string backend, phase;   ///< kTotal for the total
  PhaseCost one;                ///< of a run with 1 thread; its seconds are medians
  std::vector<int> threads;     ///< measured
  std::vector<Spread> seconds;  ///< at each of these
  std::vector<double> speedup, efficiency;
  double serial_fraction = 0.0;  ///< see there

  /// The share of the seconds at 1 thread that no parallel loop holds.
  double outside_loops() const { return 1.0 - one.loop_seconds / one.seconds; }
};
inline constexpr const char* kTotal = "total";

/// For each problem and back end the total, then the phases that were called or took time.
std::vector<PhaseScaling> phase_scalings(const Scaling& scaling);

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
