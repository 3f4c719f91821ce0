"""The commands of the package. Exit status 0: done; 1: failed, or something was left out; 2: bad usage or config."""
import argparse
import json
import os
import sys
from copy import copy
from types import SimpleNamespace

from .errors import ProxbenchError, UsageError
from .files import check_writable, write_text


def say(kind, text):
    print(f"{kind}: {text}", file=sys.stderr)


def commands():
    """The commands and their flags, as commands.json declares them: the program's completion and manual read it too."""
    with open(os.path.join(os.path.dirname(__file__), "commands.json"), encoding="utf-8") as text:
        table = json.load(text)
    for command in table["commands"]:
        command["flags"] = [table["shared"][one] if isinstance(one, str) else one for one in command["flags"]]
    return table["commands"]


def _add_flag(parser, spec):
    flag, help_ = spec["flag"], spec.get("help", "")
    key = None
    if "key" in spec:
        from .config import choices, config_key

        key = config_key(*spec["key"].split("."))
        named = choices(*spec["key"].split("."))
        if "help" not in spec:
            help_ = key["help"].removeprefix("list of ") + (", separated by commas" if key["list"] else "")
        help_ += (f": {', '.join(named)}" if named else "") + " [the config's]"
    options = {"help": help_.replace("%", "%%")}
    if spec.get("switch"):
        options["action"] = "store_true"
    else:
        options["metavar"] = spec["metavar"]
        options.update({name: spec[name] for name in ("choices", "default") if name in spec})
        if spec.get("repeat"):
            options.update(action="append", default=[])
        if spec.get("many"):
            options["nargs"] = "+"
        if "number" in spec:
            options["type"] = _bounded(*spec["number"])
        if spec.get("required"):
            options["required"] = True
    parser.add_argument(flag, **options)


def _bounded(low, high):
    def number(text):
        value = float(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"found {text}, expected {low:g} to {high:g}")
        return value

    return number


def parser_of(command):
    parser = argparse.ArgumentParser(f"proxbench {command['name']}", description=command["help"], allow_abbrev=False,
                                     epilog="Exit status: 0 done, 1 failed or interrupted, 2 bad usage or config.")
    for spec in command["flags"]:
        _add_flag(parser, spec)
    return parser


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        table = {command["name"]: command for command in commands()}
        if not arguments or arguments[0] in ("-h", "--help"):
            for name, command in table.items():
                if not command.get("hidden"):
                    print(f"{name:8}{command['help']}")
            return 0 if arguments else 2
        from .errors import require_known

        require_known("command", arguments[0], list(table))
        command = table[arguments[0]]
        flags = parser_of(command).parse_intermixed_args(arguments[1:])
        to_stdout = [spec["flag"] for spec in command["flags"]
                     if spec.get("output") and getattr(flags, spec["flag"].strip("-")) == "-"]
        for spec in command["flags"]:
            file = getattr(flags, spec["flag"].strip("-").replace("-", "_")) if spec.get("output") else None
            if file and file != "-":
                check_writable(file)
        flags.prints = not to_stdout and not getattr(flags, "quiet", False)
        return globals()[command["name"]](flags) or 0
    except SystemExit as end:
        return end.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        say("error", "interrupted")
        return 1
    except ProxbenchError as error:
        say("error", error)
        return error.status
    except MemoryError:
        say("error", "out of memory")
        return 1
    except ImportError as error:
        say("error", f"{error}; expected Debian's python3-pandas, python3-matplotlib and python3-jinja2 "
                     "(scripts/install-deps)")
        return 1
    except Exception as error:  # a fault of ours: no user reads a traceback
        if os.environ.get("PROXBENCH_TRACEBACK"):
            raise
        say("error", f"fault of the program: {type(error).__name__}: {error}; PROXBENCH_TRACEBACK=1 shows where")
        return 1


# ---- reading

def _read(flags):
    """The sweeps of the folders, with the flags applied to what their configs say; and whether all was readable."""
    from .config import parse, split_list
    from .sweep import load_each

    known = next(one for one in commands() if one["name"] == flags.command)["flags"]
    sweeps, warnings = load_each(flags.dirs, flags.with_start, split_list(flags.solvers or ""))
    for text in warnings:
        say("warning", text)
    if not sweeps:
        raise UsageError("--solvers: no run of them in any folder")
    for sweep in sweeps:
        shown = sweep.presentation
        for spec in known:
            value = getattr(flags, spec["flag"].strip("-").replace("-", "_"))
            if "key" not in spec or value in (None, False):
                continue
            section, name = spec["key"].split(".")
            text = "true" if value is True else value
            setattr(shown.plot if section == "plot" else shown, name, parse(section, name, text, spec["flag"]))
            if name == "x":
                shown.plot.x_max = []  # the config's limits hold for its own axes
    return sweeps, all(not sweep.left_out for sweep in sweeps)


