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

struct MeansOptions {
  std::string title{};                              ///< stands above the tables; may be empty
  std::vector<std::string> measures{"seconds"};     ///< a table each
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  double shift = 1.0;                               ///< in units of the measure; > 0
  double par = 10.0;                                ///< k; >= 1
  bool allow_not_comparable = false;
};

/// One solver over all problems of a set.
struct MeansRow {
  std::string solver;
  std::vector<int> reached;  ///< problems on which it reached each target
  /// Charged, to each target; NaN where there is no problem, or one whose f* is not proven to the target.
  std::vector<double> means;
  std::vector<double> means_from;  ///< of the lower ends of the costs
};
struct MeansGroup {
  ProblemSet set;
  std::vector<MeansRow> rows;
};

/// A group a measure; for seconds on several machines, one a machine. Throws Error (kUsage).
std::vector<MeansGroup> geometric_means(const std::vector<Run>& runs, const MeansOptions& options);

/// A table for each group, and a record for each measure, machine, solver and target.
TableSet means_tables(const std::vector<MeansGroup>& groups, const MeansOptions& options);

}  // namespace proxbench
