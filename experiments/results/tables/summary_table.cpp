/// How a summary looks: cells, columns, footnotes, and the same as CSV.

#include "experiments/results/tables/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/base/error.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

// ---- cells

/// "3.10 [2.95, 3.40]"; the median alone where the quartiles read the same or there is one value.
std::string spread_cell(const Spread& spread, const std::function<std::string(double)>& cell) {
  const std::string median = std::isinf(spread.median) ? "-" : cell(spread.median);
  const std::string low = cell(spread.q25), high = cell(spread.q75);
  if (spread.n < 2 || low == high) return median;
  return fmt::format("{} [{}, {}]", median, low, high);
}

/// A time to a target with its quartiles, as "2.50-3.10 [2.95, 3.40]" where it is wide.
std::string time_cell(const Spread& from, const Spread& to) {
  const std::string cell = spread_cell(to, seconds_cell);
  return is_wide({from.median, to.median}) ? seconds_cell(from.median) + "-" + cell : cell;
}

constexpr const char* kFewMark = "*";

/// "1 of 5 crashed(SIGSEGV)" for each kind of failure.
std::vector<std::string> failure_texts(const TableRow& row) {
  std::map<std::string, int> counts;
  for (const FailureCount& failure : row.failures) counts[failure.status] += failure.count;
  std::vector<std::string> texts;
  for (const auto& [status, count] : counts)
    texts.push_back(fmt::format("{} of {} {}", count, row.repetitions, status));
  return texts;
}

