#pragma once
/// The parts of training files that several processes read.

#include <vector>

#include "core/data/data_format.h"
#include "experiments/base/line_reader.h"

namespace proxbench {

/// `own` is the size or the hash of `what` that this process found. Throws Error (kInput) if another process
/// found a different one.
void require_same(const Processes& processes, const std::string& what, double own);
/// Throws Error (kInput) if the contents of training files, test files, the hierarchy, or files that options
/// name differ between processes.
void require_same_files(const DataFiles& files, const Options& options, const Processes& processes);

/// Returns the parts of the training files that this process reads, after require_same_files(). All processes
/// read about the same number of bytes, in order. No file may be compressed. Without processes, returns all
/// files.
std::vector<FilePart> own_parts(const DataFiles& files, const Options& options, const Processes* processes,
                                FileRecords records = FileRecords::kUpToBlankLine);

}  // namespace proxbench
