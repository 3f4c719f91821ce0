#pragma once
/// The sizes of data sets, as in Table 1 of Le Priol et al. 2018.

#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

/// One row for each data set, in the order of the runs: instances, positions, features, outputs and d. If a
/// run has the note belief_bytes, the row also has the bytes of the marginals that its solver keeps for all
/// instances.
TableSet data_table(const std::vector<Run>& runs);

}  // namespace proxbench
