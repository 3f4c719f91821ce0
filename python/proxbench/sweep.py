"""Stored results as data frames."""
import math
import os
import warnings

import numpy as np
import pandas as pd

from . import records
from .config import Presentation
from .errors import UsageError, in_file, require_known
from .fields import PATH, RUN, TRACE, UNITS, number_text, real
from .plots import times as _times

IDENTITY = ["name", "experiment", "dataset", "lambda", "mu", "path", "solver", "label", "repetition"]
# The members of a run that are no field of a record.
DERIVED = ["folder", "path_of", "loss_text", "problem", "machine", "failed", "relative_difference",
           "reference_accuracy"]
COLUMNS = [field["column"] for field in RUN if field["use"] != "record"]
TYPES = {field["column"]: field["type"] for field in RUN}


class Sweep:
    """The stored results of one or several folders.

    `runs` has a row per run, `samples` one per sample of a trace, `points` one per finished point of a path and
    `references` one per f*. Column `run` of the others is the row in `runs`. What was not measured is NaN, and
    `attrs["units"]` of each frame has the units. `records` are the runs as dictionaries with all fields, `traces` the
    samples without the columns that name their runs. `left_out` names what could not be read, each with the reason.
    """

    def __init__(self, runs, traces, points, references, presentation, folders, left_out):
        self.records, self.traces, self._path_points, self.references = runs, traces, points, references
        self.presentation, self.folders, self.left_out = presentation, folders, left_out
        for i, run in enumerate(runs):
            run["index"] = i
        edges = np.arange(len(runs) + 1)
        self._slices, self._points = ([slice(a, b) for a, b in zip(ends, ends[1:])] for ends in (
            frame["run"].to_numpy().searchsorted(edges) for frame in (traces, points)))
        self._arrays = {name: traces[name].to_numpy() for name in traces}
        self._frames = {}

    def _cached(self, name, make):
        if name not in self._frames:
            self._frames[name] = make()
            self._frames[name].attrs["units"] = {one: UNITS[one] for one in self._frames[name] if one in UNITS}
        return self._frames[name]

    @property
    def runs(self):
        return self._cached("runs", lambda: _frame_of_runs(self.records))

    @property
    def samples(self):
        return self._cached("samples", self._named_samples)

    @property
    def points(self):
        return self._cached("points", lambda: self._named(self._path_points, ("lambda", "mu")))

    def _named(self, frame, known=()):
        """The frame with the columns that name the run of each row, as categories to save memory."""
        rows, out = frame["run"].to_numpy(), {"run": frame["run"]}
        for name in (name for name in IDENTITY if name not in known):
            values = [run[name] for run in self.records]
            if name in ("lambda", "mu"):
                out[name] = np.array(list(map(real, values)))[rows]
            elif name == "repetition":
                out[name] = np.array(values, int)[rows]
            else:
                texts = pd.Categorical(values)
                out[name] = pd.Categorical.from_codes(texts.codes[rows], texts.categories)
        return pd.concat([pd.DataFrame(out), frame.drop(columns="run")], axis=1)

    def _named_samples(self):
        """A sample of a path has the penalty of its point: the first that ended no earlier."""
        out = self._named(self.traces)
        for run in self.paths:
            points, rows = self.points_of(run), self._slices[run["index"]]
            at = points["seconds"].to_numpy().searchsorted(self.trace(run, "seconds"))
            for name in ("lambda", "mu"):
                values = points[name].to_numpy() if name == run["path_of"] else None
                out.iloc[rows, out.columns.get_loc(name)] = run["_" + name] if values is None else (
                    np.append(values, math.nan)[at])
        return out

    def trace(self, run, name):
        """One column of a run's trace. NaN if no run of the sweep has it."""
        part = self._slices[run["index"]]
        column = self._arrays.get(name)
        return np.full(part.stop - part.start, math.nan) if column is None else column[part]

    def points_of(self, run):
        return self._path_points.iloc[self._points[run["index"]]]

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
        new = pd.Series(range(len(old)), old)
        frames = [part.assign(run=part["run"].map(new)).reset_index(drop=True)
                  for frame in (self.traces, self._path_points) for part in [frame[frame["run"].isin(old)]]]
        return Sweep([dict(self.records[i]) for i in old], *frames, self.references, self.presentation, self.folders,
                     self.left_out)


