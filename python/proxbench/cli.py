"""The command line. Exit status 0: done; 1: failed, or something was left out; 2: bad usage or config.

The program parses the same flags before it starts this package: it has their help, and checks the ranges of numbers.
"""
import argparse
import json
import os
import sys
from pathlib import Path

from .errors import Error, require_known
from .files import require_writable


def say(kind, text, damaged=""):
    advice = f"; move {damaged} away, and `proxbench run` makes it again" if damaged else ""
    print(f"{kind}: {text}{advice}", file=sys.stderr)


# ---- flags

def integers(text):
    return list(map(int, text.split(",")))


# What members of a flag in commands.json mean to argparse; others it takes as they are.
KINDS = {"switch": {"action": "store_true"}, "repeat": {"action": "append", "default": []}, "many": {"nargs": "+"},
         "number": {"type": float}, "integer": {"type": int}, "integers": {"type": integers}}
PLAIN = {"metavar", "choices", "default", "required", "help"}


def _parse(command, arguments):
    """The flags. `config` of the result has those that replace keys of a config, as Config takes them."""
    parser = argparse.ArgumentParser(f"proxbench {command['name']}", description=command["help"], allow_abbrev=False)
    members = {}
    for spec in command["flags"]:
        options = {name: spec[name] for name in PLAIN & spec.keys()}
        for kind in KINDS.keys() & spec.keys():
            options.update(KINDS[kind])
        members[parser.add_argument(spec["flag"], **options).dest] = spec
    flags = parser.parse_intermixed_args(arguments)
    flags.config = {tuple(spec["key"].split(".")): (str(value), spec["flag"]) for member, spec in members.items()
                    if "key" in spec and (value := getattr(flags, member)) not in (None, False)}
    return flags


# ---- commands

def _require_writable_outputs(flags):
    out = getattr(flags, "out", None)
    folders = [Path(folder) / "tables" for folder in getattr(flags, "dirs", None) or [getattr(flags, "dir", ".")]]
    for file in [*([out] if out else folders), getattr(flags, "json", None)]:
        if file not in (None, "-"):
            require_writable(file)


def _run(arguments):
    table = json.loads(Path(__file__).with_name("commands.json").read_bytes())
    commands = {command["name"]: command for command in table["commands"]}
    name, *arguments = arguments or [""]
    require_known("command", name, list(commands))
    command = commands[name]
    command["flags"] = [table["shared"][flag] if isinstance(flag, str) else flag for flag in command["flags"]]
    flags = _parse(command, arguments)
    _require_writable_outputs(flags)
    from . import commands as functions

    whole = getattr(functions, name)(flags)
    return 0 if whole in (None, True) else 1


def main(arguments=None):
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except SystemExit as end:
        return end.code
    except Error as error:
        say("error", error, error.damaged)
        return error.status
    except KeyboardInterrupt:
        text = "interrupted"
    except OSError as error:
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to be written at the end
        if isinstance(error, BrokenPipeError):
            return 1
        text = f"{error.filename or 'standard output'}: cannot be used: {error.strerror or error}"
    except ImportError as error:
        text = f"{error}: expected the packages of scripts/install-deps"
    except Exception as error:  # a fault of ours: no user reads a traceback
        if os.environ.get("PROXBENCH_TRACEBACK"):
            raise
        text = f"fault of the program: {type(error).__name__}: {error}; PROXBENCH_TRACEBACK=1 shows where"
    say("error", text)
    return 1
