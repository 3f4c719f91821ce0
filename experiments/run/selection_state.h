#pragma once
/// Stores the results of an interrupted select_model() in a file of the working folder, from which the same
/// call continues.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/run/path.h"
#include "experiments/run/selection.h"

namespace proxbench {

/// The results of a path on one split, by point, and the weights and the lambda of its last point.
struct Measured {
  std::vector<HeldOut::Value> values;
  std::vector<double> nnz;
  std::vector<Coord> index;
  std::vector<double> weight;
  double lambda = 0.0;

  static auto members() {
    return std::tuple(std::pair("values", &Measured::values), std::pair("nnz", &Measured::nnz),
                      std::pair("index", &Measured::index), std::pair("weight", &Measured::weight),
                      std::pair("lambda", &Measured::lambda));
  }
};

/// Returns a name like "select-0123456789abcdef.json". It is a hash of everything that decides the results:
/// the data, the solver's settings, the penalties and the held-out instances. The number of additional points
/// and the rule of choice have no influence.
std::filesystem::path selection_file(const LoadedData& data, const RunParameters& settings,
                                     std::span<const Penalty> penalties, const SelectionSettings& selection);

/// Returns the results of each split; empty if there is no file. Throws Error (kInput) if the file is
/// damaged. All processes get what the first one reads.
std::vector<Measured> read_selection(const std::filesystem::path& file, const Processes* processes);
void write_selection(const std::filesystem::path& file, const std::vector<Measured>& measured);

}  // namespace proxbench
