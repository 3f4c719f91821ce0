#pragma once
/// Which part of the training files each of several processes reads.

#include <string>
#include <vector>

#include "core/base/processes.h"
#include "experiments/base/line_reader.h"

namespace proxbench {

/// What this process reads of files that all have: about as many bytes as the others, in order. A gzipped
/// file is read by one process, as a whole. Without processes all files. Throws Error (kInput) where the
/// processes have files of different content.
std::vector<FilePart> own_parts(const std::vector<std::string>& files, const Processes* processes);

}  // namespace proxbench
