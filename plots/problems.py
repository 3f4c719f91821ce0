"""The cost of each solver to reach each target on each problem, for profiles, distributions and means.

A problem is one (experiment, data set, penalty, repetition): costs are compared within one experiment only, and seconds
within one machine only.
"""
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ..errors import UsageError, require_known
from ..records import several_machines
from . import times

PROBLEM = ["sweep", "experiment", "machine", "dataset", "penalty", "repetition"]
LIMITS = {"seconds": "time_limit", "iterations": "max_iterations"}  # of a run


def _limits(sweep, cells, cost):
    """What a failure is charged by: each run's limit or, without one, the highest cost of any run of the problem."""
    paid = np.concatenate([[0.0], *(sweep.trace(i, times.COSTS[cost]) for i in cells["run"])])
    limits = cells[LIMITS[cost]] if cost in LIMITS else pd.Series(0.0, cells.index)
    return limits.where(limits > 0, np.nanmax(paid)).to_numpy(float)


def _why_not(cells, solvers, cost, allow_not_comparable):
    ran = cells[~cells["status"].str.startswith("skipped") & (cells["status"] != "interrupted")]
    if missing := [solver for solver in solvers if solver not in ran.index]:
        return f"not run: {', '.join(missing)}"
    if (cells["reference_objective"].isna() & ~cells["failed"]).any():
        return "no f*"
    alone = [solver for solver in solvers if not cells["comparable"][solver]]
    if cost == "seconds" and alone and not allow_not_comparable:
        return f"timings not comparable: {', '.join(alone)}"
    return ""


def _set_of(sweep, runs, cost, machine, targets, allow_not_comparable):
    ends = sweep.times(targets, [cost]).pivot(index="run", columns="target", values=["from", "to"])
    solvers, left_out, problems = list(runs["shown"].unique()), [], []
    for _, group in runs.groupby(PROBLEM, sort=False):
        cells, first = group.drop_duplicates("shown", keep="last").set_index("shown"), group.iloc[0]
        why = _why_not(cells, solvers, cost, allow_not_comparable)
        if not why:
            cells = cells.loc[solvers]
            limits = _limits(sweep, cells, cost)
            begin, end = (ends[side].loc[cells["run"], targets].to_numpy() for side in ("from", "to"))
            begin, end = (np.where(cells[["failed"]], np.inf, one) for one in (begin, end))
            why = "no run has a limit or got anywhere" if (np.isinf(end) & ~(limits > 0)[:, None]).any() else ""
        if why:
            place = f" @ {first['machine'] or 'unknown machine'}" if several_machines(sweep.single) else ""
            left_out.append(f"{first['experiment']}: {first['dataset']}, {first['penalty']}, repetition "
                            f"{first['repetition']}{place} ({why})")
        else:
            problems.append((cells, limits, begin, end))
    cells = [one[0] for one in problems]
    limits, begin, end = (np.array([one[i] for one in problems]).reshape(len(cells), len(solvers), *more)
                          for i, more in ((1, ()), (2, (len(targets),)), (3, (len(targets),))))
    failed = [f"{run['name']} {run['status']}" for one in cells for run in one[one["failed"]].to_dict("records")]
    return SimpleNamespace(
        cost=cost, machine=machine, targets=targets, solvers=solvers, left_out=left_out, cells=cells, limits=limits,
        begin=begin, end=end, failures=failed, descriptions=[one["description"].iloc[0] for one in cells],
        accuracy=np.array([one["reference_bound"].max() for one in cells]),
        comparable=cost != "seconds" or all(one["comparable"].all() for one in cells))


def problem_sets(sweep, cost, targets, allow_not_comparable=False):
    """The problems on which all solvers were run, a set for each machine if the cost is seconds. Skipped and
    interrupted runs count as not run.

    `cells` has a frame per problem with a row per solver. `begin` and `end` are the costs (problem x solver x target),
    infinite if the run failed or never reached the target, `limits` what to charge then (problem x solver), `accuracy`
    that of f* of each problem.
    """
    runs, targets = sweep.single, list(targets)
    if not len(runs):
        raise UsageError("no runs to compare")
    if not targets:
        raise UsageError("targets: found none, expected at least one")
    require_known("measure", cost, list(times.COSTS))
    machine = runs["machine"].replace("", "unknown machine")
    apart = several_machines(runs) and cost == "seconds"
    return [_set_of(sweep, some, cost, name, targets, allow_not_comparable)
            for name, some in runs.groupby(machine if apart else np.full(len(runs), ""), sort=False)]
