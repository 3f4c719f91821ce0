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
  std::vector<const StoredRun*> runs;   ///< repetitions
  std::vector<double> passes, seconds;  ///< to each target; NaN: not reached by half of them
  double function;                      ///< share of the time; NaN: not profiled
};

/// Share of the seconds outside the solver; NaN where the run was not profiled.
double function_share(const StoredRun& run) {
  const auto phases = run.summary.find("phases");
  if (phases == run.summary.end() || !phases->is_array()) return kNaN;
  double function = 0.0, all = 0.0;
  for (const nlohmann::json& phase : *phases) {
    const double seconds = number_at(phase, "/seconds");
    all += seconds;
    if (phase.value("phase", "") != phase_name(Phase::kSolver)) function += seconds;
  }
  return all > 0.0 ? function / all : kNaN;
}

double median_of(const std::vector<const StoredRun*>& runs,
                 const std::function<double(const StoredRun&)>& value) {
  std::vector<double> values;
  for (const StoredRun* run : runs) values.push_back(value(*run));
  const double median = spread_of(values).median;
  return std::isinf(median) ? kNaN : median;
}

/// The trace up to the target, as `cost` of its first sample there.
double to_target(const SolverCosts& cost, double target, bool seconds) {
  std::vector<const StoredRun*> counted;
  for (const StoredRun* run : cost.runs)
    if (!seconds || run->comparable) counted.push_back(run);
  return median_of(counted, [&](const StoredRun& run) {
    const Sample* sample = failed_status(run.status) ? nullptr : sample_at_target(run, target);
    return sample == nullptr ? kInfinity : seconds ? sample->seconds : sample->passes;
  });
}

std::vector<SolverCosts> costs_of(const std::vector<StoredRun>& runs, const std::vector<double>& targets) {
  std::vector<SolverCosts> out;
  const auto same = [](const StoredRun& a, const StoredRun& b) {
    return a.machine == b.machine && a.dataset == b.dataset && a.lambda == b.lambda && a.mu == b.mu &&
           a.label == b.label;
  };
  for (const StoredRun& run : runs) {
    auto found = std::find_if(out.begin(), out.end(),
                              [&](const SolverCosts& cost) { return same(*cost.runs.front(), run); });
    if (found == out.end()) found = out.insert(out.end(), SolverCosts{});
    found->runs.push_back(&run);
  }
  for (SolverCosts& cost : out) {
    for (const double target : targets) {
      cost.passes.push_back(to_target(cost, target, false));
      cost.seconds.push_back(to_target(cost, target, true));
    }
    cost.function = median_of(cost.runs, function_share);
  }
  return out;
}

std::string statuses_of(const SolverCosts& cost) {
  std::vector<std::string> out;
  for (const StoredRun* run : cost.runs)
    if (std::find(out.begin(), out.end(), run->status) == out.end()) out.push_back(run->status);
  return fmt::format("{}", fmt::join(out, "/"));
}

/// With the machine where there are several.
std::string data_of(const SolverCosts& cost, const std::vector<StoredRun>& runs) {
  const StoredRun& run = *cost.runs.front();
  const bool machines = std::any_of(runs.begin(), runs.end(),
                                    [&](const StoredRun& other) { return other.machine != run.machine; });
  return fmt::format("{}, {}{}", run.dataset, penalty_text(run), machines ? " @ " + machine_name(run) : "");
}

}  // namespace

TextTable cost_table(const std::vector<StoredRun>& runs, const std::vector<double>& targets) {
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
  for (const SolverCosts& cost : costs_of(runs, targets)) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {data_of(cost, runs), cost.runs.front()->label};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      row.push_back(fixed_cell(cost.passes[i], 1));
      row.push_back(seconds_cell(cost.seconds[i]));
    }
    row.push_back(fixed_cell(100.0 * cost.function, 1));
    row.push_back(fixed_cell(100.0 * (1.0 - cost.function), 1));
    row.push_back(statuses_of(cost));
  }
  return table;
}

std::vector<std::filesystem::path> write_cost_table(const std::vector<StoredRun>& runs,
                                                    const std::vector<double>& targets,
                                                    const std::filesystem::path& folder) {
  const std::vector<TextTable> tables{cost_table(runs, targets)};
  std::string csv = "data,solver,target,passes,seconds,function_share,status\n";
  for (const SolverCosts& cost : costs_of(runs, targets))
    for (std::size_t i = 0; i < targets.size(); ++i)
      csv += fmt::format("{},{},{},{},{},{},{}\n", csv_field(data_of(cost, runs)),
                         csv_field(cost.runs.front()->label), number_text(targets[i]),
                         number_text(cost.passes[i]), number_text(cost.seconds[i]),
                         number_text(cost.function), statuses_of(cost));
  return write_tables(folder, "costs", "", tables, csv);
}

}  // namespace proxbench
