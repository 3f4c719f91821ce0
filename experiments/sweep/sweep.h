#pragma once
/// The sweep of an experiment: every data set x lambda x solver x repetition of a config, each run in a
/// process of its own (worker.h), measured against the f* of a reference run, and stored in the layout of
/// results.h. A second sweep into the same folder does only what is missing (cache.h). How runs are made is a
/// launcher's (launcher.h).

#include <filesystem>

#include "experiments/sweep/launcher.h"

namespace proxbench {

/// Runs what is missing of the grid. A run appears in OUT/runs by rename once it is complete, replacing one
/// of the same name, whatever became of it: its status says. References found in OUT/references are reused
/// where they are as tight as the config asks. Writes no tables and no figures. Throws Error where another
/// sweep works in OUT, or results cannot be written.
SweepResult run_sweep(const ExperimentConfig& config, const std::filesystem::path& out,
                      const SweepOptions& options = {}, const SweepHooks& hooks = {});

/// How many references run_sweep() makes: data sets and penalties whose f* is not stored, or not as tight as
/// the config asks, or all of them by `force`. `states`: those of all cells.
std::size_t missing_references(const ExperimentConfig& config, const std::filesystem::path& out,
                               bool force, const std::vector<CellState>& states);

}  // namespace proxbench
