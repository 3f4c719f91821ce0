"""One run of a sweep with a solver in Python: `python3 -m proxbench.worker RECORD.json FOLDER`, as the program starts it.
`python3 -m proxbench.worker --describe FILE.py` prints the solvers of a plug-in as JSON."""
import json
import runpy
import sys
import traceback

from .compiled import require
from .custom_solvers import registered
from .errors import Error


def load_plugin(file):
    """Runs a file of Python, which registers solvers. Raises Error if it cannot be run, or registers none."""
    before = set(registered)
    try:
        runpy.run_path(file, run_name="proxbench_plugin")
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        raise Error.at(f"{file}:{line}" if line else file, f"{type(error).__name__}: {error}",
                       "a file that registers solvers with proxbench.solver") from error
    if set(registered) == before:
        raise Error.at(file, "no solver", "a function with the decorator proxbench.solver")
    return [name for name in registered if name not in before]


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--describe":
        names = load_plugin(arguments[1])
        print(json.dumps([registered[name] for name in names]))
        return 0
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        plugins = json.load(file)["run"]["plugins"]
    for plugin in plugins:
        load_plugin(plugin)
    return require().work(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Error, OSError, KeyError, json.JSONDecodeError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
