#pragma once
/// Which part of the training files each of several processes reads, and how rows get from the process that
/// has read them to the one that keeps them.

#include <string>
#include <vector>

#include "core/base/processes.h"
#include "core/data/dataset.h"
#include "experiments/base/line_reader.h"
#include "experiments/config/data_format.h"

namespace proxbench {

/// What this process reads of the training files that all have: about as many bytes as the others, in order.
/// A gzipped file is read by one process, as a whole. Without processes all files. Throws Error (kInput)
/// where the processes have files of different content, those for tests, the hierarchy and those that options
/// name among them.
std::vector<FilePart> own_parts(const DataFiles& files, const Options& options, const Processes* processes,
                                FileRecords records = FileRecords::kUpToBlankLine);

/// Once each process has made rows and gold outputs of its part, and instances of them: leaves it those of
/// its share (core/data/sharing.h). The features have the same numbers on all.
void move_to_shares(DesignMatrix::Builder& rows, std::vector<Index>& gold, std::vector<Index>& begin,
                    const Processes& processes);

}  // namespace proxbench
