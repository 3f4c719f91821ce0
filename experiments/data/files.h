#pragma once
/// Checks and texts that all data formats share.

#include <string>
#include <vector>

#include "experiments/config/data_format.h"

namespace proxbench {

enum class HierarchyUse { kNone, kRequired };

/// Throws Error (kUsage) where `files` has no training file, a hierarchy that the format cannot use, or lacks
/// one that it needs.
void require_training_files(const DataFiles& files, const std::string& format,
                            HierarchyUse hierarchy = HierarchyUse::kNone);

/// "a.txt, b.txt": names without folders, for texts that are shown far from this machine.
std::string file_names(const std::vector<std::string>& paths);

}  // namespace proxbench
