#pragma once
/// Shifted geometric means of the costs to reach targets over problems, from stored results.
///
/// A run that failed or never reached the target is charged PAR-k (penalised average runtime, Hutter et al.,
/// "ParamILS: an automatic algorithm configuration framework", 2009): k times its limit, see Problem::limits.

#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/tables/problem_set.h"

namespace proxbench {

/// One solver over all problems of a set.
struct MeansRow {
  std::string solver;
  std::vector<int> reached;  ///< problems on which it reached each target
  /// Charged, to each target; NaN where there is no problem, or one whose f* is not proven to the target.
  std::vector<CostRange> means;
};
struct MeansGroup {
  ProblemSet set;
  std::vector<MeansRow> rows;
};

/// A group for each measure in presentation.plot.x; for seconds on several machines, one a machine. Targets,
/// shift (> 0, in units of the measure) and k (plot.par >= 1) are the presentation's. Throws Error (kUsage).
std::vector<MeansGroup> geometric_means(const std::vector<Run>& runs, const Presentation& presentation,
                                        bool allow_not_comparable);

/// A table for each group, and a record for each measure, machine, solver and target, below the
/// presentation's title.
TableSet means_tables(const std::vector<MeansGroup>& groups, const Presentation& presentation);

}  // namespace proxbench
