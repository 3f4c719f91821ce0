#include "experiments/results/tables/problem_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/base/error.h"
#include "core/base/numbers.h"

namespace proxbench {
namespace {

bool was_run(const Run* run) {
  return run && !is_skipped(*run) && run->result.status != Status::kInterrupted;
}

/// Returns NaN if the run has no limit.
double own_limit(const Run& run, const Measure& measure) {
  const double limit = measure.name == "seconds"      ? run.parameters.time_limit
                       : measure.name == "iterations" ? static_cast<double>(run.parameters.max_iterations)
                                                      : kNaN;
  return limit > 0.0 ? limit : kNaN;
}

double most_paid(const Runs& cells, const Measure& measure) {
  double most = 0.0;
  for (const Run* run : cells)
    for (const Sample& sample : run->trace) most = std::fmax(most, measure.of(sample));
  return most;
}

/// `cells` holds one run of each solver.
Problem make_problem(const std::string& name, const Runs& cells, const Measure& measure,
                     const std::vector<double>& targets) {
  Problem problem{name, {}, {}, kNaN};
  for (const Run* run : cells) problem.accuracy = std::fmax(problem.accuracy, reference_bound(*run));
  for (const double target : targets) {
    std::vector<CostRange>& costs = problem.costs.emplace_back();
    for (const Run* run : cells)
      costs.push_back(run->failed() ? CostRange{kInfinity, kInfinity}
                                    : cost_to_target(*run, target, measure.of));
  }
  const double most = most_paid(cells, measure);
  for (const Run* run : cells) {
    const double limit = own_limit(*run, measure);
    problem.limits.push_back(std::isnan(limit) ? most : limit);
  }
  return problem;
}

/// Whether a run failed or missed a target, and there is no limit to charge it for.
bool lacks_charge(const Problem& problem) {
  for (const std::vector<CostRange>& costs : problem.costs)
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (std::isinf(costs[i].to) && !(problem.limits[i] > 0.0)) return true;
  return false;
}

/// Returns what identifies a problem. It includes the folder, because two folders may have experiments of the
/// same name.
auto repetition_of(const Run& run) {
  const RunParameters& p = run.parameters;
  return std::tuple(run.folder.parent_path().parent_path(), p.experiment, run.provenance.machine, p.dataset,
                    p.lambda, p.mu, p.repetition);
}

/// Returns why a problem does not count; empty if it does. `cells` holds the run of each solver, or null if
/// there is none.
std::string why_not(const ProblemSet& set, const Runs& cells, bool allow_not_comparable) {
  std::vector<std::string> missing, not_comparable;
  bool without_reference = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Run* run = cells[i];
    if (!was_run(run)) {
      missing.push_back(set.solvers[i]);
      continue;
    }
    if (!run->timing.comparable) not_comparable.push_back(set.solvers[i]);
    without_reference = without_reference || (std::isnan(run->best.objective) && !run->failed());
  }
  if (!missing.empty()) return "not run: " + joined(missing);
  if (without_reference) return "no f*";
  if (set.measure == "seconds" && !allow_not_comparable && !not_comparable.empty())
    return "timings not comparable: " + joined(not_comparable);
  return "";
}

/// `runs` are the runs of one problem.
void add_problem(ProblemSet& set, const Runs& runs, const std::string& name, bool allow_not_comparable) {
  Runs cells(set.solvers.size());
  for (const Run* run : runs) cells[place_in(set.solvers, shown_label(*run))] = run;
  std::string reason = why_not(set, cells, allow_not_comparable);
  Problem problem;
  if (reason.empty()) {
    problem = make_problem(name, cells, find_measure(set.measure), set.targets);
    if (lacks_charge(problem)) reason = "no run has a limit or got anywhere";
  }
  if (!reason.empty()) {
    set.left_out.push_back(fmt::format("{} ({})", name, reason));
    return;
  }
  set.problems.push_back(std::move(problem));
  set.descriptions.insert(runs.front()->result.description);
  for (const Run* run : cells) {
    if (run->failed()) set.failures.push_back(run_name(*run) + " " + run->status());
    if (set.measure == "seconds" && !run->timing.comparable) set.comparable = false;
  }
}

}  // namespace

std::size_t ProblemSet::unproven(std::size_t target) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      problems, [&](const Problem& problem) { return targets[target] < problem.accuracy; }));
}

ProblemSet::Known ProblemSet::known() const {
  Known known;
  for (const Problem& problem : problems)
    for (const std::vector<CostRange>& costs : problem.costs)
      for (const CostRange& cost : costs) {
        known.paid += std::isfinite(cost.to) ? 1 : 0;
        known.wide += is_wide(cost) ? 1 : 0;
      }
  return known;
}

const Measure& find_measure(const std::string& name) {
  static const std::vector<Measure> all = {
      {"seconds", [](const Sample& s) { return s.seconds; }},
      {"passes", [](const Sample& s) { return s.passes; }},
      {"updates", [](const Sample& s) { return s.updates; }},
      {"iterations", [](const Sample& s) { return static_cast<double>(s.iteration); }}};
  return find_named(all, name, "measure");
}

std::vector<ProblemSet> problem_sets(const std::vector<Run>& runs, const std::string& measure,
                                     const std::vector<double>& targets, bool allow_not_comparable) {
  if (runs.empty()) throw Error::usage("no runs to compare");
  if (targets.empty()) throw Error::usage("targets: found none, expected at least one");
  find_measure(measure);
  const bool several = several_machines(runs);
  const auto machine_of = [&](const Run& run) {
    return several && measure == "seconds" ? machine_name(run) : "";
  };
  std::vector<ProblemSet> sets;
  for (const auto& [machine, of_machine] : grouped(runs, machine_of)) {
    ProblemSet& set = sets.emplace_back(ProblemSet{.measure = measure,
                                                   .machine = machine,
                                                   .targets = targets,
                                                   .solvers = distinct(of_machine, shown_label)});
    for (const auto& [key, problem] : grouped(of_machine, repetition_of)) {
      const RunParameters& p = problem.front()->parameters;
      add_problem(set, problem,
                  fmt::format("{}: {}, {}, repetition {}{}", p.experiment, p.dataset, penalty_text(p),
                              p.repetition, several ? " @ " + machine_name(*problem.front()) : ""),
                  allow_not_comparable);
    }
  }
  return sets;
}

}  // namespace proxbench
