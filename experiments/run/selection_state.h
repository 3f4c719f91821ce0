#pragma once
/// What an interrupted select_model() has found, in a file of the working folder, so that the same one goes
/// on from there.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/run/path.h"
#include "experiments/run/selection.h"

namespace proxbench {

/// What a path gave on one split, by point, and the weights of the last of these points.
struct Measured {
  std::vector<HeldOut::Value> values;
  std::vector<double> nnz;
  PathStart last;
};

/// "select-0123456789abcdef.json", from all that decides what is found: the data, the settings of the solver,
/// the penalties and the instances held out. Neither how many points may follow them nor which of them is
/// chosen.
std::filesystem::path selection_file(const LoadedData& data, const RunParameters& settings,
                                     std::span<const Penalty> penalties, const SelectionSettings& selection);

/// Of each split. Empty where there is no file. Throws Error (kInput) where it is damaged. Processes all read
/// what the first one finds.
std::vector<Measured> read_selection(const std::filesystem::path& file, const Processes* processes);
void write_selection(const std::filesystem::path& file, const std::vector<Measured>& measured);

}  // namespace proxbench
