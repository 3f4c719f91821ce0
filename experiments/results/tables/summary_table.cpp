#include "experiments/results/tables/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <type_traits>

#include "core/base/profile.h"
#include "experiments/base/text.h"
#include "experiments/results/tables/problem_set.h"

namespace proxbench {
namespace {

// ---- figures

/// Returns infinity for a run that diverged, which has no final objective.
double final_difference(const Run& run) {
  const double objective = run.result.certificate.objective, best = run.best.objective;
  return std::isnan(objective) && !std::isnan(best) ? kInfinity : relative_difference(objective, best);
}

/// Returns the share of the seconds outside the solver; NaN if the run was not profiled.
double function_share(const Run& run) {
  double function = 0.0, all = 0.0;
  for (const PhaseCost& phase : run.result.phases) {
    all += phase.seconds;
    if (phase.phase != phase_name(Phase::kSolver)) function += phase.seconds;
  }
  return all > 0.0 ? function / all : kNaN;
}

template <int kDigits>
std::string digits_cell(double value) {
  return fixed_cell(value, kDigits);
}
std::string percentage_cell(double share) {
  return fixed_cell(100.0 * share, 1);
}

/// `value` takes a Run or its result, and may be a member pointer.
template <class Value>
Figure plain_figure(std::string name, std::string head, std::string (*cell)(double), Value value) {
  return {std::move(name), std::move(head), cell, [value](const Run& run) -> CostRange {
            double x = kNaN;
            if constexpr (std::is_invocable_v<Value, const Run&>)
              x = value(run);
            else
              x = std::invoke(value, run.result);
            return {x, x};
          }};
}
Figure timed_figure(const char* name, const char* head, double RunFigures::*member) {
  Figure out = plain_figure(name, head, seconds_cell, member);
  out.timed = true;
  return out;
}
Figure cost_to(double target, bool seconds) {
  const std::string measure = seconds ? "seconds" : "passes";
  return {.name = fmt::format("{}_to_{}", measure, target),
          .head = fmt::format("{} to {:g}", seconds ? "s" : "passes", target),
          .cell = seconds ? seconds_cell : digits_cell<1>,
          .value = [target, cost = find_measure(measure).of](
                       const Run& run) { return cost_to_target(run, target, cost); },
          .timed = seconds,
          .target = target};
}

std::vector<Figure> figures_of(const std::vector<Run>& runs, const TableOptions& options) {
  using F = RunFigures;
  std::vector<Figure> out;
  for (const double target : options.targets) out.push_back(cost_to(target, true));
  out.insert(out.end(),
             {plain_figure("final_difference", "final difference", scientific_cell, final_difference),
              plain_figure("nnz", "nnz", count_cell, &F::nonzeros_found),
              plain_figure("relative_kkt", "relative kkt", scientific_cell, &F::relative_kkt),
              plain_figure("relative_gap", "relative gap", scientific_cell,
                           [](const F& of) { return of.certificate.relative_gap(); }),
              plain_figure("iterations", "iterations", count_cell,
                           [](const F& of) { return number_or_nan(of.iterations); }),
              plain_figure("passes", "passes", count_cell, &F::passes),
              plain_figure("updates", "updates", count_cell, &F::updates),
              timed_figure("seconds", "seconds", &F::seconds),
              timed_figure("load_seconds", "load s", &F::load_seconds),
              timed_figure("setup_seconds", "set-up s", &F::setup_seconds),
              timed_figure("warm_up_seconds", "warm-up s", &F::warm_up_seconds),
              timed_figure("sampling_seconds", "sampling s", &F::sampling_seconds),
              plain_figure("test_accuracy", "test accuracy", digits_cell<4>, &F::test_accuracy)});
  std::set<std::string> metrics;
  for (const Run& run : runs)
    for (const Sample& sample : run.trace)
      for (const auto& [name, value] : sample.test_metrics) metrics.insert(name);
  for (const std::string& name : metrics)
    out.push_back(plain_figure(
        "test_metrics." + name, "test " + name, digits_cell<4>,
        [name](const Run& run) { return run.trace.empty() ? kNaN : metric_at(run.trace.back(), name); }));
  for (const double target : options.targets) out.push_back(cost_to(target, false));
  out.push_back(plain_figure("function_share", "function %", percentage_cell, function_share));
  out.push_back(plain_figure("solver_share", "solver %", percentage_cell,
                             [](const Run& run) { return 1.0 - function_share(run); }));
  return out;
}

RangeSpread spread_over(const Runs& runs, const Figure& figure) {
  std::vector<double> from, to;
  for (const Run* run : runs) {
    const CostRange cost = figure.value(*run);
    from.push_back(cost.from);
    to.push_back(cost.to);
  }
  return {spread_of(from), spread_of(to)};
}

// ---- rows

/// For an external trainer, returns what its times include, and the warnings of all its runs, each once.
std::vector<std::string> remarks_of(const Runs& runs) {
  std::vector<std::string> out;
  for (const Run* run : runs) {
    if (out.empty() && !run->result.trainer.empty() && !run->trace.empty())
      out.push_back(
          "an external trainer, started repeatedly, each time to stop later; its times begin with its first "
          "iteration, unless they include load s.");
    for (const std::string& warning : run->result.warnings)
      if (!contains(out, warning + ".")) out.push_back(warning + ".");
  }
  return out;
}

/// Sets `ratio` to the time itself. divide_by_fastest() divides it by the time of the fastest solver.
TableRow summarize_series(const std::string& name, const Runs& runs, const TableGroup& group,
                          const std::vector<Figure>& figures, const TableOptions& options) {
  TableRow row{.label = name, .runs = runs};
  for (const Run* run : runs) {
    (run->failed() ? row.failed : row.measured).push_back(run);
    if (!run->failed() && (run->timing.comparable || options.allow_not_comparable)) row.timed.push_back(run);
  }
  const auto spread = [&](const Figure& of) {
    return spread_over(group.unproven(of.target) ? Runs{} : of.timed ? row.timed : row.measured, of);
  };
  for (const Figure& one : figures) row.figures.push_back(spread(one));
  const RangeSpread to_ratio = spread(cost_to(options.ratio_target, true));
  if (std::isfinite(to_ratio.to.median)) row.ratio = to_ratio.to.median;
  row.ratio_wide = is_wide(to_ratio.medians());
  return row;
}

void divide_by_fastest(std::vector<TableRow>& rows) {
  struct Fastest {
    double time = kInfinity;
    bool wide = false;
  };
  std::map<std::string, Fastest> fastest;  // by machine
  for (const TableRow& row : rows)
    if (Fastest& best = fastest[row.machine()]; row.ratio < best.time) best = {row.ratio, row.ratio_wide};
  for (TableRow& row : rows) {
    const Fastest& best = fastest[row.machine()];
    const bool is_best = row.ratio == best.time;
    row.ratio = is_best ? 1.0 : row.ratio / best.time;
    row.ratio_wide = !is_best && !std::isnan(row.ratio) && (row.ratio_wide || best.wide);
  }
}

TableGroup summarize_group(const Runs& runs, bool machines, const std::vector<Figure>& figures,
                           const TableOptions& options) {
  TableGroup group{.runs = runs, .rows = {}};
  for (const Run* run : runs) group.accuracy = std::fmax(group.accuracy, reference_bound(*run));
  for (const auto& [name, repetitions] :
       grouped(runs, [&](const Run& run) { return series_name(run, machines); }))
    group.rows.push_back(summarize_series(name, repetitions, group, figures, options));
  divide_by_fastest(group.rows);
  return group;
}

// ---- cells

constexpr const char* kFewMark = "*";

/// Returns "3.10 [2.95, 3.40]", or only the median if the quartiles read the same or there is one value.
std::string spread_cell(const Spread& spread, std::string (*cell)(double)) {
  const std::string median = std::isinf(spread.median) ? "-" : cell(spread.median);
  const std::string low = cell(spread.q25), high = cell(spread.q75);
  if (spread.n < 2 || low == high) return median;
  return fmt::format("{} [{}, {}]", median, low, high);
}

/// Returns "1 of 5 crashed(SIGSEGV)" for each kind of failure.
std::string failure_text(const TableRow& row) {
  std::map<std::string, int> counts;
  for (const Run* run : row.failed) ++counts[run->status()];
  std::vector<std::string> texts;
  for (const auto& [status, count] : counts)
    texts.push_back(fmt::format("{} of {} {}", count, row.runs.size(), status));
  return joined(texts);
}

/// Returns how the repetitions that did not fail ended, "a/b" if they differ; empty if all failed.
std::string status_text(const TableRow& row) {
  return joined(distinct(row.measured, [](const Run& run) { return run.status(); }), "/");
}

std::string ending_cell(const TableRow& row) {
  std::vector<std::string> texts{status_text(row), failure_text(row)};
  std::erase(texts, "");
  return joined(texts);
}

std::string count_of_runs(const TableRow& row) {
  const std::size_t n = row.measured.size();
  return fmt::format("{}{}", n, n < kFewRepetitions ? kFewMark : "");
}

Json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"q25", spread.q25}, {"q75", spread.q75},
          {"min", spread.min},       {"max", spread.max}, {"n", spread.n}};
}

