"""The commands. Each returns whether all stored results were readable, or nothing."""
from pathlib import Path

from .cli import say
from .config import split_list
from .errors import Error, UsageError
from .export import write
from .files import write_text
from .measure import checked, measure
from .merge import merge_results
from .plots import paths, profiles, scaling, tables, theory
from .plots.curves import pictures as curve_pictures
from .plots.page import write_page
from .plots.texts import json_text
from .sweep import join, load_each, load_folder


# ---- reading

def _is_whole(*sweeps):
    """Says what was left out, and returns whether all was readable."""
    left_out = [one for sweep in sweeps for one in sweep.left_out]
    for damaged, text in left_out:
        say("warning", text, damaged)
    return not any(damaged for damaged, _ in left_out)


def _read(flags):
    """The sweeps of the folders, with the flags before what their configs say; and whether all was readable."""
    sweeps = load_each(flags.dirs, split_list(flags.solvers or ""), with_start=flags.with_start, flags=flags.config,
                       allow=flags.allow_not_comparable)
    return sweeps, _is_whole(*sweeps)


def _out(flags, below, sweep=None):
    """The folder for results over all DIRs, or for those of one."""
    if sweep is not None and len(flags.dirs) > 1:
        return sweep.folders[0] / below
    if flags.out or len(flags.dirs) == 1:
        return Path(flags.out or flags.dirs[0]) / below
    raise UsageError.at("--out", "none", "a folder for the results over all DIRs")


def _show_or_write(text, result, file):
    """Prints the text, or in its place the result where that goes to standard output."""
    if file and file != "-":
        write_text(file, result)
    print(result if file == "-" else text, end="")


# ---- table

# Kinds of one table; the others are kinds of all tables about single penalties.
OF_PATHS = {"path": paths.tables, "grid": paths.grid_tables, "theory": theory.tables}
OF_SINGLE = {"paper": tables.paper, "costs": tables.costs, "data": tables.data}
WITH_MEANS = ("summary", "means")


def _write_tables(kind, sweep, folder, columns=()):
    """Writes the tables of one DIR, and returns those to print."""
    if kind not in OF_PATHS:
        sweep.require("single")
    one = (OF_PATHS | OF_SINGLE).get(kind)
    sets = [one(sweep)] if one else tables.results(sweep, columns)
    more = [tables.means(sweep)] if kind in WITH_MEANS and sweep.config.targets else []
    for one in sets + more:
        one.write(folder)
    return sets


def table(flags):
    sweeps, whole = _read(flags)
    kind = flags.kind or ("summary" if any(len(sweep.single) for sweep in sweeps) else "path")
    columns = split_list(flags.columns or "")
    if columns and kind != "summary":
        raise UsageError.at("columns", f"'{flags.columns}'", "them with --kind summary only")
    printed, records = [], []
    for sweep in sweeps:
        sets = _write_tables(kind, sweep, _out(flags, "tables", sweep), columns)
        sets[-1].rows = tables.chosen_columns(sets[-1].rows, columns)  # the file has all columns
        printed, records = printed + sets, records + sets[-1].records()
    # Means over the problems of all folders, by the choices of the first.
    if kind == "means" or kind in WITH_MEANS and len(sweeps) > 1 and sweeps[0].config.targets and flags.out:
        together = tables.means(join(sweeps))
        together.write(_out(flags, "tables"))
        printed, records = ([together], together.records()) if kind == "means" else (printed, records)
    _show_or_write("\n".join(one.text(flags.format) for one in printed), json_text(records), flags.json)
    return whole


# ---- plot

# The kinds of figures of one DIR, and those over the problems of all.
SINGLE = {"curves": curve_pictures, "path": paths.pictures, "grid": paths.grid_pictures, "theory": theory.pictures}
TOGETHER = ("profile", "data-profile", "ecdf", "quality")


def _draw(kinds, sweep, folder, width=None):
    """Draws figures, and gives the name of each."""
    for kind in kinds:
        for picture in SINGLE[kind](sweep) if kind in SINGLE else profiles.pictures(sweep, kind):
            yield picture.save(folder, width)


