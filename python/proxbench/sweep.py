"""Stored results as data frames."""
import math
import os
import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from . import records
from .config import Presentation
from .errors import UsageError, in_file, require_known
from .fields import PATH, TRACE, UNITS
from .plots import times

IDENTITY = ["name", "experiment", "dataset", "lambda", "mu", "path", "solver", "label", "repetition"]
KINDS = {"single": ("paths alone", "runs of single penalties; paths have kinds of their own: --kind path"),
         "paths": ("no path", "the results of a config with lambda or mu = path(...)")}
REFERENCE = ["objective", "relative_kkt", "relative_gap", "kkt_at_zero"]  # what a run stores of f*


@dataclass(eq=False)
class Sweep:
    """The stored results of one or several folders.

    `runs` has a row per run, `samples` one per sample of a trace, `points` one per finished point of a path and
    `references` one per f*. Column `run` of the others is the row in `runs`. What was not measured is NaN, and
    `attrs["units"]` of each frame has the units. `single` are the rows of runs of single penalties and `paths` those of
    paths, with `series`, the name of a solver in tables and figures. `traces` and `path_points` are `samples` and
    `points` without the columns that name their runs. `left_out` says what was left out, each with the folder or file
    that is damaged, or "".
    """

    runs: pd.DataFrame
    traces: pd.DataFrame
    path_points: pd.DataFrame
    references: pd.DataFrame
    presentation: Presentation
    folders: list
    left_out: list

    def __post_init__(self):
        self._ends, self._point_ends = (frame.run.searchsorted(np.arange(len(self.runs) + 1))
                                        for frame in (self.traces, self.path_points))
        self._arrays = {name: self.traces[name].to_numpy() for name in self.traces}
        _add_units(self.runs)

    @cached_property
    def samples(self):
        """A sample of a path has the penalty of its point: the first that ended no earlier."""
        out = self._named(self.traces, IDENTITY)
        for i, run in self.runs[self.runs.path.notna()].iterrows():
            points = self.points_of(i)
            at = points.seconds.searchsorted(self.trace(i, "seconds"))
            out.iloc[self.samples_of(i), out.columns.get_loc(run["path_of"])] = np.append(
                points[run["path_of"]], math.nan)[at]
        return _add_units(out)

    @cached_property
    def points(self):
        return _add_units(self._named(self.path_points, [name for name in IDENTITY if name not in ("lambda", "mu")]))

    def _named(self, frame, names):
        """The frame with the columns that name the run of each row, as categories to save memory."""
        who = self.runs[names]
        who = who.astype({name: "category" for name in who.select_dtypes(object)})
        return frame[["run"]].join(who, on="run").join(frame.drop(columns="run"))

    def samples_of(self, run):
        """The rows of `traces` of a run, by its row."""
        return slice(*self._ends[run:run + 2])

    def trace(self, run, name):
        return self._arrays[name][self.samples_of(run)]

    def points_of(self, run):
        return self.path_points.iloc[slice(*self._point_ends[run:run + 2])]

    @cached_property
    def single(self):
        return with_series(self.runs[self.runs.path.isna()])

    @cached_property
    def paths(self):
        return with_series(self.runs[self.runs.path.notna()])

    def times(self, targets=None, costs=("seconds", "passes")):
        """The costs of every run to reach targets; see proxbench.plots.times.table()."""
        return times.table(self, self.presentation.targets if targets is None else targets, costs)

    def keep(self, chosen):
        """The sweep with the runs of which `chosen` is true only."""
        place = pd.Series(np.cumsum(chosen) - 1, self.runs.index)[np.asarray(chosen)]
        traces, points = (frame[frame.run.isin(place.index)].reset_index(drop=True).assign(
            run=lambda some: some.run.map(place).astype(int)) for frame in (self.traces, self.path_points))
        return replace(self, runs=self.runs.loc[place.index].reset_index(drop=True), traces=traces, path_points=points)

    def require(self, kind):
        """Fails if there are no `paths`, or no `single` penalties."""
        if not len(getattr(self, kind)):
            raise in_file(self.folders[0], 0, *KINDS[kind])


def _add_units(frame):
    frame.attrs["units"] = {name: UNITS[name] for name in frame if name in UNITS}
    return frame


def with_series(runs):
    """The runs with the label, the name of an external trainer and, if there are several, the machine in `series`."""
    shown = runs.label + (" [" + runs.trainer.astype(object) + "]").fillna("")
    machine = " @ " + runs.machine.replace("", "unknown machine") if records.several_machines(runs) else ""
    return runs.assign(run=runs.index, shown=shown, series=shown + machine)


# ---- one folder

def _read_run(folder):
    """A record with its trace, and its points if it is a path."""
    run = records.read_run(folder)
    points = records.read_rows(PATH, os.path.join(folder, "path.csv"), run) if run["path"] else None
    return run, records.read_rows(TRACE, os.path.join(folder, "trace.csv"), run), points


def _stacked(frames, fields):
    """Frames one below the other, with the number of each in column `run`."""
    kinds = {field["name"]: records.KINDS[field["type"]] for field in fields if field["type"] != "numbers"}
    frames = [pd.DataFrame(columns=list(kinds)) if frame is None else frame for frame in frames]
    out = pd.concat(frames, ignore_index=True).astype(kinds)
    out = out[records.in_order(out, fields)]
    out.insert(0, "run", np.repeat(np.arange(len(frames)), list(map(len, frames))))
    return out


