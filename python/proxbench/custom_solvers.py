"""Solvers that are written in Python. They run on the same clock, problems and certificates as all others."""
from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from .compiled import require
from .datasets import Data
from .errors import UsageError

_TYPES = {bool: "bool", int: "int", float: "float", str: "str"}


def option(default: bool | int | float | str, help: str = "", min: float | None = None, max: float | None = None,
           choices=()) -> Any:
    """An option of a solver, as the default of an argument: `step: option(0.1, "length of a step", min=0)`."""
    if type(default) not in _TYPES:
        raise UsageError(f"option: found the default {default!r}, expected a bool, int, float or str")
    return _Option(default, help, min, max, tuple(choices))


class _Option:
    def __init__(self, default, help, min, max, choices):
        self.default, self.help, self.min, self.max, self.choices = default, help, min, max, choices


def solver(name: str, help: str = "", paper: str = "", l1: bool = False, l2: bool = False, smooth: bool = False,
           loss: str = "log", exact: bool = True) -> Callable[[Callable], Callable]:
    """Registers a function as a solver:

        @proxbench.solver("ista", "proximal gradient descent")
        def ista(problem, monitor, step=proxbench.option(0.1, "length of a step", min=0)):
            w = problem.start
            while True:
                loss, gradient = problem.loss_and_gradient(w)
                ...
                if not monitor.step(w, loss):     # loss at this w, without penalties; None: not known
                    return w

    name     new, or that of an earlier function, which it replaces
    l1, l2   needs lambda > 0, mu > 0; smooth: needs lambda = 0; loss: "log" or "hinge"
    exact    whether it reaches any tolerance; otherwise it should be stopped by limits

    `problem` has loss(w), loss_and_gradient(w, coordinates=None), hessian_product(w, v, coordinates=None),
    certificate(w), add_instance_gradients(instances, w, out, scale), lambda_, mu, dimension, features, outputs,
    instances, passes; start (dense), kkt_target, kkt_at_zero and seed. monitor.step(w, loss, working_set=None) stops the
    clock, takes samples, and says whether to go on; monitor.out_of_time() is for long iterations. Weights are dense
    arrays of float64 or (coordinates, values). What the function returns is the result. It gets options as keyword
    arguments. Evaluations are counted in passes over the data, as for every solver."""

    def register(function: Any) -> Any:
        options = []
        for argument in list(inspect.signature(function).parameters.values())[2:]:
            default = argument.default
            one = default if isinstance(default, _Option) else option(default)
            options.append({"name": argument.name, "type": _TYPES[type(one.default)], "default": _text(one.default),
                            "help": one.help, "min": one.min, "max": one.max, "choices": list(one.choices)})

        def solve(core, monitor, facts, values):
            return function(Problem(core, facts), monitor, **values)

        description = {"name": name, "help": help or (inspect.getdoc(function) or "a solver in Python").split("\n")[0],
                       "paper": paper, "options": options, "exact": exact,
                       "needs": {"l1": l1, "l2": l2, "smooth": smooth, "loss": loss}}
        require().register_solver(json.dumps(description), solve)
        registered[name] = description
        function.solver_name = name
        return function

    return register


registered: dict[str, dict] = {}  # descriptions by name


class Problem:
    """F of one data set, as an oracle. w is a dense array of float64 with `dimension` numbers, or (coordinates, values)
    with ascending coordinates; feature j and label k have coordinate j * outputs + k, extra weights (transitions) follow.
    See `problem` to make one, and `solver` for solvers. Arrays that it returns have float64. The loss is the SUM over
    instances, without the penalties.

    loss(w)                                      a float
    loss_and_gradient(w, coordinates=None)       the loss, and its gradient: `dimension` numbers, or one for each of the
                                                 ascending coordinates
    hessian_product(w, v, coordinates=None)      the Hessian of the loss at w times v, of v's shape; with coordinates, v
                                                 is 0 elsewhere
    certificate(w)                               a dict: objective, loss, nnz, kkt, lower_bound, gap, relative_gap
    add_instance_gradients(instances, w, out, scale=1.0)
                                                 adds scale * gradient of the loss of these instances to `out`, in turn
                                                 (`out` may be w), and returns their loss; dense arrays only
    passes                                       evaluations so far, divided by the number of instances
    """

    def __init__(self, core, facts=None):
        self._core, self._facts = core, facts

    def __getattr__(self, name):
        facts = self.__dict__.get("_facts")
        if facts is not None and name in ("kkt_target", "kkt_at_zero", "seed"):
            return facts[name]
        if name in ("lambda_", "mu", "dimension", "features", "outputs", "instances", "passes", "loss", "loss_and_gradient",
                    "hessian_product", "certificate", "add_instance_gradients"):
            return getattr(self._core, name)
        raise AttributeError(f"'Problem' object has no attribute '{name}'")

    def __dir__(self):
        return [*super().__dir__(), "lambda_", "mu", "dimension", "features", "outputs", "instances", "passes", "loss",
                "loss_and_gradient", "hessian_product", "certificate", "add_instance_gradients"]

    @property
    def start(self) -> np.ndarray:
        """Where to start, a dense array that the solver may change."""
        out = np.zeros(self.dimension)
        index, values = self._facts["start"]
        out[index] = values
        return out

    def penalty(self, w) -> float:
        """lambda ||w||_1 + (mu/2) ||w||^2."""
        values = w[1] if isinstance(w, tuple) else w
        return self.lambda_ * np.abs(values).sum() + 0.5 * self.mu * np.square(values).sum()


def problem(data: Data, lambda_: float = 0.0, mu: float = 0.0, loss: str = "log", threads: int = 0) -> Problem:
    """F of a data set for one's own use, outside of `train`. Returns Problem."""
    from .training import _core_of, _settings

    keys = _settings(lambda_, mu, loss, None, None, threads, None, None, None, None, None)
    return Problem(require().Problem(_core_of(data), keys))


def soft_threshold(x: np.ndarray, t: float) -> np.ndarray:
    """sign(x) * max(|x| - t, 0), the proximal step of t ||x||_1."""
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


def check_solver(name: str | Callable, only: str = "", show: Callable[[str], object] | None = print, **options: Any) -> bool:
    """Runs the conformance suite on a solver, as `proxbench check-solver` does. Returns whether all checks passed.

    only   only the checks whose name contains this
    show   called with a line for each check"""
    from .datasets import _texts

    passed = []

    def on_check(check, ok, found):
        passed.append(ok)
        if show is not None:
            show(f"{'passed' if ok else 'FAILED'}: {check}{': ' + found if found and not ok else ''}")

    require().check_solver(getattr(name, "solver_name", name), _texts(options), only, on_check)
    return all(passed)


def _text(value):
    return ("true" if value else "false") if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)