def plot(flags):
    sweeps, whole = _read(flags)
    together = [kind for kind in sweeps[0].config.plot.kinds if kind in TOGETHER]
    if not together and len(flags.dirs) > 1 and flags.out:
        raise UsageError.at("--out", "only figures of single DIRs", f"a --kind over all DIRs: {', '.join(TOGETHER)}")
    work = [([kind for kind in sweep.config.plot.kinds if kind in SINGLE], sweep, _out(flags, "figures", sweep))
            for sweep in sweeps]
    work += [(together, join(sweeps), _out(flags, "figures"))] if together else []
    for kinds, sweep, folder in work:
        for name in _draw(kinds, sweep, folder, flags.width):
            print(name, flush=True)
        if "theory" in kinds:
            below = _out(flags, "tables", sweep)
            _write_tables("theory", sweep, below)
            print(below / "theory.md")
    return whole


# ---- what a run shows at its end, and scale

def show(flags):
    (sweep,) = load_each([flags.dir])
    whole, single, plot = _is_whole(sweep), len(sweep.single) > 0, sweep.config.plot
    if sweep.runs.failed.all():
        raise Error(f"no run of {sweep.config.name} succeeded")
    for kind in ["path"] * (len(sweep.paths) > 0) + ["summary"] * single:
        for one in _write_tables(kind, sweep, sweep.folders[0] / "tables"):
            if not flags.quiet:
                print(one.text("md"), flush=True)
    # The figures that the config asks for, without those that would mislead.
    if alone := list(sweep.runs["name"][~sweep.runs.comparable]):
        say("warning", f"no figure against seconds: the timings of {len(alone)} runs are not comparable: "
            f"{', '.join(alone)}")
        plot.x_max = [limit for name, limit in zip(plot.x, plot.x_max) if name != "seconds"]
        plot.x = [name for name in plot.x if name != "seconds"]
    possible = {"grid": True, "path": len(sweep.points), "theory": False}
    for kind in (kind for kind in plot.kinds if possible.get(kind, single)):
        try:
            list(_draw([kind], sweep, sweep.folders[0] / "figures"))
        except UsageError as error:
            say("warning", f"no figure of kind {kind}: {error}")
    if not flags.quiet:
        print(f"Results: {flags.dir}")
    return whole


MEASURING = ("threads", "backend", "solver", "repetitions", "iterations")


def scale(flags):
    if flags.redraw and (given := [name for name in MEASURING if getattr(flags, name)]):
        raise UsageError.at("--redraw", f"--{given[0]}, too", "one of them: it runs nothing")
    found = checked(flags)
    folder = Path(flags.out or f"results/{found['runs'][0]['experiment']}")
    file = folder / "scale.json"
    if not flags.redraw:
        write_text(file, json_text(measure(flags, found, folder)))
    network = flags.latency / 1e6, flags.network_bandwidth * 1e9
    text, pictures = scaling.show(folder, flags.predict, network)
    names = [picture.save(folder, flags.width) for picture in pictures]
    _show_or_write("\n".join([text, *names, ""]), file.read_text("utf-8"), flags.json)


# ---- report, export, merge

def report(flags):
    sweeps = load_each(flags.dirs)
    whole = _is_whole(*sweeps)
    write_page(sweeps, flags.out, flags.title, flags.note)
    print(flags.out)
    return whole


def export(flags):
    only = [name for name in ("samples", "points", "benchopt") if getattr(flags, name)]
    if len(only) > 1:
        raise UsageError.at(" and ".join(f"--{name}" for name in only), "both", "one of them")
    sweep = load_folder(flags.dir)
    whole = _is_whole(sweep)
    write(sweep, flags.out, *only)
    return whole


def merge(flags):
    runs, references, notes = merge_results(flags.dirs, flags.out)
    for note in notes:
        say("warning", note)
    print(f"{flags.out}: {runs} runs, {references} references")
