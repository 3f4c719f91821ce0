#include "experiments/results/tables/problem_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/error.h"
#include "experiments/base/numbers.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

/// The runs of one problem, one for each solver; null: not run.
using Cells = std::vector<const Run*>;
using Runs = std::vector<const Run*>;

bool was_run(const Run* run) {
  return run && !run->status().starts_with("skipped") && run->result.status != Status::kInterrupted;
}

/// NaN: none.
double own_limit(const Run& run, const Measure& measure) {
  const double limit = measure.name == "seconds"      ? run.parameters.time_limit
                       : measure.name == "iterations" ? static_cast<double>(run.parameters.max_iterations)
                                                      : kNaN;
  return limit > 0.0 ? limit : kNaN;
}

double most_paid(const Cells& cells, const Measure& measure) {
  double most = 0.0;
  for (const Run* run : cells)
    for (const Sample& sample : run->trace) most = std::fmax(most, measure.of(sample));
  return most;
}

Problem make_problem(const std::string& name, const Cells& cells, const Measure& measure,
                     const std::vector<double>& targets) {
  Problem problem{name, {}, {}, {}, kNaN};
  for (const Run* run : cells) problem.accuracy = std::fmax(problem.accuracy, reference_bound(*run));
  for (const double target : targets) {
    std::vector<double>&costs = problem.costs.emplace_back(), &from = problem.costs_from.emplace_back();
    for (const Run* run : cells) {
      const CostRange cost =
          run->failed() ? CostRange{kInfinity, kInfinity} : cost_to_target(*run, target, measure.of);
      costs.push_back(cost.to);
      from.push_back(cost.from);
    }
  }
  const double most = most_paid(cells, measure);
  for (const Run* run : cells) {
    const double limit = own_limit(*run, measure);
    problem.limits.push_back(std::isnan(limit) ? most : limit);
  }
  return problem;
}

/// A failure that nothing can be charged for.
bool lacks_charge(const Problem& problem) {
  for (const std::vector<double>& costs : problem.costs)
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (std::isinf(costs[i]) && !(problem.limits[i] > 0.0)) return true;
  return false;
}

std::string problem_name(const Run& run, bool machines) {
  const RunParameters& p = run.parameters;
  return fmt::format("{}: {}, {}, repetition {}{}", p.experiment, p.dataset, penalty_text(p), p.repetition,
                     machines ? " @ " + machine_name(run) : "");
}

class SetBuilder {
 public:
  /// `machines`: there are several.
  SetBuilder(const Measure& measure, std::vector<std::string> solvers, bool machines,
             const ProblemOptions& options)
      : measure_(measure), options_(options), machines_(machines) {
    set_.measure = measure.name;
    set_.targets = options.targets;
    set_.solvers = std::move(solvers);
  }

  ProblemSet build(const Runs& runs, const std::string& machine) {
    set_.machine = machine;
    // Results of two folders may bear the same name.
    std::map<std::tuple<std::string, std::string, std::string, double, double, int>, std::size_t> places;
    std::vector<Cells> problems;
    for (const Run* run : runs) {
      const RunParameters& p = run->parameters;
      const auto solver = std::find(set_.solvers.begin(), set_.solvers.end(), p.label);
      const std::string folder = run->folder.parent_path().parent_path().string() + "\n" + p.experiment;
      const auto [place, added] = places.try_emplace(
          {folder, run->provenance.machine, p.dataset, p.lambda, p.mu, p.repetition}, problems.size());
      if (added) problems.emplace_back(set_.solvers.size());
      problems[place->second][static_cast<std::size_t>(solver - set_.solvers.begin())] = run;
    }
    for (const Cells& cells : problems) add(cells);
    return std::move(set_);
  }

