#include "experiments/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/error.h"

namespace proxbench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double number(const nlohmann::json& summary, const char* key) {
  const auto found = summary.find(key);
  return found != summary.end() && found->is_number() ? found->get<double>() : kNaN;
}

/// NaN counts as larger than all numbers: a time that was never reached.
double median(std::vector<double> values) {
  if (values.empty()) return kNaN;
  for (double& value : values)
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double middle = values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
  return std::isinf(middle) ? kNaN : middle;
}

TableRow summarize_label(const std::vector<const StoredRun*>& runs, const TableOptions& options) {
  const auto over_runs = [&](const std::function<double(const StoredRun&)>& value) {
    std::vector<double> values;
    for (const StoredRun* run : runs) values.push_back(value(*run));
    return median(values);
  };
  const auto key = [&](const char* name) {
    return over_runs([name](const StoredRun& run) { return number(run.summary, name); });
  };
  TableRow row;
  row.label = runs.front()->label;
  row.repetitions = static_cast<int>(runs.size());
  std::vector<std::string> statuses;
  for (const StoredRun* run : runs) {
    const std::string status = run->status;
    if (std::find(statuses.begin(), statuses.end(), status) == statuses.end()) statuses.push_back(status);
  }
  row.status = fmt::format("{}", fmt::join(statuses, "/"));
  for (double target : options.targets)
    row.seconds.push_back(
        over_runs([target](const StoredRun& run) { return seconds_to_target(run, target); }));
  row.ratio = over_runs([&](const StoredRun& run) { return seconds_to_target(run, options.ratio_target); });
  row.final_difference = over_runs([](const StoredRun& run) {
    return (number(run.summary, "objective") - run.reference_objective) / std::abs(run.reference_objective);
  });
  row.nnz = key("nnz");
  row.relative_kkt = key("relative_kkt");
  row.passes = key("passes");
  row.iterations = key("iterations");
  row.total_seconds = key("seconds");
  row.test_accuracy = key("test_accuracy");
  return row;
}

std::string seconds_cell(double seconds) {
  if (std::isnan(seconds)) return "-";
  return seconds < 10    ? fmt::format("{:.2f}", seconds)
         : seconds < 100 ? fmt::format("{:.1f}", seconds)
                         : fmt::format("{:.0f}", seconds);
}

/// Of each row: solver and status are words, the others numbers.
constexpr std::size_t kTextColumns = 2;

std::vector<std::string> header(const TableOptions& options) {
  std::vector<std::string> cells{"solver", "status"};
  for (double target : options.targets) cells.push_back(fmt::format("s to {:g}", target));
  cells.push_back(fmt::format("x fastest at {:g}", options.ratio_target));
  for (const char* cell :
       {"final difference", "nnz", "relative kkt", "iterations", "passes", "seconds", "test accuracy"})
    cells.emplace_back(cell);
  return cells;
}

std::vector<std::string> cells_of(const TableRow& row) {
  std::vector<std::string> cells{row.label, row.status};
  for (double seconds : row.seconds) cells.push_back(seconds_cell(seconds));
  cells.push_back(fixed_cell(row.ratio, 2));
  cells.push_back(scientific_cell(row.final_difference));
  cells.push_back(count_cell(row.nnz));
  cells.push_back(scientific_cell(row.relative_kkt));
  cells.push_back(count_cell(row.iterations));
  cells.push_back(count_cell(row.passes));
  cells.push_back(seconds_cell(row.total_seconds));
  cells.push_back(fixed_cell(row.test_accuracy, 4));
  return cells;
}

/// What stands above the table of a group.
std::string caption(const TableGroup& group) {
  std::string out = fmt::format("{}, lambda = {}", group.dataset, group.lambda);
  if (!std::isnan(group.reference_objective))
    out += fmt::format(", f* = {} (relative kkt {})", group.reference_objective,
                       scientific_cell(group.reference_kkt));
  int most = 0;
  for (const TableRow& row : group.rows) most = std::max(most, row.repetitions);
  if (most > 1) out += fmt::format(", medians of {} repetitions", most);
  return out;
}

}  // namespace

std::vector<TableGroup> summarize(const std::vector<StoredRun>& runs, const TableOptions& options) {
  std::vector<TableGroup> groups;
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    const StoredRun& first = runs[begin];
    for (end = begin;
         end < runs.size() && runs[end].dataset == first.dataset && runs[end].lambda == first.lambda;)
      ++end;
    TableGroup group{
        first.dataset, first.description, first.lambda, first.reference_objective, first.reference_kkt, {}};
    for (std::size_t from = begin, to = begin; from < end; from = to) {
      std::vector<const StoredRun*> repetitions;
      for (; to < end && runs[to].label == runs[from].label; ++to) repetitions.push_back(&runs[to]);
      group.rows.push_back(summarize_label(repetitions, options));
    }
    double fastest = std::numeric_limits<double>::infinity();
    for (const TableRow& row : group.rows) fastest = std::fmin(fastest, row.ratio);
    for (TableRow& row : group.rows) row.ratio = row.ratio == fastest ? 1.0 : row.ratio / fastest;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<TextTable> summary_tables(const std::vector<TableGroup>& groups, const TableOptions& options) {
  std::vector<TextTable> tables;
  for (const TableGroup& group : groups) {
    TextTable& table = tables.emplace_back(
        TextTable{caption(group), {group.description}, header(options), kTextColumns, {}});
    for (const TableRow& row : group.rows) table.rows.push_back(cells_of(row));
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
  std::string out = "dataset,lambda,reference_objective,reference_relative_kkt,solver,status,repetitions";
  for (double target : options.targets) out += fmt::format(",seconds_to_{}", target);
  out += fmt::format(",ratio_to_fastest_at_{}", options.ratio_target);
  out += ",final_difference,nnz,relative_kkt,iterations,passes,seconds,test_accuracy\n";
  for (const TableGroup& group : groups) {
    for (const TableRow& row : group.rows) {
      out += fmt::format("{},{},{},{},{},{},{}", csv_field(group.dataset), group.lambda,
                         csv_number(group.reference_objective), csv_number(group.reference_kkt),
                         csv_field(row.label), csv_field(row.status), row.repetitions);
      for (double seconds : row.seconds) out += fmt::format(",{}", csv_number(seconds));
      for (double value : {row.ratio, row.final_difference, row.nnz, row.relative_kkt, row.iterations,
                           row.passes, row.total_seconds, row.test_accuracy})
        out += fmt::format(",{}", csv_number(value));
      out += "\n";
    }
  }
  return out;
}

std::vector<std::filesystem::path> write_tables(const std::vector<StoredRun>& runs,
                                                const std::filesystem::path& folder,
                                                const TableOptions& options) {
  const std::vector<TableGroup> groups = summarize(runs, options);
  make_folder(folder);
  write_file_atomically(folder / "summary.md", markdown_table(groups, options));
  write_file_atomically(folder / "summary.tex", latex_table(groups, options));
  write_file_atomically(folder / "summary.csv", csv_table(groups, options));
  return {folder / "summary.md", folder / "summary.tex", folder / "summary.csv"};
}

}  // namespace proxbench
