#pragma once
/// Which instances each process has, where several share a data set (core/base/processes.h).

#include <vector>

#include "core/base/processes.h"
#include "core/data/dataset.h"

namespace proxbench {

/// Process r has the instances [out[r], out[r+1]): about as many positions each, whole leaves of the sums
/// over positions (core/base/sum.h).
/// Throws Error (kInput) where there are fewer leaves than processes.
std::vector<Index> shares(std::span<const Index> begin, int processes);

/// This process's part of a training set that it has as a whole, told of the others' (DesignMatrix::share()).
/// Digest, description and notes are those of the whole.
Dataset share_of(Dataset whole, const Processes& processes);

}  // namespace proxbench
