#pragma once
/// What titles and pages say about stored runs.

#include <cstdint>
#include <string>

#include "experiments/results/results.h"

namespace proxbench {

/// 215358 -> "215,358".
std::string with_commas(std::int64_t n);

/// Whether a description of data says that they are synthetic.
bool says_synthetic(const std::string& description);

/// What a title begins with: "SYNTHETIC DATA: ", "NOT COMPARABLE: ", both or neither.
std::string data_warnings(bool synthetic, bool comparable = true);

/// "λ = 1, μ = 0.1", "hinge, μ = 1": penalty_text() in symbols.
std::string penalty_symbols(const RunParameters& run);

}  // namespace proxbench
