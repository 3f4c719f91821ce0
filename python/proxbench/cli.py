"""The commands of the package. Exit status 0: done; 1: failed, or something was left out; 2: bad usage or config."""
import argparse
import json
import os
import sys

from .errors import ProxbenchError, UsageError, require_known
from .files import reason, require_writable, write_text


def advice(damaged):
    return f"; move {damaged} away, and `proxbench run` makes it again" if damaged else ""


def say(kind, text):
    print(f"{kind}: {text}", file=sys.stderr)


# ---- flags

def commands():
    """The commands and their flags, as commands.json declares them: the program's completion and manual read it too."""
    with open(os.path.join(os.path.dirname(__file__), "commands.json"), encoding="utf-8") as text:
        table = json.load(text)
    for command in table["commands"]:
        command["flags"] = [table["shared"][one] if isinstance(one, str) else one for one in command["flags"]]
    return {command["name"]: command for command in table["commands"]}


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


def _options(spec):
    """What argparse takes for a flag."""
    out = {name: spec[name] for name in ("metavar", "choices", "default", "required", "help") if name in spec}
    if "key" in spec:
        from .config import choices, config_key

        section, name = spec["key"].split(".")
        key, named = config_key(section, name), choices(section, name)
        of_key = key["help"].removeprefix("list of ") + (", separated by commas" if key["list"] else "")
        out["help"] = out.get("help", of_key) + (f": {', '.join(named)}" if named else "") + " [the config's]"
    out["help"] = out["help"].replace("%", "%%")
    more = {"switch": {"action": "store_true"}, "repeat": {"action": "append", "default": []}, "many": {"nargs": "+"}}
    for name in more.keys() & spec.keys():
        out.update(more[name])
    if "number" in spec:
        out["type"] = _bounded(*spec["number"])
    if "integers" in spec:
        one = _bounded(*spec["integers"], int)
        out["type"] = lambda text: list(map(one, text.split(",")))
    return out


def _parse(command, arguments):
    parser = argparse.ArgumentParser(f"proxbench {command['name']}", description=command["help"], allow_abbrev=False,
                                     epilog="Exit status: 0 done, 1 failed or interrupted, 2 bad usage or config.")
    members = {parser.add_argument(spec["flag"], **_options(spec)).dest: spec for spec in command["flags"]}
    flags = parser.parse_intermixed_args(arguments)
    flags.keys = {member: spec for member, spec in members.items() if "key" in spec}
    flags.prints = getattr(flags, "json", None) != "-" and not getattr(flags, "quiet", False)
    return flags


def _outputs(flags):
    """What a command writes, or where."""
    folders = getattr(flags, "dirs", None) or [flags.dir]
    files = [getattr(flags, "out", None), getattr(flags, "json", None)]
    return [file for file in files if file not in (None, "-")] + (
        [] if files[0] else [os.path.join(folder, "tables") for folder in folders])


def _run(arguments):
    table = commands()
    if not arguments or arguments[0] in ("-h", "--help"):
        for name, command in table.items():
            if not command.get("hidden"):
                print(f"{name:8}{command['help']}")
        return 0 if arguments else 2
    require_known("command", arguments[0], list(table))
    flags = _parse(table[arguments[0]], arguments[1:])
    for file in _outputs(flags):
        require_writable(file)
    whole = globals()[arguments[0]](flags)
    return 0 if whole in (None, True) else 1


def main(arguments=None):
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except SystemExit as end:
        return end.code
    except ProxbenchError as error:
        say("error", f"{error}{advice(error.damaged)}")
        return error.status
    except (KeyboardInterrupt, MemoryError) as error:
        text = "interrupted" if isinstance(error, KeyboardInterrupt) else "out of memory"
    except OSError as error:
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to be written at the end
        if isinstance(error, BrokenPipeError):
            return 1
        text = f"{error.filename or 'standard output'}: cannot be used: {reason(error)}"
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

