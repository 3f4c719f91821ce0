#pragma once
/// Stored results as one CSV file (RFC 4180, lines end in "\n") for other programs. Numbers in full
/// precision; an empty field is what was not measured or does not apply.

#include <string>
#include <vector>

#include "experiments/results.h"

namespace proxbench {

/// One row a run: what it was, how it ended, the numbers of its summary, its times off the clock, f* and the
/// relative difference to it, where it was made. The column `options` holds the solver's options as JSON.
std::string csv_of_runs(const std::vector<StoredRun>& runs);

/// One row a sample: the name of the run, the columns of its trace, the relative difference to f*.
std::string csv_of_samples(const std::vector<StoredRun>& runs);

}  // namespace proxbench
