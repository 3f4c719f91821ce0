#pragma once
/// The sizes of data sets, as in Table 1 of Le Priol et al. 2018.

#include <filesystem>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

/// A row for each data set, in the order of the runs: instances, positions, features, outputs, d, and the
/// bytes of the marginals that a solver keeps of all instances where a run tells them (its note
/// belief_bytes).
TextTable data_table(const std::vector<Run>& runs);

/// Writes data.md, data.tex and data.csv into the folder (made where it is missing); returns them.
std::vector<std::filesystem::path> write_data_table(const std::vector<Run>& runs,
                                                    const std::filesystem::path& folder);

}  // namespace proxbench
