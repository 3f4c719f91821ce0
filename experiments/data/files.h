#pragma once
/// Checks and texts that all data formats share.

#include <string>
#include <vector>

#include "experiments/data/readers.h"

namespace proxbench {

/// Throws Error (kUsage) where `files` has no training file, or a hierarchy that a format for sequences
/// cannot use.
void require_training_files(const DataFiles& files, const std::string& format);

/// "a.txt, b.txt": names without folders, for texts that are shown far from this machine.
std::string file_names(const std::vector<std::string>& paths);

}  // namespace proxbench