def text_of(value):
    """A JSON value as the text of a cell: NAME=VALUE and VALUE, separated by spaces."""
    if isinstance(value, dict):
        return " ".join(f"{name}={text_of(one)}" for name, one in value.items())
    if isinstance(value, list):
        return " ".join(map(text_of, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else number_text(value)


def _frame_of_runs(runs):
    columns = {}
    for name in dict.fromkeys([*IDENTITY, *DERIVED, *COLUMNS]):
        values, kind = [run[name] for run in runs], TYPES.get(name)
        if kind == "numbers":
            for part in sorted({part for one in values for part in one or {}}):
                columns[f"{name}.{part}"] = [real((one or {}).get(part)) for one in values]
        elif kind == "JSON":
            columns[name] = [None if one is None else text_of(one) for one in values]
        else:
            numbers = kind == "real" or kind == "integer" and None in values
            columns[name] = list(map(real, values)) if numbers else values
    return pd.DataFrame(columns)


# ---- one folder

def _place(names, name):
    return names.index(name) if name in names else len(names)


def _finish(run, references):
    """Adds what follows from other files: f* of the folder, which may be tighter than the one stored with the run."""
    found = references.get(run["problem"])
    if not run["path"] and found and found["key_data"] == run["key_data"] and found["key"] == run["key"]:
        for name in ("objective", "relative_kkt", "relative_gap", "kkt_at_zero"):
            run["reference_" + name] = found[name]
    run["machine"] = run["machine_name"] or ""
    run["relative_difference"] = float(_times.relative_difference(
        real(run["objective"]), real(run["reference_objective"])))


def _add_accuracy(runs):
    worst = {}
    for run in runs:
        worst[run["key"]] = np.fmax(worst.get(run["key"], math.nan), _times.reference_bound(run))
    for run in runs:
        run["reference_accuracy"] = float(worst[run["key"]])


def _add_start(runs, traces, counts):
    """Makes seconds count from the start of the process."""
    starts = [0.0 if run["path"] else sum(run[name] or 0.0 for name in ("load_seconds", "setup_seconds"))
              for run in runs]
    for run, start in zip(runs, starts):
        run["seconds"] = None if run["seconds"] is None else run["seconds"] + start
    traces["seconds"] += np.repeat(starts, counts)


def _name_trainers(runs):
    """A run may fail before its external trainer says its name and version: other runs of the label know it."""
    known = {run["label"]: run["trainer"] for run in runs if run["trainer"]}
    for run in runs:
        if run["solver"] == "external":
            run["trainer"] = known.get(run["label"])


def load_folder(folder, with_start=False):
    """The results of one folder, in the order of its config."""
    shown, left_out = Presentation(os.path.join(folder, "config.ini")), []
    runs, references = records.read_runs(folder, left_out), records.read_references(folder, left_out)
    runs.sort(key=lambda run: (_place(shown.datasets, run["dataset"]), *run["key"], _place(shown.labels, run["label"]),
                               run["label"], run["repetition"]))
    # A run with a damaged path.csv goes as a whole, so paths are read first.
    paths, points, point_counts = records.read_table(PATH, "path.csv", [run for run in runs if run["path"]], left_out)
    good = {id(run) for run in paths}
    runs, traces, counts = records.read_table(
        TRACE, "trace.csv", [run for run in runs if not run["path"] or id(run) in good], left_out)
    if not runs:
        why = f"; {left_out[0][1]}" if left_out else ""
        raise in_file(os.path.join(folder, "runs"), 0, "no run", f"the results of `proxbench run`{why}")
    place = {id(run): i for i, run in enumerate(runs)}
    at = np.repeat([place.get(id(run), -1) for run in paths], point_counts).astype("int64")
    points.insert(0, "run", at)
    points = points[at >= 0].reset_index(drop=True)
    traces.insert(0, "run", np.repeat(np.arange(len(runs)), counts))
    _name_trainers(runs)
    for run in runs:
        run["sweep"] = folder
        _finish(run, references)
    _add_accuracy(runs)
    if with_start:
        _add_start(runs, traces, counts)
    best = np.repeat([real(run["reference_objective"]) for run in runs], counts)
    traces["relative_difference"] = _times.relative_difference(traces["objective"].to_numpy(), best)
    names = ["dataset", "lambda", "mu", "objective", "relative_kkt", "relative_gap", "kkt_at_zero", "status", "seconds"]
    frame = pd.DataFrame([{"problem": problem, **{name: one[name] for name in names}}
                          for problem, one in references.items()], columns=["problem", *names])
    return Sweep(runs, traces, points, frame, shown, [folder], left_out)


def without_strangers(sweep):
    """Drops the runs of data sets and solvers that the config does not have. Returns the rest, and what to say."""
    shown, runs = sweep.presentation, os.path.join(sweep.folders[0], "runs")
    file, named, kept = os.path.join(sweep.folders[0], "config.ini"), set(), []
    for run in sweep.records:
        strange = {f"{what} {run[key]}" for what, key, names in (
            ("data set", "dataset", shown.datasets), ("solver", "label", shown.labels)) if names and run[key] not in names}
        named |= strange
        kept += [] if strange else [run]
    names = ", ".join(sorted(named))
    if not named:
        return sweep, ""
    if not kept:
        raise in_file(runs, 0, f"only runs of {names}", f"runs that {file} asks for")
    all_, gone = len(sweep.records), len(sweep.records) - len(kept)
    return sweep.keep(kept), f"left out {gone} of {all_} stored runs: {file} has no {names}"


# ---- several folders

def join(sweeps):
    """One sweep of the runs of several, with the presentation of the first."""
    offsets = np.cumsum([0, *(len(one.records) for one in sweeps)])
    stacked = lambda name: pd.concat([getattr(one, name).assign(run=getattr(one, name)["run"] + offset)  # noqa: E731
                                      for one, offset in zip(sweeps, offsets)], ignore_index=True)
    return Sweep([dict(run) for one in sweeps for run in one.records], stacked("traces"), stacked("_path_points"),
                 pd.concat([one.references for one in sweeps], ignore_index=True), sweeps[0].presentation,
                 sum((one.folders for one in sweeps), []), sum((one.left_out for one in sweeps), []))


def load_each(folders, with_start=False, solvers=()):
    """The results of each folder, and warnings about runs that are left out."""
    said, sweeps = [], []
    for i, folder in enumerate(map(os.fspath, folders)):
        if any(os.path.realpath(folder) == os.path.realpath(other) for other in folders[:i]):
            raise UsageError(f"{folder}: found again, expected each folder once")
        sweep = load_folder(folder, with_start)
        said += [f"{why}; left out" for _, why in sweep.left_out]
        sweep, strangers = without_strangers(sweep)
        said += [strangers] if strangers else []
        sweeps.append(sweep)
    known = list(dict.fromkeys(run["label"] for one in sweeps for run in one.records))
    for label in solvers:
        require_known("solvers", label, known, "labels of the results:")
    if solvers:
        sweeps = [one.keep([run for run in one.records if run["label"] in solvers]) for one in sweeps]
    return [one for one in sweeps if one.records], said


def load(*folders, with_start=False, solvers=()):
    """Reads the results of `proxbench run` in one or several folders. Warns of what it leaves out."""
    if not folders:
        raise UsageError("no folder, expected the results of `proxbench run`")
    sweeps, said = load_each(folders, with_start, solvers)
    for text in said:
        warnings.warn(text, stacklevel=3)
    return join(sweeps)
