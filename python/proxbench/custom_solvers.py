"""Solvers that are written in Python. They run on the same clock, problems and certificates as all others."""
from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, Union

import numpy as np

from . import arrays
from .compiled import checked, require
from .datasets import Data
from .errors import UsageError

Weights = Union[np.ndarray, tuple[np.ndarray, np.ndarray]]  # dense, or (coordinates, values)
_TYPES = {bool: "bool", int: "int", float: "float", str: "str"}


@checked
def option(default: bool | int | float | str, help: str = "", min: float | None = None, max: float | None = None,
           choices=()) -> Any:
    """An option of a solver, as the default of an argument: `step: option(0.1, "length of a step", min=0)`."""
    if type(default) not in _TYPES:
        raise UsageError(f"option: found the default {default!r}, expected a bool, int, float or str")
    _require("option", help=(help, str))
    for name, bound in (("min", min), ("max", max)):
        if bound is not None and not isinstance(bound, (int, float)):
            raise UsageError(f"option, {name}: found {bound!r}, expected a number or None")
    if isinstance(choices, str) or not all(isinstance(one, str) for one in choices):
        raise UsageError(f"option, choices: found {choices!r}, expected a list of str")
    return _Option(default, help, min, max, tuple(choices))


def _require(what, **values):
    for name, (value, kind) in values.items():
        if not isinstance(value, kind):
            raise UsageError(f"{what}, {name}: found {value!r}, expected a {kind.__name__}")


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

    _require("solver", name=(name, str), help=(help, str), paper=(paper, str), l1=(l1, bool), l2=(l2, bool),
             smooth=(smooth, bool), loss=(loss, str), exact=(exact, bool))

    @checked
    def register(function: Any) -> Any:
        options: list[dict] = []
        if loss not in ("log", "hinge"):
            raise UsageError(f"solver '{name}': found loss = {loss!r}, expected 'log' or 'hinge'")
        arguments = list(inspect.signature(function).parameters.values())
        if len(arguments) < 2:
            raise UsageError(f"solver '{name}': found a function of {len(arguments)} arguments, expected (problem, "
                             "monitor, ...)")
        for argument in arguments[2:]:
            default = argument.default
            if default is argument.empty:
                raise UsageError(f"solver '{name}': found the argument '{argument.name}' without a default, expected "
                                 "one: it is an option")
            one = default if isinstance(default, _Option) else option(default)
            options.append({"name": argument.name, "type": _TYPES[type(one.default)], "default": _text(one.default),
                            "help": one.help, "min": one.min, "max": one.max, "choices": list(one.choices)})

        def solve(core, monitor, facts, values):
            dimension = core.dimension
            w = function(Problem(core, facts), Monitor(monitor, dimension), **values)
            if w is None:
                raise UsageError(f"solver '{name}' returned None, expected its weights w")
            return arrays.weights(w, dimension, "the solver's result")

        description = {"name": name, "help": help or (inspect.getdoc(function) or "a solver in Python").split("\n")[0],
                       "paper": paper, "options": options, "exact": exact,
                       "needs": {"l1": l1, "l2": l2, "smooth": smooth, "loss": loss}}
        require().register_solver(json.dumps(description), solve)
        registered[name] = description
        function.solver_name = name
        return function

    return register


registered: dict[str, dict] = {}  # descriptions by name


_FIGURES = ("lambda_", "mu", "dimension", "features", "outputs", "instances", "passes")


