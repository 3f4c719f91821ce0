/// What a summary says: the spread of each figure over repetitions, for each data set, penalty and solver.

#include "experiments/results/tables/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

using Runs = std::vector<const Run*>;

/// A median that was never reached is no number to show.
double reached(const Spread& spread) {
  return std::isinf(spread.median) ? kNaN : spread.median;
}

void count_failure(const Run& run, std::vector<FailureCount>& failures) {
  const std::string status = run.status(), &reason = run.result.reason;
  auto found = std::find_if(failures.begin(), failures.end(), [&](const FailureCount& failure) {
    return failure.status == status && failure.reason == reason;
  });
  if (found == failures.end()) found = failures.insert(found, {status, reason, 0});
  ++found->count;
}

Spread spread_over(const Runs& runs, const std::function<double(const Run&)>& value) {
  std::vector<double> values;
  for (const Run* run : runs) values.push_back(value(*run));
  return spread_of(values);
}

struct RangeSpread {
  Spread from, to;
  CostRange median() const { return {from.median, to.median}; }
};
RangeSpread time_to(const Runs& runs, double target) {
  std::vector<double> from, to;
  for (const Run* run : runs) {
    const CostRange seconds = cost_to_target(*run, target, sample_seconds);
    from.push_back(seconds.from);
    to.push_back(seconds.to);
  }
  return {spread_of(from), spread_of(to)};
}

/// A run that diverged has no objective at its end: nothing is farther from f*.
double final_difference(const Run& run) {
  const double objective = run.result.certificate.objective, best = run.best.objective;
  return std::isnan(objective) && !std::isnan(best) ? kInfinity : relative_difference(objective, best);
}

/// The names of Sample::test_metrics over all runs.
std::set<std::string> metric_names(const std::vector<Run>& runs) {
  std::set<std::string> names;
  for (const Run& run : runs)
    for (const Sample& sample : run.trace)
      for (const auto& [name, value] : sample.test_metrics) names.insert(name);
  return names;
}

double final_metric(const Run& run, const std::string& name) {
  if (run.trace.empty()) return kNaN;
  const auto found = run.trace.back().test_metrics.find(name);
  return found == run.trace.back().test_metrics.end() ? kNaN : found->second;
}

/// `group`: tells to what f* is proven.
RowSpreads spreads_of(const Runs& measured, const Runs& timed, const TableGroup& group,
                      const std::set<std::string>& metrics, const TableOptions& options) {
  const auto figure = [](double RunFigures::*member) {
    return [member](const Run& run) { return run.result.*member; };
  };
  RowSpreads spread;
  for (const double target : options.targets) {
    const RangeSpread seconds = time_to(group.unproven(target) ? Runs{} : timed, target);
    spread.seconds_from.push_back(seconds.from);
    spread.seconds.push_back(seconds.to);
  }
  spread.final_difference = spread_over(measured, final_difference);
  spread.nnz = spread_over(measured, [](const Run& run) { return run.result.nonzeros_found(); });
  spread.relative_kkt = spread_over(measured, [](const Run& run) { return run.result.relative_kkt(); });
  spread.relative_gap =
      spread_over(measured, [](const Run& run) { return run.result.certificate.relative_gap(); });
  spread.iterations =
      spread_over(measured, [](const Run& run) { return number_or_nan(run.result.iterations); });
  spread.passes = spread_over(measured, figure(&RunFigures::passes));
  spread.updates = spread_over(measured, figure(&RunFigures::updates));
  spread.test_accuracy = spread_over(measured, figure(&RunFigures::test_accuracy));
  for (const std::string& name : metrics)
    spread.test_metrics[name] =
        spread_over(measured, [&](const Run& run) { return final_metric(run, name); });
  spread.total_seconds = spread_over(timed, figure(&RunFigures::seconds));
  spread.load_seconds = spread_over(timed, figure(&RunFigures::load_seconds));
  spread.setup_seconds = spread_over(timed, figure(&RunFigures::setup_seconds));
  spread.warm_up_seconds = spread_over(timed, figure(&RunFigures::warm_up_seconds));
  spread.sampling_seconds = spread_over(timed, figure(&RunFigures::sampling_seconds));
  spread.preparation_seconds =
      spread_over(timed, [](const Run& run) { return run.result.load_seconds + run.result.setup_seconds; });
  return spread;
}