std::string status_cell(const TableRow& row) {
  std::vector<std::string> parts = failure_texts(row);
  if (!row.status.empty()) parts.insert(parts.begin(), row.status);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string count_of_runs_cell(const TableRow& row) {
  return fmt::format("{}{}", row.measured(), row.measured() < kFewRepetitions ? kFewMark : "");
}

/// A column for people. `name`: see TableOptions::columns.
struct Column {
  std::string name, head;
  std::function<std::string(const TableRow&)> cell;
};

/// Whether the options ask for a column; `by_default`: whether one is shown that they say nothing of.
bool shows(const TableOptions& options, const std::string& name, bool by_default) {
  if (options.columns.empty()) return by_default;
  return options.columns.front() == kAllColumns || std::ranges::count(options.columns, name) > 0;
}

std::vector<Column> all_columns(const TableGroup& group, const TableOptions& options) {
  std::vector<Column> columns{{"solver", "solver", [](const TableRow& row) { return row.label; }},
                              {"status", "status", status_cell},
                              {"n", "n", count_of_runs_cell}};
  // A time that `cell` tells, where it can be told.
  const auto add_time = [&](std::string name, std::string head, bool unproven, auto cell) {
    columns.push_back({std::move(name), std::move(head), [=](const TableRow& row) -> std::string {
                         if (unproven) return kUnprovenCell;
                         return row.timed() == 0 && row.not_comparable > 0 ? "n/c" : cell(row);
                       }});
  };
  const auto add = [&](const char* name, const char* head, Spread RowSpreads::*spread, auto cell) {
    columns.push_back(
        {name, head, [=](const TableRow& row) { return spread_cell(row.spread.*spread, cell); }});
  };
  const auto accuracy = [](double value) { return fixed_cell(value, 4); };
  for (std::size_t i = 0; i < options.targets.size(); ++i) {
    const double target = options.targets[i];
    add_time(
        fmt::format("seconds_to_{}", target), fmt::format("s to {:g}", target), group.unproven(target),
        [i](const TableRow& row) { return time_cell(row.spread.seconds_from[i], row.spread.seconds[i]); });
  }
  add_time("ratio", fmt::format("x fastest at {:g}", options.ratio_target),
           group.unproven(options.ratio_target), [](const TableRow& row) {
             return (row.ratio_wide && !std::isnan(row.ratio) ? "~" : "") + fixed_cell(row.ratio, 2);
           });
  add("final_difference", "final difference", &RowSpreads::final_difference, scientific_cell);
  add("nnz", "nnz", &RowSpreads::nnz, count_cell);
  add("relative_kkt", "relative kkt", &RowSpreads::relative_kkt, scientific_cell);
  add("relative_gap", "relative gap", &RowSpreads::relative_gap, scientific_cell);
  add("iterations", "iterations", &RowSpreads::iterations, count_cell);
  add("passes", "passes", &RowSpreads::passes, count_cell);
  add("updates", "updates", &RowSpreads::updates, count_cell);
  for (const auto& [name, head, spread] :
       {std::tuple{"seconds", "seconds", &RowSpreads::total_seconds},
        std::tuple{"preparation_seconds", "load + set-up s", &RowSpreads::preparation_seconds}})
    add_time(name, head, false, [spread = spread](const TableRow& row) {
      return spread_cell(row.spread.*spread, seconds_cell);
    });
  add("test_accuracy", "test accuracy", &RowSpreads::test_accuracy, accuracy);
  for (const auto& [name, spread] : group.rows.front().spread.test_metrics)  // all rows have the same
    columns.push_back({"test_metrics." + name, "test " + name, [name = name, accuracy](const TableRow& row) {
                         return spread_cell(row.spread.test_metrics.at(name), accuracy);
                       }});
  return columns;
}

/// The columns that are asked for; by default the most telling ones that have a value, and no more than fit a
/// page.
std::vector<Column> shown_columns(const TableGroup& group, const TableOptions& options) {
  constexpr std::size_t kPageColumns = 9, kMostTargets = 4;
  std::vector<Column> all = all_columns(group, options), out;
  if (!options.columns.empty() && options.columns.front() == kAllColumns) return all;
  std::vector<std::string> wanted = options.columns, known;
  if (wanted.empty()) {
    wanted = {"status", "n"};
    const std::size_t targets = options.targets.size();
    for (std::size_t i = targets - std::min(targets, kMostTargets); i < targets; ++i)
      wanted.push_back(fmt::format("seconds_to_{}", options.targets[i]));
    wanted.insert(wanted.end(), {"final_difference", "test_accuracy"});
    for (const auto& [name, spread] : group.rows.front().spread.test_metrics)
      wanted.push_back("test_metrics." + name);
    wanted.insert(wanted.end(), {"seconds", "nnz", "relative_gap", "iterations", "passes"});
  }
  wanted.insert(wanted.begin(), "solver");
  for (const Column& column : all) known.push_back(column.name);
  for (const std::string& name : wanted) {
    const auto column = std::ranges::find(all, name, &Column::name);
    if (column == all.end())
      throw Error::usage(fmt::format("columns: found '{}'{}, expected all, or some of {}", name,
                                     did_you_mean(name, known), fmt::join(known, ", ")));
    const bool told =
        std::ranges::any_of(group.rows, [&](const TableRow& row) { return column->cell(row) != "-"; });
    if (!options.columns.empty() || (told && out.size() < kPageColumns)) out.push_back(*column);
  }
  return out;
}

/// What stands above the table of a group.
std::string caption(const TableGroup& group) {
  std::string out = fmt::format("{}, {}", group.dataset, problem_text({group.lambda, group.mu}, group.loss));
  if (!std::isnan(group.best.objective)) {
    std::vector<std::string> proofs;
    if (!std::isnan(group.best.relative_kkt))
      proofs.push_back(fmt::format("relative kkt {}", scientific_cell(group.best.relative_kkt)));
    if (!std::isnan(group.best.relative_gap))
      proofs.push_back(fmt::format("gap {}", scientific_cell(group.best.relative_gap)));
    out += fmt::format(", f* = {} ({})", group.best.objective, fmt::join(proofs, ", "));
  }
  int most = 0;
  for (const TableRow& row : group.rows) most = std::max(most, row.repetitions);
  if (most > 1) out += fmt::format(", medians [quartiles] of {} repetitions", most);
  return out;
}

/// "* n = 3 < 5 repetitions: ...".
std::string few_repetitions_note(const TableGroup& group) {
  std::set<int> few;
  for (const TableRow& row : group.rows)
    if (row.measured() > 0 && row.measured() < kFewRepetitions) few.insert(row.measured());
  if (few.empty()) return "";
  if (*few.rbegin() == 1) return fmt::format("{} n = 1: a single run, whose spread is not known.", kFewMark);
  return fmt::format("{} n = {} < {} repetitions: quartiles are no more than the spread seen.", kFewMark,
                     fmt::join(few, ", "), kFewRepetitions);
}

/// What "?", "2.50-3.10" and "~1.20" mean, where they stand.
std::vector<std::string> time_notes(const TableGroup& group, const TableOptions& options) {
  std::vector<std::string> notes;
  const bool ratio_shown = shows(options, "ratio", false);
  const bool unproven = std::any_of(options.targets.begin(), options.targets.end(),
                                    [&](double target) { return group.unproven(target); });
  if (unproven || (ratio_shown && group.unproven(options.ratio_target)))
    notes.push_back(unproven_note(group.accuracy));
  bool wide = false, ratio = false;
  for (const TableRow& row : group.rows) {
    for (std::size_t i = 0; i < options.targets.size(); ++i)
      wide = wide || is_wide({row.spread.seconds_from[i].median, row.spread.seconds[i].median});
    ratio = ratio || (row.ratio_wide && !std::isnan(row.ratio));
  }
  if (wide) notes.push_back(fmt::format("{} Quartiles are those of B.", wide_note()));
  if (ratio && ratio_shown)
    notes.emplace_back("~: a ratio of two times of which at least one is known as an interval only.");
  return notes;
}

std::vector<std::string> footnotes(const TableGroup& group, const TableOptions& options) {
  std::vector<std::string> notes = time_notes(group, options);
  if (const std::string few = few_repetitions_note(group); !few.empty()) notes.push_back(few);
  for (const TableRow& row : group.rows) {
    for (const FailureCount& failure : row.failures)
      notes.push_back(fmt::format("{}: {} of {} {}{}; in no median.", row.label, failure.count,
                                  row.repetitions, failure.status,
                                  failure.reason.empty() ? "" : ": " + failure.reason));
    if (row.not_comparable > 0)
      notes.push_back(
          fmt::format("{}: the timings of {} of {} runs are not comparable (n/c) and left out{}.", row.label,
                      row.not_comparable, row.measured(),
                      row.not_comparable_because.empty() ? "" : ": " + row.not_comparable_because));
  }
  std::set<std::string> machines;
  for (const TableRow& row : group.rows) machines.insert(row.machine);
  if (machines.size() > 1)
    notes.push_back(
        "Runs of several machines: each has rows of its own, and is compared with the fastest on the same "
        "machine only.");
  return notes;
}

// ---- CSV

/// Empty for what is not there, "inf" for never.
std::string csv_cost(double value) {
  return std::isinf(value) && value > 0 ? "inf" : number_text(value);
}

std::string csv_header(const std::vector<TableGroup>& groups, const TableOptions& options) {
  std::string out =
      "dataset,lambda,mu,reference_objective,reference_relative_kkt,reference_relative_gap,"
      "reference_accuracy,solver,machine,status,repetitions,failed,"
      "failures,not_comparable";
  out += fmt::format(",ratio_to_fastest_at_{}", options.ratio_target);
  TableRow names;  // all rows have the same
  names.spread.seconds.resize(options.targets.size());
  names.spread.seconds_from.resize(options.targets.size());
  if (!groups.empty()) names.spread.test_metrics = groups.front().rows.front().spread.test_metrics;
  for (const NamedSpread& named : named_spreads(names, options))
    if (shows(options, named.name, true))
      out += fmt::format(",{0},{0}_q25,{0}_q75,{0}_min,{0}_max,{0}_n", named.name);
  return out + "\n";
}

std::string csv_row(const TableGroup& group, const TableRow& row, const TableOptions& options) {
  std::string out =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_field(group.dataset), group.lambda,
                  group.mu, number_text(group.best.objective), number_text(group.best.relative_kkt),
                  number_text(group.best.relative_gap), number_text(group.accuracy), csv_field(row.label),
                  csv_field(row.machine), csv_field(row.status), row.repetitions, row.failed(),
                  csv_field(fmt::format("{}", fmt::join(failure_texts(row), "; "))), row.not_comparable,
                  number_text(row.ratio));
  for (const auto& [name, spread] : named_spreads(row, options)) {
    if (!shows(options, name, true)) continue;
    for (const double value : {spread.median, spread.q25, spread.q75, spread.min, spread.max})
      out += fmt::format(",{}", csv_cost(value));
    out += fmt::format(",{}", spread.n);
  }
  return out + "\n";
}

}  // namespace

