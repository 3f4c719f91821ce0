"""The cost of each solver to reach each target on each problem, for profiles, distributions and means.

A problem is one (experiment, data set, penalty, repetition): costs are compared within one experiment only, and seconds
within one machine only.
"""
from types import SimpleNamespace

import numpy as np

from . import times

PROBLEM = ["sweep", "experiment", "machine", "dataset", "penalty", "repetition"]
LIMITS = {"seconds": "time_limit", "iterations": "max_iterations"}  # of a run


def _why_not(cells, solvers, cost, allow):
    ran = cells[~cells.status.str.match(r"skipped|failed\(|interrupted$")]  # failed(why): was not started
    if missing := [solver for solver in solvers if solver not in set(ran.shown)]:
        return f"not run: {', '.join(missing)}"
    if (cells.reference_objective.isna() & ~cells.failed).any():
        return "no f*"
    if cost == "seconds" and not allow and not cells.comparable.all():
        return f"timings not comparable: {', '.join(cells['shown'][~cells['comparable']])}"
    return "" if (cells.charge > 0).all() else "no run has a limit or got anywhere"


def _set_of(sweep, runs, cost, place):
    solvers, targets = list(runs.shown.unique()), sweep.config.targets
    cells = runs.drop_duplicates([*PROBLEM, "shown"], keep="last")
    cells = cells.assign(charge=sweep.samples.groupby("run")[times.COSTS[cost]].max()).fillna({"charge": 0.0})
    problems = cells.groupby(PROBLEM, sort=False)
    most = problems["charge"].transform("max")
    limit = cells[LIMITS[cost]] if cost in LIMITS else 0.0 * most
    cells = cells.assign(problem=problems.ngroup(), charge=limit.where(limit > 0, most), accuracy=problems[
        "reference_bound"].transform("max")).sort_values("problem", kind="stable")
    cells["why"] = cells.problem.map({problem: _why_not(some, solvers, cost, sweep.config.allow)
                                      for problem, some in cells.groupby("problem")})
    left_out = [f"{one.experiment}: {one.dataset}, {one.penalty}, repetition {one.repetition}{one.place} ({one.why})"
                for one in cells[cells.why != ""].drop_duplicates("problem").itertuples()]
    cells = cells[cells.why == ""]
    costs = cells[["run", "shown", "problem", "charge", "accuracy", "failed"]].merge(sweep.times(targets, [cost]))
    costs.loc[costs.failed, ["from", "to"]] = np.inf
    failed, good = cells[cells.failed], costs[~costs.failed]
    return SimpleNamespace(
        cost=cost, machine=place[len(" @ "):], on=place.replace(" @", ", on", 1), targets=targets, solvers=solvers,
        labels=list(sweep.single.shown.unique()), worst=sweep.single.reference_bound.max(),
        left_out=left_out, cells=cells, costs=costs, n=cells.problem.nunique(),
        failures=list(failed["name"] + " " + failed.status), wide=good.wide.sum(),
        reached=np.isfinite(good["to"]).sum(),
        comparable=cost != "seconds" or bool(cells.comparable.all()))


def problem_sets(sweep, cost):
    """The problems on which all solvers were run, a set for each machine if the cost is seconds. Skipped and
    interrupted runs count as not run.

    `cells` has a row per problem and solver, `costs` one per target, too: the costs `from` and `to`, infinite if the
    run failed or never reached the target, then the `charge` for that, and the `accuracy` of f* of the problem.
    """
    runs = sweep.single
    return [_set_of(sweep, some, cost, place) for place, some in runs.groupby(
        runs.place if cost == "seconds" else [""] * len(runs), sort=False)]
