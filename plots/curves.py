"""Curves of runs on one problem: a quantity against time, oracle calls, parameter updates or iterations.

Every curve is a step function: a value holds up to the next sample, because nothing is known in between. Repetitions
appear as their median with a band of quartiles, which never mixes machines, nor comparable timings with others.
"""
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import require_known
from ..fields import number_text
from ..files import file_name_part
from .figure import GREY, Picture, line_style, log_axis, plain_label, style
from .tables import FEW, GROUP
from .texts import data_warnings, penalty_symbols, require_drawable
from .times import COSTS, quantile

FLOOR = 1e-12  # relative differences at or below are rounding, and not drawn
BELOW = 30.0  # an axis goes this factor below the accuracy of f*: enough to show that a curve goes on, not a slope
SYMBOLS = 12  # on a curve


# ---- quantities and axes: a row each; add one to add a curve

class Samples:
    """The samples of a run: a member for each column of trace.csv, f* as `best` and the number of instances as `n`."""

    def __init__(self, sweep, run):
        self._sweep, self._run, self.best, self.n = sweep, run["run"], run["reference_objective"], run["instances"]

    def __getattr__(self, name):
        return self._sweep.trace(self._run, name).astype(float)

    def metric(self, name):
        return getattr(self, "test_metrics." + name)


@dataclass
class Quantity:
    """`value` and `unit` are functions of Samples: the values of the samples, and of a difference to f* its size on the
    axis where the difference is |f*|."""

    name: str  # end of the file name
    title: str
    axis: str
    column: str  # in the .csv
    value: object
    floor: float = 0.0  # values at or below are not drawn, in units
    log: bool = True
    unit: object = None

    def of(self, sweep, run):
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.value(Samples(sweep, run))

    def unit_of(self, sweep, run):
        return abs(self.unit(Samples(sweep, run))) if self.unit else math.nan


QUANTITIES = {one.name: one for one in [
    Quantity("objective", "Relative objective difference", "(f − f*) / f*", "relative_difference",
             lambda at: at.relative_difference, FLOOR, unit=lambda at: 1.0 + 0.0 * at.best),
    Quantity("suboptimality", "Primal suboptimality", "(f − f*) / n", "suboptimality",
             lambda at: (at.objective - at.best) / at.n, FLOOR, unit=lambda at: at.best / at.n),
    Quantity("nnz", "Nonzero weights", "nonzeros", "nnz", lambda at: at.nnz),
    Quantity("accuracy", "Test accuracy", "accuracy per position", "test_accuracy", lambda at: at.test_accuracy,
             -math.inf, False),
    Quantity("error", "Test error", "error per position", "test_error", lambda at: 1.0 - at.test_accuracy, -math.inf,
             False),
    Quantity("structure-error", "Test error by structure", "error per structure", "structure_error",
             lambda at: 1.0 - at.metric("structure-accuracy"), -math.inf, False),
    Quantity("chunk-f1", "Test F1 of chunks", "F1 of chunks", "chunk_f1", lambda at: at.metric("chunk-f1"), -math.inf,
             False),
    Quantity("gap", "Certified relative gap", "(f − lower bound) / f", "relative_gap",
             lambda at: at.gap / at.objective, FLOOR),
    Quantity("dual", "Dual suboptimality", "(f* − lower bound) / f*", "dual_difference",
             lambda at: (at.best - (at.objective - at.gap)) / abs(at.best), FLOOR),
    Quantity("mean-gap", "Certified gap", "(f − lower bound) / n", "mean_gap", lambda at: at.gap / at.n),
    Quantity("gap-estimate", "The solver's estimate of its gap", "estimated gap / gap", "gap_estimate",
             lambda at: at.estimated_gap / at.dual_gap),
    Quantity("gap-infeasibility", "Gap of the solver's dual point, and its infeasibility", "(gap + infeasibility) / n",
             "gap_infeasibility", lambda at: (at.dual_gap + np.nan_to_num(at.infeasibility)) / at.n)]}
AXES = {"seconds": "seconds", "passes": "oracle calls / n", "updates": "parameter updates / n",
        "iterations": "iterations"}


# ---- what is drawn