std::vector<TextTable> summary_tables(const std::vector<TableGroup>& groups, const TableOptions& options) {
  std::vector<TextTable> tables;
  for (const TableGroup& group : groups) {
    const std::vector<Column> columns = shown_columns(group, options);
    TextTable& table = tables.emplace_back();
    table.caption = caption(group);
    table.notes = {group.description};
    table.footnotes = footnotes(group, options);
    for (const Column& column : columns) {
      table.head.push_back(column.head);
      const bool words = column.name == "solver" || column.name == "status" || column.name == "n";
      if (words && table.text_columns + 1 == table.head.size()) ++table.text_columns;
    }
    for (const TableRow& row : group.rows) {
      std::vector<std::string>& cells = table.rows.emplace_back();
      for (const Column& column : columns) cells.push_back(column.cell(row));
    }
  }
  return tables;
}

std::string markdown_table(const std::vector<TableGroup>& groups, const TableOptions& options) {
  return markdown_document(options.title, summary_tables(groups, options));
}

std::string latex_table(const std::vector<TableGroup>& groups, const TableOptions& options) {
  return latex_document(options.title, summary_tables(groups, options));
}

std::string csv_table(const std::vector<TableGroup>& groups, const TableOptions& options) {
  std::string out = csv_header(groups, options);
  for (const TableGroup& group : groups)
    for (const TableRow& row : group.rows) out += csv_row(group, row, options);
  return out;
}

std::vector<std::filesystem::path> write_tables(const std::vector<Run>& runs,
                                                const std::filesystem::path& folder,
                                                const TableOptions& options) {
  const std::vector<TableGroup> groups = summarize(runs, options);
  TableOptions all = options;
  all.columns.clear();
  return write_tables(folder, "summary", options.title, summary_tables(groups, options),
                      csv_table(groups, all));
}

}  // namespace proxbench