def _with_references(runs, references):
    """The f* of the folder may be tighter than the one stored with a run."""
    if len(references):
        same = ["problem", "dataset", "penalty", "key_data"]
        found = runs[same].merge(references[[*same, *REFERENCE]], "left", on=same, indicator=True)
        for name in REFERENCE:
            runs[f"reference_{name}"] = runs[f"reference_{name}"].mask(found["_merge"] == "both", found[name])
    runs["reference_bound"] = times.reference_bound(runs)
    runs["reference_accuracy"] = runs.groupby(["dataset", "penalty"])["reference_bound"].transform("max")
    runs["relative_difference"] = times.relative_difference(runs.objective, runs.reference_objective)
    return runs


def _ordered(names, first):
    """Names as categories, in the order of the config, then by themselves."""
    return pd.Categorical(names, list(dict.fromkeys([*first, *sorted(set(names))])))


def load_folder(folder, with_start=False):
    """The results of one folder, in the order of its config."""
    shown, left_out = Presentation(os.path.join(folder, "config.ini")), []
    read = records.read_each(records.run_folders(folder), _read_run, left_out)
    stored = records.read_each(records.reference_files(folder), lambda file: {
        **records.read_record(file), "folder": file, "problem": os.path.basename(file)[:-len(".json")]}, left_out)
    if not read:
        error = in_file(os.path.join(folder, "runs"), 0, "no run", "; ".join(
            ["the results of `proxbench run`", *(why for _, why in left_out[:1])]))
        error.damaged = left_out[0][0] if left_out else ""
        raise error
    runs = records.frame_of([run for run, *_ in read]).assign(sweep=folder)
    order = runs.assign(dataset=_ordered(runs.dataset, shown.datasets), label=_ordered(runs.label, shown.labels),
                        path=runs.path.fillna("")).sort_values(
        ["dataset", "path", "lambda", "mu", "loss_text", "label", "repetition"]).index
    runs = runs.loc[order].reset_index(drop=True)
    traces, points = (_stacked([read[i][part] for i in order], fields) for part, fields in ((1, TRACE), (2, PATH)))
    # A run may fail before its external trainer says its name and version: other runs of the label know it.
    known = runs.groupby("label")["trainer"].transform("last").where(runs.solver == "external")
    runs["trainer"] = runs.trainer.fillna(known)
    references = pd.DataFrame(stored, columns=["problem", "dataset", "lambda", "mu", *REFERENCE, "status", "seconds",
                                               "penalty", "key_data"])
    runs = _with_references(runs, references)
    if with_start:  # seconds count from the start of the process
        start = runs[["load_seconds", "setup_seconds"]].sum(axis=1).where(runs.path.isna(), 0.0)
        runs["seconds"] += start
        traces["seconds"] += start.to_numpy()[traces.run]
    traces["relative_difference"] = times.relative_difference(
        traces.objective, runs.reference_objective.to_numpy()[traces.run])
    return Sweep(runs, traces, points, references, shown, [folder], left_out)


def without_foreign_runs(sweep):
    """Drops the runs of data sets and solvers that the config does not have."""
    shown, runs, named, strange = sweep.presentation, sweep.runs, [], np.zeros(len(sweep.runs), bool)
    file = os.path.join(sweep.folders[0], "config.ini")
    for what, names, known in (("data set", runs.dataset, shown.datasets), ("solver", runs.label, shown.labels)):
        other = ~names.isin(known) & bool(known)
        strange |= other
        named += [f"{what} {name}" for name in names[other].unique()]
    if not named:
        return sweep
    names = ", ".join(sorted(named))
    if strange.all():
        raise in_file(os.path.join(sweep.folders[0], "runs"), 0, f"only runs of {names}", f"runs that {file} asks for")
    sweep.left_out.append(("", f"left out {strange.sum()} of {len(runs)} stored runs: {file} has no {names}"))
    return sweep.keep(~strange)


# ---- several folders

def join(sweeps):
    """One sweep of the runs of several, with the presentation of the first."""
    if len(sweeps) == 1:
        return sweeps[0]
    offsets = np.cumsum([0, *(len(one.runs) for one in sweeps)])
    frames = {name: [getattr(one, name) for one in sweeps] for name in ("runs", "references", "traces", "path_points")}
    for name in ("traces", "path_points"):
        frames[name] = [frame.assign(run=frame.run + offset) for frame, offset in zip(frames[name], offsets)]
    return replace(sweeps[0], **{name: pd.concat(some, ignore_index=True) for name, some in frames.items()},
                   folders=sum((one.folders for one in sweeps), []), left_out=sum((one.left_out for one in sweeps), []))


def load_each(folders, with_start=False, solvers=()):
    """The results of each folder."""
    real = list(map(os.path.realpath, folders))
    if twice := [folder for i, folder in enumerate(folders) if real[i] in real[:i]]:
        raise UsageError(f"{twice[0]}: found again, expected each folder once")
    sweeps = [without_foreign_runs(load_folder(os.fspath(folder), with_start)) for folder in folders]
    known = list(dict.fromkeys(label for one in sweeps for label in one.runs["label"]))
    for label in solvers:
        require_known("solvers", label, known, "labels of the results:")
    chosen = [one.keep(one.runs["label"].isin(solvers)) for one in sweeps] if solvers else sweeps
    return [one for one in chosen if len(one.runs)]


def load(*folders, with_start=False, solvers=()):
    """Reads the results of `proxbench run` in one or several folders. Warns of what it leaves out."""
    if not folders:
        raise UsageError("no folder, expected the results of `proxbench run`")
    sweep = join(load_each(folders, with_start, solvers))
    for _, text in sweep.left_out:
        warnings.warn(text, stacklevel=3)
    return sweep
