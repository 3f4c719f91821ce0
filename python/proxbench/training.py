"""Training, paths, selection and certificates, and the models that come of them."""
from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from . import arrays
from .compiled import checked, require
from .custom_solvers import Weights
from .datasets import Data, _items, _texts, sequences
from .errors import UsageError

Penalty = Union[float, str, Sequence[float]]
SolverName = Union[str, Callable, None]


class Model:
    """A trained model: nonzero weights by the names of features and labels. It can be pickled."""

    def __init__(self, core):
        self._core = core

    @property
    def labels_(self):
        """Names of the labels, a list of str."""
        return self._core.labels

    @property
    def header(self):
        """How the model was made, a dict of str: lambda, mu, loss, solver, data_digest, ..."""
        return self._core.header

    @property
    def weights(self):
        """(features, W): names of the features that have a weight, and a scipy.sparse.csr_matrix, features x labels.
        Names of labels are `labels_`."""
        from scipy.sparse import csr_matrix

        features, begin, outputs, values = self._core.unary()
        columns = [self.labels_.index(name) for name in self._core.outputs]
        if len(outputs):
            outputs = np.asarray(columns, dtype=np.int64)[np.asarray(outputs, dtype=np.int64)]
        return features, csr_matrix((values, outputs, begin), shape=(len(features), len(self.labels_)))

    @property
    def state_features_(self):
        """A dict from (attribute, label) to the weight, as in sklearn-crfsuite."""
        features, begin, outputs, values = self._core.unary()
        names, out = self._core.outputs, {}
        for j, feature in enumerate(features):
            for e in range(int(begin[j]), int(begin[j + 1])):
                out[feature, names[int(outputs[e])]] = float(values[e])
        return out

    @property
    def transition_features_(self):
        """A dict from (label, next label) to the weight. Of other models than chains: from the names of each weight."""
        return {tuple(names): weight for _, names, weight in self._core.extra()}

    @checked
    def weights_for(self, data):
        """w in the coordinates of the data, as (coordinates, values). Every name of the model must occur there."""
        return self._core.weights_for(_core_of(data))

    @checked
    def predict(self, data, test=False, threads=0):
        """The best label of each position: for sequences a list of lists of str; for rows of one label a list; for
        groups the number of the best candidate within each; for label sets a list of lists.

        data   Data, or a list of sequences as for `sequences`"""
        data = self._data(data)
        return _named(data, test, self.labels_, self.applied(data, test, threads).outputs())

    @checked
    def marginals(self, data, test=False, threads=0) -> np.ndarray:
        """Probabilities, each from 0 to 1: an array of float64. For sequences and rows of one label: positions x labels,
        in the order of `labels_` of the data. Rows of one sequence follow one another."""
        return self.applied(data, test, threads).marginals()

    @checked
    def nbest(self, data, n, test=False, threads=0):
        """For each instance its n best structures, a list of (score, labels), best first."""
        labels = self.labels_
        return [[(score, [labels[k] for k in outputs]) for score, outputs in found]
                for found in self.applied(data, test, threads).nbest(n)]

    @checked
    def metrics(self, data, test=False, threads=0):
        """A dict of metrics on labelled data: accuracy, and those that apply, such as chunk F1."""
        return self.applied(data, test, threads).metrics()

    def applied(self, data, test=False, threads=0):
        """The model applied to data: outputs() are numbers of `labels_`, one a position; marginals() as here."""
        return self._core.apply(self._data(data)._core, test, threads)

    @checked
    def save(self, file) -> None:
        """Writes a text model, or a binary one if the name ends in .pbm. `proxbench predict` takes both."""
        self._core.save(str(file))

    @staticmethod
    @checked
    def load(file) -> Model:
        """Reads a model that `save` or the program wrote."""
        return Model(require().load_model(str(file)))

    def _data(self, data):
        if isinstance(data, Data):
            return data
        if hasattr(data, "shape") and len(data.shape) != 1:
            raise UsageError("data: found a matrix, expected proxbench.Data or a list of sequences of dicts")
        data = _items(data, "data")
        if not data:
            raise UsageError("data: found no sequences, expected at least one")
        gold = []
        for i, one in enumerate(data):
            try:
                gold.append([self.labels_[0]] * len(one))
            except TypeError:
                raise UsageError(f"data[{i}]: found a {type(one).__name__}, expected a sequence of items") from None
        return sequences(data, gold)

    def __repr__(self):
        return f"<proxbench.Model: {len(self.labels_)} labels, {self.header.get('description', '')}>"


