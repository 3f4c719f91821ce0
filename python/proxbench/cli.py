"""The commands of the package. Exit status 0: done; 1: failed, or something was left out; 2: bad usage or config."""
import argparse
import json
import os
import sys
from copy import copy
from types import SimpleNamespace

from .errors import ProxbenchError, UsageError, require_known
from .files import check_writable, reason, write_text


def say(kind, text):
    print(f"{kind}: {text}", file=sys.stderr)


def commands():
    """The commands and their flags, as commands.json declares them: the program's completion and manual read it too."""
    with open(os.path.join(os.path.dirname(__file__), "commands.json"), encoding="utf-8") as text:
        table = json.load(text)
    for command in table["commands"]:
        command["flags"] = [table["shared"][one] if isinstance(one, str) else one for one in command["flags"]]
    return table["commands"]


def _member(spec):
    return spec["flag"].strip("-").replace("-", "_")


def _options(spec):
    """What argparse takes for a flag."""
    out = {name: spec[name] for name in ("metavar", "choices", "default", "required", "help") if name in spec}
    if "key" in spec:
        from .config import choices, config_key

        section, name = spec["key"].split(".")
        key, named = config_key(section, name), choices(section, name)
        of_key = key["help"].removeprefix("list of ") + (", separated by commas" if key["list"] else "")
        out["help"] = out.get("help", of_key) + (f": {', '.join(named)}" if named else "") + " [the config's]"
    out["help"] = out.get("help", "").replace("%", "%%")
    for name, more in (("switch", {"action": "store_true"}), ("repeat", {"action": "append", "default": []}),
                       ("many", {"nargs": "+"})):
        out.update(more if spec.get(name) else {})
    if "number" in spec:
        out["type"] = _bounded(*spec["number"])
    if "integers" in spec:
        one = _bounded(*spec["integers"], int)
        out["type"] = lambda text: [one(part) for part in text.split(",")]
    return out


def _bounded(low, high, kind=float):
    def number(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"found {text}, expected {low:g} to {high:g}")
        return value

    return number


def parser_of(command):
    parser = argparse.ArgumentParser(f"proxbench {command['name']}", description=command["help"], allow_abbrev=False,
                                     epilog="Exit status: 0 done, 1 failed or interrupted, 2 bad usage or config.")
    for spec in command["flags"]:
        parser.add_argument(spec["flag"], **_options(spec))
    return parser


def _run(arguments):
    table = {command["name"]: command for command in commands()}
    if not arguments or arguments[0] in ("-h", "--help"):
        for name, command in table.items():
            if not command.get("hidden"):
                print(f"{name:8}{command['help']}")
        return 0 if arguments else 2
    require_known("command", arguments[0], list(table))
    command = table[arguments[0]]
    flags = parser_of(command).parse_intermixed_args(arguments[1:])
    outputs = [file for spec in command["flags"] if spec.get("output") and (file := getattr(flags, _member(spec)))]
    for file in outputs:
        if file != "-":
            check_writable(file)
    flags.prints, flags.known = "-" not in outputs and not getattr(flags, "quiet", False), command["flags"]
    whole = globals()[command["name"]](flags)
    return 0 if whole in (None, True) else 1


def main(arguments=None):
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except SystemExit as end:
        return end.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except ProxbenchError as error:
        say("error", error)
        return error.status
    except KeyboardInterrupt:
        text = "interrupted"
    except MemoryError:
        text = "out of memory"
    except OSError as error:
        text = f"{error.filename or 'standard output'}: cannot be used: {reason(error)}"
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to be written at the end
    except ImportError as error:
        text = (f"{error}; expected Debian's python3-pandas, python3-matplotlib and python3-jinja2 "
                "(scripts/install-deps)")
    except Exception as error:  # a fault of ours: no user reads a traceback
        if os.environ.get("PROXBENCH_TRACEBACK"):
            raise
        text = f"fault of the program: {type(error).__name__}: {error}; PROXBENCH_TRACEBACK=1 shows where"
    say("error", text)
    return 1


# ---- reading

def _load(folders, *options):
    from .sweep import load_each

    sweeps, warnings = load_each(folders, *options)
    for text in warnings:
        say("warning", text)
    return sweeps, not any(sweep.left_out for sweep in sweeps)


