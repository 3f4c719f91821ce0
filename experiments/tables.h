#pragma once
/// The summary table of an experiment, from stored results alone: for each data set and lambda one row a
/// solver, with the times to the targets, what was reached, and how good the model is.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results.h"
#include "experiments/table_text.h"

namespace proxbench {

struct TableOptions {
  std::string title;                                    ///< stands above the tables; may be empty
  std::vector<double> targets{1e-2, 1e-4, 1e-6, 1e-8};  ///< relative differences to f*
  double ratio_target = 1e-6;  ///< times to this one are compared with the fastest solver's
};

/// One solver on one data set and lambda; numbers are medians over the repetitions. NaN: not applicable or
/// never.
struct TableRow {
  std::string label;
  std::string status;  ///< of all repetitions, "a/b" where they differ
  int repetitions = 0;
  std::vector<double> seconds;    ///< to each target; never in half of the repetitions or more: NaN
  double ratio = 0.0;             ///< time to ratio_target over the fastest solver's
  double final_difference = 0.0;  ///< (F - f*)/|f*| at the end; negative where f* is beaten
  double nnz = 0.0, relative_kkt = 0.0, passes = 0.0, iterations = 0.0, total_seconds = 0.0,
         test_accuracy = 0.0;
};

struct TableGroup {
  std::string dataset, description;
  double lambda = 0.0;
  double reference_objective = 0.0, reference_kkt = 0.0;  ///< f* and its kkt relative to that at w = 0
  std::vector<TableRow> rows;
};

/// `runs` in the order of read_results(); groups and rows keep it.
std::vector<TableGroup> summarize(const std::vector<StoredRun>& runs, const TableOptions& options);

/// One table a group.
std::vector<TextTable> summary_tables(const std::vector<TableGroup>& groups, const TableOptions& options);
std::string markdown_table(const std::vector<TableGroup>& groups, const TableOptions& options);
/// A tabular of the booktabs package for each group.
std::string latex_table(const std::vector<TableGroup>& groups, const TableOptions& options);
/// One header line, full precision, an empty field for what is not there.
std::string csv_table(const std::vector<TableGroup>& groups, const TableOptions& options);

/// Writes summary.md, summary.tex and summary.csv into the folder (made where it is missing); returns them.
std::vector<std::filesystem::path> write_tables(const std::vector<StoredRun>& runs,
                                                const std::filesystem::path& folder,
                                                const TableOptions& options);

}  // namespace proxbench
