"""Stored results as data frames."""
import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from . import records
from .config import Config
from .errors import Error, UsageError, require_known
from .fields import PATH, TRACE, UNITS, in_order
from .plots import times

IDENTITY = ["name", "experiment", "dataset", "lambda", "mu", "path", "solver", "label", "repetition"]
KINDS = {"single": ("paths alone", "runs of single penalties; paths have kinds of their own: --kind path"),
         "paths": ("no path", "the results of a config with lambda or mu = path(...)")}
REFERENCE = ["objective", "relative_kkt", "relative_gap", "kkt_at_zero", "relative_bound"]  # what a run stores of f*


@dataclass(eq=False)
class Sweep:
    """The stored results of one or several folders.

    `runs` has a row per run, `samples` one per sample of a trace, `points` one per finished point of a path and
    `references` one per f*. Column `run` of the others is the index in `runs`. What was not measured is NaN, and
    `attrs["units"]` of each frame has the units. `single` are the rows of runs of single penalties and `paths` those of
    paths, with `series`, the name of a solver in tables and figures. `left_out` says what was left out, each with the
    folder or file that is damaged, or "".
    """

    runs: pd.DataFrame
    samples: pd.DataFrame
    points: pd.DataFrame
    references: pd.DataFrame
    config: Config
    folders: list
    left_out: list

    def samples_of(self, run):
        """The rows of `samples` of a run, by its index."""
        return slice(*self.samples.run.searchsorted([run, run + 1]))

    @cached_property
    def single(self):
        return with_series(self.runs[self.runs.path.isna()])

    @cached_property
    def paths(self):
        return with_series(self.runs[self.runs.path.notna()])

    def times(self, targets=None, costs=("seconds", "passes")):
        """The costs of every run to reach targets; see proxbench.plots.times.table()."""
        return times.table(self, targets, costs)

    def keep(self, chosen):
        """The sweep with the runs of which `chosen` is true only."""
        runs = self.runs[chosen]
        samples, points = (frame[frame.run.isin(runs.index)].reset_index(drop=True)
                           for frame in (self.samples, self.points))
        return replace(self, runs=runs, samples=samples, points=points)

    def require(self, kind, costs=()):
        """Fails if there are no `paths`, or no `single` penalties, or if timings that are not comparable are among the
        costs, unless these are allowed."""
        runs = getattr(self, kind)
        if not len(runs):
            raise Error.at(self.folders[0], *KINDS[kind])
        alone = runs["name"][~runs.comparable]
        if "seconds" in costs and len(alone) and not self.config.allow:
            raise UsageError(f"the timings of {len(alone)} of {len(runs)} runs are not comparable: {', '.join(alone)}; "
                             "expected --allow-not-comparable, or x without seconds")


def with_series(runs):
    """The runs with the label, the name of an external trainer and, if there are several, the machine in `series`. The
    last is `place`, and the others are `shown`."""
    shown = runs.label + (" [" + runs.trainer.astype(object) + "]").fillna("")
    place = " @ " + runs.machine.replace("", "unknown machine") if runs.machine.nunique() > 1 else ""
    return runs.assign(run=runs.index, shown=shown, place=place, series=shown + place)


# ---- one folder

def _read_run(folder):
    """A record with its trace and points. A failed run may lack them."""
    run = records.read_record(folder)
    return (run, records.read_rows(TRACE, folder / "trace.csv", run["failed"]),
            records.read_rows(PATH, folder / "path.csv", run["failed"] or not run["path"]))


def _stacked(frames, fields, runs):
    """Frames one below the other, behind columns that name the run of each row: categories, which save memory."""
    out = pd.concat(frames, keys=runs.index, names=["run", None]).reset_index("run").reset_index(drop=True)
    columns = in_order(out, fields)
    who = runs[[name for name in IDENTITY if name not in columns]]
    who = who.astype({name: "category" for name in who.select_dtypes(object)})
    return out[["run"]].join(who, on="run").join(out[columns])


def _set_penalties_of_paths(samples, points, runs):
    """A sample of a path has the penalty of its point: the first that ended no earlier."""
    for i, of in runs.path_of.dropna().items():
        some, rows = points[points.run == i], samples.index[samples.run == i]
        at = some.seconds.searchsorted(samples.seconds[rows])
        samples.loc[rows, of] = np.append(some[of], math.nan)[at]


def _with_references(runs, references):
    """The f* of the folder may be tighter than the one stored with a run."""
    if len(references):
        same = ["problem", "dataset", "penalty", "key_data"]
        found = runs[same].merge(references[[*same, *REFERENCE]], "left", on=same, indicator=True)
        found = found.set_axis(runs.index)
        for name in REFERENCE:
            runs[f"reference_{name}"] = runs[f"reference_{name}"].mask(found["_merge"] == "both", found[name])
    runs["reference_bound"] = times.reference_bound(runs)
    runs["reference_accuracy"] = runs.groupby(["dataset", "penalty"])["reference_bound"].transform("max")
    runs["relative_difference"] = times.relative_difference(runs.objective, runs.reference_objective)
    return runs


