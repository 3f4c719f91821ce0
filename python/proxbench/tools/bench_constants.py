"""Measures what the constants of prox-newton are worth, each against an alternative.

Builds the last commit in build/constants as it is, and then with one constant changed in its source after the other. Both
programs train in turn on seven development problems, until F is proven to 1e-6, for at most 20 s on the clock. Prints a
Markdown table with a row for each constant. A cell is the cost with the alternative divided by the cost with the constant,
so a number above 1 favours the constant. Costs are passes over the data, and seconds, until F is within a relative distance
of the lowest F that any program found. The number is a geometric mean over the problems on which both came so far; "fails
on N": on N further problems only the constant did.

Passes depend little on the machine. Traces are kept in results/constants, so that after an interruption only missing runs
are made. The data are found as `proxbench` finds them (PROXBENCH_DATA). The first build takes ten minutes, and each further
one a minute or two.

Exit status: 0 done; 1 a build or a run failed; 2 bad usage.
"""
import csv
import hashlib
import math
import os
import re
import shutil
import sys

from ..errors import Error, UsageError
from .common import ROOT, markdown, run

SOURCE, TRACES = ROOT / "build/constants", ROOT / "results/constants"  # a clone of this project; traces
# File below solvers/prox_newton, constant, and alternative.
CHANGES = [
    ("quasi_newton_model.h", "kMostIterations", "25"),
    ("quasi_newton_model.h", "kFresh", "0.0"),
    ("quasi_newton_model.h", "kFirstGamma", "1.0"),
    ("face_model.cpp", "kShortStep", "0.1"),
    ("entering.cpp", "kCostlyGradient", "1e9"),
    ("entering.cpp", "kMostEntering", "1000"),
    ("entering.cpp", "kMostEnteringCostly", "5000"),
    ("face_model.cpp", "kFewestPairs", "20"),
    ("face_model.cpp", "kMostPairs", "100"),
    ("face_model.cpp", "kShareOfPairs", "0.006"),
    ("settings.h", "kRidge", "1e-4"),
    ("settings.h", "kRidge", "1e-2"),
    ("prox_newton.cpp", "kHessiansOfPhase", "1.0"),
    ("settings.h", "kExponential", "1.0"),
]
CONLL = ["--format", "conll", "--train", "conll2000/test.txt.gz", "--lambda"]
OCR = ["--format", "ocr", "--train", "ocr/letter.data.gz", "--data-option"]
PROBLEMS = {
    "degree2": [*OCR, "bias=false", "--lambda", "100"],
    "pixels": [*OCR, "features=pixels", "--lambda", "1"],
    "lshtc": ["--format", "lshtc", "--train", "lshtc1-dryrun/task1.validation.txt.gz", "--hierarchy",
              "lshtc1-dryrun/cat_hier.txt", "--lambda", "1"],
    "upos": ["--format", "conll", "--train", "ud-ewt/train.tsv.gz", "--data-option", "attributes=words", "--data-option",
             "label_column=1", "--lambda", "5"],
    "chunking1": [*CONLL, "1"],
    "chunking5": [*CONLL, "5"],
    "a9a": ["--format", "libsvm", "--train", "libsvm/a9a.gz", "--data-option", "bias=1", "--lambda", "0.1"],
}
COLUMNS = [("passes", 1e-2), ("passes", 1e-4), ("passes", 1e-6), ("seconds", 1e-4), ("seconds", 1e-6)]


def add_flags(parser):
    parser.add_argument("constants", nargs="*", metavar="CONSTANT", help="those to measure; by default all")
    parser.add_argument("--list", action="store_true", help="only print each constant with its value and its alternative")


def clone():
    """Brings SOURCE to the last commit. Touches only files that differ, so that only these are compiled again."""
    if not (SOURCE / ".git").exists():  # else git would reset the project around it
        run("git", "clone", "--quiet", ROOT, SOURCE)
    run("git", "-C", SOURCE, "fetch", "--quiet", ROOT, "HEAD")
    run("git", "-C", SOURCE, "reset", "--quiet", "--hard", "FETCH_HEAD")


def value_of(file, constant):
    found = re.findall(rf"\b{constant} = ([^,;]+)[,;]", (ROOT / "solvers/prox_newton" / file).read_text(encoding="utf-8"))
    if len(found) != 1:
        raise Error(f"solvers/prox_newton/{file}: found {len(found)} definitions of {constant}, expected one")
    return found[0]


