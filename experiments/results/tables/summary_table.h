#pragma once
/// The summary table of an experiment, from stored results alone: for each data set and penalty one row a
/// solver, with the times to the targets, what was reached, and how good the model is.

#include <functional>
#include <string>
#include <vector>

#include "experiments/base/numbers.h"
#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/results/statistics.h"

namespace proxbench {

/// With fewer repetitions quartiles are no more than the spread seen, and tables and figures say so.
constexpr int kFewRepetitions = 5;

/// In place of the names of columns.
inline constexpr const char* kAllColumns = "all";
/// All but passes to targets and what comes before the start, which would not fit a printed page.
inline constexpr const char* kPrintedColumns = "printed";

struct TableOptions {
  std::string title{};                              ///< stands above the tables; may be empty
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  double ratio_target = 1e-6;  ///< times to this one are compared with the fastest solver's
  /// Behind the solver; in their order, by the names that they have in CSV, or kAllColumns for those that say
  /// something, or kPrintedColumns. None: at most 9 in which a solver has a value, so that the table fits a
  /// page; in CSV all.
  std::vector<std::string> columns = {};
  /// Times of runs with Timing::comparable == false are shown as well.
  bool allow_not_comparable = false;
};

/// A quantity that a summary tells of runs.
struct Figure {
  std::string name;  ///< in files
  std::string head;  ///< above its column
  std::string (*cell)(double);
  /// Both ends are the same but for a cost until a target. Infinity: never reached; NaN: not measured.
  std::function<CostRange(const Run&)> value;
  bool timed = false;    ///< of comparable timings only
  double target = kNaN;  ///< relative difference to f* that it is the cost of; NaN: none
};

/// The spreads over repetitions of both ends of a figure.
struct RangeSpread {
  Spread from, to;
  CostRange medians() const { return {from.median, to.median}; }
};

/// Failed runs of one kind.
struct FailureCount {
  std::string status;  ///< "crashed(SIGSEGV)"
  std::string reason;  ///< in words; may be empty
  int count = 0;
};

/// One solver on one data set and penalty; figures are over the repetitions that did not fail.
struct TableRow {
  std::string label;    ///< series_name()
  std::string machine;  ///< empty: not told
  std::string status;   ///< of the repetitions that did not fail, "a/b" where they differ; empty: all failed
  int repetitions = 0;  ///< that were run, failed ones included
  std::vector<FailureCount> failures;
  int not_comparable = 0;              ///< repetitions whose times are left out
  std::string not_comparable_because;  ///< may be empty
  std::vector<RangeSpread> figures;    ///< in the order of Summary::figures; targets come first
  double ratio = kNaN;                 ///< time to ratio_target over the fastest solver's on the same machine
  bool ratio_wide = false;             ///< one of the two is_wide()
  std::vector<std::string> remarks;    ///< RunFigures::warnings of a program of its own, and what its times are

  int failed() const;
  /// Repetitions that the figures, and those that the times are made of.
  int measured() const { return repetitions - failed(); }
  int timed() const { return measured() - not_comparable; }
};

struct TableGroup {
  RunParameters problem;  ///< data set, penalty and loss are those of all its runs
  std::string description;
  BestKnown best = {};
  double accuracy = kNaN;  ///< reference_bound(); NaN: not known
  std::vector<TableRow> rows;

  /// Whether f* is known to less than the target, so that no cost to it can be told.
  bool unproven(double target) const { return target < accuracy; }
};

struct Summary {
  std::vector<Figure> figures;
  std::vector<TableGroup> groups;
};

/// `runs` in the order of read_all_runs(); groups and rows keep it. Runs of several machines get rows of
/// their own.
Summary summarize(const std::vector<Run>& runs, const TableOptions& options);

/// A table for each group, and a record for each row, in which X is the median of figure X beside X_q25,
/// X_q75, X_min, X_max and X_n; X_from is the lower end of a cost. Throws Error (kUsage) if a column is not
/// known. A cell "3.10 [2.95, 3.40]" gives a median and its quartiles. "2.50-3.10" gives the interval of a
/// cost that is_wide(). "?" stands where f* is not proven as exactly as the target asks.
TableSet summary_tables(const Summary& summary, const TableOptions& options,
                        const std::string& name = "summary");

/// What targets cost, as in Table 2 of Andrew and Gao 2007: a summary of passes and seconds to each, and of
/// how the time of profiled runs is shared between scores, inference and gradients ("function") and the rest.
TableSet cost_tables(const std::vector<Run>& runs, TableOptions options);

}  // namespace proxbench
