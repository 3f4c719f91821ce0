"""What the tools share: flags, errors, the program, data, temporary folders, tables, and checks one after the other."""
import argparse
import contextlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from ..errors import Error, UsageError

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("PROXBENCH") or ROOT / "build/release/proxbench")
DATA = Path(os.environ.get("PROXBENCH_DATA") or ROOT.parent / "shared/data")
SKIPPED = 77  # exit status that ctest reads as "not run"
# Open MPI may then run as root, as in containers.
MPI_ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


# ---- the start of a tool

class Parser(argparse.ArgumentParser):
    def add_argument(self, *names, help="", **options):
        """As in argparse; the help also shows the default."""
        default = options.get("default")
        shown = default not in (None, False, argparse.SUPPRESS)
        return super().add_argument(*names, help=f"{help} [{default}]".strip() if shown else help, **options)

    def error(self, message):
        raise UsageError(f"{message} (--help says more)")


def module_of(name):
    """The module of scripts/NAME. It is check_mpi for test-mpi, which pytest would take for tests of the package."""
    return importlib.import_module("." + name.replace("test-", "check-").replace("-", "_"), __package__)


def start(name, *arguments):
    """Does what scripts/NAME does, and returns its exit status. An error is one line."""
    module = module_of(name)
    parser = Parser(prog=f"scripts/{name}", description=module.__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    try:
        module.add_flags(parser)
        return module.main(parser.parse_args(arguments))
    except (Error, OSError, subprocess.SubprocessError) as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return getattr(error, "status", 1)
    except KeyboardInterrupt:
        return 130


def add_program(parser, default=PROGRAM):
    parser.add_argument("--program", type=Path, default=default, help="the built program")


# ---- programs and files

def built(program):
    """The absolute path of a built program."""
    if not os.access(program, os.X_OK):
        raise UsageError(f"{program}: found no program, expected a built {Path(program).name}")
    return str(Path(program).resolve())


def run(*command, accept=(0,), **options):
    """Runs a program and returns what it printed. Fails if it ends with another status than the accepted ones."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode not in accept:
        raise Error(f"{' '.join(words)}: exit status {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


def read_json(file):
    return json.loads(Path(file).read_text(encoding="utf-8"))


def manifests(out):
    """The manifests of the stored runs of a sweep, by their folders."""
    return {file.parent: read_json(file) for file in sorted(Path(out).glob("runs/[!.]*/manifest.json"))}


@contextlib.contextmanager
def scratch(name, keep=False, parent=None):
    """A temporary folder. At the end it is deleted, or its place is printed."""
    folder = Path(tempfile.mkdtemp(prefix=f"proxbench-{name}-", dir=parent))
    try:
        yield folder
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def markdown(titles, rows):
    """The lines of a table of texts. The first column and one named "ended" are aligned to the left."""
    marks = ["---" if i == 0 or name == "ended" else "---:" for i, name in enumerate(titles)]
    return [f"| {' | '.join(titles)} |", f"|{'|'.join(marks)}|", *(f"| {' | '.join(row)} |" for row in rows)]


# ---- checks

def add_check_flags(parser):
    parser.add_argument("--only", metavar="NAME", action="append", help="only the tests with NAME in their name, repeatable")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and exit")


def chosen_of(checks, options):
    """The checks that --only chooses, by name; none of them with --list, which prints the names."""
    chosen = {name: check for name, check in checks.items() if any(part in name for part in options.only or [""])}
    if not chosen:
        raise UsageError(f"found --only {' '.join(options.only)}, expected a part of {', '.join(checks)}")
    if options.list:
        print("\n".join(chosen))
    return {} if options.list else chosen


def passes(name, check, *arguments):
    """Runs one check. Prints how long it took, or its traceback."""
    begin = time.monotonic()
    try:
        check(*arguments)
    except Exception:  # any failure of a check
        print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        return False
    print(f"passed {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    return True