class Problem:
    """F of one data set, as an oracle. w is a dense array of float64 with `dimension` numbers, or (coordinates, values)
    with ascending coordinates; feature j and label k have coordinate j * outputs + k, extra weights (transitions) follow.
    See `problem` to make one, and `solver` for solvers. Arrays that it returns have float64. The loss is the SUM over
    instances, without the penalties. `passes` is the number of evaluations so far, divided by that of instances."""

    def __init__(self, core, facts=None):
        self._core, self._facts = core, facts

    def __getattr__(self, name):
        facts = self.__dict__.get("_facts")
        if facts is not None and name in ("kkt_target", "kkt_at_zero", "seed"):
            return facts[name]
        if name in _FIGURES:
            return getattr(self._core, name)
        raise AttributeError(f"'Problem' object has no attribute '{name}'")

    def __dir__(self):
        return [*super().__dir__(), *_FIGURES]

    @checked
    def loss(self, w: Weights) -> float:
        """The loss at w, without penalties."""
        return self._core.loss(self._weights(w))

    @checked
    def loss_and_gradient(self, w: Weights, coordinates=None) -> tuple[float, np.ndarray]:
        """(loss, its gradient) at w, without penalties; the gradient at all coordinates, or at ascending ones."""
        return self._core.loss_and_gradient(self._weights(w), self._coordinates(coordinates))

    @checked
    def hessian_product(self, w: Weights, v: np.ndarray, coordinates=None) -> np.ndarray:
        """The Hessian of the loss at w times v, without penalties. Given ascending coordinates, v and the product have
        entries only there."""
        some = self._coordinates(coordinates)
        v = arrays.sized(arrays.reals(v, "v"), self.dimension if some is None else some.size, "v")
        return self._core.hessian_product(self._weights(w), v, some)

    @checked
    def certificate(self, w: Weights) -> dict[str, float]:
        """What is proven about w: a dict with objective, loss, nnz, kkt, lower_bound, gap and relative_gap."""
        return self._core.certificate(self._weights(w))

    @checked
    def add_instance_gradients(self, instances, w: np.ndarray, out: np.ndarray, scale: float = 1.0) -> float:
        """Adds scale * (the gradient of the loss of these instances) to `out`, and returns their loss at w. `out` may be
        w: then each instance sees the change by the one before it. w and out are contiguous arrays of float64."""
        chosen = arrays.integers(instances, "instances").ravel()
        wrong = (chosen < 0) | (chosen >= self.instances)
        if wrong.any():
            raise UsageError(f"instances: found {chosen[np.argmax(wrong)]}, expected numbers below {self.instances}")
        w, out = (arrays.in_place(array, self.dimension, name) for array, name in ((w, "w"), (out, "out")))
        if not out.flags.writeable:
            raise UsageError("out: found an array that is read-only, expected one to write to")
        return self._core.add_instance_gradients(chosen, w, out, scale)

    def _weights(self, w):
        return arrays.weights(w, self.dimension)

    def _coordinates(self, given):
        return None if given is None else arrays.coordinates(given, self.dimension)

    @property
    def start(self) -> np.ndarray:
        """Where to start, a dense array that the solver may change. Of a problem without a solver: 0."""
        out = np.zeros(self.dimension)
        if self._facts is not None:
            index, values = self._facts["start"]
            out[index] = values
        return out

    @checked
    def penalty(self, w) -> float:
        """lambda ||w||_1 + (mu/2) ||w||^2."""
        values = w[1] if isinstance(w, tuple) else w
        return self.lambda_ * np.abs(values).sum() + 0.5 * self.mu * np.square(values).sum()


class Monitor:
    """The clock of a run, for its solver. `seconds` is the time on the clock so far."""

    def __init__(self, core, dimension):
        self._core, self._dimension = core, dimension

    @property
    def seconds(self) -> float:
        return self._core.seconds

    @checked
    def step(self, w: Weights, loss: float | None = None, working_set: int | None = None) -> bool:
        """Takes a new iterate, and the loss there without penalties if it is known. Returns whether to go on."""
        w = arrays.weights(w, self._dimension)
        size = len(w[0]) if working_set is None else _number("working_set", working_set)
        if not 0 <= size <= self._dimension:
            raise UsageError(f"monitor.step: found the working set {size:g}, expected a size up to {self._dimension}")
        return self._core.step(w, np.nan if loss is None else _number("loss", loss), int(size))

    @checked
    def out_of_time(self) -> bool:
        """Whether to return now, with the w of the last step: a limit was reached, or the user wants to stop."""
        return self._core.out_of_time()


def _number(name, given):
    if not hasattr(given, "__float__"):
        raise UsageError(f"monitor.step: found {name} of the type {type(given).__name__}, expected a number")
    return float(given)


@checked
def problem(data: Data, lambda_: float = 0.0, mu: float = 0.0, loss: str = "log", threads: int = 0) -> Problem:
    """F of a data set for one's own use, outside of `train`. Returns Problem."""
    from .training import _core_of, _settings

    keys = _settings(lambda_, mu, loss, None, None, threads, None, None, None, None, None)
    return Problem(require().Problem(_core_of(data), keys))


def soft_threshold(x: np.ndarray, t: float) -> np.ndarray:
    """sign(x) * max(|x| - t, 0), the proximal step of t ||x||_1."""
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


@checked
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
