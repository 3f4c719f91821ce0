"""Stored results as data frames."""
import math
import os

import numpy as np
import pandas as pd

from . import records
from .config import Presentation
from .errors import ProxbenchError, UsageError, in_file, require_known
from .fields import PATH, RUN, TRACE, UNITS, number_text
from .plots import times as _times

IDENTITY = ["name", "experiment", "dataset", "lambda", "mu", "path", "solver", "label", "repetition"]
# The members of a run that are no field of a record.
DERIVED = ["folder", "path_of", "loss_text", "problem", "trainer", "machine", "failed", "relative_difference",
           "reference_accuracy"]
COLUMNS = [field["column"] for field in RUN if field["use"] != "record"]


class Sweep:
    """The stored results of one or several folders.

    `runs` has a row per run, `samples` one per sample of a trace, `points` one per finished point of a path and
    `references` one per f*. Column `run` of the others is the row in `runs`. What was not measured is NaN, and
    `attrs["units"]` of each frame has the units. `records` are the runs as dictionaries with all fields.
    `left_out` names the folders that could not be read, each with the reason.
    """

    def __init__(self, records_, samples, points, references, presentation, folders, left_out):
        self.records, self.samples, self.points = records_, samples, points
        self.references, self.presentation, self.folders = references, presentation, folders
        self.left_out = left_out
        self._finish()

    def _finish(self):
        for i, run in enumerate(self.records):
            run["index"] = i
        ends = self.samples["run"].to_numpy().searchsorted(np.arange(len(self.records) + 1))
        self._slices = [slice(a, b) for a, b in zip(ends, ends[1:])]
        self._arrays = {name: self.samples[name].to_numpy() for name in self.samples
                        if self.samples[name].dtype.kind in "fi"}
        ends = self.points["run"].to_numpy().searchsorted(np.arange(len(self.records) + 1))
        self._points = [slice(a, b) for a, b in zip(ends, ends[1:])]
        self._runs = None

    @property
    def runs(self):
        if self._runs is None:
            self._runs = _frame_of_runs(self.records)
        return self._runs

    def trace(self, run, name):
        """One column of a run's trace. NaN if no run of the sweep has it."""
        part = self._slices[run["index"]]
        column = self._arrays.get(name)
        return np.full(part.stop - part.start, np.nan) if column is None else column[part]

    def points_of(self, run):
        return self.points.iloc[self._points[run["index"]]]

    @property
    def single(self):
        """The runs of single penalties, without paths."""
        return [run for run in self.records if not run["path"]]

    @property
    def paths(self):
        return [run for run in self.records if run["path"]]

    def times(self, targets=None, costs=("seconds", "passes")):
        """The costs of every run to reach targets; see proxbench.plots.times.table()."""
        return _times.table(self, self.presentation.targets if targets is None else targets, costs)

    def keep(self, chosen):
        """The sweep with these runs only."""
        kept = {id(run) for run in chosen}
        old = [run["index"] for run in self.records if id(run) in kept]
        new = {index: i for i, index in enumerate(old)}

        def part(frame):
            some = frame[frame["run"].isin(new)].copy()
            some["run"] = some["run"].map(new).astype("int64")
            return some.reset_index(drop=True)

        runs = [dict(self.records[i]) for i in old]
        return Sweep(runs, part(self.samples), part(self.points), self.references, self.presentation,
                     self.folders, self.left_out)


def _units(frame):
    frame.attrs["units"] = {name: UNITS[name] for name in frame if name in UNITS}
    return frame


