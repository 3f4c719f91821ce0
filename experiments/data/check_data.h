#pragma once
/// Checks of data that a reader has returned.

#include <string>

#include "core/data/data_format.h"

namespace proxbench {

/// Throws Error with the format, the set and the fault. Checks the boundaries of instances, gold outputs, X,
/// vocabulary and hierarchy of each set, and that the test set fits the training set. A test set without
/// positions counts as none.
void check_data(const DataPair& data, const std::string& format);

/// Returns why the labels of a checked training set may be wrong: there is only one label, or more than half
/// as many labels as positions. Empty if there is no warning.
std::string label_warning(const Dataset& train);

}  // namespace proxbench
