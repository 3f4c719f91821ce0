"""The cost of each solver to reach each target on each problem, for profiles, distributions and means.

A problem is one (experiment, data set, penalty, repetition): costs are compared within one experiment only, and seconds
within one machine only.
"""
import math

import numpy as np

from ..errors import UsageError, require_known
from . import times
from .runs import grouped, machine_name, penalty_text, several_machines, shown_label, status


class Problem:
    """`costs[target][solver]` are ranges, infinite if the run failed or never reached the target. `limits[solver]` is
    the run's own limit or, without one, the highest cost of any run of the problem."""

    def __init__(self, sweep, name, cells, cost, targets):
        self.name, self.cells = name, cells
        self.accuracy = math.nan
        for run in cells:
            bound = times.reference_bound(run)
            self.accuracy = bound if math.isnan(self.accuracy) else max(self.accuracy, bound)
        self.costs = [[(math.inf, math.inf) if run["failed"] else times.cost_to_target(sweep, run, target, cost)
                       for run in cells] for target in targets]
        most = max((float(np.nanmax(paid)) for run in cells
                    if (paid := sweep.trace(run, times.COSTS[cost])).size and not np.all(np.isnan(paid))), default=0.0)
        limit = {"seconds": "time_limit", "iterations": "max_iterations"}.get(cost)
        self.limits = [float(run[limit]) if limit and (run[limit] or 0) > 0 else max(most, 0.0) for run in cells]

    def lacks_charge(self):
        return any(math.isinf(end) and not limit > 0
                   for costs in self.costs for (_, end), limit in zip(costs, self.limits))


class ProblemSet:
    """Problems on which all solvers were run. A skipped or interrupted run counts as not run."""

    def __init__(self, sweep, runs, cost, machine, targets, allow_not_comparable, several):
        self.cost, self.machine, self.targets = cost, machine, list(targets)
        self.solvers = list(dict.fromkeys(map(shown_label, runs)))
        self.problems, self.left_out, self.failures, self.descriptions = [], [], [], []
        self.comparable = True
        key = lambda run: (run["sweep"], run["experiment"], run["machine"], run["dataset"], run["_lambda"],  # noqa: E731
                           run["_mu"], run["repetition"])
        for some in grouped(runs, key).values():
            first = some[0]
            name = (f"{first['experiment']}: {first['dataset']}, {penalty_text(first)}, repetition "
                    f"{first['repetition']}{f' @ {machine_name(first)}' if several else ''}")
            self._add(sweep, some, name, allow_not_comparable)

    def _add(self, sweep, runs, name, allow_not_comparable):
        of = {shown_label(run): run for run in runs}
        cells = [of.get(solver) for solver in self.solvers]
        why = self._why_not(cells, allow_not_comparable)
        if not why:
            problem = Problem(sweep, name, cells, self.cost, self.targets)
            why = "no run has a limit or got anywhere" if problem.lacks_charge() else ""
        if why:
            self.left_out.append(f"{name} ({why})")
            return
        self.problems.append(problem)
        self.descriptions.append(runs[0]["description"] or "")
        self.failures += [f"{run['name']} {status(run)}" for run in cells if run["failed"]]
        if self.cost == "seconds" and not all(run["comparable"] for run in cells):
            self.comparable = False

    def _why_not(self, cells, allow_not_comparable):
        was_run = [run is not None and not status(run).startswith("skipped") and run["status"] != "interrupted"
                   for run in cells]
        missing = [solver for solver, was in zip(self.solvers, was_run) if not was]
        if missing:
            return f"not run: {', '.join(missing)}"
        if any(run["reference_objective"] is None and not run["failed"] for run in cells):
            return "no f*"
        alone = [solver for solver, run in zip(self.solvers, cells) if not run["comparable"]]
        if self.cost == "seconds" and alone and not allow_not_comparable:
            return f"timings not comparable: {', '.join(alone)}"
        return ""

    def unproven(self, target):
        """The number of problems whose f* is less exact than the target."""
        return sum(times.unproven(self.targets[target], problem.accuracy) for problem in self.problems)

    def known(self):
        """The number of finite costs, and how many of them are wide ranges."""
        ends = [one for problem in self.problems for costs in problem.costs for one in costs]
        return sum(math.isfinite(end) for _, end in ends), sum(times.is_wide(*one) for one in ends)


def problem_sets(sweep, cost, targets, allow_not_comparable=False):
    """One set; for seconds on several machines, one for each machine."""
    runs = sweep.single
    if not runs:
        raise UsageError("no runs to compare")
    if not targets:
        raise UsageError("targets: found none, expected at least one")
    require_known("measure", cost, list(times.COSTS))
    several = several_machines(runs)
    by_machine = grouped(runs, lambda run: machine_name(run) if several and cost == "seconds" else "")
    return [ProblemSet(sweep, some, cost, machine, targets, allow_not_comparable, several)
            for machine, some in by_machine.items()]
