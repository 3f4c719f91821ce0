#pragma once
/// The loop of a sweep on this machine: describes each data set, makes its reference, then its runs.

#include "experiments/sweep/sweep.h"

namespace proxbench {

/// Makes the missing runs of `sweep.problems` on this machine. The caller holds the locks of these problems.
void make_runs(const Sweep& sweep, SweepResult& result);

}  // namespace proxbench
