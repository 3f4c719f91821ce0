#pragma once
/// The sizes of data sets, as in Table 1 of Le Priol et al. 2018.

#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

/// A row for each data set, in the order of the runs: instances, positions, features, outputs, d, and the
/// bytes of the marginals that a solver keeps of all instances where a run tells them (its note
/// belief_bytes).
TableSet data_table(const std::vector<Run>& runs);

}  // namespace proxbench
