#pragma once
/// Distributes the instances of a data set over several processes (core/base/processes.h).

#include <vector>

#include "core/base/processes.h"
#include "core/data/dataset.h"

namespace proxbench {

/// Adds a copy of an instance of `from` to `to`, which also gets the vocabulary and the hierarchy of `from`.
/// Adds the instance's rows of X to `rows`, unless that is null.
void add_instance(Dataset& to, const Dataset& from, Index instance, DesignMatrix::Builder* rows = nullptr);

/// Process r gets the instances [out[r], out[r+1]): all have about the same number of positions, and at least
/// one instance. Throws Error (kInput) if there are fewer instances than processes.
std::vector<Index> shares(std::span<const Index> begin, int processes);

/// Cuts this process's part from a whole training set, and connects it to the parts of the others
/// (DesignMatrix::share()). Keeps the digest, description and notes of the whole set.
Dataset share_of(Dataset whole, const Processes& processes);

}  // namespace proxbench
