"""Checks that two builds of proxbench make bitwise equal iterates.

Use it for a change that must not affect results. BUILD_A and BUILD_B are folders of built programs, or programs. Both
do the same runs at the same time, on one thread each:

  - The first 50 iterations of every solver on OCR (degree 2), LSHTC (Task 1, validation documents) and CoNLL-2000. A
    solver uses its own loss, and the l1 penalty if it takes one, otherwise only l2. bcd, whose iteration takes several
    passes of inference, does 10, and 4 on CoNLL-2000.
  - prox-qn and prox-newton to a tight tolerance on OCR, on LSHTC, and on the test file of CoNLL-2000, which is small.
    There prox-newton must reach the exact Hessian (not with --quick).
  - Paths of both and of owl-qn on OCR and on LSHTC, and a `select` on each.

Compares status, number of iterations, models, and points of paths. Of the traces, compares objective, loss, nnz,
working_set and kkt in the rows whose iteration both have: the first 30 iterations, the last one, and those in between
that the clock chose. Prints one line per case: `same`, or the first difference. Data are found in $PROXBENCH_DATA, or else in
../shared/data beside the project.

With --within-rounding, compares only what a change of the order of additions must keep: the objective, to 1e-10 in the
first 30 iterations and to 1e-12 at the end, and the number of iterations, to 2 %.

Exit status: 0 all equal, 1 a difference or a failed run, 2 bad usage.
"""
import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

from ..errors import Error, UsageError
from .common import DATA, built, manifests, read_json, run, scratch

COLUMNS = ("objective", "loss", "nnz", "working_set", "kkt")
POINT_COLUMNS = COLUMNS + ("lambda", "iterations", "candidates", "violations", "rounds", "status")
EXPERIMENT = """[experiment]
name = compare-iterates
threads = 1
pin = false
warm_up = 0
"""
# A row must not depend on the clock. So either every sample is a full one with kkt, or all samples between the first and
# the last have the loss that the solver passed to the monitor.
FULL_SAMPLES = "sample_kkt = true\nsampling_budget = 1e6\n"
LIGHT_SAMPLES = "sampling_budget = 0\n"
# A sweep with one lambda has a reference and figures. These settings make both as cheap as possible.
ONE_LAMBDA = "reference_tol = 1\nreference_gap = 0\n[plot]\nquantities =\n"
DATA_SETS = {
    "ocr": "format = ocr\ntrain = ocr/letter.data.gz\nfeatures = degree2\nsplit = random\nseed = 1\n",
    "lshtc": "format = lshtc\ntrain = lshtc1-dryrun/task1.validation.txt.gz\nhierarchy = lshtc1-dryrun/cat_hier.txt\n",
    "conll": "format = conll\ntrain = conll2000/train.txt.gz\n",
    "conll-small": "format = conll\ntrain = conll2000/test.txt.gz\n",
}
PROXIMAL = ("prox-qn", "prox-newton")
KEPT_ITERATIONS = 30  # whose objective rounding changes little


def add_flags(parser):
    parser.add_argument("builds", nargs=2, metavar="BUILD", help="BUILD_A and BUILD_B")
    parser.add_argument("--within-rounding", action="store_true", help="allow other roundings of sums")
    parser.add_argument("--quick", action="store_true", help="fewer iterations and larger lambdas")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--keep", action="store_true", help="keep the folders of the runs, and print their place")


def listing(program):
    """The solvers and oracles that `list` shows, by name."""
    listed = json.loads(run(program, "list", "--json"))
    return [{one["name"]: one for one in listed[kind]} for kind in ("solvers", "oracles")]


def penalty_of(solver, oracle, lambda_):
    """The keys of a config for an objective that the solver can minimise: l1, or l2 if it does not take l1. None if the
    solver cannot use the oracle."""
    needs = solver["needs"]
    if not set(needs["capabilities"]) <= set(oracle["capabilities"]):
        return None
    keys = f"loss = {needs['loss']}\n"
    return keys + ("lambda = 0\nmu = 1\n" if needs["smooth"] else f"lambda = {lambda_}\n")


def short_memory(solver):
    """Limits the memory of a solver that keeps vectors of all weights, since two programs run at the same time."""
    keeps = solver["name"] not in PROXIMAL and any(option["name"] == "memory" for option in solver["options"])
    return "memory = 4\n" if keeps else ""


