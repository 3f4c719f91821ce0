"""Curves of runs on one problem: a quantity against time, oracle calls, parameter updates or iterations.

Every curve is a step function: a value holds up to the next sample, because nothing is known in between. Repetitions
appear as their median with a band of quartiles, which never mixes machines, nor comparable timings with others.
"""
import math

import numpy as np

from ..errors import require_known
from ..files import file_name_part
from .figure import GREY, Picture, line_style, log_axis, plain_label, with_commas
from .quantities import AXES, QUANTITIES, axes_of, by_name
from .runs import data_warnings, grouped, number, penalty_symbols, require_drawable, series_name, several_machines, status
from .tables import FEW
from .times import reference_bound

BELOW = 30.0  # an axis goes this factor below the accuracy of f*: enough to show that a curve goes on, not a slope
SYMBOLS = 12  # on a curve


def band(traces):
    """Rows x, median, q25, q75 of step functions, from the first x at which all have a value. A solver that stopped
    keeps its last value. `traces` are pairs of arrays (x, value)."""
    grid = np.unique(np.concatenate([x for x, _ in traces]))
    grid = grid[grid >= max(x[0] for x, _ in traces)]
    values = np.sort([value[np.searchsorted(x, grid, side="right") - 1] for x, value in traces], axis=0)

    def quantile(p):
        h = (len(values) - 1) * p
        below = int(h)
        if h == below:
            return values[below]
        low, high = values[below], values[below + 1]
        with np.errstate(invalid="ignore"):
            return np.where(low == high, low, low + (h - below) * (high - low))

    return np.column_stack([grid, quantile(0.5), quantile(0.25), quantile(0.75)])


class Panel:
    """The curves of one problem: pairs of runs (several are a band) and rows x, median, q25, q75."""

    def __init__(self, sweep, group, quantity, axis, machines, bands=True):
        self.sweep, self.group, self.quantity, self.axis, self.machines = sweep, group, quantity, axis, machines
        units = [unit for run in group if math.isfinite(unit := quantity.unit_of(run))]
        self.floor = quantity.floor * units[0] if units else quantity.floor
        self.bound = math.nan
        if quantity.unit:
            for run in group:
                self.bound = float(np.fmax(self.bound, reference_bound(run) * quantity.unit_of(run)))
        self.curves = []
        alone = lambda run: not bands or run["failed"] or (  # noqa: E731
            quantity.unit and run["reference_objective"] is None)
        key = lambda run: (self.series(run), axis.name != "seconds" or run["comparable"],  # noqa: E731
                           run["index"] if alone(run) else None)
        for runs in grouped(group, key).values():
            traces = [(run, self.points(run)) for run in runs]
            measured = [(run, points) for run, points in traces if len(points[0])]
            if len(measured) > 1:
                self.curves.append(([run for run, _ in measured], band([points for _, points in measured])))
            else:
                self.curves += [([run], np.column_stack([x, *[y] * 3])) for run, (x, y) in traces
                                if len(self.sweep.trace(run, "seconds"))]
        order = {run["index"]: i for i, run in enumerate(group)}
        self.curves.sort(key=lambda curve: 0 if len(curve[0]) > 1 else 1 + order[curve[0][0]["index"]])

    def series(self, run):
        return series_name(run, self.machines)

    def values(self, run):
        return self.quantity.value(self.sweep, run)

    def points(self, run):
        """x and value of the samples that have a measurement."""
        x, y = self.axis.of(self.sweep, run), self.values(run)
        y = np.where(np.isnan(y), self.quantity.unmeasured, y)
        known = ~(np.isnan(x) | np.isnan(y))
        return x[known], y[known]

    def drawn(self, x, y):
        """Which values are drawn."""
        with np.errstate(invalid="ignore"):
            good = np.isfinite(x) & np.isfinite(y) & (y > self.floor)
            return good & (x > 0 if self.axis.log else True) & (x <= self.axis.max if self.axis.max else True)

    def shown(self):
        """All drawn coordinates x and y."""
        pairs = [(points[:, 0], points[:, i]) for _, points in self.curves for i in (1, 2, 3)]
        kept = [(x[self.drawn(x, y)], y[self.drawn(x, y)]) for x, y in pairs]
        return (np.concatenate(one) if kept else np.array([]) for one in (list(zip(*kept)) or ([], [])))

    @property
    def drawn_bound(self):
        """The accuracy of f* if something drawn lies below it, else NaN."""
        y = list(self.shown())[1]
        return self.bound if len(y) and self.bound > y.min() else math.nan


# ---- texts

def _sizes(group):
    out = []
    for form, name in (("{} instances", "instances"), ("d = {}", "d"), ("threads: {}", "threads")):
        counts = sorted({run[name] for run in group if run[name] is not None})
        out += [form.format(" / ".join(map(with_commas, counts)))] if counts else []
    return ", ".join(out)


