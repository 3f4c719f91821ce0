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
from .figure import Picture, draw_lines, line_style
from .problems import problem_sets
from .texts import DECLARED, sentences

LEAST_END = 1e-16  # ends at or below are drawn there


def steps(values):
    """The distribution function of values: each distinct finite value x, and the share of all values <= x."""
    shares = values.value_counts().sort_index().cumsum() / len(values)
    return shares[np.isfinite(shares.index)]


def ratios(costs):
    """Costs (problem x solver) over the least of each problem. Infinite if a solver failed; 1 for the best."""
    best = costs.min(axis=1)
    return costs.div(best, axis=0).where(costs.ne(best, axis=0), 1.0).where(np.isfinite(costs), np.inf)


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


def _picture(kind, name, sets, values, smallest):
    """A picture of the distribution functions of each solver's values (a column each)."""
    rows = _lines(ratios(values) if kind == "profile" else values, sets.solvers, kind == "profile")
    text = {name: text.format(cost=sets.cost, target=smallest, targets=", ".join(f"{one:g}" for one in sets.targets),
                              missed=np.isinf(values).sum().sum(), n=values.size, least=LEAST_END)
            for name, text in DECLARED["comparisons"][kind].items()}

    def draw(ax):
        widths = np.linspace(3.6, 1.6, len(sets.solvers))  # thinner and thinner, so that all lines stay visible
        draw_lines(ax, rows, "x", "share", "label", {
            solver: {**line_style(sets.labels.index(solver)), "marker": "", "linewidth": width,
                     "drawstyle": "steps-post"} for solver, width in zip(sets.solvers, widths)})
        ax.set(xscale="log", xlim=(rows["x"].min(), rows["x"].max()), ylim=(-0.02, 1.02), xlabel=text["x"],
               ylabel=text["y"], yticks=np.arange(0, 1.01, 0.1))

    suffix = ("" if sets.cost == "seconds" else f"-{sets.cost}") + (f"-{sets.machine}" if sets.machine else "")
    return Picture(name + suffix, text["title"], draw, rows,
                   f"{sets.n} problems: (experiment, data set, penalty, repetition){sets.on}",
                   "\n".join([text["text"], *sentences("comparison", sets, smallest)]), sets.comparable,
                   list(sets.cells.description))


def _pictures(kind, sets):
    costs, cells = sets.costs, sets.cells
    if kind == "quality":
        ends = cells.relative_difference.where(~cells.failed).clip(LEAST_END).fillna(np.inf)
        values = cells.assign(end=ends).pivot(index="problem", columns="shown", values="end")
        yield _picture(kind, kind, sets, values, ends.min())
    elif kind == "ecdf":
        values = costs.pivot(index=["problem", "target"], columns="shown", values="to")
        yield _picture(kind, kind, sets, values, min(sets.targets))
    else:
        for target, some in costs.groupby("target", sort=False):
            values = some.pivot(index="problem", columns="shown", values="to")
            yield _picture(kind, f"{kind}-{target:g}", sets, values, target)


def pictures(sweep, kind):
    plot, out = sweep.config.plot, []
    sweep.require("single", plot.x)
    for cost in plot.x[:1] if kind == "quality" else plot.x:
        for sets in problem_sets(sweep, cost):
            if not sets.n:
                raise UsageError(f"found no problem that all of {', '.join(sets.solvers)} were run on{sets.on}: "
                                 f"{sentences('few', sets.left_out)[0]}; expected solvers that have some in common")
            out += _pictures(kind, sets)
    return out
