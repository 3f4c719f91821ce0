#pragma once
/// The settings that a config gives to its runs, and that the record of a run stores. Each has one row, from
/// which the key of the config (config_sections.cpp) and the field of the record
/// (experiments/results/fields.cpp) follow. The rows say what the members mean, and their units.

#include <cstdint>
#include <string>

#include "core/base/schema.h"
#include "core/data/data_format.h"
#include "core/loss.h"
#include "core/monitor/monitor.h"

namespace proxbench {

/// A share of the clock that is large enough to evaluate every sample in full.
inline constexpr double kNoSamplingBudget = 1e6;

struct RunData {
  std::string format;
  DataFiles files;
  std::string oracle, start;

  static const Schema<RunData>& schema();
};

/// The conditions that end a run.
struct StopRules {
  double tol = 1e-6, gap_target = 0.0, time_limit = 0.0;
  std::int64_t max_iterations = 0;

  /// Without a given tol, a gap target sets tol to 0, because the default might end a run before its gap.
  void prefer_gap(bool tol_given) {
    if (gap_target > 0.0 && !tol_given) tol = 0.0;
  }
  static const Schema<StopRules>& schema();
};

struct RunSettings : StopRules {
  Loss loss;
  int threads = 1, processes = 1;
  std::string backend = "openmp";
  std::uint64_t seed = 1;
  bool sample_kkt = false, profile = false;
  double sampling_budget = MonitorOptions{}.sampling_budget;
  double warm_up = 0.0;
  std::string decoding = "structure";

  /// Includes the stop rules.
  static const Schema<RunSettings>& schema();
};

}  // namespace proxbench
