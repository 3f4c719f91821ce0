#pragma once
/// The cost of each solver to reach each target on each problem, from stored results. Performance profiles,
/// distributions of costs and means over problems use it.
///
/// A problem is one (experiment, data set, penalty, repetition): costs are compared within one experiment
/// only. Costs in seconds are also compared within one machine only.

#include <set>
#include <string>
#include <vector>

#include "experiments/results/results.h"

namespace proxbench {

/// A measure of cost: seconds on the clock, passes, updates or iterations.
struct Measure {
  std::string name;
  double (*of)(const Sample&);
};
/// Finds "seconds", "passes", "updates" or "iterations". Throws Error (kUsage) with a did-you-mean.
const Measure& find_measure(const std::string& name);

struct Problem {
  std::string name;  ///< "figure1: ocr-degree2, lambda = 100, repetition 1"
  /// [target][solver]: infinity if the run failed (even if its trace reached the target before) or never
  /// reached the target.
  std::vector<std::vector<CostRange>> costs;
  /// [solver]: the charge of a failure is a multiple of this number, which is > 0. It is the run's own limit
  /// (time_limit for seconds, max_iterations for iterations) or, without one, the highest cost of any run of
  /// this problem.
  std::vector<double> limits;
  double accuracy;  ///< reference_bound(): costs to targets below it mean nothing; NaN: not known
};

/// Problems on which all solvers were run. The solvers are all labels of the runs. A skipped or interrupted
/// run counts as not run.
struct ProblemSet {
  std::string measure;
  std::string machine;               ///< empty: there is only one, or it does not matter
  std::vector<double> targets;       ///< relative differences to f*
  std::vector<std::string> solvers;  ///< labels
  std::vector<Problem> problems = {};
  std::vector<std::string> left_out = {};   ///< excluded problems, each with the reason
  std::vector<std::string> failures = {};   ///< failed runs, as "NAME crashed(SIGSEGV)"
  std::set<std::string> descriptions = {};  ///< of the problems' data
  bool comparable = true;                   ///< whether all seconds that count are comparable

  /// Returns the number of problems whose f* is less exact than the target.
  std::size_t unproven(std::size_t target) const;
  /// The number of finite costs, and how many of them are ranges that are is_wide().
  struct Known {
    std::size_t paid = 0, wide = 0;
  };
  Known known() const;
};

/// Returns one set. For seconds on several machines, returns one per machine. Seconds that are not comparable
/// count only if they are allowed. Throws Error (kUsage) if the measure is unknown, or if there are no
/// targets or runs.
std::vector<ProblemSet> problem_sets(const std::vector<Run>& runs, const std::string& measure,
                                     const std::vector<double>& targets, bool allow_not_comparable);

}  // namespace proxbench