def _named(data, test, labels, outputs):
    if data.oracle == "labels":
        return [[labels[k] for k in np.flatnonzero(row)] for row in outputs.reshape(-1, len(labels))]
    begin = data._core.begin(test)
    if data.oracle == "candidates":
        return [int(np.argmax(outputs[a:b] == 0)) for a, b in zip(begin, begin[1:])]
    names = [labels[k] for k in outputs]
    if data.oracle == "tree":
        return names
    return [names[a:b] for a, b in zip(begin, begin[1:])]


class Result:
    """What a training found. Beside the attributes below, each field of the record's summary is one (`objective`,
    `iterations`, `passes`, `seconds`, `nnz`, `kkt`, ...; see `summary`).

    status        "converged", "gap-reached", "time-limit", ...
    lower_bound   a proven lower bound on min F
    gap           a proven upper bound on F - min F; relative_gap: divided by |F|
    w             (coordinates, values) of the nonzero weights: arrays of int64, ascending, and of float64
    seconds       on the clock; trace["seconds"] too. passes: oracle calls divided by the number of instances
    """

    def __init__(self, core):
        self._core = core
        self.summary = json.loads(core.summary())
        self._model = None

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.__dict__.get("summary", {}):
            raise AttributeError(f"'Result' object has no attribute '{name}'")
        value = self.summary[name]
        return float("nan") if value is None else value

    @property
    def lower_bound(self) -> float:
        return self.dual

    @property
    def w(self) -> tuple[np.ndarray, np.ndarray]:
        return self._core.w()

    def without_data(self):
        """The same result without the training data, which it otherwise keeps alive. Pickling does this."""
        return type(self)._of(_Kept(self._core), self.__dict__)

    def __reduce__(self):
        return type(self)._of, (_Kept(self._core), {**self.__dict__, "_core": None})

    @classmethod
    def _of(cls, core, state):
        out = cls.__new__(cls)
        out.__dict__.update(state, _core=core)
        return out

    @property
    def coefficients(self) -> np.ndarray:
        """w as a dense array of float64, d numbers."""
        index, values = self.w
        out = np.zeros(self._core.dimension())
        out[index] = values
        return out

    @property
    def trace(self):
        """The samples, a pandas.DataFrame: seconds, iteration, passes, objective, loss, nnz, kkt, gap, ..."""
        import pandas

        return pandas.DataFrame(self._core.trace())

    @property
    def model(self) -> Model:
        if self._model is None:
            self._model = Model(require().parse_model(self._core.model_text()))
        return self._model

    def __repr__(self):
        return (f"<proxbench.Result: {self.summary['solver']} {self.summary['status']}, F = {self.objective:.10g}, "
                f"relative gap {self.relative_gap:.2g}, {self.nnz} nonzeros>")


class _Kept:
    """The parts of a result, in memory of Python alone."""

    def __init__(self, core):
        self._parts = {name: getattr(core, name)() for name in ("summary", "trace", "points", "w", "dimension",
                                                                 "model_text")}

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(name)
        return lambda: self._parts[name]


class Path(Result):
    """The optima along a path. `points` is a data frame with a row for each penalty; `ws` holds their weights, as
    (coordinates, values)."""

    def __init__(self, core, ws):
        super().__init__(core)
        self.ws = ws

    @property
    def points(self):
        import pandas

        return pandas.DataFrame(self._core.points())


class Selection(Result):
    """The model of the chosen penalty, trained on all instances. `points` is a data frame with a row for each penalty
    that was tried; `chosen` and `best` are rows of it; `lambda_` and `mu` are the chosen ones."""

    def __init__(self, core, points, chosen, best):
        import pandas

        super().__init__(core)
        self.points, self.chosen, self.best = pandas.DataFrame(points), chosen, best
        self.lambda_, self.mu = (float(self.points.loc[chosen, name]) for name in ("lambda", "mu"))