def _read(flags):
    """The sweeps of the folders, with the flags applied to what their configs say; and whether all was readable."""
    from .config import parse, split_list

    sweeps, whole = _load(flags.dirs, flags.with_start, split_list(flags.solvers or ""))
    if not sweeps:
        raise UsageError("--solvers: no run of them in any folder")
    given = [(spec, value) for spec in flags.known if "key" in spec and (value := getattr(flags, _member(spec)))
             not in (None, False)]
    for sweep in sweeps:
        shown = sweep.presentation
        for spec, value in given:
            section, name = spec["key"].split(".")
            value = parse(section, name, "true" if value is True else value, spec["flag"])
            setattr(shown.plot if section == "plot" else shown, name, value)
            if name == "x":
                shown.plot.x_max = []  # the config's limits hold for its own axes
    return sweeps, whole


def _out(flags, below, sweep=None):
    """The folder for results over all sweeps, or for those of one."""
    if sweep is not None and len(flags.dirs) > 1:
        return os.path.join(sweep.folders[0], below)
    if flags.out or len(flags.dirs) == 1:
        return os.path.join(flags.out or flags.dirs[0], below)
    raise UsageError("--out: found none, expected a folder for the results over all DIRs")


# ---- table

def _tables(flags, kind, sweep, columns):
    """Writes the tables. Returns those to print, and the records for --json."""
    from .plots import paths, tables, theory

    def written(one, records):
        one.write(_out(flags, "tables", sweep))
        return [one], records

    if kind == "path":
        return written(paths.tables(sweep), paths.records(sweep))
    if kind == "grid":
        grid = paths.grid_tables(sweep)
        return written(grid, grid.records)
    if kind == "theory":
        return written(theory.tables(theory.read(sweep.folders[0], True)), [])
    tables.require_single(sweep)
    if kind == "paper" and not sweep.presentation.paper.item:
        raise ProxbenchError(f"{sweep.folders[0]}/config.ini: found no section [paper], expected one with the paper's "
                             "numbers")
    if kind in ("paper", "costs", "data"):
        one = getattr(tables, kind)(sweep)
        return written(one, one.records)
    sets, summary = tables.results(sweep, columns, flags.allow_not_comparable)
    for one in sets:
        one.write(_out(flags, "tables", sweep))
    sets[-1].records = summary.chosen_records(sets[-1].records)  # the file has all columns
    if sweep.presentation.targets:
        tables.means(sweep, allow_not_comparable=flags.allow_not_comparable).write(_out(flags, "tables", sweep))
    return sets, sets[-1].records


def table(flags):
    from .config import split_list
    from .plots import tables
    from .plots.texts import json_text
    from .sweep import join

    sweeps, whole = _read(flags)
    kind = flags.kind or ("summary" if any(sweep.single for sweep in sweeps) else "path")
    columns = split_list(flags.columns or "")
    if columns and kind != "summary":
        raise UsageError(f"columns: found '{flags.columns}', expected them with --kind summary only")
    printed, records = [], []
    for sweep in sweeps:
        sets, some = _tables(flags, kind, sweep, columns)
        printed, records = printed + sets, records + some
    # Means over the problems of all folders, by the choices of the first.
    if kind == "means" or kind == "summary" and len(sweeps) > 1 and sweeps[0].presentation.targets and flags.out:
        means = tables.means(join(sweeps), "" if len(sweeps) > 1 else None, flags.allow_not_comparable)
        means.write(_out(flags, "tables"))
        if kind == "means":
            printed, records = [means], means.records
    if flags.json == "-":
        print(json_text(records), end="")
    elif flags.json:
        write_text(flags.json, json_text(records))
    if flags.prints:
        print("\n".join(one.text({"markdown": "md"}.get(flags.format, flags.format)) for one in printed), end="")
    return whole


# ---- plot

# The kinds of figures of one DIR, and those over the problems of all.
SINGLE = ("curves", "path", "grid", "theory")
TOGETHER = ("profile", "data-profile", "ecdf", "quality")


def _pictures(kind, sweep, allow=False):
    """The pictures of a kind, or of several over all problems."""
    from .plots import paths, tables, theory
    from .plots.curves import pictures as curves
    from .plots.profiles import pictures as profiles

    if kind == "theory":
        return theory.pictures(theory.read(sweep.folders[0], True))
    if kind == "path":
        paths.require_paths(sweep)
        return paths.pictures(sweep, allow)
    if kind == "grid":
        return paths.grid_pictures(sweep)
    return curves(sweep, allow_not_comparable=allow) if kind == "curves" else profiles(
        sweep, kind, allow_not_comparable=allow)


def _save(pictures, folder, width=None, prints=True):
    from .plots.figure import WIDTH

    for picture in pictures:
        name = picture.save(folder, width or WIDTH)
        if prints:
            print(name, flush=True)


