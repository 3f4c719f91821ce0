#pragma once
/// Whether what a data format returned hangs together: oracles and solvers take its shapes for granted.

#include <string>

#include "core/data/dataset.h"

namespace proxbench {

/// Throws Error that names the format, the set and what does not fit: the boundaries of instances, gold
/// outputs, X, vocabulary and hierarchy of either set, and of the test set beside the training set. A test
/// set without positions is none.
void check_data(const DataPair& data, const std::string& format);

/// Why the labels of a checked training set may not be those that were meant: they are over half as many as
/// the positions, or one alone. Empty where nothing speaks against them.
std::string label_doubt(const Dataset& train);

}  // namespace proxbench
