#pragma once
/// The tables of an experiment, as commands print and write them and as the page shows them.

#include <vector>

#include "experiments/results/tables/means_table.h"
#include "experiments/results/tables/summary_table.h"

namespace proxbench {

/// Returns the tables of runs of single penalties: the comparison with a paper, and the tables of costs and
/// of data sizes if the config asks for them. The summary comes last; `columns` is as in TableOptions.
std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const std::vector<std::string>& columns = {},
                                    bool allow_not_comparable = false);

/// Returns these tables, and writes them below OUT/tables, with all columns in the CSV. If there are targets,
/// also writes the means over the problems of all runs.
std::vector<TableSet> write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                                          const Presentation& presentation,
                                          const std::vector<std::string>& columns = {},
                                          bool allow_not_comparable = false);

}  // namespace proxbench
