#pragma once
/// The convergence of solvers after the theory of Zhong et al. (2014): theory.json of a results folder, which
/// scripts/theory makes, as pictures and tables.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "plots/chart.h"

namespace proxbench {

/// theory.json of the folder, as experiments/bench/theory_program.cpp writes it; null where there is none.
/// Throws Error (kInput) where it is not that.
nlohmann::json read_theory(const std::filesystem::path& results);

/// theory-DATASET-LAMBDA for each problem: error, its ratio and the Dennis-More ratio of every arm against
/// iterations.
std::vector<Chart> theory_charts(const nlohmann::json& theory);

/// How the arms converge, a row each, and the Hessians at the optima, a row for each problem.
std::vector<TextTable> theory_tables(const nlohmann::json& theory);

}  // namespace proxbench
