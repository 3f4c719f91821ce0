#pragma once
/// Compares the optimum of each data set and penalty with the numbers that a paper prints: nonzeros and test
/// accuracy, as in Tables 1 and 2 of Zhong et al. 2014. The paper's numbers come from the config.

#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// The kinds of rows.
inline constexpr const char *kRunRow = "run", *kMeanRow = "mean", *kDeviationRow = "deviation";

/// NaN means not measured, or not printed in the paper.
struct PaperRow {
  std::string kind = kRunRow;
  std::string dataset;  ///< for a mean or deviation, the first of its data sets
  double lambda = 0.0, mu = 0.0;
  std::string label, status;        ///< of the run; empty for a mean or deviation
  bool optimal = true;              ///< the run met its tol or its gap
  std::size_t used = 1, total = 1;  ///< data sets in a mean or deviation, and data sets that there are
  double paper_nnz, nnz, paper_accuracy, accuracy;
  double relative_kkt;  ///< of the run; for a mean, the largest of its runs

  double nnz_difference() const { return nnz / paper_nnz - 1.0; }
  double accuracy_difference() const { return accuracy - paper_accuracy; }
};

/// Selects for each data set and penalty the run nearest to the optimum: the run with the smallest ratio of
/// kkt to kkt at w = 0. Data sets that differ only by their seed (Presentation::sources) form a block. It
/// ends, for each penalty, with the mean and the standard deviation (of a sample, with n - 1) over the data
/// sets whose optimum was reached. `runs` must be in the order of read_all_runs().
std::vector<PaperRow> compare_with_paper(const std::vector<Run>& runs, const Presentation& presentation);

/// Marks runs that did not reach the optimum and puts their numbers in parentheses.
TableSet paper_table(const std::vector<Run>& runs, const Presentation& presentation);

}  // namespace proxbench
