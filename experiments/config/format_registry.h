#pragma once
/// All data formats: first the built-in ones, then those of plug-ins. They are declared here because configs
/// are checked against them, and defined beside the readers, in experiments/data/readers.cpp.

#include "core/base/registry.h"
#include "core/data/data_format.h"

namespace proxbench {

/// Each built-in format has one line in readers.cpp.
const Registry<DataFormatInfo>& data_format_registry();
/// Adds a format of a plug-in. Throws Error (kUsage) if the name is taken.
void add_data_format(DataFormatInfo info);

}  // namespace proxbench