def _is_whole(sweeps):
    """Says what was left out, and returns whether all was readable."""
    left_out = [one for sweep in sweeps for one in sweep.left_out]
    for damaged, text in left_out:
        say("warning", text + advice(damaged))
    return not any(damaged for damaged, _ in left_out)


def _read(flags):
    """The sweeps of the folders, with the flags applied to what their configs say; and whether all was readable."""
    from .config import parse, split_list
    from .sweep import load_each

    sweeps = load_each(flags.dirs, flags.with_start, split_list(flags.solvers or ""))
    for shown in (sweep.presentation for sweep in sweeps):
        shown.allow = flags.allow_not_comparable
        for member, spec in flags.keys.items():
            (section, name), text = spec["key"].split("."), getattr(flags, member)
            if text not in (None, False):
                value = parse(section, name, "true" if text is True else text, spec["flag"])
                setattr(shown.plot if section == "plot" else shown, name, value)
                if name == "x":
                    shown.plot.x_max = []  # the config's limits hold for its own axes
    return sweeps, _is_whole(sweeps)


def _out(flags, below, sweep=None):
    """The folder for results over all DIRs, or for those of one."""
    if sweep is not None and len(flags.dirs) > 1:
        return os.path.join(sweep.folders[0], below)
    if flags.out or len(flags.dirs) == 1:
        return os.path.join(flags.out or flags.dirs[0], below)
    raise UsageError("--out: found none, expected a folder for the results over all DIRs")


# ---- table

def _tables(kind, sweep, columns=()):
    """The tables of one folder."""
    from .plots import paths, tables, theory

    if kind in ("path", "grid", "theory"):
        return [{"path": paths.tables, "grid": paths.grid_tables, "theory": theory.tables}[kind](sweep)]
    sweep.require("single")
    if kind in ("paper", "costs", "data"):
        return [getattr(tables, kind)(sweep)]
    return tables.results(sweep, columns)


def table(flags):
    from .config import split_list
    from .plots import tables
    from .plots.texts import json_text
    from .sweep import join

    sweeps, whole = _read(flags)
    kind = flags.kind or ("summary" if any(len(sweep.single) for sweep in sweeps) else "path")
    columns, means = split_list(flags.columns or ""), kind in ("summary", "means")
    if columns and kind != "summary":
        raise UsageError(f"columns: found '{flags.columns}', expected them with --kind summary only")
    printed, records = [], []
    for sweep in sweeps:
        sets, folder = _tables(kind, sweep, columns), _out(flags, "tables", sweep)
        more = [tables.means(sweep)] if means and sweep.presentation.targets else []
        for one in sets + more:
            one.write(folder)
        sets[-1].records = tables.chosen_records(sets[-1].records, columns)  # the file has all columns
        printed, records = printed + sets, records + (sets[-1].more or sets[-1].records)
    # Means over the problems of all folders, by the choices of the first.
    if kind == "means" or means and len(sweeps) > 1 and sweeps[0].presentation.targets and flags.out:
        together = tables.means(join(sweeps))
        together.write(_out(flags, "tables"))
        printed, records = ([together], together.records) if kind == "means" else (printed, records)
    if flags.json == "-":
        print(json_text(records), end="")
    elif flags.json:
        write_text(flags.json, json_text(records))
    if flags.prints:
        print("\n".join(one.text(flags.format) for one in printed), end="")
    return whole


# ---- plot

# The kinds of figures of one DIR, and those over the problems of all.
SINGLE = ("curves", "path", "grid", "theory")
TOGETHER = ("profile", "data-profile", "ecdf", "quality")


def _draw(kinds, sweep, folder, width=None):
    """Draws figures, and gives the name of each."""
    from .plots import paths, profiles, theory
    from .plots.curves import pictures

    for kind in kinds:
        if kind in ("curves", *TOGETHER):
            sweep.require("single")
        single = {"curves": pictures, "path": paths.pictures, "grid": paths.grid_pictures, "theory": theory.pictures}
        for picture in single[kind](sweep) if kind in single else profiles.pictures(sweep, kind):
            yield picture.save(folder, width)