def band(traces):
    """Rows x, median, q25, q75 of step functions, from the first x at which all have a value. A solver that stopped
    keeps its last value. `traces` are pairs of arrays (x, value)."""
    grid = np.unique(np.concatenate([x for x, _ in traces]))
    grid = grid[grid >= max(x[0] for x, _ in traces)]
    values = np.sort([value[np.searchsorted(x, grid, side="right") - 1] for x, value in traces], axis=0)
    return np.column_stack([grid, *(quantile(values, p) for p in (0.5, 0.25, 0.75))])


@dataclass
class Curve:
    """A run, or several as a band; `points` are rows x, median, q25, q75, `end` is where the cross of a failure
    stands."""

    series: str
    runs: list
    points: np.ndarray
    end: tuple = None


class Panel:
    """The curves of one problem. `axis` is a key of AXES; `x_max` = 0 shows the runs to their end."""

    def __init__(self, sweep, group, quantity, axis, log_x=False, x_max=0.0, bands=True):
        self.sweep, self.group, self.quantity, self.axis = sweep, group, quantity, axis
        self.log_x, self.x_max, self.runs = log_x, x_max, group.to_dict("records")
        self.first = self.runs[0]
        units = [quantity.unit_of(sweep, run) for run in self.runs]
        self.floor = quantity.floor * [*(unit for unit in units if math.isfinite(unit)), 1.0][0]
        self.bound = np.fmax.reduce([run["reference_bound"] * unit for run, unit in zip(self.runs, units)])
        together = {}
        for run in self.runs:
            alone = not bands or run["failed"] or quantity.unit and math.isnan(run["reference_objective"])
            key = run["series"], axis != "seconds" or run["comparable"], run["run"] if alone else None
            together.setdefault(key, []).append(run)
        self.curves = [curve for key, runs in together.items() for curve in self._curves(key[0], runs)]
        self.curves.sort(key=lambda curve: (len(curve.runs) < 2, curve.runs[0]["run"] if len(curve.runs) < 2 else 0))

    def _curves(self, series, runs):
        traces = [(run, *self._points(run)) for run in runs]
        known = [one for one in traces if len(one[1])]
        if len(known) > 1:
            return [Curve(series, [run for run, *_ in known], band([one[1:] for one in known]))]
        out = [Curve(series, [run], np.column_stack([x, y, y, y])) for run, x, y in traces
               if len(self.sweep.trace(run["run"], "seconds"))]
        for curve in out:
            last = curve.points[self.drawn(*curve.points.T[:2])][-1:, :2]
            curve.end = tuple(last[0]) if len(last) and curve.runs[0]["failed"] else None
        return out

    def _points(self, run):
        """x and value of the samples that have a measurement."""
        x, y = self.sweep.trace(run["run"], COSTS[self.axis]).astype(float), self.quantity.of(self.sweep, run)
        if self.quantity.unit:
            y = np.where(np.isnan(y), math.inf, y)  # a diverged objective
        known = ~(np.isnan(x) | np.isnan(y))
        return x[known], y[known]

    def drawn(self, x, y):
        """Which values are drawn."""
        good = np.isfinite(x) & np.isfinite(y) & (y > self.floor)
        return good & ((x > 0) | (not self.log_x)) & (x <= (self.x_max or math.inf))

    def shown(self):
        """All drawn coordinates x and y."""
        parts = [(one.points[:, 0], one.points[:, i]) for one in self.curves for i in (1, 2, 3)]
        x, y = (np.concatenate([[], *some]) for some in (zip(*parts) if parts else ([], [])))
        good = self.drawn(x, y)
        return x[good], y[good]

    @property
    def drawn_bound(self):
        """The accuracy of f* if something drawn lies below it, else NaN."""
        y = self.shown()[1]
        return self.bound if len(y) and self.bound > y.min() else math.nan


# ---- texts

def subtitle(group):
    descriptions = list(group["description"].fillna("").unique())
    more = f" (and {len(descriptions) - 1} more like it)" if len(descriptions) > 1 else ""
    sizes = {form: " / ".join(f"{one:,.0f}" for one in sorted(group[name].dropna().unique()))
             for form, name in (("{} instances", "instances"), ("d = {}", "d"), ("threads: {}", "threads"))}
    return f"{descriptions[0]}{more}\n{', '.join(form.format(text) for form, text in sizes.items() if text)}"


