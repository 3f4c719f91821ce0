#pragma once
/// Shifted geometric means over problems of the costs to reach targets, from stored results.
///
/// A run that failed or never reached the target is charged PAR-k (penalised average runtime, Hutter et al.,
/// "ParamILS: an automatic algorithm configuration framework", 2009): k times its limit (Problem::limits).

#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/tables/problem_set.h"

namespace proxbench {

/// Returns a table for each measure in presentation.plot.x, and a record for each measure, machine, solver
/// and target, under the presentation's title. For seconds on several machines, each machine has a table.
/// Targets, shift (> 0, in units of the measure) and k (plot.par >= 1) come from the presentation. A mean
/// counts failures with their charges. It is NaN if there is no problem, or if f* of one is less exact than
/// the target. Throws Error (kUsage).
TableSet means_tables(const std::vector<Run>& runs, const Presentation& presentation,
                      bool allow_not_comparable = false);

}  // namespace proxbench
