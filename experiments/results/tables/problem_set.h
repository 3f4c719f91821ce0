#pragma once
/// What each solver pays to reach each target on each problem, from stored results: what performance
/// profiles, distributions of costs and means over problems are made of.
///
/// A problem is one (experiment, data set, penalty, repetition): costs are compared within one experiment
/// only. Costs in seconds are also compared within one machine only.

#include <set>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// What a run pays: seconds on the clock, passes, updates or iterations.
struct Measure {
  std::string name;
  double (*of)(const Sample&);
};
/// "seconds", "passes", "updates" or "iterations". Throws Error (kUsage) with a did-you-mean.
const Measure& find_measure(const std::string& name);

struct Problem {
  std::string name;  ///< "figure1: ocr-degree2, lambda = 100, repetition 1"
  /// [target][solver]: infinity where the run failed (whatever its trace reached before) or never got there.
  std::vector<std::vector<CostRange>> costs;
  /// [solver]: what a failure's charge is a multiple of, > 0: the run's own limit (time_limit for seconds,
  /// max_iterations for iterations); where it has none, the most that any run of this problem paid.
  std::vector<double> limits;
  double accuracy;  ///< reference_bound(): a cost to a target below it says nothing; NaN: not known
};

/// Problems that all solvers were run on; the solvers are all labels of the runs. A run that was skipped or
/// interrupted was not run.
struct ProblemSet {
  std::string measure;
  std::string machine;               ///< empty: one machine, or of no matter
  std::vector<double> targets;       ///< relative differences to f*
  std::vector<std::string> solvers;  ///< labels
  std::vector<Problem> problems = {};
  std::vector<std::string> left_out = {};   ///< other problems, each with the reason
  std::vector<std::string> failures = {};   ///< runs that failed and count as never: "NAME crashed(SIGSEGV)"
  std::set<std::string> descriptions = {};  ///< of the data of the problems
  bool comparable = true;                   ///< all seconds that count are

  /// Problems whose f* is known to less than the target.
  std::size_t unproven(std::size_t target) const;
  /// Costs that were paid, and those of them that are known as a range that is_wide().
  struct Known {
    std::size_t paid = 0, wide = 0;
  };
  Known known() const;
};

/// One set; for seconds on several machines, one a machine. Seconds that are not comparable count where they
/// are allowed. Throws Error (kUsage) for an unknown measure and where there are no targets or runs.
std::vector<ProblemSet> problem_sets(const std::vector<Run>& runs, const std::string& measure,
                                     const std::vector<double>& targets, bool allow_not_comparable);

}  // namespace proxbench