def build():
    run("cmake", "-S", SOURCE, "-B", SOURCE / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", SOURCE / "build", "--target", "proxbench")


def measure(folder, as_it_is):
    """Trains with the program as it is and with the changed source, in turn. Returns the traces of both by problem."""
    missing = [problem for problem in PROBLEMS if not (folder / f"{problem}.csv").exists()]
    if missing:
        print(f"bench-constants: {folder.name}", file=sys.stderr, flush=True)
        build()
    folder.mkdir(parents=True, exist_ok=True)
    for problem in missing:
        for program, trace in [(as_it_is, f"{problem}-as-it-is.csv"), (SOURCE / "build/proxbench", f"{problem}.csv")]:
            run(program, "train", *PROBLEMS[problem], "--solver", "prox-newton", "--threads", "2", "--gap", "1e-6",
                "--time-limit", "20", "--quiet", "--trace", folder / (trace + ".part"), cwd=ROOT)
            os.replace(folder / (trace + ".part"), folder / trace)
    return [{problem: read(folder / f"{problem}{end}.csv") for problem in PROBLEMS} for end in ("-as-it-is", "")]


def read(trace):
    """Returns the samples of a trace with their F: a list of (F, costs)."""
    with open(trace, encoding="utf-8") as lines:
        return [(float(row["objective"]), {cost: float(row[cost]) for cost in ("passes", "seconds")})
                for row in csv.DictReader(lines) if row["objective"]]


def cost_to(trace, f, distance, cost):
    """The cost at the first sample within this relative distance of f; infinity if there is none."""
    return next((costs[cost] for value, costs in trace if value - f <= distance * abs(f)), math.inf)


def ratio(ours, other, lowest, cost, distance):
    """The cell of a table: the cost of `other` until F is near its lowest value, divided by that of `ours`."""
    logs, fails = [], 0
    for problem, f in lowest.items():
        one, another = (cost_to(traces[problem], f, distance, cost) for traces in (ours, other))
        came = [0.0 < found < math.inf for found in (one, another)]
        if all(came):
            logs.append(math.log(another / one))
        elif came[0]:
            fails += 1
    mean = f"{math.exp(sum(logs) / len(logs)):.2f}" if logs else "-"
    return mean + (f", fails on {fails}" if fails else "")


def changes_of(names):
    """The changes of these constants: file, constant, value, alternative."""
    known = dict.fromkeys(constant for _, constant, _ in CHANGES)
    if unknown := set(names) - set(known):
        raise UsageError(f"found {', '.join(sorted(unknown))}, expected some of {', '.join(known)}")
    return [(file, constant, value_of(file, constant), alternative) for file, constant, alternative in CHANGES
            if constant in (names or known)]


def build_as_it_is():
    """Builds the last commit. Returns the digest of its sources, and the program."""
    clone()
    sources = [line for line in run("git", "ls-tree", "-r", "HEAD", cwd=ROOT).splitlines() if line.endswith((".h", ".cpp"))]
    code = hashlib.sha256("\n".join(sources).encode()).hexdigest()[:12]
    program = SOURCE / f"build/proxbench-{code}"
    if not program.exists():
        build()
        shutil.copy2(SOURCE / "build/proxbench", program)
    return code, program


def main(options):
    changes = changes_of(options.constants)
    if options.list:
        print("\n".join(f"{constant}: {value}, {alternative}" for _, constant, value, alternative in changes))
        return
    code, as_it_is = build_as_it_is()
    rows = []
    for file, constant, value, alternative in changes:
        path = SOURCE / "solvers/prox_newton" / file
        before = path.read_text(encoding="utf-8")
        changed = before.replace(f"{constant} = {value}", f"{constant} = {alternative}")
        if changed == before:
            raise Error(f"solvers/prox_newton/{file}: {constant} differs from the last commit")
        path.write_text(changed, encoding="utf-8")
        traces = measure(TRACES / code / f"{constant}-{alternative}", as_it_is)
        rows.append(([f"`{constant}`", value, alternative], *traces))
        path.write_text(before, encoding="utf-8")
    lowest = {problem: min(f for _, *both in rows for traces in both for f, _ in traces[problem]) for problem in PROBLEMS}
    titles = ["constant", "value", "alternative", *(f"{cost} to {distance:g}" for cost, distance in COLUMNS)]
    print("\n".join(markdown(titles, [texts + [ratio(ours, other, lowest, *column) for column in COLUMNS]
                                       for texts, ours, other in rows])))
