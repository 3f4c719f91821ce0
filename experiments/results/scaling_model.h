#pragma once
/// What measured runs say of how each phase scales, and what a model of machines says of more cores than were
/// there (experiments/bench/SCALING.md).

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/scaling_record.h"
#include "experiments/results/statistics.h"

namespace proxbench {

struct ScalingPoint {
  int threads;
  double seconds;
};
/// The serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1. Below 0
/// where the speed-up is more than p. NaN where nothing was measured at 1 thread, or nothing at more.
double serial_fraction(const std::vector<ScalingPoint>& points);

/// The largest share of the chunks that one of p threads must do, over these loops, where chunks take equal
/// time: SUM n*ceil(C/p) / SUM n*C. At least 1/p; 1/C where p > C. 0 without loops.
double largest_share(const std::vector<std::pair<std::uint64_t, std::int64_t>>& loops, int threads);

/// The machine that is predicted for, where this one has too few cores to tell.
struct MachineModel {
  std::vector<int> threads{16, 64, 128};  ///< what is predicted beside the measured numbers
  int socket_cores = 64;
  double socket_bandwidth = 350e9;  ///< bytes a second
};

/// The bandwidth of p threads, in bytes a second: as measured, or else p times that of one, at most that of
/// their sockets. NaN where none was measured at 1 thread.
double bandwidth_of(const std::vector<TeamSpeed>& speeds, const MachineModel& machine, int threads);
/// Seconds that a loop costs beyond its work: growing with p - 1, through the origin, by least squares. NaN
/// where nothing was measured at more than 1 thread.
double loop_cost(const std::vector<TeamSpeed>& speeds, const std::string& backend, int threads);

/// One phase of one problem on one back end, or the total of its phases. Of one number of threads the seconds
/// are over repetitions; speed-up and efficiency are of medians against 1 thread on the same back end.
struct PhaseScaling {
  const ScalingProblem* problem = nullptr;
  std::string backend, phase;  ///< kTotal for the total
  std::int64_t calls = 0;      ///< of a run
  double flops = 0.0, bytes = 0.0;
  std::int64_t loops = 0;
  double chunks_per_loop = 0.0;  ///< mean; NaN without loops
  std::vector<int> threads;      ///< measured
  std::vector<Spread> seconds;   ///< at each of these
  std::vector<double> speedup, efficiency;
  double outside_loops = 0.0;           ///< share of the seconds at 1 thread that no loop holds
  double serial_fraction = 0.0;         ///< see there
  std::vector<ScalingPoint> predicted;  ///< at the measured numbers of threads and those of the model
};
inline constexpr const char* kTotal = "total";

/// For each problem and back end the total, then the phases that were called or took time.
std::vector<PhaseScaling> phase_scalings(const Scaling& scaling, const MachineModel& machine);

/// For people: for each problem what was measured, and what is predicted.
std::vector<TextTable> scaling_tables(const Scaling& scaling, const MachineModel& machine,
                                      const std::vector<PhaseScaling>& rows);
/// A line for each row and number of threads, measured or predicted.
std::string scaling_csv(const std::vector<PhaseScaling>& rows);
/// scaling_to_json() with "model", the assumptions, and "phases", the rows.
nlohmann::ordered_json scaling_report(const Scaling& scaling, const MachineModel& machine,
                                      const std::vector<PhaseScaling>& rows);

}  // namespace proxbench
