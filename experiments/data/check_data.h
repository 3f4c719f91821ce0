#pragma once
/// Checks that the data from a data format are consistent. Oracles and solvers rely on their shapes.

#include <string>

#include "core/data/dataset.h"

namespace proxbench {

/// Throws Error with the format, the set and the fault. Checks the boundaries of instances, gold outputs, X,
/// vocabulary and hierarchy of each set, and that the test set fits the training set. A test set without
/// positions counts as none.
void check_data(const DataPair& data, const std::string& format);

/// Says why the labels of a checked training set may be the wrong ones: there is only one, or more than half
/// as many as positions. Empty if there is no doubt.
std::string label_doubt(const Dataset& train);

}  // namespace proxbench
