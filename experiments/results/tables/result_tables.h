#pragma once
/// The tables of an experiment, as the commands print and write them and the page shows them.

#include <vector>

#include "experiments/results/tables/means_table.h"
#include "experiments/results/tables/summary_table.h"

namespace proxbench {

/// Of runs of single penalties: what the paper prints, costs and sizes of the data where the config asks for
/// them, then the summary, which is the last; `columns` as in TableOptions.
std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const std::vector<std::string>& columns = {},
                                    bool allow_not_comparable = false);

/// Writes these below OUT/tables, with all columns in the CSV, and where there are targets the means over the
/// problems of all runs.
void write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                         const Presentation& presentation, const std::vector<std::string>& columns = {},
                         bool allow_not_comparable = false);

}  // namespace proxbench
