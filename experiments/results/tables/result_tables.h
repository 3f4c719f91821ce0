#pragma once
/// The tables of an experiment, as the commands print and write them and the page shows them.

#include <vector>

#include "experiments/results/tables/means_table.h"
#include "experiments/results/tables/summary_table.h"

namespace proxbench {

/// The means over the problems of all runs, as the presentation asks for them.
MeansOptions means_options(const Presentation& presentation, const TableOptions& options);

/// Of runs of single penalties: what the paper prints, costs and sizes of the data where the config asks for
/// them, then the summary, which is the last.
std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const TableOptions& options);

/// Writes these below OUT/tables, and where there are targets the means.
void write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                         const Presentation& presentation, const TableOptions& options);

}  // namespace proxbench
