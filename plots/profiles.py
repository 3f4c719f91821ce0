"""Solvers compared over many problems (problems.py).

    profile       performance profiles: share of problems on which a solver reaches the target within tau times the
                  cost of the best solver (Dolan and Moré 2002)
    data-profile  share of problems on which it does within a cost (Moré and Wild 2009, eq. 2.3): in passes, a simplex
                  gradient is one pass over the data
    ecdf          share of (problem, target) pairs reached within a cost (COCO, Hansen et al. 2016)
    quality       share of problems on which a solver's final value is within (f - f*)/f*
"""
import numpy as np
import pandas as pd

from ..errors import UsageError
from ..files import file_name_part
from .figure import Picture, line_style, log_axis, plain_label
from .problems import problem_sets
from .texts import data_warnings, require_drawable
from .times import is_wide

MOST_NAMES = 4  # of problems or runs, under a plot
LEAST_END = 1e-16  # ends at or below are drawn there


def steps(values):
    """The distribution function of values: each distinct finite value x, and the share of all values <= x."""
    x = np.unique(values[np.isfinite(values)])
    return x, np.searchsorted(np.sort(values), x, side="right") / len(values)


def ratios(costs):
    """Costs (problem x solver) over the least of each problem. Infinite if a solver failed; 1 for the best."""
    best = costs.min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isinf(costs), np.inf, np.where(costs == best, 1.0, costs / best))


def _few(names):
    more = f"; and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return "; ".join(names[:MOST_NAMES]) + more


def _caption(sets, accuracy, smallest):
    out = ""
    if smallest < accuracy:
        out += f"\nf* is proven to a relative accuracy of {accuracy:.1e} at worst: smaller targets say less."
    if wide := is_wide(sets.begin, sets.end).sum():
        out += (f"\n{wide} of {np.isfinite(sets.end).sum()} costs to a target lie between two samples that are more "
                "than a tenth apart: drawn at the later.")
    for names, what in ((sets.failures, "failed"), (sets.left_out, "left out")):
        out += f"\n{len(names)} {what}: {_few(names)}." if names else ""
    return out


def _lines(values, solvers, from_one):
    """The distribution functions of each solver's values as rows label, x, share from the lowest x to the highest."""
    shown = values[(values > 0) & np.isfinite(values)]
    least, most = (shown.min(), shown.max()) if shown.size else (1.0, 1.0)
    low, high = (1.0, 1.15 * max(most, 2.0)) if from_one else (least / 1.15, 1.15 * most)
    parts = []
    for solver, some in zip(solvers, values.T):
        x, share = steps(some)
        start = np.append(0.0, share[x <= low])[-1]
        inside = np.append(start, share[x > low])
        parts.append(pd.DataFrame({"label": solver, "x": [low, *x[x > low], high], "share": [*inside, inside[-1]]}))
    return pd.concat(parts, ignore_index=True)


def _distribution(sets, accuracy, labels, name, title, x_label, y_label, text, values, smallest, from_one=False):
    """A picture of the distribution functions of each solver's values (problem x solver)."""
    rows = _lines(values, sets.solvers, from_one)

    def draw(axes):
        ax, n = axes[0], len(sets.solvers)
        for i, solver in enumerate(sets.solvers):
            line = rows[rows["label"] == solver]
            width = 3.6 - (2.0 * i / (n - 1) if n > 1 else 2.0)  # thinner and thinner, so that all lines stay visible
            ax.step(line["x"], line["share"], where="post", label=plain_label(solver),
                    **{**line_style(labels.index(solver)), "marker": "", "linewidth": width})
        ax.set(xscale="log", xlim=(rows["x"].min(), rows["x"].max()), ylim=(-0.02, 1.02), xlabel=x_label,
               ylabel=y_label, yticks=np.arange(0, 1.01, 0.1))
        log_axis(ax.xaxis)

    suffix = ("" if sets.cost == "seconds" else f"-{sets.cost}") + (f"-{sets.machine}" if sets.machine else "")
    machine = f", on {sets.machine}" if sets.machine else ""
    return Picture(file_name_part(name + suffix), title, draw, rows, data_warnings(sets.descriptions, sets.comparable),
                   subtitle=f"{len(sets.cells)} problems: (experiment, data set, penalty, repetition){machine}",
                   caption=text + _caption(sets, accuracy, smallest))


def _pictures(kind, sets, *shared):
    cost, targets, n = sets.cost, sets.targets, len(sets.solvers)
    if kind == "ecdf":
        yield _distribution(sets, *shared, "ecdf", f"Targets reached within so many {cost}", cost,
                            "share of (problem, target) pairs",
                            f"Targets: (f − f*) / f* ≤ {', '.join(f'{one:g}' for one in targets)}. A run that failed "
                            "reaches none.", sets.end.transpose(0, 2, 1).reshape(-1, n), min(targets))
    elif kind == "quality":
        ends = np.array([one["relative_difference"].where(~one["failed"]).clip(LEAST_END).fillna(np.inf)
                         for one in sets.cells])
        yield _distribution(sets, *shared, "quality", "Quality profile: where runs end", "(f − f*) / f* at the end",
                            "share of problems",
                            f"A run that failed has no end. Ends at or below {LEAST_END} are drawn "
                            "there.", ends, ends.min())
    else:
        for i, target in enumerate(targets):
            values, best = sets.end[:, :, i], kind == "profile"
            yield _distribution(
                sets, *shared, f"{kind}-{target:g}",
                f"{'Performance' if best else 'Data'} profile: {cost} to (f − f*) / f* ≤ {target:g}",
                f"τ: {cost} over the least of any solver" if best else cost, "share of problems" + " within τ" * best,
                f"A run that failed or never got there has {'an infinite ratio' if best else 'no cost'}: "
                f"{np.isinf(values).sum()} of {values.size}.", ratios(values) if best else values, target, best)


def pictures(sweep, kinds, targets=None, allow_not_comparable=False):
    plot, targets = sweep.presentation.plot, sweep.presentation.targets if targets is None else targets
    require_drawable(sweep.single, plot.x, allow_not_comparable)
    labels, accuracy, out = list(sweep.single["shown"].unique()), sweep.single["reference_bound"].max(), []
    for cost in plot.x:
        for sets in problem_sets(sweep, cost, targets, allow_not_comparable):
            if not sets.cells:
                raise UsageError(f"no problem that all of {', '.join(sets.solvers)} were run on"
                                 f"{f' on {sets.machine}' if sets.machine else ''}; left out: "
                                 f"{_few(sets.left_out) or 'none'}; expected solvers that have some in common")
            for kind in kinds:
                if kind != "quality" or cost == plot.x[0]:
                    out += _pictures(kind, sets, accuracy, labels)
    return out
