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

/// One solver over all problems of a set.
struct MeansRow {
  std::string solver;
  std::vector<int> reached;  ///< for each target, the number of problems on which the solver reached it
  /// Mean cost to each target, with charges. NaN if there is no problem, or if f* of one is less exact than
  /// the target.
  std::vector<CostRange> means;
};
struct MeansGroup {
  ProblemSet set;
  std::vector<MeansRow> rows;
};

/// Returns one group for each measure in presentation.plot.x. For seconds on several machines, returns one
/// per machine. Targets, shift (> 0, in units of the measure) and k (plot.par >= 1) come from the
/// presentation. Throws Error (kUsage).
std::vector<MeansGroup> geometric_means(const std::vector<Run>& runs, const Presentation& presentation,
                                        bool allow_not_comparable);

/// Returns a table for each group, and a record for each measure, machine, solver and target, under the
/// presentation's title.
TableSet means_tables(const std::vector<MeansGroup>& groups, const Presentation& presentation);

}  // namespace proxbench