def subtitle(group):
    descriptions = list(dict.fromkeys(run["description"] or "" for run in group))
    more = f" (and {len(descriptions) - 1} more like it)" if len(descriptions) > 1 else ""
    return f"{descriptions[0]}{more}\n{_sizes(group)}"


def _notes(panel):
    """How exact f* is, what is not drawn, and which runs go below f*."""
    quantity = panel.quantity
    if quantity.name == "nnz":
        return ["Nothing is drawn while no weight differs from zero."]
    if not quantity.unit:
        return []
    bounds, below = {}, {}
    for run in panel.group:
        if run["reference_objective"] is None:
            continue
        bounds[run["reference_objective"]] = reference_bound(run)
        differences = panel.sweep.trace(run, "relative_difference")
        if len(differences) and (least := np.nanmin(differences)) < -quantity.floor:
            below[panel.series(run)] = min(below.get(panel.series(run), 0.0), least)
    if not bounds:
        return ["No f* is stored."]
    notes = [f"f* = {f:.10g}" + (f", proven to a relative accuracy of {bound:.1e}." if math.isfinite(bound) else
                                 "; how exact it is was not stored.") for f, bound in sorted(bounds.items())]
    notes.append(f"Differences <= {quantity.floor:g}{'' if quantity.name == 'objective' else ' f*'} are rounding: not "
                 "drawn.")
    return notes + [f"{series} goes below f* by {-least:.1e}." for series, least in sorted(below.items())]


def caption(panel):
    notes = _notes(panel)
    if math.isfinite(panel.drawn_bound):
        notes.append("On grey ground, below the accuracy of f*, curves say nothing.")
    sizes = sorted({len(runs) for runs, _ in panel.curves if len(runs) > 1})
    out = " ".join(notes)
    if sizes:
        few = f" (n < {FEW}: no more than the spread seen)" if sizes[0] < FEW else ""
        out += f"\nMedians of n = {', '.join(map(str, sizes))} repetitions with 25-75 % bands{few}."
    return out


def last_drawn(panel, run):
    """Where the cross of a failed run stands, or None."""
    x, y = panel.axis.of(panel.sweep, run), panel.values(run)
    at = np.flatnonzero(panel.drawn(x, y))
    return (float(x[at[-1]]), float(y[at[-1]])) if len(at) else None


def _failures(panel):
    crossed, unseen = [], []
    for run in panel.group:
        if run["failed"]:
            (crossed if last_drawn(panel, run) else unseen).append(
                f"{panel.series(run)} repetition {run['repetition']} {status(run)}")
    return ((f"\nA cross ends what failed: {', '.join(crossed)}." if crossed else "")
            + (f"\nFailed, nothing to draw: {', '.join(unseen)}." if unseen else ""))


# ---- drawing

class Styles:
    """Each label has one colour in all figures; dashes distinguish machines."""

    def __init__(self, runs):
        self.labels = list(dict.fromkeys(run["label"] for run in runs))
        self.machines = list(dict.fromkeys(run["machine"] for run in runs))

    def of(self, run):
        return line_style(self.labels.index(run["label"]), self.machines.index(run["machine"]))