def _text(value):
    if isinstance(value, dict):
        return " ".join(f"{name}={_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else number_text(value)


def _frame_of_runs(runs):
    types = {field["column"]: field["type"] for field in RUN}
    columns = {}
    for name in [*IDENTITY, *DERIVED, *COLUMNS]:
        values = [run[name] for run in runs]
        kind = types.get(name)
        if name in columns:
            continue
        if kind == "numbers":
            for part in sorted({part for one in values for part in one or {}}):
                columns[f"{name}.{part}"] = np.array(
                    [math.nan if (one or {}).get(part) is None else one[part] for one in values], float)
        elif kind == "JSON":
            columns[name] = [None if one is None else _text(one) for one in values]
        elif kind in ("real", "integer") and (kind == "real" or None in values):
            columns[name] = np.array([math.nan if one is None else one for one in values], float)
        else:
            columns[name] = values
    return _units(pd.DataFrame(columns))


def _identity(runs, counts, varying=None):
    """The columns that name the run of each row, as categories to save memory."""
    out = {"run": np.repeat(np.arange(len(runs)), counts)}
    for name in IDENTITY:
        values = [run[name] for run in runs]
        if name in ("lambda", "mu", "repetition"):
            values = np.array([math.nan if one is None else one for one in values],
                              int if name == "repetition" else float)
            out[name] = np.repeat(values, counts)
        else:
            texts = pd.Categorical(values)
            out[name] = pd.Categorical.from_codes(np.repeat(texts.codes, counts), texts.categories)
    return pd.DataFrame(out)


def _add_start(run, samples, rows):
    if run["path"]:
        return
    start = sum(run[name] for name in ("load_seconds", "setup_seconds") if run[name] is not None)
    if run["seconds"] is not None:
        run["seconds"] += start
    samples.loc[rows, "seconds"] += start


def _use_reference(run, references):
    """Takes f* from the folder's references: a tighter one may have been found after the run was stored."""
    found = references.get(run["problem"])
    if not run["path"] and found and found["key_data"] == run["key_data"] and found["key"] == run["key"]:
        run["reference_objective"] = found["objective"]
        for name in ("relative_kkt", "relative_gap", "kkt_at_zero"):
            run["reference_" + name] = found[name]


def _place(names, name):
    return names.index(name) if name in names else len(names)


def load_folder(folder, with_start=False):
    """The results of one folder, in the order of its config, without runs that the config does not have."""
    presentation = Presentation(os.path.join(folder, "config.ini"))
    presentation.plot.with_start = with_start
    left_out = []
    runs = records.read_runs(folder, left_out)
    references = records.read_references(folder, left_out)
    runs.sort(key=lambda run: (_place(presentation.datasets, run["dataset"]), *run["key"],
                               _place(presentation.labels, run["label"]), run["label"], run["repetition"]))
    runs, samples, counts = records.read_table(TRACE, "trace.csv", runs, left_out)
    has_points = [run for run in runs if run["path"]]
    with_points, points, point_counts = records.read_table(PATH, "path.csv", has_points, left_out)
    if len(with_points) < len(has_points):  # a run with a damaged path.csv goes as a whole
        good = [not run["path"] or any(run is one for one in with_points) for run in runs]
        samples = samples[np.repeat(good, counts)].reset_index(drop=True)
        counts = [n for n, one in zip(counts, good) if one]
        runs = [run for run, one in zip(runs, good) if one]
    if not runs:
        why = f"; {left_out[0][1]}" if left_out else ""
        raise in_file(os.path.join(folder, "runs"), 0, "no run", f"the results of `proxbench run`{why}")
    _name_trainers(runs)
    for run in runs:
        _use_reference(run, references)
        run["machine"] = run["machine_name"] or ""
        run["sweep"] = folder
    of_point = {id(run): n for run, n in zip(with_points, point_counts)}
    number = [of_point.get(id(run), 0) for run in runs]
    points = pd.concat([_identity(runs, number).drop(columns=["lambda", "mu"]), points], axis=1)
    samples = pd.concat([_identity(runs, counts), samples], axis=1)
    ends = np.cumsum([0, *counts])
    for run, begin, end in zip(runs, ends, ends[1:]):
        if with_start:
            _add_start(run, samples, slice(begin, end - 1))
        if run["path"]:
            _set_penalty(run, samples, slice(begin, end), points[points["run"] == runs.index(run)])
    best = np.repeat([_number(run["reference_objective"]) for run in runs], counts)
    samples["relative_difference"] = _times.relative_difference(samples["objective"].to_numpy(), best)
    _add_accuracy(runs)
    names = ["run", *IDENTITY]
    points = points[[*[name for name in names if name in points], *[n for n in points if n not in names]]]
    return Sweep(runs, _units(samples), _units(points), _frame_of_references(references), presentation, [folder],
                 left_out)


def _number(value):
    return math.nan if value is None else float(value)


def _name_trainers(runs):
    """A run may fail before its external trainer says its name and version: other runs of the label know it."""
    known = {run["label"]: run["trainer"] for run in runs if run["trainer"]}
    for run in runs:
        if run["solver"] == "external":
            run["trainer"] = known.get(run["label"])


def _set_penalty(run, samples, rows, points):
    """A sample of a path has the penalty of its point: the first that ended no earlier."""
    ends, values = points["seconds"].to_numpy(), points[run["path_of"]].to_numpy()
    at = ends.searchsorted(samples["seconds"].to_numpy()[rows], side="left")
    found = np.append(values, np.nan)[at]
    samples.iloc[rows, samples.columns.get_loc(run["path_of"])] = found
    fixed = "mu" if run["path_of"] == "lambda" else "lambda"
    samples.iloc[rows, samples.columns.get_loc(fixed)] = run["_" + fixed]


def _add_accuracy(runs):
    worst = {}
    for run in runs:
        run["relative_difference"] = float(_times.relative_difference(
            _number(run["objective"]), _number(run["reference_objective"])))
        worst[run["key"]] = np.fmax(worst.get(run["key"], math.nan), _times.reference_bound(run))
    for run in runs:
        run["reference_accuracy"] = float(worst[run["key"]])


def _frame_of_references(references):
    names = ["problem", "objective", "relative_kkt", "relative_gap", "kkt_at_zero", "status", "seconds"]
    rows = [[name, *(one[n] for n in ("dataset", "lambda", "mu", *names[1:]))] for name, one in references.items()]
    frame = pd.DataFrame(rows, columns=["problem", "dataset", "lambda", "mu", *names[1:]])
    for name in frame.columns[2:]:
        if name != "status":
            frame[name] = frame[name].astype("float64")
    return _units(frame)


def without_strangers(sweep):
    """Drops the runs of data sets and solvers that the config does not have. Returns the rest, and what to say."""
    shown = sweep.presentation
    file = os.path.join(sweep.folders[0], "config.ini")
    lacks = lambda names, name: bool(names) and name not in names  # noqa: E731
    named, kept = set(), []
    for run in sweep.records:
        data, label = lacks(shown.datasets, run["dataset"]), lacks(shown.labels, run["label"])
        named |= ({"data set " + run["dataset"]} if data else set()) | ({"solver " + run["label"]} if label else set())
        if not data and not label:
            kept.append(run)
    names, gone = ", ".join(sorted(named)), len(sweep.records) - len(kept)
    if not gone:
        return sweep, ""
    if not kept:
        raise in_file(os.path.join(sweep.folders[0], "runs"), 0, f"only runs of {names}", f"runs that {file} asks for")
    return sweep.keep(kept), f"left out {gone} of {len(sweep.records)} stored runs: {file} has no {names}"


def join(sweeps):
    """One sweep of the runs of several, with the presentation of the first."""
    if len(sweeps) == 1:
        return sweeps[0]
    offsets = np.cumsum([0, *(len(one.records) for one in sweeps)])

    def stacked(frames):
        moved = [frame.assign(run=frame["run"] + offset) for frame, offset in zip(frames, offsets)]
        for name in moved[0]:
            if isinstance(moved[0][name].dtype, pd.CategoricalDtype):
                union = pd.api.types.union_categoricals([frame[name] for frame in moved]).categories
                moved = [frame.assign(**{name: frame[name].cat.set_categories(union)}) for frame in moved]
        return _units(pd.concat(moved, ignore_index=True))

    return Sweep([dict(run) for one in sweeps for run in one.records], stacked([one.samples for one in sweeps]),
                 stacked([one.points for one in sweeps]),
                 pd.concat([one.references for one in sweeps], ignore_index=True), sweeps[0].presentation,
                 [folder for one in sweeps for folder in one.folders], [x for one in sweeps for x in one.left_out])


def load_each(folders, with_start=False, solvers=()):
    """The results of each folder, and warnings about runs that are left out."""
    warnings, sweeps = [], []
    for i, folder in enumerate(map(os.fspath, folders)):
        if any(os.path.realpath(folder) == os.path.realpath(other) for other in folders[:i]):
            raise UsageError(f"{folder}: found again, expected each folder once")
        sweep = load_folder(folder, with_start)
        warnings += [f"{why}; left out" for _, why in sweep.left_out]
        sweep, said = without_strangers(sweep)
        warnings += [said] if said else []
        sweeps.append(sweep)
    known = list(dict.fromkeys(run["label"] for one in sweeps for run in one.records))
    for label in solvers:
        require_known("solvers", label, known, "labels of the results:")
    if solvers:
        chosen = [[run for run in one.records if run["label"] in solvers] for one in sweeps]
        sweeps = [one.keep(some) for one, some in zip(sweeps, chosen) if some]
    return sweeps, warnings


def load(*folders, with_start=False, solvers=()):
    """Reads the results of `proxbench run` in one or several folders. Warns of what it leaves out."""
    import warnings as python

    sweeps, said = load_each(folders, with_start, solvers)
    for text in said:
        python.warn(text, stacklevel=2)
    if not sweeps:
        raise ProxbenchError("no folder, expected the results of `proxbench run`")
    return join(sweeps)
