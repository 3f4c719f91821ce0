#pragma once
/// The summary table of an experiment, from stored results only. For each data set and penalty it has one row
/// per solver with the times to the targets, the values reached, and the quality of the model.

#include <functional>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/results/statistics.h"

namespace proxbench {

/// With fewer repetitions than this, quartiles only show the spread that was seen. Tables and figures then
/// say so.
constexpr std::size_t kFewRepetitions = 5;

/// The number of targets that fit a page.
constexpr std::size_t kMostTargets = 4;

/// Stands for all columns.
inline constexpr const char* kAllColumns = "all";
/// Stands for the columns of the report page: all except passes to targets and times before the start.
inline constexpr const char* kPrintedColumns = "printed";

struct TableOptions {
  std::string title{};                              ///< printed above the tables; may be empty
  std::vector<double> targets = default_targets();  ///< relative differences to f*
  double ratio_target = 1e-6;  ///< times to this target are divided by the fastest solver's
  /// The columns after the solver, in this order, by their names in CSV. kAllColumns stands for all that have
  /// content, kPrintedColumns for those of the report page. If empty, tables show at most 9 columns in which
  /// a solver has a value, so that they fit a page of paper.
  std::vector<std::string> columns = {};
  /// Whether to show also times of runs with Timing::comparable == false.
  bool allow_not_comparable = false;
};

/// A measurement that a summary shows.
struct Figure {
  std::string name;  ///< in files
  std::string head;  ///< above its column
  std::string (*cell)(double);
  /// Both ends are equal except for a cost to a target. Infinity means never reached, NaN not measured.
  std::function<CostRange(const Run&)> value;
  bool timed = false;    ///< uses comparable timings only
  double target = kNaN;  ///< the target if it is a cost to a target; NaN: it is not
};

/// The spreads over repetitions of both ends of a measurement.
struct RangeSpread {
  Spread from, to;
  CostRange medians() const { return {from.median, to.median}; }
};

/// One solver on one data set and penalty. `figures` are over the repetitions that did not fail.
struct TableRow {
  std::string label;                      ///< series_name()
  Runs runs, failed = {}, measured = {};  ///< all, and those that failed or did not fail
  Runs timed = {};                        ///< those measured whose times are used
  std::vector<RangeSpread> figures = {};  ///< in the order of Summary::figures; targets come first
  double ratio = kNaN;      ///< time to ratio_target divided by the fastest solver's on the same machine
  bool ratio_wide = false;  ///< whether one of the two times is_wide()

  /// Empty: not recorded.
  const std::string& machine() const { return runs.front()->provenance.machine; }
  std::size_t not_comparable() const { return measured.size() - timed.size(); }
};

struct TableGroup {
  Runs runs;
  double accuracy = kNaN;  ///< reference_bound(); NaN: not known
  std::vector<TableRow> rows;

  /// Data set, penalty, loss, description and f* are those of all its runs.
  const Run& first() const { return *runs.front(); }
  /// Whether f* is less exact than the target, so that costs to it are unknown.
  bool unproven(double target) const { return target < accuracy; }
};

struct Summary {
  std::vector<Figure> figures;
  std::vector<TableGroup> groups;
};

/// `runs` must be in the order of read_all_runs(), which groups and rows keep, and must outlive the summary.
/// On several machines, each machine's runs get rows of their own.
Summary summarize(const std::vector<Run>& runs, const TableOptions& options);

/// Returns a table for each group and a record for each row. In a record, X is the median of figure X, next
/// to X_q25, X_q75, X_min, X_max and X_n; X_from is the lower end of a cost. Records have all figures,
/// whatever columns are shown. Throws Error (kUsage) if a column is unknown. A cell "3.10 [2.95, 3.40]" gives
/// a median and its quartiles. "2.50-3.10" gives the interval of a cost that is_wide(). "?" means that f* is
/// less exact than the target.
TableSet summary_tables(const Summary& summary, const TableOptions& options,
                        const std::string& name = "summary");

/// Returns the costs to targets, as in Table 2 of Andrew and Gao 2007: a summary of passes and seconds to
/// each target. A page has room for the last three. For profiled runs the column "function" shows how
/// much of the time goes into scores, inference and gradients.
TableSet cost_tables(const std::vector<Run>& runs, TableOptions options);

}  // namespace proxbench