@checked
def train(data: Data, lambda_: float = 0.0, mu: float = 0.0, loss: str = "log", solver: SolverName = None,
          gap: float | None = None, tol: float | None = None, threads: int = 0,
          callback: Callable[[dict], object] | None = None, start: Weights | Model | None = None, seed: int = 1,
          time_limit: float | None = None, max_iterations: int | None = None, cost: str | None = None,
          settings: dict[str, Any] | None = None, **options: Any) -> Result:
    """Minimises F(w) = loss(w) + lambda ||w||_1 + (mu/2) ||w||^2, where the loss is the SUM over instances.

        data = proxbench.sequences([[{"word": "the"}, {"word": "dog"}]], [["DT", "NN"]])
        result = proxbench.train(data, lambda_=0.1, mu=0.1, gap=1e-4)
        result.objective, result.relative_gap, result.trace, result.model.predict([[{"word": "dog"}]])

    data            Data, of `read`, `sequences`, `classes`, `groups` or `label_sets`
    lambda_, mu     weights of the penalties, at least one above 0. As the loss is a sum, they are not scaled by the number
                    of instances: lambda = c1 and mu = 2*c2 of CRFsuite, 1/C of scikit-learn's LogisticRegression
                    with three classes or more
    loss            "log" (maximum likelihood) or "hinge" (max margin; needs mu > 0 and lambda = 0)
    solver          a name of `solvers()`, or a function with the decorator `solver`; None: the best one known for this
                    problem
    gap             stop once the relative gap (F - lower bound) / F is proven to be at most this
    tol             stop once kkt <= tol * (kkt at w = 0), where kkt is the max norm of the minimum-norm subgradient
                    of F; default 1e-6, or 0 if `gap` is given
    threads         0: all cores. The result has the same bits for any number
    callback        called with a dict for each sample of the trace (seconds, iteration, objective, nnz, ...), while the
                    clock stands; returning False stops the training
    start           w to start from: a dense array of d numbers of float64, (coordinates, values), or a Model.
                    d = features * labels + further weights: feature j and label k have coordinate j * labels + k,
                    transitions follow
    seed            of solvers that draw random numbers
    time_limit      seconds on the clock, which stands while samples are taken
    max_iterations  of the solver
    cost            with loss="hinge": "hamming" or "hamming-mean"
    settings        a dict of further keys of [experiment], e.g. {"sample_kkt": True}
    options         options of the solver, e.g. memory=10; solvers()["owl-qn"]["options"] lists them

    Returns Result: status, objective, lower_bound, gap, w, trace, model and more. Ctrl-C stops the training and raises
    KeyboardInterrupt. Raises proxbench.Error (a ValueError) for what is wrong with the data or the arguments."""
    keys = _settings(lambda_, mu, loss, gap, tol, threads, seed, time_limit, max_iterations, cost, settings)
    if isinstance(start, Model):
        start = start.weights_for(data)
    core = _core_of(data)
    if start is not None:
        start = arrays.weights(start, core.dimension, "start")
    return Result(require().train(core, keys, _solver(solver), _texts(options), start, _callable(callback)))


@checked
def path(data: Data, lambda_: Penalty | None = None, mu: Penalty = 0.0, loss: str = "log", solver: SolverName = None,
         gap: float | None = None, tol: float | None = None, threads: int = 0,
         callback: Callable[[dict], object] | None = None, seed: int = 1, time_limit: float | None = None,
         max_iterations: int | None = None, settings: dict[str, Any] | None = None, **options: Any) -> Path:
    """Solves for a descending sequence of penalties, each from the optimum before it.

    lambda_, mu   one is a list of numbers, or "path(START, END, COUNT)" with START and END numbers, "max" or "R*max"
                  (max: the smallest lambda at which w = 0 is optimal); the other is a number
    callback      called with a dict after each point; returning False stops

    Other arguments are those of `train`. Returns Path."""
    keys = _settings(lambda_, mu, loss, gap, tol, threads, seed, time_limit, max_iterations, None, settings)
    ws = []
    _callable(callback)

    def on_point(point, w):
        ws.append(w)
        return None if callback is None else callback(point)

    return Path(require().train_path(_core_of(data), keys, _solver(solver), _texts(options), on_point), ws)


