#pragma once
/// What titles and pages say about stored runs.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/penalty.h"
#include "experiments/results/results.h"

namespace proxbench {

/// 215358 -> "215,358".
std::string with_commas(std::int64_t n);

/// Whether a description of data says that they are synthetic.
bool says_synthetic(const std::string& description);

/// What a title begins with: "SYNTHETIC DATA: ", "NOT COMPARABLE: ", both or neither.
std::string data_warnings(bool synthetic, bool comparable = true);

using CountOfRun = std::function<std::optional<std::uint64_t>(const Run&)>;
/// The distinct counts of the runs, "2" or "1 / 2"; empty if no run has one.
std::string distinct_counts(const std::vector<const Run*>& runs, const CountOfRun& count);

/// "λ = 1, μ = 0.1", "hinge, μ = 1": problem_text() in symbols.
std::string penalty_symbols(const Penalty& penalty, const Loss& loss = {});

}  // namespace proxbench
