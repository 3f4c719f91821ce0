#pragma once
/// Facts about stored runs, for titles and pages.

#include <cstdint>
#include <string>

#include "experiments/results/results.h"

namespace proxbench {

/// Formats 215358 as "215,358".
std::string with_commas(std::int64_t n);

/// Whether a description of data says that they are synthetic.
bool says_synthetic(const std::string& description);

/// Returns the start of a title: "SYNTHETIC DATA: ", "NOT COMPARABLE: ", both or neither.
std::string data_warnings(bool synthetic, bool comparable = true);

/// Returns penalty_text() in symbols, e.g. "λ = 1, μ = 0.1" or "hinge, μ = 1".
std::string penalty_symbols(const RunParameters& run);

}  // namespace proxbench
