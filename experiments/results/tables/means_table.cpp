#include "experiments/results/tables/means_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/numbers.h"
#include "experiments/results/statistics.h"

namespace proxbench {
namespace {

MeansRow means_of(const ProblemSet& set, std::size_t solver, const PlotConfig& plot) {
  MeansRow row{set.solvers[solver], {}, {}};
  for (std::size_t target = 0; target < set.targets.size(); ++target) {
    std::vector<double> charged, charged_from;
    for (const Problem& problem : set.problems) {
      const CostRange& cost = problem.costs[target][solver];
      const double charge = plot.par * problem.limits[solver];
      charged.push_back(std::isinf(cost.to) ? charge : cost.to);
      charged_from.push_back(std::isinf(cost.to) ? charge : cost.from);
    }
    row.reached.push_back(static_cast<int>(std::ranges::count_if(set.problems, [&](const Problem& problem) {
      return std::isfinite(problem.costs[target][solver].to);
    })));
    row.means.push_back(set.unproven(target) > 0 ? CostRange{kNaN, kNaN}
                                                 : CostRange{shifted_geometric_mean(charged_from, plot.shift),
                                                             shifted_geometric_mean(charged, plot.shift)});
  }
  return row;
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

/// Explains "?" and "2.50-3.10" if they occur.
std::vector<std::string> range_notes(const MeansGroup& group) {
  const ProblemSet& set = group.set;
  std::vector<std::string> notes;
  for (std::size_t target = 0; target < set.targets.size(); ++target)
    if (const std::size_t unproven = set.unproven(target); unproven > 0)
      notes.push_back(fmt::format("{}: f* of {} of {} problems is not proven to {:g}.", kUnprovenCell,
                                  unproven, set.problems.size(), set.targets[target]));
  if (std::ranges::any_of(group.rows,
                          [](const MeansRow& row) { return std::ranges::any_of(row.means, is_wide); }))
    notes.emplace_back(
        "A-B: means of the costs at the samples before the targets and at those that reached them, more than "
        "a "
        "tenth of B apart.");
  return notes;
}

TextTable means_table(const MeansGroup& group, const PlotConfig& plot) {
  const ProblemSet& set = group.set;
  TextTable table;
  table.caption = fmt::format("Shifted geometric means of {} to a target, shift {:g}, PAR{:g}{}", set.measure,
                              plot.shift, plot.par, set.machine.empty() ? "" : ", on " + set.machine);
  if (!set.comparable)
    table.notes.push_back("NOT COMPARABLE: seconds of runs whose timings are not comparable count here.");
  table.notes.push_back(
      fmt::format("{} problems: (experiment, data set, penalty, repetition).", set.problems.size()));
  table.head = {"solver"};
  table.text_columns = 1;
  for (const double target : set.targets) {
    table.head.push_back(fmt::format("{} to {:g}", set.measure == "seconds" ? "s" : set.measure, target));
    table.head.push_back("reached");
  }
  for (const MeansRow& row : group.rows) {
    std::vector<std::string>& cells = table.rows.emplace_back(1, row.solver);
    for (std::size_t i = 0; i < set.targets.size(); ++i) {
      const auto& [from, to] = row.means[i];
      const bool unproven = set.unproven(i) > 0;
      cells.push_back(unproven ? kUnprovenCell
                               : (is_wide(row.means[i]) ? seconds_cell(from) + "-" : "") + seconds_cell(to));
      cells.push_back(unproven ? kUnprovenCell
                               : fmt::format("{} of {}", row.reached[i], set.problems.size()));
    }
  }
  table.footnotes = range_notes(group);
  table.footnotes.push_back(charge_note(set, plot.par));
  if (!set.failures.empty())
    table.footnotes.push_back(fmt::format("Failed: {}.", fmt::join(set.failures, "; ")));
  if (!set.left_out.empty())
    table.footnotes.push_back(fmt::format("Left out: {}.", fmt::join(set.left_out, "; ")));
  return table;
}

}  // namespace

std::vector<MeansGroup> geometric_means(const std::vector<Run>& runs, const Presentation& presentation,
                                        bool allow_not_comparable) {
  const PlotConfig& plot = presentation.plot;
  std::vector<MeansGroup> groups;
  for (const std::string& measure : plot.x)
    for (ProblemSet& set : problem_sets(runs, measure, presentation.targets, allow_not_comparable)) {
      MeansGroup group{std::move(set), {}};
      for (std::size_t solver = 0; solver < group.set.solvers.size(); ++solver)
        group.rows.push_back(means_of(group.set, solver, plot));
      groups.push_back(std::move(group));
    }
  return groups;
}

TableSet means_tables(const std::vector<MeansGroup>& groups, const Presentation& presentation) {
  TableSet out{"means", presentation.title, {}, {}};
  for (const MeansGroup& group : groups) {
    out.tables.push_back(means_table(group, presentation.plot));
    for (const MeansRow& row : group.rows)
      for (std::size_t i = 0; i < group.set.targets.size(); ++i)
        out.records.push_back({{"measure", group.set.measure},
                               {"machine", group.set.machine},
                               {"solver", row.solver},
                               {"target", group.set.targets[i]},
                               {"problems", group.set.problems.size()},
                               {"reached", row.reached[i]},
                               {"left_out", group.set.left_out.size()},
                               {"shift", presentation.plot.shift},
                               {"par", presentation.plot.par},
                               {"shifted_geometric_mean", row.means[i].to},
                               {"shifted_geometric_mean_from", row.means[i].from},
                               {"unproven", group.set.unproven(i)}});
  }
  return out;
}

}  // namespace proxbench
