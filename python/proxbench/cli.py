"""The command line. Exit status 0: done; 1: failed, or something was left out; 2: bad usage or config."""
import argparse
import json
import os
import sys
from pathlib import Path

from .errors import ProxbenchError, require_known
from .files import require_writable


def say(kind, text, damaged=""):
    advice = f"; move {damaged} away, and `proxbench run` makes it again" if damaged else ""
    print(f"{kind}: {text}{advice}", file=sys.stderr)


def declared():
    """The commands and their flags, as commands.json declares them: the program's completion and manual read it too."""
    table = json.loads(Path(__file__).with_name("commands.json").read_bytes())
    for command in table["commands"]:
        command["flags"] = [table["shared"][one] if isinstance(one, str) else one for one in command["flags"]]
    return {command["name"]: command for command in table["commands"]}


# ---- flags

# What members of a flag mean to argparse.
KINDS = {"switch": {"action": "store_true"}, "repeat": {"action": "append", "default": []}, "many": {"nargs": "+"}}


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
    for kind in KINDS.keys() & spec.keys():
        out.update(KINDS[kind])
    if "number" in spec:
        out["type"] = _bounded(*spec["number"])
    if "integers" in spec:
        one = _bounded(*spec["integers"], int)
        out["type"] = lambda text: list(map(one, text.split(",")))
    if "key" in spec:
        from .config import choices, config_key

        section, name = spec["key"].split(".")
        key, named = config_key(section, name), choices(section, name)
        of_key = key["help"].removeprefix("list of ") + (", separated by commas" if key["list"] else "")
        out["help"] = out.get("help", of_key) + (f": {', '.join(named)}" if named else "") + " [the config's]"
    out["help"] = out["help"].replace("%", "%%")
    return out


def _parse(command, arguments):
    """The flags. `config` of the result has those that replace keys of a config, as Presentation takes them."""
    parser = argparse.ArgumentParser(f"proxbench {command['name']}", description=command["help"], allow_abbrev=False,
                                     epilog="Exit status: 0 done, 1 failed or interrupted, 2 bad usage or config.")
    members = [(parser.add_argument(spec["flag"], **_options(spec)).dest, spec) for spec in command["flags"]]
    flags = parser.parse_intermixed_args(arguments)
    given = [(getattr(flags, member), spec) for member, spec in members if "key" in spec]
    flags.config = {tuple(spec["key"].split(".")): ("true" if value is True else value, spec["flag"])
                    for value, spec in given if value not in (None, False)}
    flags.prints = getattr(flags, "json", None) != "-" and not getattr(flags, "quiet", False)
    return flags


# ---- commands

def _require_writable_outputs(flags):
    out = getattr(flags, "out", None)
    folders = [Path(folder) / "tables" for folder in getattr(flags, "dirs", None) or [flags.dir]]
    for file in [*([out] if out else folders), getattr(flags, "json", None)]:
        if file not in (None, "-"):
            require_writable(file)


def _run(arguments):
    table = declared()
    if not arguments or arguments[0] in ("-h", "--help"):
        for name, command in table.items():
            if not command.get("hidden"):
                print(f"{name:8}{command['help']}")
        return 0 if arguments else 2
    require_known("command", arguments[0], list(table))
    flags = _parse(table[arguments[0]], arguments[1:])
    _require_writable_outputs(flags)
    from . import commands

    whole = getattr(commands, arguments[0])(flags)
    return 0 if whole in (None, True) else 1


def main(arguments=None):
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except SystemExit as end:
        return end.code
    except ProxbenchError as error:
        say("error", error, error.damaged)
        return error.status
    except (KeyboardInterrupt, MemoryError) as error:
        text = "interrupted" if isinstance(error, KeyboardInterrupt) else "out of memory"
    except OSError as error:
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to be written at the end
        if isinstance(error, BrokenPipeError):
            return 1
        text = f"{error.filename or 'standard output'}: cannot be used: {error.strerror or error}"
    except ImportError as error:
        text = (f"{error}; expected Debian's python3-pandas, python3-matplotlib and python3-jinja2 "
                "(scripts/install-deps)")
    except Exception as error:  # a fault of ours: no user reads a traceback
        if os.environ.get("PROXBENCH_TRACEBACK"):
            raise
        text = f"fault of the program: {type(error).__name__}: {error}; PROXBENCH_TRACEBACK=1 shows where"
    say("error", text)
    return 1