 private:
  void add(const Cells& cells) {
    const Run& first = **std::find_if(cells.begin(), cells.end(), [](auto run) { return run; });
    const std::string name = problem_name(first, machines_);
    std::string reason = why_not(cells);
    Problem problem;
    if (reason.empty()) {
      problem = make_problem(name, cells, measure_, set_.targets);
      if (lacks_charge(problem)) reason = "no run has a limit or got anywhere";
    }
    if (!reason.empty()) {
      set_.left_out.push_back(fmt::format("{} ({})", name, reason));
      return;
    }
    set_.problems.push_back(std::move(problem));
    set_.descriptions.insert(first.result.description);
    for (const Run* run : cells) {
      if (run->failed()) set_.failures.push_back(run_name(*run) + " " + run->status());
      if (measure_.name == "seconds" && !run->timing.comparable) set_.comparable = false;
    }
  }

  /// Why a problem does not count; empty where it does.
  std::string why_not(const Cells& cells) const {
    std::vector<std::string> missing, not_comparable, without_reference;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Run* run = cells[i];
      if (!was_run(run)) {
        missing.push_back(set_.solvers[i]);
        continue;
      }
      if (!run->timing.comparable) not_comparable.push_back(set_.solvers[i]);
      if (std::isnan(run->best.objective) && !run->failed()) without_reference.push_back(set_.solvers[i]);
    }
    if (!missing.empty()) return fmt::format("not run: {}", fmt::join(missing, ", "));
    if (!without_reference.empty()) return "no f*";
    if (measure_.name == "seconds" && !options_.allow_not_comparable && !not_comparable.empty())
      return fmt::format("timings not comparable: {}", fmt::join(not_comparable, ", "));
    return "";
  }

  const Measure& measure_;
  const ProblemOptions& options_;
  const bool machines_;
  ProblemSet set_;
};

/// In the order in which they occur.
std::vector<std::string> labels_of(const Runs& runs) {
  std::vector<std::string> labels;
  for (const Run* run : runs)
    if (const std::string& label = run->parameters.label;
        std::find(labels.begin(), labels.end(), label) == labels.end())
      labels.push_back(label);
  return labels;
}

}  // namespace

std::size_t ProblemSet::unproven(std::size_t target) const {
  return static_cast<std::size_t>(
      std::count_if(problems.begin(), problems.end(),
                    [&](const Problem& problem) { return targets[target] < problem.accuracy; }));
}

ProblemSet::Known ProblemSet::known() const {
  Known known;
  for (const Problem& problem : problems)
    for (std::size_t target = 0; target < targets.size(); ++target)
      for (std::size_t solver = 0; solver < solvers.size(); ++solver) {
        const CostRange cost{problem.costs_from[target][solver], problem.costs[target][solver]};
        known.paid += std::isfinite(cost.to) ? 1 : 0;
        known.wide += is_wide(cost) ? 1 : 0;
      }
  return known;
}

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all = {
      {"seconds", sample_seconds},
      {"passes", [](const Sample& s) { return s.passes; }},
      {"updates", [](const Sample& s) { return s.updates; }},
      {"iterations", [](const Sample& s) { return static_cast<double>(s.iteration); }}};
  return all;
}

const Measure& find_measure(const std::string& name) {
  std::vector<std::string> known;
  for (const Measure& measure : measures()) known.push_back(measure.name);
  require_known("measure", name, known);
  return *std::ranges::find(measures(), name, &Measure::name);
}

std::vector<ProblemSet> problem_sets(const std::vector<Run>& runs, const ProblemOptions& options) {
  if (runs.empty()) throw Error::usage("no runs to compare");
  if (options.targets.empty()) throw Error::usage("targets: found none, expected at least one");
  const Measure& measure = find_measure(options.measure);
  const bool several = several_machines(runs), by_machine = several && measure.name == "seconds";
  std::vector<std::pair<std::string, Runs>> machines;
  for (const Run& run : runs) {
    const std::string name = by_machine ? machine_name(run) : "";
    auto found =
        std::find_if(machines.begin(), machines.end(), [&](const auto& one) { return one.first == name; });
    if (found == machines.end()) found = machines.insert(found, {name, {}});
    found->second.push_back(&run);
  }
  std::vector<ProblemSet> sets;
  for (const auto& [machine, of_machine] : machines)
    sets.push_back(SetBuilder(measure, labels_of(of_machine), several, options).build(of_machine, machine));
  return sets;
}

}  // namespace proxbench