def _ordered(names, first):
    """Names as categories, in the order of the config, then by themselves."""
    return pd.Categorical(names, list(dict.fromkeys([*first, *sorted(set(names))])))


def load_folder(folder, first=0, with_start=False, **choices):
    """The results of one folder, in the order of its config, with numbers from `first`. `choices`: see Config."""
    folder, left_out = Path(folder), []
    shown = Config(folder / "config.ini", **choices)
    read = list(records.read_each(records.run_folders(folder), _read_run, left_out))
    stored = records.read_each(records.reference_files(folder), left_out=left_out)
    if not read:
        damaged, why = left_out[0]
        raise Error(f"{why}, and no other run is there", damaged)
    runs = pd.json_normalize([run for run, *_ in read]).assign(sweep=str(folder))
    order = runs.assign(dataset=_ordered(runs.dataset, shown.datasets), label=_ordered(runs.label, shown.labels),
                        path=runs.path.fillna("")).sort_values(
        ["dataset", "path", "lambda", "mu", "loss_text", "label", "repetition"]).index
    runs = runs.loc[order].set_axis(range(first, first + len(read)))
    # A run may fail before its external trainer says its name and version: other runs of the label know it.
    known = runs.groupby("label")["trainer"].transform("last").where(runs.solver == "external")
    runs["trainer"] = runs.trainer.fillna(known)
    references = pd.DataFrame(stored, columns=["name", "dataset", "lambda", "mu", *REFERENCE, "status", "seconds",
                                               "penalty", "key_data"]).rename(columns={"name": "problem"})
    references["problem"] = references.problem.str.removesuffix(".json")
    runs = _with_references(runs, references)
    samples, points = (_stacked([read[i][part] for i in order], fields, runs)
                       for part, fields in ((1, TRACE), (2, PATH)))
    _set_penalties_of_paths(samples, points, runs)
    if with_start:  # seconds count from the start of the process
        start = runs[["load_seconds", "setup_seconds"]].sum(axis=1).where(runs.path.isna(), 0.0)
        runs["seconds"] += start
        samples["seconds"] += samples.run.map(start)
    samples["relative_difference"] = times.relative_difference(
        samples.objective, samples.run.map(runs.reference_objective))
    for frame in (runs, samples, points):
        frame.attrs["units"] = {name: UNITS[name] for name in frame if name in UNITS}
    return Sweep(runs, samples, points, references, shown, [folder], left_out)


def without_foreign_runs(sweep):
    """Drops the runs of data sets and solvers that the config does not have."""
    shown, runs, named, strange = sweep.config, sweep.runs, set(), False
    for what, names, known in (("data set", runs.dataset, shown.datasets), ("solver", runs.label, shown.labels)):
        other = ~names.isin(known or names)
        strange |= other
        named |= {f"{what} {name}" for name in names[other]}
    if not named:
        return sweep
    file, names = sweep.folders[0] / "config.ini", ", ".join(sorted(named))
    if strange.all():
        raise Error.at(sweep.folders[0] / "runs", f"only runs of {names}", f"runs that {file} asks for")
    sweep.left_out.append(("", f"left out {strange.sum()} of {len(runs)} stored runs: {file} has no {names}"))
    return sweep.keep(~strange)


# ---- several folders

def join(sweeps):
    """One sweep of the runs of several, with the config of the first."""
    if len(sweeps) == 1:
        return sweeps[0]
    frames = {name: pd.concat([getattr(one, name) for one in sweeps], ignore_index=name != "runs")
              for name in ("runs", "references", "samples", "points")}
    return replace(sweeps[0], **frames, **{name: sum((getattr(one, name) for one in sweeps), [])
                                           for name in ("folders", "left_out")})


def load_each(folders, solvers=(), **choices):
    """The results of each folder, see load_folder(). No two runs have the same number."""
    real = [Path(folder).resolve() for folder in folders]
    if twice := [folder for i, folder in enumerate(folders) if real[i] in real[:i]]:
        raise UsageError.at(twice[0], "again", "each folder once")
    sweeps, first = [], 0
    for folder in folders:
        sweep = load_folder(folder, first, **choices)
        first += len(sweep.runs)
        sweeps.append(without_foreign_runs(sweep))
    known = list(dict.fromkeys(label for one in sweeps for label in one.runs["label"]))
    for label in solvers:
        require_known("solvers", label, known, "labels of the results:")
    chosen = [one.keep(one.runs["label"].isin(solvers)) for one in sweeps] if solvers else sweeps
    return [one for one in chosen if len(one.runs)]


def load(*folders, with_start=False, solvers=()):
    """Reads the results of `proxbench run` in one or several folders. Warns of what it leaves out."""
    if not folders:
        raise UsageError("no folder, expected the results of `proxbench run`")
    sweep = join(load_each(folders, solvers, with_start=with_start))
    for _, text in sweep.left_out:
        warnings.warn(text, stacklevel=3)
    return sweep
