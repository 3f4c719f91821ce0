"""proxbench for Python. Its parts are loaded when they are used:

    sweep = proxbench.load("results/quickstart")       # stored results as data frames
    proxbench.plots.curves(sweep)

    data = proxbench.sequences(X, y)                   # with the compiled module: train, and write solvers
    result = proxbench.train(data, lambda_=1.5, gap=1e-4)
    result.model.predict(X)
"""
import importlib
from typing import TYPE_CHECKING

from .errors import Error, UsageError

_PARTS = {
    "datasets": ["Data", "read", "sequences", "classes", "groups", "label_sets"],
    "training": ["Model", "Path", "Result", "Selection", "train", "path", "certify", "select", "solvers"],
    "custom_solvers": ["Problem", "check_solver", "option", "problem", "soft_threshold", "solver"],
    "estimators": ["CRF", "LogisticRegression"],
    "sweep": ["load"],
}
_PART_OF = {name: part for part, names in _PARTS.items() for name in names}

if TYPE_CHECKING:  # the same names, for tools that read types
    from . import plots
    from .custom_solvers import Problem, check_solver, option, problem, soft_threshold, solver
    from .datasets import Data, classes, groups, label_sets, read, sequences
    from .estimators import CRF, LogisticRegression
    from .sweep import load
    from .training import Model, Path, Result, Selection, certify, path, select, solvers, train

__all__ = ["Error", "UsageError", "plots", *_PART_OF]


def __getattr__(name):
    if name == "plots":
        return importlib.import_module(".plots", __name__)
    if name in _PART_OF:
        return getattr(importlib.import_module("." + _PART_OF[name], __name__), name)
    raise AttributeError(f"module 'proxbench' has no attribute '{name}'")


def __dir__():
    return sorted([*globals(), *__all__])
