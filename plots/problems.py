"""The cost of each solver to reach each target on each problem, for profiles, distributions and means.

A problem is one (experiment, data set, penalty, repetition): costs are compared within one experiment only, and seconds
within one machine only.
"""
from types import SimpleNamespace

import numpy as np

from ..records import several_machines
from . import times

PROBLEM = ["sweep", "experiment", "machine", "dataset", "penalty", "repetition"]
LIMITS = {"seconds": "time_limit", "iterations": "max_iterations"}  # of a run


def _why_not(cells, solvers, cost, allow):
    ran = cells[~cells.status.str.match("skipped|interrupted$")]
    if missing := [solver for solver in solvers if solver not in set(ran.shown)]:
        return f"not run: {', '.join(missing)}"
    if (cells.reference_objective.isna() & ~cells.failed).any():
        return "no f*"
    if cost == "seconds" and not allow and not cells.comparable.all():
        return f"timings not comparable: {', '.join(cells['shown'][~cells['comparable']])}"
    return "" if (cells.charge > 0).all() else "no run has a limit or got anywhere"


def _set_of(sweep, runs, cost, machine):
    solvers, targets, left_out, kept = list(runs.shown.unique()), sweep.presentation.targets, [], []
    cells = runs.drop_duplicates([*PROBLEM, "shown"], keep="last")
    paid = sweep.samples.groupby("run")[times.COSTS[cost]].max().reindex(cells.index).fillna(0.0)
    problems = cells.assign(charge=paid).groupby(PROBLEM, sort=False)
    most = problems["charge"].transform("max")
    limit = cells[LIMITS[cost]] if cost in LIMITS else 0.0 * most
    cells = cells.assign(problem=problems.ngroup(), charge=limit.where(limit > 0, most),
                         accuracy=problems["reference_bound"].transform("max"))
    for _, some in cells.groupby("problem"):
        if why := _why_not(some, solvers, cost, sweep.presentation.allow):
            first = some.iloc[0]
            place = f" @ {first['machine'] or 'unknown machine'}" if several_machines(sweep.single) else ""
            left_out.append(f"{first['experiment']}: {first['dataset']}, {first['penalty']}, repetition "
                            f"{first['repetition']}{place} ({why})")
        else:
            kept += list(some.index)
    cells = cells.loc[kept]
    costs = cells[["run", "shown", "problem", "charge", "accuracy", "failed"]].merge(sweep.times(targets, [cost]))
    costs.loc[costs.failed, ["from", "to"]] = np.inf
    failed, good = cells[cells.failed], costs[~costs.failed]
    return SimpleNamespace(
        cost=cost, machine=machine, on=f", on {machine}" if machine else "", targets=targets, solvers=solvers,
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
    apart = several_machines(runs) and cost == "seconds"
    machine = runs.machine.map(lambda name: (name or "unknown machine") if apart else "")
    return [_set_of(sweep, some, cost, name) for name, some in runs.groupby(machine, sort=False)]
