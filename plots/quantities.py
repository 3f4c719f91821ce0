"""The quantities that curves show, and the axes that they are drawn against. A row each: add one to add a curve."""
import math
from dataclasses import dataclass, replace

import numpy as np

from .times import COSTS

FLOOR = 1e-12  # relative differences at or below are rounding, and not drawn


def _n(run):
    return math.nan if run["instances"] is None else float(run["instances"])


def _best(run):
    return math.nan if run["reference_objective"] is None else float(run["reference_objective"])


@dataclass
class Quantity:
    """`value(sweep, run)` gives the values of the samples."""

    name: str  # end of the file name
    title: str
    axis: str
    column: str  # in the .csv
    value: object
    log: bool = True
    floor: float = 0.0  # values at or below are not drawn, in units of unit()
    unmeasured: float = math.nan  # stands for NaN in a median: a diverged objective is infinite
    unit: object = None  # of a difference to f*: its size on the axis where the difference is |f*|

    def unit_of(self, run):
        return self.unit(run) if self.unit else 1.0


def _column(name):
    return lambda sweep, run: sweep.trace(run, name).astype(float)


def _metric(name):
    return _column("test_metrics." + name)


def _dual(sweep, run):
    lower = sweep.trace(run, "objective") - sweep.trace(run, "gap")
    return (_best(run) - lower) / abs(_best(run))


def _infeasible(sweep, run):
    return (sweep.trace(run, "dual_gap") + np.nan_to_num(sweep.trace(run, "infeasibility"), nan=0.0)) / _n(run)


def _ratio(a, b):
    def value(sweep, run):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(sweep.trace(run, a), sweep.trace(run, b))

    return value


QUANTITIES = [
    Quantity("objective", "Relative objective difference", "(f − f*) / f*", "relative_difference",
             _column("relative_difference"), floor=FLOOR, unmeasured=math.inf,
             unit=lambda run: 1.0 if math.isfinite(_best(run)) else math.nan),
    Quantity("suboptimality", "Primal suboptimality", "(f − f*) / n", "suboptimality",
             lambda sweep, run: (sweep.trace(run, "objective") - _best(run)) / _n(run), floor=FLOOR,
             unmeasured=math.inf, unit=lambda run: abs(_best(run)) / _n(run)),
    Quantity("nnz", "Nonzero weights", "nonzeros", "nnz", _column("nnz")),
    Quantity("accuracy", "Test accuracy", "accuracy per position", "test_accuracy", _column("test_accuracy"), False,
             -math.inf),
    Quantity("error", "Test error", "error per position", "test_error",
             lambda sweep, run: 1.0 - sweep.trace(run, "test_accuracy"), False, -math.inf),
    Quantity("structure-error", "Test error by structure", "error per structure", "structure_error",
             lambda sweep, run: 1.0 - _metric("structure-accuracy")(sweep, run), False, -math.inf),
    Quantity("chunk-f1", "Test F1 of chunks", "F1 of chunks", "chunk_f1", _metric("chunk-f1"), False, -math.inf),
    Quantity("gap", "Certified relative gap", "(f − lower bound) / f", "relative_gap", _ratio("gap", "objective"),
             floor=FLOOR),
    Quantity("dual", "Dual suboptimality", "(f* − lower bound) / f*", "dual_difference", _dual, floor=FLOOR),
    Quantity("mean-gap", "Certified gap", "(f − lower bound) / n", "mean_gap",
             lambda sweep, run: sweep.trace(run, "gap") / _n(run)),
    Quantity("gap-estimate", "The solver's estimate of its gap", "estimated gap / gap", "gap_estimate",
             _ratio("estimated_gap", "dual_gap")),
    Quantity("gap-infeasibility", "Gap of the solver's dual point, and its infeasibility",
             "(gap + infeasibility) / n", "gap_infeasibility", _infeasible),
]


@dataclass
class Axis:
    """The cost on the horizontal axis."""

    name: str
    title: str
    log: bool = False
    max: float = 0.0  # 0: the end of the runs

    @property
    def suffix(self):
        return "-logx" if self.log else "" if self.name == "seconds" else f"-{self.name}"

    def of(self, sweep, run):
        return sweep.trace(run, COSTS[self.name]).astype(float)


AXES = [Axis("seconds", "seconds"), Axis("passes", "oracle calls / n"), Axis("updates", "parameter updates / n"),
        Axis("iterations", "iterations")]


def by_name(rows, name):
    return next(row for row in rows if row.name == name)


def axes_of(plot):
    """The axes that a config asks for."""
    limits = plot.x_max or [0.0] * len(plot.x)
    return [replace(by_name(AXES, name), max=limit, log=name == "seconds" and plot.log_seconds)
            for name, limit in zip(plot.x, limits)]
