#pragma once
/// Divides the training files among several processes for reading, and moves rows from the process that read
/// them to the one that keeps them.

#include <string>
#include <vector>

#include "core/base/processes.h"
#include "core/data/dataset.h"
#include "experiments/base/line_reader.h"
#include "experiments/config/data_format.h"

namespace proxbench {

/// Returns the parts of the training files that this process reads. All processes read about the same number
/// of bytes, in order. One process reads a whole gzipped file. Without processes, returns all files. Throws
/// Error (kInput) if the contents of files differ between processes, including test files, the hierarchy, and
/// files that options name.
std::vector<FilePart> own_parts(const DataFiles& files, const Options& options, const Processes* processes,
                                FileRecords records = FileRecords::kUpToBlankLine);

/// Moves rows, gold outputs and instances between processes, until each process has those of its share
/// (core/data/sharing.h). Before the call, each has those of its part of the files. A feature must have the
/// same number on all processes.
void move_to_shares(DesignMatrix::Builder& rows, std::vector<Index>& gold, std::vector<Index>& begin,
                    const Processes& processes);

}  // namespace proxbench
