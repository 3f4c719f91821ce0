"""Curves of runs on one problem: a quantity against time, oracle calls, parameter updates or iterations.

Every curve is a step function: a value holds up to the next sample, because nothing is known in between. Repetitions
appear as their median with a band of quartiles, which never mixes machines, nor comparable timings with others.
"""
import math
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ..errors import require_known
from ..fields import number_text
from .figure import GREY, Picture, line_style, plain_label, style
from .tables import FEW, GROUP, METRICS
from .texts import DECLARED, data_warnings, penalty_symbols, sentences
from .times import COSTS, quantile

BELOW = 30.0  # an axis goes this factor below the accuracy of f*: enough to show that a curve goes on, not a slope
SYMBOLS = 12  # on a curve
QUANTITIES = {one["name"]: SimpleNamespace(**{"floor": 0.0, "log": True, "unit": "", **one})
              for one in DECLARED["quantities"]}
AXES = {"seconds": "seconds", "passes": "oracle calls / n", "updates": "parameter updates / n",
        "iterations": "iterations"}


def values_of(sweep, quantity):
    """The values of a quantity at all samples, and its unit for each run."""
    runs = sweep.runs[["reference_objective", "instances"]].set_axis(["best", "n"], axis=1).astype(float)
    samples = sweep.samples.join(runs, on="run")
    for name, metric in (("structures", "structure-accuracy"), ("chunks", "chunk-f1")):
        samples[name] = samples.get(METRICS + metric, math.nan)
    units = runs.eval(quantity.unit, engine="python").abs() if quantity.unit else runs["best"] * math.nan
    return samples.eval(quantity.value, engine="python").to_numpy(), units


# ---- what is drawn

def band(traces):
    """Rows x, median, q25, q75 of step functions, from the first x at which all have a value. A solver that stopped
    keeps its last value. `traces` are pairs of arrays (x, value)."""
    if len(traces) == 1:
        return np.column_stack([*traces[0], *traces[0][1:] * 2])
    grid = np.unique(np.concatenate([x for x, _ in traces]))
    grid = grid[grid >= max(x[0] for x, _ in traces)]
    values = np.sort([value[np.searchsorted(x, grid, side="right") - 1] for x, value in traces], axis=0)
    return np.column_stack([grid, *(quantile(values, p) for p in (0.5, 0.25, 0.75))])


# n runs, of which `first` is the first, as rows x, median, q25, q75.
Curve = namedtuple("Curve", "first n points")


class Panel:
    """The curves of one problem. `axis` is a key of AXES; `x_max` = 0 shows the runs to their end. `values` is what
    values_of() returns."""

    def __init__(self, sweep, group, quantity, axis, log_x=False, x_max=0.0, bands=True, values=None):
        self.sweep, self.group, self.quantity, self.axis = sweep, group, quantity, axis
        self.log_x, self.x_max, self.first, self.about = log_x, x_max, group.iloc[0], about(group)
        self.title = f"{quantity.title}: {self.first['dataset']}, {penalty_symbols(self.first)}"
        comparable = group.comparable | (axis != "seconds")
        self.comparable, (self.values, units) = comparable.all(), values or values_of(sweep, quantity)
        units = units[group.index]
        self.floor = quantity.floor * [*units.dropna(), 1.0][0] if quantity.log else -math.inf
        traces = {run: self._trace(run) for run in group.index}
        known = group[[len(x) > 0 for x, _ in traces.values()]]
        alone = known.failed | bool(quantity.unit) & known.reference_objective.isna() | (not bands)
        together = known.groupby([known.series, comparable[known.index], known.run.where(alone, -1)], sort=False)
        curves = [Curve(runs.iloc[0], len(runs), band([traces[run] for run in runs.run])) for _, runs in together]
        self.curves = sorted(curves, key=lambda one: one.n < 2)
        points = np.concatenate([np.empty((0, 2)), *(curve.points[:, [0, i]] for curve in curves for i in (1, 2, 3))])
        self.shown = points[self.drawn(*points.T)].T  # all drawn coordinates x and y
        # The accuracy of f* if something drawn lies below it, else NaN.
        bound = (group.reference_bound * units).max()
        self.drawn_bound = bound if (self.shown[1] < bound).any() else math.nan

    def _trace(self, run):
        """x and value of the samples that have a measurement."""
        rows = self.sweep.samples_of(run)
        x, y = self.sweep.samples[COSTS[self.axis]].to_numpy(float)[rows], self.values[rows]
        if self.quantity.unit:
            y = np.where(np.isnan(y), math.inf, y)  # a diverged objective
        known = ~(np.isnan(x) | np.isnan(y))
        return x[known], y[known]

    def drawn(self, x, y):
        """Which values are drawn."""
        good = np.isfinite(x) & np.isfinite(y) & (y > self.floor)
        return good & ((x > 0) | (not self.log_x)) & (x <= (self.x_max or math.inf))

    def end(self, curve):
        """Where the cross of a failure stands: one point, or none."""
        return curve.points[self.drawn(*curve.points.T[:2])][-1:, :2] if curve.first.failed else []