def config(data, penalty, tol, samples, label, options):
    text = f"{EXPERIMENT}{samples}{penalty}tol = {tol}\n"
    text += "" if "path" in penalty else ONE_LAMBDA
    return text + f"[data.{data}]\n{DATA_SETS[data]}[solver.{label}]\n{options}"


def cases(solvers, oracles, quick):
    """The name of each case, and its config or the arguments of `select`. No gradient of whole counts equals a lambda."""
    for data, lambda_ in {"ocr": 200.37 if quick else 50.37, "lshtc": 10.37 if quick else 1.37, "conll": 20.37 if quick else 1.37}.items():
        for name, solver in solvers.items():
            penalty = penalty_of(solver, oracles["tree" if data == "lshtc" else "chain"], lambda_)
            if penalty is None:
                continue
            share = 1.0 if name != "bcd" else 0.08 if data == "conll" else 0.2
            iterations = max(2, round(share * (12 if quick else 50)))
            options = f"{short_memory(solver)}max_iterations = {iterations}\n"
            # The hinge loss has no kkt to sample.
            samples = FULL_SAMPLES if solver["needs"]["loss"] == "log" else LIGHT_SAMPLES
            yield f"{data} {name}", config(data, penalty, 0, samples, name, options)
    for data, lambda_ in (("ocr", 200.37 if quick else 20.37), ("lshtc", 5.37 if quick else 1.37),
                          ("conll-small", 5.37 if quick else 1.37)):
        for name in PROXIMAL:
            options = f"max_iterations = {100 if quick else 500}\n"
            yield (f"{data} {name} to the end",
                   config(data, f"lambda = {lambda_}\n", 1e-8, LIGHT_SAMPLES, name, options))
    path = "path(max, 0.2*max, 6)" if quick else "path(max, 0.05*max, 15)"
    for data in ("ocr", "lshtc"):
        for name in (*PROXIMAL, "owl-qn"):
            tol = 1e-5 if name in PROXIMAL else 1e-2
            yield (f"{data} path {name}",
                   config(data, f"lambda = {path}\n", tol, LIGHT_SAMPLES, name, short_memory(solvers[name])))
        yield f"{data} select", (data, path)


def command_of(program, folder, what):
    if isinstance(what, str):
        (folder / "case.ini").write_text(what, encoding="ascii")
        return [program, "run", "case.ini", "--out", "out", "--quiet"]
    data, path = what
    pairs = dict(line.split(" = ") for line in DATA_SETS[data].splitlines())
    flags = [text for key in ("format", "train", "hierarchy") if key in pairs for text in ("--" + key, pairs.pop(key))]
    flags += [text for key, value in pairs.items() for text in ("--data-option", f"{key}={value}")]
    return [program, "select", *flags, "--lambda", path, "--held-out", "0.2", "--tol", "1e-4", "--threads", "1",
            "--model", "model.tsv", "--json", "selection.json", "--quiet"]


def do_both(programs, folder, what):
    """Runs both programs at the same time; returns the text of the first error, or an empty one."""
    environment = dict(os.environ, PROXBENCH_DATA=str(DATA.resolve()))
    started = []
    for side, program in zip("ab", programs):
        place = folder / side
        place.mkdir(parents=True)
        with open(place / "log.txt", "wb") as log:
            started.append((place, subprocess.Popen(command_of(program, place, what), cwd=place, env=environment,
                                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)))
    for place, status in [(place, process.wait()) for place, process in started]:
        if status != 0:
            return f"{place.name}: exit status {status}: {(place / 'log.txt').read_text(errors='replace').strip()[-600:]}"
    return ""


def rows_of(file, key):
    with open(file, newline="", encoding="utf-8") as text:
        return {row[key]: row for row in csv.DictReader(text)}


def table_difference(files, key, columns):
    """The first difference between two CSV files, in the rows and columns that both have."""
    a, b = (rows_of(file, key) for file in files)
    if not a or not b:
        return f"{files[0].name}: no row"
    if list(a)[-1] != list(b)[-1]:
        return f"{files[0].name}: the last {key} is {list(a)[-1]} and {list(b)[-1]}"
    for at in a:
        for column in columns:
            if at in b and column in a[at] and column in b[at] and a[at][column] != b[at][column]:
                return f"{files[0].name}, {key} {at}: {column} {a[at][column]} and {b[at][column]}"
    return ""


