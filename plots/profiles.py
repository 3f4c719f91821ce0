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
from .figure import Picture, line_style, plain_label
from .problems import problem_sets
from .texts import data_warnings, require_drawable

MOST_NAMES = 4  # of problems or runs, under a plot
LEAST_END = 1e-16  # ends at or below are drawn there


def steps(values):
    """The distribution function of values: each distinct finite value x, and the share of all values <= x."""
    shares = values.value_counts().sort_index().cumsum() / len(values)
    return shares[np.isfinite(shares.index)]


def ratios(costs):
    """Costs (problem x solver) over the least of each problem. Infinite if a solver failed; 1 for the best."""
    best = costs.min(axis=1)
    return costs.div(best, axis=0).where(costs.ne(best, axis=0), 1.0).where(np.isfinite(costs), np.inf)


def _few(names):
    more = f"; and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return "; ".join(names[:MOST_NAMES]) + more


def _caption(sets, smallest):
    if smallest < sets.worst:
        yield f"f* is proven to a relative accuracy of {sets.worst:.1e} at worst: smaller targets say less."
    if wide := (sets.costs.wide & ~sets.costs.failed).sum():
        yield (f"{wide} of {np.isfinite(sets.costs['to']).sum()} costs to a target lie between two samples that are "
               "more than a tenth apart: drawn at the later.")
    for names, what in ((sets.failures, "failed"), (sets.left_out, "left out")):
        if names:
            yield f"{len(names)} {what}: {_few(names)}."


def _lines(values, solvers, from_one):
    """The distribution functions of each solver's values as rows label, x, share from the lowest x to the highest."""
    shown = values.where((values > 0) & np.isfinite(values)).stack()
    least, most = (shown.min(), shown.max()) if len(shown) else (1.0, 1.0)
    low, high = (1.0, 1.15 * max(most, 2.0)) if from_one else (least / 1.15, 1.15 * most)
    parts = []
    for solver in solvers:
        share = steps(values[solver])
        inside = pd.concat([pd.Series({low: share[:low].max()}).fillna(0.0), share[share.index > low]])
        inside[high] = inside.iloc[-1]
        parts.append(pd.DataFrame({"label": solver, "x": inside.index, "share": inside.to_numpy()}))
    return pd.concat(parts, ignore_index=True)


def _distribution(sets, name, title, x_label, y_label, text, values, smallest, from_one=False):
    """A picture of the distribution functions of each solver's values (a column each)."""
    rows = _lines(values, sets.solvers, from_one)

    def draw(ax):
        widths = np.linspace(3.6, 1.6, len(sets.solvers))  # thinner and thinner, so that all lines stay visible
        for solver, width in zip(sets.solvers, widths):
            line = rows[rows.label == solver]
            ax.step(line["x"], line["share"], where="post", label=plain_label(solver),
                    **{**line_style(sets.labels.index(solver)), "marker": "", "linewidth": width})
        ax.set(xscale="log", xlim=(rows["x"].min(), rows["x"].max()), ylim=(-0.02, 1.02), xlabel=x_label,
               ylabel=y_label, yticks=np.arange(0, 1.01, 0.1))

    suffix = ("" if sets.cost == "seconds" else f"-{sets.cost}") + (f"-{sets.machine}" if sets.machine else "")
    return Picture(name + suffix, title, draw, rows,
                   data_warnings(sets.cells.description, sets.comparable),
                   subtitle=f"{sets.n} problems: (experiment, data set, penalty, repetition){sets.on}",
                   caption="\n".join([text, *_caption(sets, smallest)]))


def _pictures(kind, sets):
    cost, costs, cells = sets.cost, sets.costs, sets.cells
    if kind == "ecdf":
        yield _distribution(sets, "ecdf", f"Targets reached within so many {cost}", cost,
                            "share of (problem, target) pairs",
                            f"Targets: (f − f*) / f* ≤ {', '.join(f'{one:g}' for one in sets.targets)}. A run that "
                            "failed reaches none.",
                            costs.pivot(index=["problem", "target"], columns="shown", values="to"), min(sets.targets))
    elif kind == "quality":
        ends = cells.relative_difference.where(~cells.failed).clip(LEAST_END).fillna(np.inf)
        yield _distribution(sets, "quality", "Quality profile: where runs end", "(f − f*) / f* at the end",
                            "share of problems",
                            f"A run that failed has no end. Ends at or below {LEAST_END} are drawn there.",
                            cells.assign(end=ends).pivot(index="problem", columns="shown", values="end"), ends.min())
    else:
        for target, some in costs.groupby("target", sort=False):
            values, best = some.pivot(index="problem", columns="shown", values="to"), kind == "profile"
            yield _distribution(
                sets, f"{kind}-{target:g}",
                f"{'Performance' if best else 'Data'} profile: {cost} to (f − f*) / f* ≤ {target:g}",
                f"τ: {cost} over the least of any solver" if best else cost, "share of problems" + " within τ" * best,
                f"A run that failed or never got there has {'an infinite ratio' if best else 'no cost'}: "
                f"{np.isinf(values).sum().sum()} of {values.size}.", ratios(values) if best else values, target, best)


def pictures(sweep, kind):
    plot, out = sweep.presentation.plot, []
    require_drawable(sweep, plot.x)
    for cost in plot.x[:1] if kind == "quality" else plot.x:
        for sets in problem_sets(sweep, cost):
            if not sets.n:
                raise UsageError(f"found no problem that all of {', '.join(sets.solvers)} were run on{sets.on}: "
                                 f"{_few(sets.left_out)}; expected solvers that have some in common")
            out += _pictures(kind, sets)
    return out