def _out(flags, sweep=None):
    """The folder for results over all sweeps, or for those of one."""
    if sweep is not None and len(flags.dirs) > 1:
        return sweep.folders[0]
    if flags.out or len(flags.dirs) == 1:
        return flags.out or flags.dirs[0]
    raise UsageError("--out: found none, expected a folder for the results over all DIRs")


# ---- table

def table(flags):
    from .config import split_list
    from .plots import paths, tables, theory
    from .plots.texts import json_text
    from .sweep import join

    flags.command = "table"
    sweeps, whole = _read(flags)
    kind = flags.kind or ("summary" if any(sweep.single for sweep in sweeps) else "path")
    columns = split_list(flags.columns or "")
    if columns and kind != "summary":
        raise UsageError(f"columns: found '{flags.columns}', expected them with --kind summary only")
    printed, records = [], []
    for sweep in sweeps:
        folder = os.path.join(_out(flags, sweep), "tables")
        if kind in ("path", "grid"):
            sets = paths.tables(sweep) if kind == "path" else paths.grid_tables(sweep)
            records += paths.records(sweep) if kind == "path" else sets.records
            sets.write(folder)
            printed.append(sets)
        elif kind == "theory":
            printed.append(theory.tables(theory.read(sweep.folders[0], True)))
            printed[-1].write(folder)
        else:
            _write_tables(flags, sweep, columns, kind, folder, printed, records)
    if kind in ("summary", "means"):
        means = _means(flags, sweeps, join, tables)
        if kind == "means" and means:
            printed, records = [means], means.records
    if flags.json:
        if flags.json == "-":
            print(json_text(records), end="")
        else:
            write_text(flags.json, json_text(records))
    if flags.prints:
        form = {"markdown": "md"}.get(flags.format, flags.format)
        print("\n".join(one.text(form) for one in printed), end="")
    return 0 if whole else 1


def _write_tables(flags, sweep, columns, kind, folder, printed, records):
    from .plots import tables

    tables.require_single(sweep)
    if kind in ("paper", "costs", "data"):
        if kind == "paper" and not sweep.presentation.paper.item:
            raise ProxbenchError(f"{sweep.folders[0]}/config.ini: found no section [paper], expected one with the "
                                 "paper's numbers")
        sets = {"paper": tables.paper, "costs": tables.costs, "data": tables.data}[kind](sweep)
        sets.write(folder)
        printed.append(sets)
        records += sets.records
        return
    sets, summary = tables.results(sweep, columns, flags.allow_not_comparable)
    for one in sets:
        one.write(folder)
    sets[-1].records = summary.chosen_records(sets[-1].records)
    records += sets[-1].records
    if kind == "summary":
        printed += sets
    if sweep.presentation.targets:
        tables.means(sweep, allow_not_comparable=flags.allow_not_comparable).write(folder)


def _means(flags, sweeps, join, tables):
    """Means over the problems of all folders, by the choices of the first."""
    if flags.kind != "means" and (len(sweeps) == 1 or not sweeps[0].presentation.targets or not flags.out):
        return None
    title = "" if len(sweeps) > 1 else None
    means = tables.means(join(sweeps), title=title, allow_not_comparable=flags.allow_not_comparable)
    means.write(os.path.join(_out(flags), "tables"))
    return means


# ---- plot

TOGETHER = ("profile", "data-profile", "ecdf", "quality")


def plot(flags):
    from .plots import tables, theory
    from .plots.figure import WIDTH
    from .sweep import join

    flags.command = "plot"
    sweeps, whole = _read(flags)
    width, first = flags.width or WIDTH, sweeps[0].presentation
    together = [kind for kind in first.plot.kinds if kind in TOGETHER]
    if not together and len(flags.dirs) > 1 and flags.out:
        raise UsageError(f"--out: found only figures of single DIRs, expected a --kind over all DIRs: "
                         f"{', '.join(TOGETHER)}")
    common = os.path.join(_out(flags), "figures") if together else ""
    for sweep in sweeps:
        folder = os.path.join(_out(flags, sweep), "figures")
        for kind in sweep.presentation.plot.kinds:
            if kind not in TOGETHER:
                _save(_pictures(kind, sweep, flags.allow_not_comparable), folder, width)
            if kind == "theory":
                text = theory.tables(theory.read(sweep.folders[0], True))
                text.write(os.path.join(_out(flags, sweep), "tables"))
                print(os.path.join(_out(flags, sweep), "tables", "theory.md"))
    if together:
        for sweep in sweeps:
            tables.require_single(sweep)
        _save(_profiles(join(sweeps), together, first, flags.allow_not_comparable), common, width)
    return 0 if whole else 1