# ---- texts

def about(group):
    """The data of runs: description and sizes, a line each."""
    sizes = {name: " / ".join(f"{one:,.0f}" for one in sorted(group[name].dropna().unique()))
             for name in ("instances", "d", "threads")}
    known = ", ".join(f"{name}: {size}" for name, size in sizes.items() if size)
    return f"{group.description.fillna('').iloc[0]}\n{known}"


def caption(panel):
    """The lines below a plot: how exact f* is, and what medians are of."""
    lines = []
    if panel.quantity.unit:
        known = panel.group.dropna(subset="reference_objective")
        bounds = dict(zip(known.reference_objective, known.reference_bound))
        least = panel.sweep.samples.groupby("run")["relative_difference"].min().reindex(known.index)
        lines = [" ".join(sentences("reference", sorted(bounds.items()), least.groupby(known.series).min().items(),
                                    panel.quantity.floor, math.isfinite(panel.drawn_bound)))]
    if sizes := sorted({curve.n for curve in panel.curves} - {1}):
        lines += sentences("medians", sizes, FEW)
    return "\n".join(lines)


def _failures(panel):
    failed = panel.group[panel.group.failed]
    names = failed.series + " repetition " + failed.repetition.astype(str) + " " + failed.status
    crossed = names.index.isin([curve.first.run for curve in panel.curves if len(panel.end(curve))])
    return sentences("failures", list(names[crossed]), list(names[~crossed]))


# ---- drawing

def styles_of(runs):
    """The style of each run: a label has one colour in all figures; dashes distinguish machines."""
    places = zip(*(pd.factorize(runs[name])[0] for name in ("label", "machine")))
    return {run: line_style(*place) for run, place in zip(runs.index, places)}