def draw(panel, ax, styles):
    """Draws the panel into axes of matplotlib."""
    bound = panel.drawn_bound
    every = dict(drawstyle="steps-post")
    xs, ys = panel.shown()
    for runs, points in panel.curves:
        x, median, low, high = points.T
        name, look = panel.series(runs[0]), styles.of(runs[0])
        known = {text for line in ax.get_lines() for text in [line.get_label()]}
        label = plain_label(name)
        look.update(label="_" + label if label in known else label)
        if panel.axis.log:  # a value holds from the first x that the axis shows
            x = np.where(x > 0, x, np.nan)
        level = bound if math.isfinite(bound) else panel.floor
        y = np.where(panel.drawn(x, median), median, np.nan)
        if len(runs) > 1:
            clip = lambda values: np.maximum(values, level if level > -math.inf else values)  # noqa: E731
            ax.fill_between(x, clip(low), clip(np.where(np.isfinite(high), high, np.nan)), step="post",
                            color=look["color"], alpha=0.2, linewidth=0, where=np.isfinite(y))
        if math.isfinite(bound):
            ax.plot(x, y, color=look["color"], alpha=0.3, linewidth=0.8, label="_below", marker="", **every)
            y = np.where(y > bound, y, np.nan)
        width = {"linewidth": 0.9} if runs[0]["failed"] else {}
        ax.plot(x, y, markevery=max(1, len(x) // SYMBOLS), **look, **width, **every)
    for run in panel.group:
        if run["failed"] and (at := last_drawn(panel, run)):
            ax.plot(*at, marker="x", markersize=9, markeredgewidth=2, color=styles.of(run)["color"], linestyle="",
                    label="_cross")
    if len(ys):
        _set_axes(panel, ax, xs, ys, bound)
    if math.isfinite(bound):
        ax.axhspan(ax.get_ylim()[0], bound, color=GREY, alpha=0.12, linewidth=0)
        ax.axhline(bound, color=GREY, linestyle=":", label="accuracy of f*")


def _set_axes(panel, ax, xs, ys, bound):
    ax.set_xlabel(panel.axis.title)
    ax.set_ylabel(panel.quantity.axis)
    if panel.axis.log:
        ax.set_xscale("log")
        ax.set_xlim(xs.min() / 1.1, xs.max() * 1.1)
        log_axis(ax.xaxis)
    else:
        ax.set_xlim(0, panel.axis.max or xs.max() * 1.02 or 1.0)
    if panel.quantity.log:
        low = max(ys.min(), bound / BELOW) if math.isfinite(bound) else ys.min()
        ax.set_yscale("log")
        ax.set_ylim(low / 1.5, max(ys.max(), bound if math.isfinite(bound) else 0) * 1.5)
        log_axis(ax.yaxis)


def _figure_name(run, quantity, axis):
    mu = f"-mu{number(run['_mu'])}" if run["_mu"] > 0 else ""
    loss = f"-hinge-{run['cost'] or 'hamming'}" if run["loss_function"] == "hinge" else ""
    return file_name_part(f"{run['dataset']}{loss}-lambda{number(run['_lambda'])}{mu}-{quantity.name}{axis.suffix}")


def _rows(panel):
    """All samples of each run, then the points of the medians."""
    name, rows = panel.quantity.column, []
    head = ["label", "repetition", "seconds", name, "iteration", "passes", "updates"]
    for run in panel.group:
        columns = [panel.values(run) if column == name else panel.sweep.trace(run, column) for column in head[2:]]
        rows += [dict(zip(head, (panel.series(run), run["repetition"], *map(float, row)))) for row in zip(*columns)]
    x_name = {"iterations": "iteration"}.get(panel.axis.name, panel.axis.name)
    bands = [(runs, points) for runs, points in panel.curves if len(runs) > 1]
    for runs, points in bands:
        rows += [{"label": panel.series(runs[0]), "repetition": "median", x_name: x, name: y, "q25": a, "q75": b}
                 for x, y, a, b in points.tolist()]
    return rows, head + (["q25", "q75"] if bands else [])


def picture(panel, styles):
    first = panel.group[0]
    comparable = all(run["comparable"] for run in panel.group)
    about = subtitle(panel.group)
    rows, head = _rows(panel)
    return Picture(_figure_name(first, panel.quantity, panel.axis), panel.quantity.title,
                   lambda axes: draw(panel, axes[0], styles), rows, head,
                   data_warnings(about, comparable or panel.axis.name != "seconds"),
                   f": {first['dataset']}, {penalty_symbols(first)}", about, caption(panel) + _failures(panel))


def panels(sweep, plot=None, allow_not_comparable=False):
    """A panel for each problem, quantity and axis that has something to draw."""
    plot, runs = plot or sweep.presentation.plot, sweep.single
    require_drawable(runs, plot.x if plot.quantities else [], allow_not_comparable)
    for name in plot.quantities:
        require_known("quantities", name, [one.name for one in QUANTITIES])
    machines = several_machines(runs)
    for group in grouped(runs, lambda run: run["key"]).values():
        for name in plot.quantities:
            for axis in axes_of(plot):
                panel = Panel(sweep, group, by_name(QUANTITIES, name), axis, machines, plot.repetitions == "band")
                if len(list(panel.shown())[1]):
                    yield panel


def pictures(sweep, plot=None, allow_not_comparable=False):
    styles = Styles(sweep.single)
    return [picture(panel, styles) for panel in panels(sweep, plot, allow_not_comparable)]


def curves(sweep, quantity="objective", x="seconds", ax=None, log_x=False, bands=True, runs=None):
    """Draws one quantity of the runs of one problem (default: the first of the sweep) into axes, for notebooks."""
    from .figure import style

    require_known("quantity", quantity, [one.name for one in QUANTITIES])
    require_known("x", x, [one.name for one in AXES])
    runs = sweep.single if runs is None else runs
    group = next(iter(grouped(runs, lambda run: run["key"]).values()))
    axis = by_name(AXES, x)
    axis = type(axis)(axis.name, axis.title, log_x)
    panel = Panel(sweep, group, by_name(QUANTITIES, quantity), axis, several_machines(runs), bands)
    with style():
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.gca()
        draw(panel, ax, Styles(sweep.single))
        ax.set_title(data_warnings(subtitle(group)) + f"{group[0]['dataset']}, {penalty_symbols(group[0])}")
        ax.legend()
    return ax
