#include "experiments/results/tables/result_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "experiments/results/statistics.h"
#include "experiments/results/tables/paper_table.h"
#include "experiments/results/tables/problem_set.h"

namespace proxbench {

TableSet data_table(const std::vector<Run>& runs) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  TableSet out{"data", "", {{}}, {}};
  TextTable& table = out.tables.front();
  table.caption = "Data sets";
  table.notes = {
      "n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all "
      "instances, pairs and singletons."};
  table.head = {"data", "n", "N", "K", "A", "d", "marginals (GiB)"};
  table.text_columns = 1;
  for (const auto& [dataset, of_dataset] : grouped(runs, dataset_of)) {
    Json& record = out.records.emplace_back();
    record["dataset"] = dataset;
    std::vector<std::string>& cells = table.rows.emplace_back(1, dataset);
    const auto told_by_any = [&runs = of_dataset](const auto& value_of) {
      double value = kNaN;
      for (const Run* run : runs)
        if (std::isnan(value)) value = value_of(run->result);
      return value;
    };
    for (const auto& [what, member] : {std::pair("instances", &RunFigures::instances),
                                       {"positions", &RunFigures::positions},
                                       {"outputs", &RunFigures::outputs},
                                       {"features", &RunFigures::features},
                                       {"d", &RunFigures::d}}) {
      const double count =
          told_by_any([&one = member](const RunFigures& result) { return number_or_nan(result.*one); });
      record[what] = count;
      cells.push_back(count_cell(count));
    }
    const double bytes = told_by_any([](const RunFigures& result) {
      const auto note = result.notes.find("belief_bytes");
      return note == result.notes.end() ? kNaN : note->second;
    });
    record["belief_bytes"] = bytes;
    cells.push_back(fixed_cell(bytes / kGibibyte, 2));
  }
  return out;
}