/// `ratio` is the time itself until it is divided by the fastest solver's.
TableRow summarize_series(const std::string& name, const Runs& runs, const TableGroup& group,
                          const std::set<std::string>& metrics, const TableOptions& options) {
  TableRow row;
  row.label = name;
  row.machine = runs.front()->provenance.machine;
  row.repetitions = static_cast<int>(runs.size());
  Runs measured, timed;
  std::vector<std::string> statuses;
  for (const Run* run : runs) {
    if (run->failed()) {
      count_failure(*run, row.failures);
      continue;
    }
    measured.push_back(run);
    if (std::find(statuses.begin(), statuses.end(), run->status()) == statuses.end())
      statuses.push_back(run->status());
    if (run->timing.comparable || options.allow_not_comparable) {
      timed.push_back(run);
    } else {
      ++row.not_comparable;
      row.not_comparable_because = run->timing.not_comparable_because;
    }
  }
  row.status = fmt::format("{}", fmt::join(statuses, "/"));
  row.spread = spreads_of(measured, timed, group, metrics, options);
  for (const Spread& seconds : row.spread.seconds) row.seconds.push_back(reached(seconds));
  const RangeSpread to_ratio =
      time_to(group.unproven(options.ratio_target) ? Runs{} : timed, options.ratio_target);
  row.ratio = reached(to_ratio.to);
  row.ratio_wide = is_wide(to_ratio.median());
  row.final_difference = reached(row.spread.final_difference);
  row.nnz = row.spread.nnz.median;
  row.relative_kkt = row.spread.relative_kkt.median;
  row.relative_gap = row.spread.relative_gap.median;
  row.passes = row.spread.passes.median;
  row.updates = row.spread.updates.median;
  row.iterations = row.spread.iterations.median;
  row.total_seconds = row.spread.total_seconds.median;
  row.test_accuracy = row.spread.test_accuracy.median;
  return row;
}

void divide_by_fastest(std::vector<TableRow>& rows) {
  struct Fastest {
    double time = kInfinity;
    bool wide = false;
  };
  std::map<std::string, Fastest> fastest;  // of each machine
  for (const TableRow& row : rows)
    if (Fastest& best = fastest[row.machine]; row.ratio < best.time) best = {row.ratio, row.ratio_wide};
  for (TableRow& row : rows) {
    const Fastest& best = fastest[row.machine];
    const bool is_best = row.ratio == best.time;
    row.ratio_wide = !is_best && (row.ratio_wide || best.wide);
    row.ratio = is_best ? 1.0 : row.ratio / best.time;
  }
}

TableGroup summarize_group(const Runs& runs, bool machines, const std::set<std::string>& metrics,
                           const TableOptions& options) {
  const RunParameters& p = runs.front()->parameters;
  TableGroup group{
      p.dataset, runs.front()->result.description, p.lambda, p.mu, p.loss, runs.front()->best, kNaN, {}};
  for (const Run* run : runs) group.accuracy = std::fmax(group.accuracy, reference_bound(*run));
  std::vector<std::pair<std::string, Runs>> series;
  for (const Run* run : runs) {
    const std::string name = series_name(*run, machines);
    auto found =
        std::find_if(series.begin(), series.end(), [&](const auto& one) { return one.first == name; });
    if (found == series.end()) found = series.insert(found, {name, {}});
    found->second.push_back(run);
  }
  for (const auto& [name, repetitions] : series)
    group.rows.push_back(summarize_series(name, repetitions, group, metrics, options));
  divide_by_fastest(group.rows);
  return group;
}

}  // namespace

int TableRow::failed() const {
  int count = 0;
  for (const FailureCount& failure : failures) count += failure.count;
  return count;
}

std::vector<TableGroup> summarize(const std::vector<Run>& runs, const TableOptions& options) {
  const bool machines = several_machines(runs);
  const std::set<std::string> metrics = metric_names(runs);
  std::vector<TableGroup> groups;
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    Runs group;
    for (; end < runs.size() && same_problem(runs[end].parameters, runs[begin].parameters); ++end)
      group.push_back(&runs[end]);
    groups.push_back(summarize_group(group, machines, metrics, options));
  }
  return groups;
}

std::vector<NamedSpread> named_spreads(const TableRow& row, const TableOptions& options) {
  const RowSpreads& spread = row.spread;
  std::vector<NamedSpread> all;
  for (std::size_t i = 0; i < options.targets.size(); ++i) {
    const std::string name = fmt::format("seconds_to_{}", options.targets[i]);
    all.push_back({name, spread.seconds[i]});
    all.push_back({name + "_from", spread.seconds_from[i]});
  }
  const std::vector<NamedSpread> others = {
      {"final_difference", spread.final_difference},
      {"nnz", spread.nnz},
      {"relative_kkt", spread.relative_kkt},
      {"relative_gap", spread.relative_gap},
      {"iterations", spread.iterations},
      {"passes", spread.passes},
      {"updates", spread.updates},
      {"seconds", spread.total_seconds},
      {"test_accuracy", spread.test_accuracy},
      {"load_seconds", spread.load_seconds},
      {"setup_seconds", spread.setup_seconds},
      {"warm_up_seconds", spread.warm_up_seconds},
      {"sampling_seconds", spread.sampling_seconds},
  };
  all.insert(all.end(), others.begin(), others.end());
  for (const auto& [name, values] : spread.test_metrics) all.push_back({"test_metrics." + name, values});
  return all;
}

}  // namespace proxbench
