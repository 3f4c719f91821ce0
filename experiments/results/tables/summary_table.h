#pragma once
/// The summary table of an experiment, from stored results alone: for each data set and penalty one row a
/// solver, with the times to the targets, what was reached, and how good the model is.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/results/statistics.h"

namespace proxbench {

/// With fewer repetitions quartiles are no more than the spread seen, and tables and figures say so.
constexpr int kFewRepetitions = 5;

/// In place of the names of columns.
inline constexpr const char* kAllColumns = "all";

struct TableOptions {
  std::string title{};                              ///< stands above the tables; may be empty
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  double ratio_target = 1e-6;  ///< times to this one are compared with the fastest solver's
  /// Behind the solver; in their order, by the names that they have in CSV. None: at most 9 that have a
  /// value, so that the table fits a page; in CSV all.
  std::vector<std::string> columns = {};
  /// Times of runs with Timing::comparable == false are shown as well.
  bool allow_not_comparable = false;
};

/// Quartiles and range over the repetitions of what a TableRow tells. A target that a repetition never
/// reached is infinitely far; what was not measured is left out.
struct RowSpreads {
  /// To each target, at the sample that shows it and at the one before (CostRange). Of a target that f* is
  /// not proven to: nothing.
  std::vector<Spread> seconds, seconds_from;
  Spread final_difference, nnz, relative_kkt, relative_gap, iterations, passes, updates, total_seconds,
      test_accuracy;
  /// The other metrics at the end, those that any run of the table has.
  std::map<std::string, Spread> test_metrics;
  Spread load_seconds, setup_seconds, warm_up_seconds, sampling_seconds;  ///< off the clock
  Spread preparation_seconds;                                             ///< load + set-up
};

/// Failed runs of one kind.
struct FailureCount {
  std::string status;  ///< "crashed(SIGSEGV)"
  std::string reason;  ///< in words; may be empty
  int count = 0;
};

/// One solver on one data set and penalty; numbers are medians over the repetitions that did not fail. NaN:
/// not applicable or never.
struct TableRow {
  std::string label;    ///< series_name()
  std::string machine;  ///< empty: not told
  std::string status;   ///< of the repetitions that did not fail, "a/b" where they differ; empty: all failed
  int repetitions = 0;  ///< that were run, failed ones included
  std::vector<FailureCount> failures;
  int not_comparable = 0;              ///< repetitions whose times are left out
  std::string not_comparable_because;  ///< may be empty
  std::vector<double> seconds;         ///< to each target; never in half of the repetitions or more: NaN
  double ratio = 0.0;                  ///< time to ratio_target over the fastest solver's on the same machine
  bool ratio_wide = false;             ///< one of the two is_wide()
  double final_difference = 0.0;       ///< (F - f*)/|f*| at the end; negative where f* is beaten
  double nnz = 0.0, relative_kkt = 0.0, relative_gap = 0.0, passes = 0.0, updates = 0.0, iterations = 0.0,
         total_seconds = 0.0, test_accuracy = 0.0;
  RowSpreads spread;  ///< of the same; their medians of what was never reached are infinity

  int failed() const;
  /// Repetitions that the numbers, and those that the times are made of.
  int measured() const { return repetitions - failed(); }
  int timed() const { return measured() - not_comparable; }
};

struct TableGroup {
  std::string dataset, description;
  double lambda = 0.0, mu = 0.0;
  Loss loss = {};
  BestKnown best = {};
  double accuracy = 0.0;  ///< reference_bound(); NaN: not known
  std::vector<TableRow> rows;

  /// Whether f* is known to less than the target, so that no time to it can be told.
  bool unproven(double target) const { return target < accuracy; }
};

/// `runs` in the order of read_results(); groups and rows keep it. Runs of several machines get rows of their
/// own.
std::vector<TableGroup> summarize(const std::vector<Run>& runs, const TableOptions& options);

/// Makes a table for each group. Throws Error (kUsage) if a column is not known. A cell "3.10 [2.95, 3.40]"
/// gives a median and its quartiles. "2.50-3.10" gives the interval of a cost that is_wide(). "?" stands
/// where f* is not proven as exactly as the target asks.
std::vector<TextTable> summary_tables(const std::vector<TableGroup>& groups, const TableOptions& options);
std::string markdown_table(const std::vector<TableGroup>& groups, const TableOptions& options);
/// A tabular of the booktabs package for each group.
std::string latex_table(const std::vector<TableGroup>& groups, const TableOptions& options);
/// One header line, full precision; for each quantity X the columns X (its median), X_q25, X_q75, X_min,
/// X_max and X_n. seconds_to_TARGET_from is the lower end of seconds_to_TARGET. An empty field is what is not
/// there, "inf" what was never reached.
std::string csv_table(const std::vector<TableGroup>& groups, const TableOptions& options);

/// A quantity of a row under its name in files: "seconds_to_0.01", "nnz", "load_seconds", ...
struct NamedSpread {
  std::string name;
  Spread spread;
};
std::vector<NamedSpread> named_spreads(const TableRow& row, const TableOptions& options);

/// Writes summary.md, summary.tex and summary.csv into the folder (made where it is missing); returns them.
std::vector<std::filesystem::path> write_tables(const std::vector<Run>& runs,
                                                const std::filesystem::path& folder,
                                                const TableOptions& options);

}  // namespace proxbench