def plot(flags):
    from .sweep import join

    sweeps, whole = _read(flags)
    kinds = {sweep: sweep.presentation.plot.kinds for sweep in sweeps}
    together = [kind for kind in kinds[sweeps[0]] if kind in TOGETHER]
    if not together and len(flags.dirs) > 1 and flags.out:
        raise UsageError(f"--out: found only figures of single DIRs, expected a --kind over all DIRs: "
                         f"{', '.join(TOGETHER)}")
    work = [([kind for kind in asked if kind in SINGLE], sweep, _out(flags, "figures", sweep))
            for sweep, asked in kinds.items()]
    work += [(together, join(sweeps), _out(flags, "figures"))] if together else []
    for asked, sweep, folder in work:
        for name in _draw(asked, sweep, folder, flags.width):
            print(name, flush=True)
        if "theory" in asked:
            folder = _out(flags, "tables", sweep)
            _tables("theory", sweep)[0].write(folder)
            print(os.path.join(folder, "theory.md"))
    return whole


# ---- what a run shows at its end

def show(flags):
    from .plots import tables
    from .sweep import load_each

    (sweep,) = load_each([flags.dir])
    whole = _is_whole([sweep])
    single, plot = len(sweep.single) > 0, sweep.presentation.plot
    if sweep.runs.failed.all():
        raise ProxbenchError(f"no run of {sweep.presentation.name} succeeded")
    sets = (_tables("path", sweep) if len(sweep.paths) else []) + (_tables("summary", sweep) if single else [])
    for one in sets + ([tables.means(sweep)] if single and sweep.presentation.targets else []):
        one.write(os.path.join(flags.dir, "tables"))
        if flags.prints and one in sets:
            print(one.text("md"), flush=True)
    # The figures that the config asks for, without those that would mislead.
    if alone := list(sweep.runs["name"][~sweep.runs.comparable]):
        say("warning", f"no figure against seconds: the timings of {len(alone)} runs are not comparable: "
            f"{', '.join(alone)}")
        plot.x_max = [limit for name, limit in zip(plot.x, plot.x_max) if name != "seconds"]
        plot.x = [name for name in plot.x if name != "seconds"]
    possible = {"grid": True, "path": len(sweep.path_points), "theory": False}
    for kind in (kind for kind in plot.kinds if possible.get(kind, single)):
        try:
            list(_draw([kind], sweep, os.path.join(flags.dir, "figures")))
        except UsageError as error:
            say("warning", f"no figure of kind {kind}: {error}")
    if flags.prints:
        print(f"Results: {flags.dir}")
    return whole


def scale(flags):
    from .plots import scaling

    network = flags.latency / 1e6, flags.network_bandwidth * 1e9
    text, pictures = scaling.show(flags.dir, flags.predict, network)
    names = [picture.save(flags.dir, flags.width) for picture in pictures]
    if flags.prints:
        print("\n".join([text, *names]))


# ---- report, export, merge

def report(flags):
    from .plots.page import write_page
    from .sweep import load_each

    sweeps = load_each(flags.dirs)
    whole = _is_whole(sweeps)
    write_page(sweeps, flags.out, flags.title, flags.note)
    print(flags.out)
    return whole


def export(flags):
    from .export import write
    from .sweep import load_folder

    kinds = [f"--{name}" for name in ("samples", "points", "benchopt") if getattr(flags, name)]
    if len(kinds) > 1:
        raise UsageError(f"{' and '.join(kinds)}: found both, expected one of them")
    sweep = load_folder(flags.dir)
    whole = _is_whole([sweep])
    write(sweep, flags.out, flags.samples, flags.points, flags.benchopt)
    return whole


def merge(flags):
    from .merge import merge_results

    runs, references, notes = merge_results(flags.dirs, flags.out)
    for note in notes:
        say("warning", note)
    print(f"{flags.out}: {runs} runs, {references} references")
