#include "experiments/results/tables/cost_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/profile.h"
#include "experiments/base/numbers.h"
#include "experiments/results/statistics.h"

namespace proxbench {
namespace {

struct SolverCosts {
  std::vector<const Run*> runs;  ///< repetitions
  /// To each target; infinity: not reached by half of them, NaN: unproven, or nothing comparable.
  std::vector<CostRange> passes, seconds;
  double accuracy;  ///< reference_bound()
  double function;  ///< share of the time; NaN: not profiled

  bool unproven(double target) const { return target < accuracy; }
};

/// Share of the seconds outside the solver; NaN where the run was not profiled.
double function_share(const Run& run) {
  double function = 0.0, all = 0.0;
  for (const PhaseCost& phase : run.result.phases) {
    all += phase.seconds;
    if (phase.phase != phase_name(Phase::kSolver)) function += phase.seconds;
  }
  return all > 0.0 ? function / all : kNaN;
}

double median_of(const std::vector<const Run*>& runs, const std::function<double(const Run&)>& value) {
  std::vector<double> values;
  for (const Run* run : runs) values.push_back(value(*run));
  const double median = spread_of(values).median;
  return std::isinf(median) ? kNaN : median;
}

/// The medians of the costs; a run that failed reaches nothing.
CostRange to_target(const std::vector<const Run*>& runs, double target, double (*cost)(const Sample&)) {
  std::vector<double> from, to;
  for (const Run* run : runs) {
    const CostRange paid =
        run->failed() ? CostRange{kInfinity, kInfinity} : cost_to_target(*run, target, cost);
    from.push_back(paid.from);
    to.push_back(paid.to);
  }
  return {spread_of(from).median, spread_of(to).median};
}

double passes_of(const Sample& sample) {
  return sample.passes;
}

std::vector<SolverCosts> costs_of(const std::vector<Run>& runs, const std::vector<double>& targets) {
  std::vector<SolverCosts> out;
  const auto same = [](const Run& a, const Run& b) {
    return a.provenance.machine == b.provenance.machine && same_problem(a.parameters, b.parameters) &&
           a.parameters.label == b.parameters.label;
  };
  for (const Run& run : runs) {
    auto found = std::find_if(out.begin(), out.end(),
                              [&](const SolverCosts& cost) { return same(*cost.runs.front(), run); });
    if (found == out.end()) found = out.insert(out.end(), SolverCosts{});
    found->runs.push_back(&run);
  }
  for (SolverCosts& cost : out) {
    cost.accuracy = kNaN;
    std::vector<const Run*> timed;
    for (const Run* run : cost.runs) {
      cost.accuracy = std::fmax(cost.accuracy, reference_bound(*run));
      if (run->timing.comparable) timed.push_back(run);
    }
    for (const double target : targets) {
      const bool unproven = cost.unproven(target);
      cost.passes.push_back(unproven ? CostRange{kNaN, kNaN} : to_target(cost.runs, target, passes_of));
      cost.seconds.push_back(unproven ? CostRange{kNaN, kNaN} : to_target(timed, target, sample_seconds));
    }
    cost.function = median_of(cost.runs, function_share);
  }
  return out;
}

std::string statuses_of(const SolverCosts& cost) {
  std::vector<std::string> out;
  for (const Run* run : cost.runs)
    if (std::find(out.begin(), out.end(), run->status()) == out.end()) out.push_back(run->status());
  return fmt::format("{}", fmt::join(out, "/"));
}

/// With the machine where there are several.
std::string data_of(const SolverCosts& cost, const std::vector<Run>& runs) {
  const Run& run = *cost.runs.front();
  return fmt::format("{}, {}{}", run.parameters.dataset, penalty_text(run.parameters),
                     several_machines(runs) ? " @ " + machine_name(run) : "");
}

/// "-" where there is none.
std::string range_cell(const CostRange& range, const std::function<std::string(double)>& cell) {
  if (!std::isfinite(range.to)) return "-";
  return (is_wide(range) ? cell(range.from) + "-" : "") + cell(range.to);
}

std::string range_fields(const CostRange& range) {
  return std::isfinite(range.to) ? fmt::format("{},{}", range.from, range.to) : ",";
}

/// What "?" and "2.50-3.10" mean, where they stand.
std::vector<std::string> range_notes(const std::vector<SolverCosts>& costs,
                                     const std::vector<double>& targets) {
  double worst = 0.0;
  bool wide = false;
  for (const SolverCosts& cost : costs)
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (cost.unproven(targets[i])) worst = std::max(worst, cost.accuracy);
      wide = wide || is_wide(cost.passes[i]) || is_wide(cost.seconds[i]);
    }
  std::vector<std::string> notes;
  if (worst > 0.0) notes.push_back(unproven_note(worst));
  if (wide) notes.push_back(wide_note());
  return notes;
}

}  // namespace

TextTable cost_table(const std::vector<Run>& runs, const std::vector<double>& targets) {
  TextTable table{
      "Costs to (f - f*)/f*",
      {"passes: evaluations of F and its gradient over all instances; function: the share of scores, "
       "inference and gradients in the time of the run; solver: the rest of it."},
      {"data", "solver"},
      2,
      {}};
  for (const double target : targets) {
    table.head.push_back(fmt::format("passes to {:g}", target));
    table.head.push_back(fmt::format("s to {:g}", target));
  }
  for (const char* column : {"function %", "solver %", "status"}) table.head.emplace_back(column);
  const std::vector<SolverCosts> costs = costs_of(runs, targets);
  table.footnotes = range_notes(costs, targets);
  for (const SolverCosts& cost : costs) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {data_of(cost, runs), cost.runs.front()->parameters.label};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const bool unproven = cost.unproven(targets[i]);
      row.push_back(unproven ? kUnprovenCell
                             : range_cell(cost.passes[i], [](double x) { return fixed_cell(x, 1); }));
      row.push_back(unproven ? kUnprovenCell : range_cell(cost.seconds[i], seconds_cell));
    }
    row.push_back(fixed_cell(100.0 * cost.function, 1));
    row.push_back(fixed_cell(100.0 * (1.0 - cost.function), 1));
    row.push_back(statuses_of(cost));
  }
  return table;
}

std::vector<std::filesystem::path> write_cost_table(const std::vector<Run>& runs,
                                                    const std::vector<double>& targets,
                                                    const std::filesystem::path& folder) {
  const std::vector<TextTable> tables{cost_table(runs, targets)};
  std::string csv = "data,solver,target,passes_from,passes,seconds_from,seconds,function_share,status\n";
  for (const SolverCosts& cost : costs_of(runs, targets))
    for (std::size_t i = 0; i < targets.size(); ++i)
      csv += fmt::format("{},{},{},{},{},{},{}\n", csv_field(data_of(cost, runs)),
                         csv_field(cost.runs.front()->parameters.label), number_text(targets[i]),
                         range_fields(cost.passes[i]), range_fields(cost.seconds[i]),
                         number_text(cost.function), statuses_of(cost));
  return write_tables(folder, "costs", "", tables, csv);
}

}  // namespace proxbench