def draw(panel, ax):
    """Draws the panel into axes of matplotlib."""
    bound, steps, styles, known = panel.drawn_bound, {"drawstyle": "steps-post"}, styles_of(panel.sweep.single), set()
    level = np.fmax(bound, panel.floor)
    for curve in panel.curves:
        (x, median, low, high), series = curve.points.T, curve.first.series
        look = {**styles[curve.first.run], **({"linewidth": 0.9} if curve.first.failed else {})}
        label = "_" * (series in known) + plain_label(series)
        known.add(series)
        x = np.where(x > 0, x, np.nan) if panel.log_x else x  # a value holds from the first x that the axis shows
        y = np.where(panel.drawn(x, median), median, np.nan)
        if curve.n > 1:
            ax.fill_between(x, np.maximum(low, level), np.maximum(np.where(np.isfinite(high), high, np.nan), level),
                            step="post", color=look["color"], alpha=0.2, linewidth=0, where=np.isfinite(y))
        if math.isfinite(bound):
            ax.plot(x, y, color=look["color"], alpha=0.3, linewidth=0.8, marker="", label="_below", **steps)
            y = np.where(y > bound, y, np.nan)
        ax.plot(x, y, markevery=max(1, len(x) // SYMBOLS), label=label, **look, **steps)
        for end in panel.end(curve):
            ax.plot(*end, marker="x", markersize=9, markeredgewidth=2, color=look["color"], linestyle="",
                    label="_cross")
    (xs, ys), log = panel.shown, panel.quantity.log
    ax.set(xlabel=AXES[panel.axis], ylabel=panel.quantity.axis)
    if len(xs):
        ax.set(**{"xscale": "log", "xlim": (xs.min() / 1.1, xs.max() * 1.1)} if panel.log_x else {
            "xlim": (0, panel.x_max or xs.max() * 1.02 or 1.0)})
        ax.set(**{"yscale": "log", "ylim": (np.fmax(ys.min(), bound / BELOW) / 1.5, np.fmax(ys.max(), bound) * 1.5)}
               if log else {})
    if math.isfinite(bound):
        ax.axhspan(ax.get_ylim()[0], bound, color=GREY, alpha=0.12, linewidth=0)
        ax.axhline(bound, color=GREY, linestyle=":", marker="", label="accuracy of f*")


def _rows(panel):
    """All samples of each run, then the points of the medians."""
    name, x = panel.quantity.column, COSTS[panel.axis]
    samples = panel.sweep.samples.assign(**{name: panel.values})[panel.sweep.samples.run.isin(panel.group.index)]
    medians = [pd.DataFrame(curve.points, columns=[x, name, "q25", "q75"]).assign(
        label=curve.first.series, repetition="median") for curve in panel.curves if curve.n > 1]
    samples["label"] = samples.run.map(panel.group.series)
    return pd.concat([samples[["label", "repetition", "seconds", name, "iteration", "passes", "updates"]], *medians],
                     ignore_index=True)


def picture(panel):
    run = panel.first
    loss = f"-hinge-{run['cost'] or 'hamming'}" if run["loss_text"] != "log" else ""
    mu = f"-mu{number_text(run['mu'])}" if run["mu"] > 0 else ""
    axis = "-logx" if panel.log_x else "" if panel.axis == "seconds" else f"-{panel.axis}"
    return Picture(f"{run['dataset']}{loss}-lambda{number_text(run['lambda'])}{mu}-{panel.quantity.name}{axis}",
                   panel.title, lambda ax: draw(panel, ax), _rows(panel), panel.about,
                   "\n".join([caption(panel), *_failures(panel)]), panel.comparable)


def pictures(sweep):
    """A picture for each problem, quantity and axis that has something to draw."""
    plot = sweep.config.plot
    sweep.require("single", plot.x if plot.quantities else [])
    values = [(QUANTITIES[name], values_of(sweep, QUANTITIES[name])) for name in plot.quantities]
    panels = [Panel(sweep, group, quantity, axis, axis == "seconds" and plot.log_seconds, limit,
                    plot.repetitions == "band", known)
              for _, group in sweep.single.groupby(GROUP, sort=False) for quantity, known in values
              for axis, limit in zip(plot.x, plot.x_max or [0.0] * len(plot.x))]
    return [picture(panel) for panel in panels if len(panel.shown[1])]


def curves(sweep, quantity="objective", x="seconds", ax=None, log_x=False, bands=True):
    """Draws one quantity of the runs of the first problem of the sweep into axes, for notebooks. sweep.keep() chooses
    the runs of another problem."""
    require_known("quantity", quantity, list(QUANTITIES))
    require_known("x", x, list(AXES))
    _, group = next(iter(sweep.single.groupby(GROUP, sort=False)))
    panel = Panel(sweep, group, QUANTITIES[quantity], x, log_x, bands=bands)
    with style():
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.gca()
        draw(panel, ax)
        ax.set_title(data_warnings([panel.about], panel.comparable) + panel.title)
        ax.legend()
    return ax