def plot(flags):
    from .plots import tables, theory
    from .sweep import join

    sweeps, whole = _read(flags)
    together = [kind for kind in sweeps[0].presentation.plot.kinds if kind in TOGETHER]
    if not together and len(flags.dirs) > 1 and flags.out:
        raise UsageError(f"--out: found only figures of single DIRs, expected a --kind over all DIRs: "
                         f"{', '.join(TOGETHER)}")
    common = _out(flags, "figures") if together else ""
    for sweep in sweeps:
        for kind in sweep.presentation.plot.kinds:
            if kind in TOGETHER:
                continue
            if kind == "curves":
                tables.require_single(sweep)
            _save(_pictures(kind, sweep, flags.allow_not_comparable), _out(flags, "figures", sweep), flags.width)
            if kind == "theory":
                folder = _out(flags, "tables", sweep)
                theory.tables(theory.read(sweep.folders[0], True)).write(folder)
                print(os.path.join(folder, "theory.md"))
    if together:
        for sweep in sweeps:
            tables.require_single(sweep)
        _save(_pictures(together, join(sweeps), flags.allow_not_comparable), common, flags.width)
    return whole


# ---- what a run shows at its end

def show(flags):
    from .plots import paths, tables

    (sweep,), whole = _load([flags.dir])
    if all(run["failed"] for run in sweep.records):
        raise ProxbenchError(f"no run of {sweep.presentation.name} succeeded")
    sets = [paths.tables(sweep)] if sweep.paths else []
    sets += tables.results(sweep)[0] if sweep.single else []
    unprinted = [tables.means(sweep)] if sweep.single and sweep.presentation.targets else []
    for one in sets + unprinted:
        one.write(os.path.join(flags.dir, "tables"))
        if flags.prints and one in sets:
            print(one.text("md"), flush=True)
    _draw_end(sweep, os.path.join(flags.dir, "figures"))
    if flags.prints:
        print(f"Results: {flags.dir}")
    return whole


def _draw_end(sweep, folder):
    """The figures that the config asks for, without those that would mislead."""
    from .plots.runs import require_drawable

    sweep.presentation = copy(sweep.presentation)
    sweep.presentation.plot = plot = copy(sweep.presentation.plot)
    if "path" in plot.kinds:
        for run in sweep.paths:
            if not run["comparable"]:
                say("warning", f"{run['name']}: its seconds are not comparable and are not drawn")
        if any(len(sweep.points_of(run)) for run in sweep.paths):
            _save(_pictures("path", sweep), folder, prints=False)
    if "grid" in plot.kinds:
        _save(_pictures("grid", sweep), folder, prints=False)
    if not sweep.single:
        return
    curves, together = plot.quantities and "curves" in plot.kinds, [kind for kind in plot.kinds if kind in TOGETHER]
    try:
        if curves or together:
            require_drawable(sweep.single, plot.x, False, "x without seconds")
    except UsageError as error:
        say("warning", f"no figure is drawn against seconds: {error}")
        keep = [i for i, name in enumerate(plot.x) if name != "seconds"]
        plot.x, plot.x_max = [plot.x[i] for i in keep], [plot.x_max[i] for i in keep if plot.x_max]
    if curves and plot.x:
        _save(_pictures("curves", sweep), folder, prints=False)
    try:
        if together and plot.x:
            _save(_pictures(together, sweep), folder, prints=False)
    except UsageError as error:
        say("warning", f"solvers are not compared over problems: {error}")


def scale(flags):
    from .plots import scaling

    network = SimpleNamespace(latency=flags.latency / 1e6, bandwidth=flags.network_bandwidth * 1e9)
    text, pictures = scaling.show(flags.dir, flags.predict, network)
    if flags.prints:
        print(text)
    _save(pictures, flags.dir, flags.width, flags.prints)


# ---- report, export, merge

def report(flags):
    from .plots.page import write_page

    whole = write_page(flags.dirs, flags.out, flags.title, flags.note, lambda text: say("warning", text))
    print(flags.out)
    return whole


def export(flags):
    from .export import export as write

    if flags.samples and flags.points:
        raise UsageError("--samples and --points: found both, expected one of them")
    return write(flags.dir, flags.out, flags.samples, flags.points, lambda text: say("warning", text))


def merge(flags):
    from .merge import merge_results

    runs, references, notes = merge_results(flags.dirs, flags.out)
    for note in notes:
        say("warning", note)
    print(f"{flags.out}: {runs} runs, {references} references")