def _notes(panel):
    """How exact f* is, what is not drawn, and which runs go below f*."""
    quantity, bounds, below = panel.quantity, {}, {}
    if quantity.name == "nnz":
        return ["Nothing is drawn while no weight differs from zero."]
    if not quantity.unit:
        return []
    for run in panel.runs:
        if not math.isnan(run["reference_objective"]):
            bounds[run["reference_objective"]] = run["reference_bound"]
            least = np.nanmin([0.0, *panel.sweep.trace(run["run"], "relative_difference")])
            below[run["series"]] = min(below.get(run["series"], 0.0), least)
    if not bounds:
        return ["No f* is stored."]
    notes = [f"f* = {f:.10g}" + (f", proven to a relative accuracy of {bound:.1e}." if math.isfinite(bound) else
                                 "; how exact it is was not stored.") for f, bound in sorted(bounds.items())]
    notes.append(f"Differences <= {quantity.floor:g}{'' if quantity.name == 'objective' else ' f*'} are rounding: not "
                 "drawn.")
    return notes + [f"{series} goes below f* by {-least:.1e}." for series, least in sorted(below.items())
                    if least < -quantity.floor]


def caption(panel):
    """The lines below a plot."""
    notes = _notes(panel)
    if math.isfinite(panel.drawn_bound):
        notes.append("On grey ground, below the accuracy of f*, curves say nothing.")
    sizes = sorted({len(curve.runs) for curve in panel.curves} - {1})
    lines = [" ".join(notes)]
    if sizes:
        few = f" (n < {FEW}: no more than the spread seen)" if sizes[0] < FEW else ""
        lines.append(f"Medians of n = {', '.join(map(str, sizes))} repetitions with 25-75 % bands{few}.")
    return "\n".join(lines)


def _failures(panel):
    crossed = [curve.runs[0] for curve in panel.curves if curve.end]
    for text, seen in (("A cross ends what failed", True), ("Failed, nothing to draw", False)):
        failed = [f"{run['series']} repetition {run['repetition']} {run['status']}" for run in panel.runs
                  if run["failed"] and (run in crossed) == seen]
        yield f"\n{text}: {', '.join(failed)}." if failed else ""


# ---- drawing

class Styles:
    """Each label has one colour in all figures; dashes distinguish machines."""

    def __init__(self, runs):
        self.labels, self.machines = list(runs["label"].unique()), list(runs["machine"].unique())

    def of(self, run):
        return line_style(self.labels.index(run["label"]), self.machines.index(run["machine"]))


