#pragma once
/// All data formats: the built-in ones, then those of plug-ins. Declared here, where configs are checked
/// against them, and defined beside the readers, in experiments/data/readers.cpp.

#include "core/base/registry.h"
#include "core/data/data_format.h"

namespace proxbench {

/// Built in: one line a format in readers.cpp.
const Registry<DataFormatInfo>& data_format_registry();
/// One more, from outside. Throws Error (kUsage) where the name is taken.
void add_data_format(DataFormatInfo info);

}  // namespace proxbench
