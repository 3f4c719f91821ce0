#pragma once
/// How runs scale, as tables for people, CSV and JSON.

#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/scaling_model.h"

namespace proxbench {

/// Returns for each problem the measurements, and the model's predictions for the numbers of threads and
/// processes in `predicted`.
std::vector<TextTable> scaling_tables(const std::vector<ScalingProblem>& problems,
                                      const std::vector<int>& predicted, const Network& network);
/// Returns a record for each row and number of threads.
std::vector<nlohmann::ordered_json> scaling_records(const std::vector<ScalingProblem>& problems);

}  // namespace proxbench