def draw(panel, ax, styles):
    """Draws the panel into axes of matplotlib."""
    bound, steps, known = panel.drawn_bound, {"drawstyle": "steps-post"}, set()
    level = bound if math.isfinite(bound) else panel.floor
    for curve in panel.curves:
        x, median, low, high = curve.points.T
        look, failed = styles.of(curve.runs[0]), {"linewidth": 0.9} if curve.runs[0]["failed"] else {}
        look["label"] = ("_" if curve.series in known else "") + plain_label(curve.series)
        known.add(curve.series)
        x = np.where(x > 0, x, np.nan) if panel.log_x else x  # a value holds from the first x that the axis shows
        y = np.where(panel.drawn(x, median), median, np.nan)
        if len(curve.runs) > 1:
            ax.fill_between(x, np.maximum(low, level), np.maximum(np.where(np.isfinite(high), high, np.nan), level),
                            step="post", color=look["color"], alpha=0.2, linewidth=0, where=np.isfinite(y))
        if math.isfinite(bound):
            ax.plot(x, y, color=look["color"], alpha=0.3, linewidth=0.8, label="_below", marker="", **steps)
            y = np.where(y > bound, y, np.nan)
        ax.plot(x, y, markevery=max(1, len(x) // SYMBOLS), **{**look, **failed}, **steps)
    for curve in panel.curves:
        if curve.end:
            ax.plot(*curve.end, marker="x", markersize=9, markeredgewidth=2, color=styles.of(curve.runs[0])["color"],
                    linestyle="", label="_cross")
    _set_axes(panel, ax, bound)
    if math.isfinite(bound):
        ax.axhspan(ax.get_ylim()[0], bound, color=GREY, alpha=0.12, linewidth=0)
        ax.axhline(bound, color=GREY, linestyle=":", label="accuracy of f*")


def _set_axes(panel, ax, bound):
    xs, ys = panel.shown()
    ax.set(xlabel=AXES[panel.axis], ylabel=panel.quantity.axis)
    if panel.log_x and len(xs):
        ax.set(xscale="log", xlim=(xs.min() / 1.1, xs.max() * 1.1))
        log_axis(ax.xaxis)
    elif len(xs):
        ax.set_xlim(0, panel.x_max or xs.max() * 1.02 or 1.0)
    if panel.quantity.log and len(ys):
        ax.set(yscale="log", ylim=(np.fmax(ys.min(), bound / BELOW) / 1.5, np.fmax(ys.max(), bound) * 1.5))
        log_axis(ax.yaxis)


def _figure_name(panel):
    run = panel.first
    loss = f"-hinge-{run['cost'] or 'hamming'}" if run["loss_text"] != "log" else ""
    mu = f"-mu{number_text(run['mu'])}" if run["mu"] > 0 else ""
    axis = "-logx" if panel.log_x else "" if panel.axis == "seconds" else f"-{panel.axis}"
    return file_name_part(f"{run['dataset']}{loss}-lambda{number_text(run['lambda'])}{mu}-{panel.quantity.name}{axis}")


def _rows(panel):
    """All samples of each run, then the points of the medians."""
    name = panel.quantity.column
    names = ["seconds", name, "iteration", "passes", "updates"]
    parts = [pd.DataFrame({"label": run["series"], "repetition": run["repetition"], **{
        one: panel.quantity.of(panel.sweep, run) if one == name else panel.sweep.trace(run["run"], one)
        for one in names}},
        columns=["label", "repetition", *names]) for run in panel.runs]
    x = COSTS[panel.axis]
    parts += [pd.DataFrame(curve.points, columns=[x, name, "q25", "q75"]).assign(
        label=curve.series, repetition="median")
              for curve in panel.curves if len(curve.runs) > 1]
    return pd.concat(parts, ignore_index=True)


def picture(panel, styles):
    run, about = panel.first, subtitle(panel.group)
    comparable = all(run["comparable"] for run in panel.runs) or panel.axis != "seconds"
    return Picture(_figure_name(panel), panel.quantity.title, lambda axes: draw(panel, axes[0], styles), _rows(panel),
                   data_warnings([about], comparable), f": {run['dataset']}, {penalty_symbols(run)}", about,
                   caption(panel) + "".join(_failures(panel)))


def pictures(sweep, allow_not_comparable=False):
    """A picture for each problem, quantity and axis that has something to draw."""
    plot, runs, out = sweep.presentation.plot, sweep.single, []
    require_drawable(runs, plot.x if plot.quantities else [], allow_not_comparable)
    for _, group in runs.groupby(GROUP, sort=False):
        for name in plot.quantities:
            for axis, limit in zip(plot.x, plot.x_max or [0.0] * len(plot.x)):
                panel = Panel(sweep, group, QUANTITIES[name], axis, axis == "seconds" and plot.log_seconds, limit,
                              plot.repetitions == "band")
                out += [picture(panel, Styles(runs))] if len(panel.shown()[1]) else []
    return out


def curves(sweep, quantity="objective", x="seconds", ax=None, log_x=False, bands=True, runs=None):
    """Draws one quantity of the runs of one problem (default: the first of the sweep) into axes, for notebooks. `runs`:
    rows of `sweep.single`."""
    require_known("quantity", quantity, list(QUANTITIES))
    require_known("x", x, list(AXES))
    _, group = next(iter((sweep.single if runs is None else runs).groupby(GROUP, sort=False)))
    panel = Panel(sweep, group, QUANTITIES[quantity], x, log_x, bands=bands)
    with style():
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.gca()
        draw(panel, ax, Styles(sweep.single))
        ax.set_title(f"{data_warnings([subtitle(group)])}{panel.first['dataset']}, {penalty_symbols(panel.first)}")
        ax.legend()
    return ax
