#pragma once
/// The tables of an experiment, for the commands and for the page.

#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/tables/summary_table.h"

namespace proxbench {

/// The sizes of data sets, as in Table 1 of Le Priol et al. 2018. One row for each data set, in the order of
/// the runs: instances, positions, features, outputs and d. If a run has the note belief_bytes, the row also
/// has the bytes of the marginals that its solver keeps for all instances.
TableSet data_table(const std::vector<Run>& runs);

/// Shifted geometric means over problems of the costs to reach targets. A run that failed or never reached
/// the target is charged PAR-k (penalised average runtime, Hutter et al., "ParamILS: an automatic algorithm
/// configuration framework", 2009): k times its limit (Problem::limits).
///
/// Returns a table for each measure in presentation.plot.x, and a record for each measure, machine, solver
/// and target, under the presentation's title. For seconds on several machines, each machine has a table.
/// Targets, shift (> 0, in units of the measure) and k (plot.par >= 1) come from the presentation. A mean
/// counts failures with their charges. It is NaN if there is no problem, or if f* of one is less exact than
/// the target. Throws Error (kUsage).
TableSet means_tables(const std::vector<Run>& runs, const Presentation& presentation,
                      bool allow_not_comparable = false);

/// Returns the tables of runs of single penalties: the comparison with a paper, and the tables of costs and
/// of data sizes if the config asks for them. The summary comes last; `columns` is as in TableOptions.
std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const std::vector<std::string>& columns = {},
                                    bool allow_not_comparable = false);

/// Returns these tables, and writes them below OUT/tables, with all columns in the CSV. If there are targets,
/// also writes the means over the problems of all runs. The records of the returned summary have only the
/// figures among `columns`.
std::vector<TableSet> write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                                          const Presentation& presentation,
                                          const std::vector<std::string>& columns = {},
                                          bool allow_not_comparable = false);

}  // namespace proxbench