def _pictures(kind, sweep, allow):
    from .plots import paths, theory
    from .plots.curves import pictures
    from .plots.tables import require_single

    if kind == "path":
        paths.require_paths(sweep)
        return paths.pictures(sweep, allow)
    if kind == "grid":
        return paths.grid_pictures(sweep)
    if kind == "theory":
        return theory.pictures(theory.read(sweep.folders[0], True))
    require_single(sweep)
    return pictures(sweep, allow_not_comparable=allow)


def _profiles(sweep, kinds, presentation, allow=False):
    from .plots.profiles import pictures

    return pictures(sweep, kinds, presentation.plot, presentation.targets, allow)


def _save(pictures, folder, width, prints=True):
    for picture in pictures:
        name = picture.save(folder, width)
        if prints:
            print(name, flush=True)


# ---- what a run shows at its end

def show(flags):
    from .plots import paths, tables
    from .plots.figure import WIDTH
    from .sweep import load_each

    sweeps, warnings = load_each([flags.dir])
    for text in warnings:
        say("warning", text)
    sweep, folder = sweeps[0], os.path.join(flags.dir, "tables")
    if all(run["failed"] for run in sweep.records):
        raise ProxbenchError(f"no run of {sweep.presentation.name} succeeded")
    sets = []
    if sweep.paths:
        sets.append(paths.tables(sweep))
    if sweep.single:
        sets += tables.results(sweep)[0]
        if sweep.presentation.targets:
            tables.means(sweep).write(folder)
    for one in sets:
        one.write(folder)
        if flags.prints:
            print(one.text("md"), flush=True)
    _draw_end(sweep, os.path.join(flags.dir, "figures"), WIDTH)
    if flags.prints:
        print(f"Results: {flags.dir}")
    return 1 if sweep.left_out else 0


def _draw_end(sweep, folder, width):
    """The figures that the config asks for, without those that would mislead."""
    from .plots.runs import require_drawable

    shown = copy(sweep.presentation)
    shown.plot = plot = copy(shown.plot)
    sweep.presentation = shown
    if "path" in plot.kinds:
        for run in sweep.paths:
            if not run["comparable"]:
                say("warning", f"{run['name']}: its seconds are not comparable and are not drawn")
        if any(len(sweep.points_of(run)) for run in sweep.paths):
            _save(_pictures("path", sweep, False), folder, width, False)
    if not sweep.single:
        return
    curves, together = bool(plot.quantities) and "curves" in plot.kinds, [k for k in plot.kinds if k in TOGETHER]
    try:
        if curves or together:
            require_drawable(sweep.single, plot.x, False, "x without seconds")
    except UsageError as error:
        say("warning", f"no figure is drawn against seconds: {error}")
        keep = [i for i, name in enumerate(plot.x) if name != "seconds"]
        plot.x, plot.x_max = [plot.x[i] for i in keep], [plot.x_max[i] for i in keep if plot.x_max]
    if curves and plot.x:
        _save(_pictures("curves", sweep, False), folder, width, False)
    if "grid" in plot.kinds:
        _save(_pictures("grid", sweep, False), folder, width, False)
    try:
        if together and plot.x:
            _save(_profiles(sweep, together, shown), folder, width, False)
    except UsageError as error:
        say("warning", f"solvers are not compared over problems: {error}")


def scale(flags):
    from .config import split_list
    from .plots import scaling
    from .plots.figure import WIDTH

    predict = [int(text) for text in split_list(flags.predict)]
    network = SimpleNamespace(latency=float(flags.latency) / 1e6, bandwidth=float(flags.network_bandwidth) * 1e9)
    text, pictures = scaling.show(flags.dir, predict, network)
    if flags.prints:
        print(text)
    _save(pictures, flags.dir, flags.width or WIDTH, flags.prints)


# ---- report, export, merge

def report(flags):
    from .plots.page import write_page

    whole = write_page(flags.dirs, flags.out, flags.title, flags.note, lambda text: say("warning", text))
    print(flags.out)
    return 0 if whole else 1


def export(flags):
    from .export import export as write

    if flags.samples and flags.points:
        raise UsageError("--samples and --points: found both, expected one of them")
    return 0 if write(flags.dir, flags.out, flags.samples, flags.points, lambda text: say("warning", text)) else 1


def merge(flags):
    from .merge import merge_results

    runs, references, notes = merge_results(flags.dirs, flags.out)
    for note in notes:
        say("warning", note)
    print(f"{flags.out}: {runs} runs, {references} references")
