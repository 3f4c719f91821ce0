#pragma once
/// Pictures and tables of how solvers converge, by the theory of Zhong et al. (2014). They show theory.json
/// of a results folder, which scripts/theory makes.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "plots/chart.h"

namespace proxbench {

/// Reads theory.json of the folder, which experiments/bench/theory_program.cpp writes; null if there is none.
/// Throws Error (kInput) if the file is something else.
nlohmann::json read_theory(const std::filesystem::path& results);

/// Returns the figure theory-DATASET-LAMBDA for each problem: error, its ratio and the Dennis-More ratio of
/// every arm against iterations.
std::vector<Chart> theory_charts(const nlohmann::json& theory);

/// Returns a table of the arms' convergence with one row per arm, and one of the Hessians at the optima with
/// one row per problem.
std::vector<TextTable> theory_tables(const nlohmann::json& theory);

}  // namespace proxbench
