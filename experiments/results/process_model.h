#pragma once
/// What a model of messages says of more processes than were there (experiments/bench/SCALING.md).

#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/scaling_record.h"

namespace proxbench {

/// The network that is predicted for.
struct NetworkModel {
  std::vector<int> processes{2, 4, 8, 16, 32, 64};
  double latency = 2e-6;    ///< seconds of a message
  double bandwidth = 10e9;  ///< bytes a second
  double data = 1.0;        ///< so many times the instances that were measured
};

/// Seconds of a phase by so many processes of one thread each, from those of one: the work that is shared,
/// with the largest share and the waiting of sums in order, and the messages. What `solver` does is not
/// shared.
double predict_processes(const PhaseCost& one, const NetworkModel& network, int processes);

/// For people: for each problem and solver the seconds by one process and the speed-up of more, of the data
/// as they were and of a hundred times as many. From the runs with one thread; a problem without any has no
/// row.
TextTable processes_table(const Scaling& scaling, const NetworkModel& network);

}  // namespace proxbench
