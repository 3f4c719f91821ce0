"""Solvers compared over many problems (problems.py).

    profile       performance profiles: share of problems on which a solver reaches the target within tau times the
                  cost of the best solver (Dolan and Moré 2002)
    data-profile  share of problems on which it does within a cost (Moré and Wild 2009, eq. 2.3): in passes, a simplex
                  gradient is one pass over the data
    ecdf          share of (problem, target) pairs reached within a cost (COCO, Hansen et al. 2016)
    quality       share of problems on which a solver's final value is within (f - f*)/f*
"""
import math

import numpy as np

from ..errors import UsageError
from ..files import file_name_part
from .figure import Picture, line_style, log_axis, plain_label
from .problems import problem_sets
from .runs import data_warnings, require_drawable, says_synthetic, shown_label
from .times import reference_bound

MOST_NAMES = 4  # of problems or runs, under a plot
KINDS = ["profile", "data-profile", "ecdf", "quality"]


def steps(values):
    """The distribution function of values: pairs (x, share of all values <= x) at each distinct finite value."""
    ordered, out = sorted(values), {}
    for i, value in enumerate(ordered):
        if math.isfinite(value):
            out[value] = (i + 1) / len(ordered)
    return list(out.items())


def ratios(costs):
    """costs[problem][solver] over the least of that problem. Infinite if a solver failed; 1 for the best."""
    out = []
    for row in costs:
        best = min(row)
        out.append([math.inf if math.isinf(cost) else 1.0 if cost == best else cost / best if best else math.inf
                    for cost in row])
    return out


def _few(names):
    more = f"; and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return "; ".join(names[:MOST_NAMES]) + more


def _caption(sets, accuracy, smallest):
    out = ""
    if smallest < accuracy:
        out += f"\nf* is proven to a relative accuracy of {accuracy:.1e} at worst: smaller targets say less."
    paid, wide = sets.known()
    if wide:
        out += (f"\n{wide} of {paid} costs to a target lie between two samples that are more than a tenth apart: drawn at "
                "the later.")
    for names, what in ((sets.failures, "failed"), (sets.left_out, "left out")):
        out += f"\n{len(names)} {what}: {_few(names)}." if names else ""
    return out


def _warning(sets):
    synthetic = sum(map(says_synthetic, set(sets.descriptions)))
    partly = "PARTLY " if 0 < synthetic < len(set(sets.descriptions)) else ""
    return partly + data_warnings("synthetic" if synthetic else "", sets.comparable)


def _distribution(name, title, x_label, y_label, text, values, sets, accuracy, smallest, labels, from_one=False):
    """A picture of the distribution functions of each solver's values."""
    shown = [x for some in values for x in some if 0 < x < math.inf] or [1.0]
    low, high = (1.0, 1.15 * max(max(shown), 2.0)) if from_one else (min(shown) / 1.15, 1.15 * max(shown))
    lines = []
    for some in values:
        line = [(low, 0.0)]
        for x, share in steps(some):
            if x <= low:
                line[0] = (low, share)
            else:
                line.append((x, share))
        lines.append([*line, (high, line[-1][1])])

    def draw(axes):
        ax, n = axes[0], len(sets.solvers)
        for i, (solver, line) in enumerate(zip(sets.solvers, lines)):
            x, y = zip(*line)
            look = line_style(labels.index(solver))
            look["marker"] = ""
            ax.step(x, y, where="post", label=plain_label(solver), linewidth=3.6 - (2.0 * i / (n - 1) if n > 1 else 2.0),
                    **look)  # later lines are thinner, so that lines below them stay visible
        ax.set(xscale="log", xlim=(low, high), ylim=(-0.02, 1.02), xlabel=x_label, ylabel=y_label,
               yticks=np.arange(0, 1.01, 0.1))
        log_axis(ax.xaxis)

    cost = "" if sets.cost == "seconds" or not sets.cost else f"-{sets.cost}"
    rows = [{"label": solver, "x": x, "share": share} for solver, line in zip(sets.solvers, lines) for x, share in line]
    machine = f", on {sets.machine}" if sets.machine else ""
    return Picture(file_name_part(name + cost + (f"-{sets.machine}" if sets.machine else "")), title, draw, rows,
                   ["label", "x", "share"], _warning(sets),
                   subtitle=f"{len(sets.problems)} problems: (experiment, data set, penalty, repetition){machine}",
                   caption=text + _caption(sets, accuracy, smallest))


def _costs(sets, target):
    return [[end for _, end in problem.costs[target]] for problem in sets.problems]


def _by_solver(rows):
    return [list(column) for column in zip(*rows)]


def _pictures(kind, sets, accuracy, labels, sweep):
    cost, targets = sets.cost, sets.targets
    common = dict(sets=sets, accuracy=accuracy, labels=labels)
    if kind == "ecdf":
        every = [row for problem in sets.problems for row in [[end for _, end in costs] for costs in problem.costs]]
        yield _distribution("ecdf", f"Targets reached within so many {cost}", cost, "share of (problem, target) pairs",
                            f"Targets: (f − f*) / f* ≤ {', '.join(f'{one:g}' for one in targets)}. A run that failed "
                            "reaches none.", _by_solver(every), smallest=min(targets), **common)
    if kind == "quality":
        ends = [[math.inf if run["failed"] or math.isnan(run["relative_difference"]) else
                 max(run["relative_difference"], 1e-16) for run in problem.cells] for problem in sets.problems]
        yield _distribution("quality", "Quality profile: where runs end", "(f − f*) / f* at the end",
                            "share of problems", "A run that failed has no end. Ends at or below 1e-16 are drawn there.",
                            _by_solver(ends), smallest=min((x for row in ends for x in row), default=1), **common)
    for i, target in enumerate(targets if kind in ("profile", "data-profile") else []):
        values, goal = _costs(sets, i), f"{target:g}"
        never = sum(math.isinf(x) for row in values for x in row)
        of = f"{never} of {len(sets.problems) * len(sets.solvers)}"
        if kind == "profile":
            yield _distribution(f"profile-{goal}", f"Performance profile: {cost} to (f − f*) / f* ≤ {goal}",
                                f"τ: {cost} over the least of any solver", "share of problems within τ",
                                f"A run that failed or never got there has an infinite ratio: {of}.",
                                _by_solver(ratios(values)), smallest=target, from_one=True, **common)
        else:
            yield _distribution(f"data-profile-{goal}", f"Data profile: {cost} to (f − f*) / f* ≤ {goal}", cost,
                                "share of problems", f"A run that failed or never got there has no cost: {of}.",
                                _by_solver(values), smallest=target, **common)


def pictures(sweep, kinds, plot=None, targets=None, allow_not_comparable=False):
    plot, targets = plot or sweep.presentation.plot, sweep.presentation.targets if targets is None else targets
    require_drawable(sweep.single, plot.x, allow_not_comparable)
    labels = list(dict.fromkeys(map(shown_label, sweep.single)))
    accuracy = float(np.fmax.reduce([0.0, *map(reference_bound, sweep.single)]))
    out = []
    for cost in plot.x:
        for sets in problem_sets(sweep, cost, targets, allow_not_comparable):
            if not sets.problems:
                raise UsageError(f"no problem that all of {', '.join(sets.solvers)} were run on"
                                 f"{f' on {sets.machine}' if sets.machine else ''}; left out: "
                                 f"{_few(sets.left_out) or 'none'}; expected solvers that have some in common")
            for kind in kinds:
                if kind in KINDS and not (kind == "quality" and cost != plot.x[0]):
                    out += _pictures(kind, sets, accuracy, labels, sweep)
    return out