/// A column of the printed table. `name` is as in TableOptions::columns.
struct Column {
  std::string name, head;
  std::function<std::string(const TableRow&)> cell;
};

/// Shows one group of a summary.
struct GroupTable {
  const std::vector<Figure>& figures;
  const TableGroup& group;
  const TableOptions& options;

  TextTable table() const {
    const std::vector<Column> columns = shown_columns();
    TextTable table;
    table.caption = caption();
    table.notes = {group.first().result.description};
    table.footnotes = footnotes(std::ranges::find(columns, "ratio", &Column::name) != columns.end());
    for (const Column& column : columns) {
      table.head.push_back(column.head);
      const bool words = column.name == "solver" || column.name == "status" || column.name == "n";
      if (words && table.text_columns + 1 == table.head.size()) ++table.text_columns;
    }
    for (const TableRow& row : group.rows) {
      std::vector<std::string>& cells = table.rows.emplace_back();
      for (const Column& column : columns) cells.push_back(column.cell(row));
    }
    return table;
  }

  Json record(const TableRow& row) const {
    const RunParameters& parameters = group.first().parameters;
    const BestKnown& best = group.first().best;
    Json out{{"experiment", parameters.experiment},
             {"dataset", parameters.dataset},
             {"lambda", parameters.lambda},
             {"mu", parameters.mu},
             {"reference_objective", best.objective},
             {"reference_relative_kkt", best.relative_kkt},
             {"reference_relative_gap", best.relative_gap},
             {"reference_accuracy", group.accuracy},
             {"solver", row.label},
             {"machine", row.machine()},
             {"status", status_text(row)},
             {"repetitions", row.runs.size()},
             {"failed", row.failed.size()},
             {"failures", failure_text(row)},
             {"not_comparable", row.not_comparable()},
             {fmt::format("ratio_to_fastest_at_{}", options.ratio_target), row.ratio}};
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const Figure& one = figures[i];
      out[one.name] = spread_json(row.figures[i].to);
      if (!std::isnan(one.target)) out[one.name + "_from"] = spread_json(row.figures[i].from);
    }
    return out;
  }

  // ---- columns

  /// Returns the sign for a cost that cannot be shown; empty if it can.
  std::string untold_cell(const TableRow& row, double target, bool timed) const {
    if (group.unproven(target)) return kUnprovenCell;
    return timed && row.timed.empty() && row.not_comparable() > 0 ? "n/c" : "";
  }

  std::vector<Column> all_columns() const {
    std::vector<Column> columns{
        {"solver", "solver", &TableRow::label}, {"status", "status", ending_cell}, {"n", "n", count_of_runs}};
    for (std::size_t i = 0; i < figures.size(); ++i)
      columns.push_back({figures[i].name, figures[i].head, [this, i](const TableRow& row) {
                           const Figure& one = figures[i];
                           const std::string untold = untold_cell(row, one.target, one.timed);
                           if (!untold.empty()) return untold;
                           const RangeSpread& spread = row.figures[i];
                           return (is_wide(spread.medians()) ? one.cell(spread.from.median) + "-" : "") +
                                  spread_cell(spread.to, one.cell);
                         }});
    columns.insert(
        columns.begin() + 3 + std::ssize(options.targets),
        {"ratio", fmt::format("x fastest at {:g}", options.ratio_target), [this](const TableRow& row) {
           const std::string untold = untold_cell(row, options.ratio_target, true);
           return untold.empty() ? (row.ratio_wide ? "~" : "") + fixed_cell(row.ratio, 2) : untold;
         }});
    return columns;
  }

  /// Whether a row has content in the column: a value, or (if not `a_value`) any sign but "-".
  bool says(const Column& column, bool a_value) const {
    return std::ranges::any_of(group.rows, [&](const TableRow& row) {
      const std::string cell = column.cell(row);
      return cell != "-" && !(a_value && (cell == kUnprovenCell || cell == "n/c"));
    });
  }

  /// Returns the requested columns. By default these are the most informative ones that have a value, as many
  /// as fit a page.
  std::vector<Column> shown_columns() const {
    constexpr std::size_t kPageColumns = 9;
    std::vector<Column> all = all_columns(), out;
    std::vector<std::string> wanted = options.columns, known;
    const std::string first = wanted.empty() ? "" : wanted.front();
    if (first == kAllColumns || first == kPrintedColumns) {
      const auto is_left_out = [&](const std::string& name) {
        return first == kPrintedColumns && (name.starts_with("passes_to") || name == "load_seconds" ||
                                            name == "setup_seconds" || name == "warm_up_seconds");
      };
      std::erase_if(all,
                    [&](const Column& column) { return !says(column, false) || is_left_out(column.name); });
      return all;
    }
    for (const Column& column : all) known.push_back(column.name);
    if (wanted.empty()) wanted = default_columns();
    wanted.insert(wanted.begin(), "solver");
    for (const std::string& name : wanted) {
      require_known("columns", name, known, "all, or some of");
      const Column& column = *std::ranges::find(all, name, &Column::name);
      if (!options.columns.empty() || (out.size() < kPageColumns && says(column, true)))
        out.push_back(column);
    }
    return out;
  }

  std::vector<std::string> default_columns() const {
    std::vector<std::string> out{"status", "n"};
    const std::size_t targets = options.targets.size();
    for (std::size_t i = targets - std::min(targets, kMostTargets); i < targets; ++i)
      out.push_back(figures[i].name);
    out.insert(out.end(), {"final_difference", "test_accuracy"});
    for (const Figure& one : figures)
      if (one.name.starts_with("test_metrics.")) out.push_back(one.name);
    out.insert(out.end(), {"seconds", "nnz", "relative_gap", "iterations", "passes"});
    return out;
  }

  // ---- captions and notes

  std::string caption() const {
    const RunParameters& p = group.first().parameters;
    const BestKnown& best = group.first().best;
    std::string out = fmt::format("{}, {}", p.dataset, penalty_text(p));
    if (!std::isnan(best.objective)) {
      std::vector<std::string> proofs;
      if (!std::isnan(best.relative_kkt))
        proofs.push_back("relative kkt " + scientific_cell(best.relative_kkt));
      if (!std::isnan(best.relative_gap)) proofs.push_back("gap " + scientific_cell(best.relative_gap));
      out += fmt::format(", f* = {} ({})", best.objective, joined(proofs));
    }
    std::size_t most = 0;
    for (const TableRow& row : group.rows) most = std::max(most, row.runs.size());
    if (most > 1) out += fmt::format(", medians [quartiles] of {} repetitions", most);
    return out;
  }

  /// Returns "* n = 3 < 5 repetitions: ...".
  std::string few_repetitions_note() const {
    std::set<std::size_t> few;
    for (const TableRow& row : group.rows)
      if (const std::size_t n = row.measured.size(); n > 0 && n < kFewRepetitions) few.insert(n);
    if (few.empty()) return "";
    if (*few.rbegin() == 1)
      return fmt::format("{} n = 1: a single run, whose spread is not known.", kFewMark);
    return fmt::format("{} n = {} < {} repetitions: quartiles are no more than the spread seen.", kFewMark,
                       fmt::join(few, ", "), kFewRepetitions);
  }

  /// Explains "?", "2.50-3.10" and "~1.20" if they occur, and names targets that no solver reached.
  void add_cost_notes(bool ratio_shown, std::vector<std::string>& notes) const {
    const std::vector<TableRow>& rows = group.rows;
    bool unproven = ratio_shown && group.unproven(options.ratio_target), wide = false;
    std::vector<std::string> unreached;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const auto any = [&](const auto& holds) {
        return std::ranges::any_of(rows, [&](const TableRow& row) { return holds(row.figures[i]); });
      };
      const Figure& one = figures[i];
      unproven = unproven || group.unproven(one.target);
      wide = wide || any([](const RangeSpread& cost) { return is_wide(cost.medians()); });
      if (!one.timed && !std::isnan(one.target) &&
          any([](const RangeSpread& cost) { return std::isinf(cost.to.min); }) &&
          !any([](const RangeSpread& cost) { return std::isfinite(cost.to.min); }))
        unreached.push_back(fmt::format("{:g}", one.target));
    }
    if (unproven) notes.push_back(unproven_note(group.accuracy));
    if (wide) notes.push_back(wide_note() + " Quartiles are those of B.");
    if (ratio_shown && std::ranges::any_of(rows, &TableRow::ratio_wide))
      notes.emplace_back("~: a ratio of two times of which at least one is known as an interval only.");
    if (!unreached.empty()) notes.push_back(fmt::format("No solver reached {}.", joined(unreached)));
  }

  /// Adds each remark once, after the labels of its rows.
  void add_remarks(std::vector<std::string>& notes) const {
    std::vector<std::pair<std::string, std::vector<std::string>>> remarks;
    for (const TableRow& row : group.rows)
      for (const std::string& remark : remarks_of(row.runs)) {
        auto found = std::ranges::find(remarks, remark, [](const auto& one) { return one.first; });
        if (found == remarks.end()) found = remarks.insert(found, {remark, {}});
        found->second.push_back(row.label);
      }
    for (const auto& [remark, labels] : remarks) notes.push_back(joined(labels) + ": " + remark);
  }

  std::vector<std::string> footnotes(bool ratio_shown) const {
    std::vector<std::string> notes;
    add_cost_notes(ratio_shown, notes);
    if (const std::string few = few_repetitions_note(); !few.empty()) notes.push_back(few);
    add_remarks(notes);
    for (const TableRow& row : group.rows) {
      for (const auto& [end, runs] :
           grouped(row.failed, [](const Run& run) { return std::pair(run.status(), run.result.reason); }))
        notes.push_back(fmt::format("{}: {} of {} {}{}; in no median.", row.label, runs.size(),
                                    row.runs.size(), end.first, end.second.empty() ? "" : ": " + end.second));
      if (row.not_comparable() == 0) continue;
      std::string why;
      for (const Run* run : row.measured)
        if (!run->timing.comparable) why = run->timing.not_comparable_because;
      notes.push_back(fmt::format("{}: the timings of {} of {} runs are not comparable (n/c) and left out{}.",
                                  row.label, row.not_comparable(), row.measured.size(),
                                  why.empty() ? "" : ": " + why));
    }
    if (several_machines(group.runs))
      notes.push_back(
          "Runs of several machines: each has rows of its own, and is compared with the fastest on the same "
          "machine only.");
    return notes;
  }
};

}  // namespace