@checked
def certify(data: Data, w: Weights | Model, lambda_: float = 0.0, mu: float = 0.0, loss: str = "log", threads: int = 0,
            tighten: float = 0.0) -> dict[str, float]:
    """What is proven about w: a dict with objective, loss, l1, nnz, kkt, relative_kkt, lower_bound, gap, relative_gap
    and rounding.

    w         a dense array of d numbers, (coordinates, values), or a Model
    tighten   search so many seconds for a better lower bound"""
    if isinstance(w, Model):
        w = w.weights_for(data)
    keys = _settings(lambda_, mu, loss, None, None, threads, None, None, None, None, None)
    core = _core_of(data)
    return require().certify(core, arrays.weights(w, core.dimension), keys, _real("tighten", tighten))


@checked
def select(data: Data, lambda_: Penalty | None = None, mu: Penalty = 0.0, folds: int | None = None,
           held_out: float | None = None, measure: str = "accuracy", rule: str = "best", extend: int = 0,
           loss: str = "log", solver: SolverName = None, gap: float | None = None, tol: float | None = None,
           threads: int = 0, seed: int = 1, time_limit: float | None = None, settings: dict[str, Any] | None = None,
           **options: Any) -> Selection:
    """Chooses lambda and mu by instances that are held out, and trains on all.

    lambda_, mu   a number, a list, or "path(START, END, COUNT)" each; every lambda is tried with every mu
    folds         K: K-fold cross-validation; or `held_out`: a share of the training instances; else the test set decides
    measure       "accuracy", another metric (`proxbench list`), or "loss"
    rule          "best", or "one-se": the largest penalty within one standard error of the best
    extend        while the last penalty is the best, extend the path by at most so many points

    If interrupted, it leaves its results so far in a file of the working folder, and the same call goes on from there.

    Returns Selection."""
    keys = _settings(lambda_, mu, loss, gap, tol, threads, seed, time_limit, None, None, settings)
    if not isinstance(rule, str) or rule not in ("best", "one-se"):
        raise UsageError(f"rule: found {rule!r}, expected 'best' or 'one-se'")
    if not isinstance(measure, str):
        raise UsageError(f"measure: found {measure!r}, expected the name of a metric, or 'loss'")
    return Selection(*require().select(
        _core_of(data), keys, _solver(solver), _texts(options), measure,
        _integer("folds", 0 if folds is None else folds), None if held_out is None else _real("held_out", held_out), rule == "one-se", _integer("extend", extend)))


def solvers() -> dict[str, dict[str, Any]]:
    """A dict from the name of each solver to a dict: help, paper, and options (type, default, constraint, help)."""
    return {one.pop("name"): one for one in require().solvers()}


def _core_of(data):
    if not isinstance(data, Data):
        raise UsageError(f"data: found a {type(data).__name__}, expected proxbench.Data (read, sequences, classes, ...)")
    return data._core


def _solver(solver):
    return "" if solver is None else str(getattr(solver, "solver_name", solver))


def _callable(callback):
    if callback is not None and not callable(callback):
        raise UsageError(f"callback: found a {type(callback).__name__}, expected a function")
    return callback


def _integer(name, value):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**31:
        raise UsageError(f"{name}: found {value!r}, expected an integer of at least 0")
    return int(value)


def _real(name, value):
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf:
        raise UsageError(f"{name}: found {value!r}, expected a finite number of at least 0")
    return float(value)


def _settings(lambda_, mu, loss, gap, tol, threads, seed, time_limit, max_iterations, cost, more):
    if more is not None and not isinstance(more, dict):
        raise UsageError(f"settings: found a {type(more).__name__}, expected a dict")
    keys = {"lambda": lambda_, "mu": mu, "loss": loss, "gap": gap, "tol": tol, "threads": threads, "seed": seed,
            "time_limit": time_limit, "max_iterations": max_iterations, "cost": cost, **(more or {})}
    return _texts(keys)