def model_difference(files):
    """The first difference between the weights. Ignores the header, which says what made the model."""
    a, b = ([line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
            for file in files)
    for number, (one, other) in enumerate(zip(a, b), 1):
        if one != other:
            return f"{files[0].name}, weight {number}: {one!r} and {other!r}"
    return "" if len(a) == len(b) else f"{files[0].name}: {len(a)} and {len(b)} weights"


def run_difference(runs, needs_hessian):
    """The first difference between two stored runs: their folders and manifests."""
    folders, records = zip(*runs)
    for key in ("status", "iterations", "d", "objective", "nnz", "kkt"):
        a, b = (record.get(key) for record in records)
        if a != b:
            return f"{key} {a} and {b}"
    if needs_hessian:
        for side, record in zip("ab", records):
            if not record["notes"].get("hessians"):
                return f"{side} made no exact Hessian, expected one"
    found = table_difference([folder / "trace.csv" for folder in folders], "iteration", COLUMNS)
    points = [folder / "path.csv" for folder in folders]
    if not found and points[0].exists():
        found = table_difference(points, "lambda", POINT_COLUMNS)
    models = sorted(file.name for file in folders[0].glob("model*.tsv"))
    if not found and not models:
        return "no model"
    for model in models:
        found = found or model_difference([folder / model for folder in folders])
    return found


def far(a, b, share):
    return abs(float(a) - float(b)) > share * abs(float(a))


def rounded_difference(runs):
    """What rounding cannot explain between two stored runs: their folders and manifests."""
    folders, (a, b) = zip(*runs)
    if a["status"] != b["status"]:
        return f"status {a['status']} and {b['status']}"
    for key, share in (("iterations", 0.02), ("objective", 1e-12)):
        if far(a[key], b[key], share):
            return f"{key} {a[key]} and {b[key]}"
    one, other = (rows_of(folder / "trace.csv", "iteration") for folder in folders)
    for at in list(one)[:KEPT_ITERATIONS]:
        if at in other and int(at) <= KEPT_ITERATIONS and far(one[at]["objective"], other[at]["objective"], 1e-10):
            return f"iteration {at}: objective {one[at]['objective']} and {other[at]['objective']}"
    return ""


def select_difference(places):
    points = [read_json(place / "selection.json")["points"] for place in places]
    for number, (one, other) in enumerate(zip(*points), 1):
        if any(one[key] != other[key] for key in one.keys() & other.keys()):
            return f"point {number}: {one} and {other}"
    return model_difference([place / "model.tsv" for place in places])


def difference(folder, what, needs_hessian, within_rounding=False):
    """The first difference between what both programs made in FOLDER/a and FOLDER/b, or an empty text."""
    places = [folder / side for side in "ab"]
    if not isinstance(what, str):
        return select_difference(places)
    runs = [list(manifests(place / "out").items()) for place in places]
    if [len(side) for side in runs] != [1, 1]:  # versions may name the same run differently
        names = [[run.name for run, _ in side] for side in runs]
        return f"runs {names[0]} and {names[1]}, expected one of each"
    runs = [side[0] for side in runs]
    return rounded_difference(runs) if within_rounding else run_difference(runs, needs_hessian)


def main(options):
    programs = [built(path / "proxbench" if path.is_dir() else path) for path in map(Path, options.builds)]
    if not (DATA / "ocr/letter.data.gz").exists():
        raise UsageError(f"{DATA}: found no ocr/letter.data.gz, expected the data of README.md ($PROXBENCH_DATA)")
    (solvers, oracles), (others, _) = map(listing, programs)
    if list(solvers) != list(others):
        raise Error("the builds have not the same solvers")
    chosen = [case for case in cases(solvers, oracles, options.quick) if options.only in case[0]]
    if options.within_rounding:  # a path starts each point at the last one's optimum, and `select` is made of paths
        chosen = [case for case in chosen if " path " not in case[0] and not case[0].endswith("select")]
    if not chosen:
        raise UsageError(f"no case has '{options.only}' in its name")
    different = 0
    with scratch("compare", options.keep) as place:
        for number, (name, what) in enumerate(chosen):
            folder = place / str(number)
            needs_hessian = name == "conll-small prox-newton to the end" and not options.quick
            found = do_both(programs, folder, what) or difference(folder, what, needs_hessian, options.within_rounding)
            different += bool(found)
            print(f"{name:36} {found or 'same'}", flush=True)
            if not options.keep:
                shutil.rmtree(folder)
    print(f"{len(chosen)} cases, {different} different")
    return 1 if different else 0