Summary summarize(const std::vector<Run>& runs, const TableOptions& options) {
  Summary out{figures_of(runs, options), {}};
  for (const auto& [problem, group] : grouped(runs, problem_of))
    out.groups.push_back(summarize_group(group, several_machines(runs), out.figures, options));
  return out;
}

TableSet summary_tables(const Summary& summary, const TableOptions& options, const std::string& name) {
  TableSet out{name, options.title, {}, {}};
  for (const TableGroup& group : summary.groups) {
    const GroupTable shown{summary.figures, group, options};
    out.tables.push_back(shown.table());
    for (const TableRow& row : group.rows) out.records.push_back(shown.record(row));
  }
  return out;
}

TableSet cost_tables(const std::vector<Run>& runs, TableOptions options) {
  constexpr std::size_t kMostPairs = 3;  // of passes and seconds, that fit a page
  options.columns.clear();
  for (const double target : std::span(options.targets).last(std::min(options.targets.size(), kMostPairs))) {
    options.columns.push_back(cost_to(target, false).name);
    options.columns.push_back(cost_to(target, true).name);
  }
  options.columns.insert(options.columns.end(), {"function_share", "status"});
  TableSet out = summary_tables(summarize(runs, options), options, "costs");
  for (TextTable& table : out.tables)
    table.notes.emplace_back(
        "passes: evaluations of F and its gradient over all instances; function: the share of scores, "
        "inference and gradients in the time of the run; the rest is the solver's.");
  return out;
}

}  // namespace proxbench