namespace {

/// Returns the shifted geometric mean over the problems of a solver's costs to a target. Adds to `reached`
/// the number of problems on which the solver reached the target.
CostRange mean_of(const ProblemSet& set, std::size_t solver, std::size_t target, const PlotConfig& plot,
                  int& reached) {
  std::vector<double> charged, charged_from;
  for (const Problem& problem : set.problems) {
    const CostRange& cost = problem.costs[target][solver];
    const double charge = plot.par * problem.limits[solver];
    charged.push_back(std::isinf(cost.to) ? charge : cost.to);
    charged_from.push_back(std::isinf(cost.to) ? charge : cost.from);
    reached += std::isfinite(cost.to) ? 1 : 0;
  }
  if (set.unproven(target) > 0) return {kNaN, kNaN};
  return {shifted_geometric_mean(charged_from, plot.shift), shifted_geometric_mean(charged, plot.shift)};
}

std::string charge_note(const ProblemSet& set, double par) {
  const std::string limit = set.measure == "seconds"      ? "the run's time limit, or "
                            : set.measure == "iterations" ? "the run's max_iterations, or "
                                                          : "";
  return fmt::format(
      "A run that failed or never reached the target is charged {0:g} x {1}the most {2} of any run of that "
      "problem{3} (PAR{0:g}).",
      par, limit, set.measure, limit.empty() ? "" : " where there is none");
}

/// Adds the table of a set, with as many of the last targets as fit a page. Its footnotes explain "?" and
/// "2.50-3.10" if they occur.
void add_set(TableSet& out, const ProblemSet& set, const PlotConfig& plot) {
  TextTable& table = out.tables.emplace_back();
  table.caption = fmt::format("Shifted geometric means of {} to a target, shift {:g}, PAR{:g}{}", set.measure,
                              plot.shift, plot.par, set.machine.empty() ? "" : ", on " + set.machine);
  if (!set.comparable)
    table.notes.push_back("NOT COMPARABLE: seconds of runs whose timings are not comparable count here.");
  table.notes.push_back(
      fmt::format("{} problems: (experiment, data set, penalty, repetition).", set.problems.size()));
  table.head = {"solver"};
  table.text_columns = 1;
  const auto fits_page = [&](std::size_t target) { return target + kMostTargets >= set.targets.size(); };
  for (std::size_t target = 0; target < set.targets.size(); ++target) {
    if (!fits_page(target)) continue;
    table.head.push_back(
        fmt::format("{} to {:g}", set.measure == "seconds" ? "s" : set.measure, set.targets[target]));
    table.head.push_back("reached");
    if (const std::size_t unproven = set.unproven(target); unproven > 0)
      table.footnotes.push_back(fmt::format("{}: f* of {} of {} problems is not proven to {:g}.",
                                            kUnprovenCell, unproven, set.problems.size(),
                                            set.targets[target]));
  }
  bool wide = false;
  for (std::size_t solver = 0; solver < set.solvers.size(); ++solver) {
    std::vector<std::string>& cells = table.rows.emplace_back(1, set.solvers[solver]);
    for (std::size_t target = 0; target < set.targets.size(); ++target) {
      int reached = 0;
      const CostRange mean = mean_of(set, solver, target, plot, reached);
      const std::size_t unproven = set.unproven(target);
      if (fits_page(target)) {
        wide = wide || is_wide(mean);
        cells.push_back(unproven > 0
                            ? kUnprovenCell
                            : (is_wide(mean) ? seconds_cell(mean.from) + "-" : "") + seconds_cell(mean.to));
        cells.push_back(unproven > 0 ? kUnprovenCell : fmt::format("{} of {}", reached, set.problems.size()));
      }
      out.records.push_back({{"measure", set.measure},
                             {"machine", set.machine},
                             {"solver", set.solvers[solver]},
                             {"target", set.targets[target]},
                             {"problems", set.problems.size()},
                             {"reached", reached},
                             {"left_out", set.left_out.size()},
                             {"shift", plot.shift},
                             {"par", plot.par},
                             {"shifted_geometric_mean", mean.to},
                             {"shifted_geometric_mean_from", mean.from},
                             {"unproven", unproven}});
    }
  }
  if (wide)
    table.footnotes.emplace_back(
        "A-B: means of the costs at the samples before the targets and at those that reached them, more than "
        "a tenth of B apart.");
  table.footnotes.push_back(charge_note(set, plot.par));
  if (!set.failures.empty())
    table.footnotes.push_back(fmt::format("Failed: {}.", fmt::join(set.failures, "; ")));
  if (!set.left_out.empty())
    table.footnotes.push_back(fmt::format("Left out: {}.", fmt::join(set.left_out, "; ")));
}

}  // namespace

TableSet means_tables(const std::vector<Run>& runs, const Presentation& presentation,
                      bool allow_not_comparable) {
  TableSet out{"means", presentation.title, {}, {}};
  for (const std::string& measure : presentation.plot.x)
    for (const ProblemSet& set : problem_sets(runs, measure, presentation.targets, allow_not_comparable))
      add_set(out, set, presentation.plot);
  return out;
}

std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const std::vector<std::string>& columns, bool allow_not_comparable) {
  const TableOptions options{.title = presentation.title,
                             .targets = presentation.targets,
                             .columns = columns,
                             .allow_not_comparable = allow_not_comparable};
  std::vector<TableSet> out;
  if (!presentation.paper.lambdas.empty()) out.push_back(paper_table(runs, presentation));
  if (presentation.paper.costs) out.push_back(cost_tables(runs, options));
  if (presentation.paper.data) out.push_back(data_table(runs));
  out.push_back(summary_tables(summarize(runs, options), options));
  return out;
}

std::vector<TableSet> write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                                          const Presentation& presentation,
                                          const std::vector<std::string>& columns,
                                          bool allow_not_comparable) {
  std::vector<TableSet> tables = result_tables(runs, presentation, columns, allow_not_comparable);
  for (const TableSet& set : tables) set.write(out / "tables");
  if (!presentation.targets.empty())
    means_tables(runs, presentation, allow_not_comparable).write(out / "tables");
  if (columns.empty() || columns.front() == kAllColumns) return tables;
  for (Json& record : tables.back().records) {
    Json kept;
    for (const auto& [name, value] : record.items())  // figures are objects
      if (!value.is_object() || contains(columns, name.substr(0, name.rfind("_from")))) kept[name] = value;
    record = std::move(kept);
  }
  return tables;
}

}  // namespace proxbench
