#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/numbers.h"

namespace proxbench {

/// One row of a trace. Whatever was not measured is NaN.
struct Sample {
  double seconds = 0.0;      ///< wall time on the clock since the start
  double cpu_seconds = 0.0;  ///< CPU time of the process on the clock
  std::int64_t iteration = 0;
  double passes = 0.0;
  /// Parameter updates by all training instances (Counts::add_updates()).
  double updates = kNaN;
  double objective = 0.0;  ///< F at the iterate
  double loss = 0.0;       ///< l at the iterate; in a light sample as the solver's own objective gave it
  std::uint64_t nnz = 0;
  std::uint64_t working_set = 0;
  double kkt = kNaN;
  /// F minus the best lower bound on min F known by then (dual.h). NaN before there is one.
  double gap = kNaN;
  /// For a solver that keeps a dual point (Monitor::watch()), in samples that look for bounds: F minus the
  /// value of that point, and the solver's own estimate of that gap.
  double dual_gap = kNaN;
  double estimated_gap = kNaN;
  /// For a solver whose own variables agree only in the limit (DualPoint::infeasibility()).
  double infeasibility = kNaN;
  double test_accuracy = kNaN;                      ///< measured in some samples only
  std::map<std::string, double> test_metrics = {};  ///< the other metrics of the same samples, by name
};

}  // namespace proxbench
