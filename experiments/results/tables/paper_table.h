#pragma once
/// The optimum of each data set and penalty beside what a paper prints for it: nonzeros and test accuracy, as
/// in Tables 1 and 2 of Zhong et al. 2014. The paper's numbers come from the config.

#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// What one row stands for.
inline constexpr const char *kRunRow = "run", *kMeanRow = "mean", *kDeviationRow = "deviation";

/// NaN: not measured, or the paper prints nothing.
struct PaperRow {
  std::string kind = kRunRow;
  std::string dataset;  ///< for a mean or deviation: the first of the data sets it is taken over
  double lambda = 0.0, mu = 0.0;
  std::string label, status;        ///< of the run; empty for a mean or deviation
  bool optimal = true;              ///< the run met its tol or its gap
  std::size_t used = 1, total = 1;  ///< data sets that a mean or deviation is taken over, and that there are
  double paper_nnz, nnz, paper_accuracy, accuracy;
  double relative_kkt;  ///< of the run; the largest of those in a mean

  double nnz_difference() const { return nnz / paper_nnz - 1.0; }
  double accuracy_difference() const { return accuracy - paper_accuracy; }
};

/// For each data set and penalty the run that is nearest to the optimum: the one with the smallest kkt
/// relative to that at w = 0. Data sets that differ only by their seed (Presentation::sources) stand
/// together, and are followed, for each penalty, by mean and standard deviation (that of a sample, n - 1)
/// over those whose optimum was reached. `runs` in the order of read_all_runs().
std::vector<PaperRow> compare_with_paper(const std::vector<Run>& runs, const Presentation& presentation);

/// Runs that did not reach the optimum are marked and stand in parentheses.
TableSet paper_table(const std::vector<Run>& runs, const Presentation& presentation);

}  // namespace proxbench
