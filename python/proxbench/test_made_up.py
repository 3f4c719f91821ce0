"""Made-up results for the tests of the package: runs that go through given objectives to f* = 100."""
import json
import os

from proxbench.fields import PATH, RECORD_VERSION, RUN, TRACE, place

STANDARD = {"integer": None, "real": None, "text": None, "bool": False, "numbers": None, "JSON": None}
TRACE_ZERO = {"integer": 0, "real": 0.0, "numbers": "", "text": ""}


def line(fields, row):
    texts = []
    for field in fields:
        value = row.get(field["name"], "" if field["name"] in (
            "kkt", "gap", "dual_gap", "estimated_gap", "infeasibility", "updates", "test_accuracy") else
            TRACE_ZERO[field["type"]])
        texts.append(str(value))
    return ",".join(texts) + "\n"


def write_run(folder, label="a", repetition=1, samples=((0, 200), (1, 101), (2, 100)), dataset="d", lambda_=1.0, mu=0.0,
              points=(), trace=None, **changes):
    """Writes a run. `samples` are pairs (seconds, objective), or dictionaries of columns of trace.csv."""
    name = f"{dataset}-lambda{lambda_:g}-{label}-rep{repetition}" if not isinstance(lambda_, str) else (
        f"{dataset}-path-{label}-rep{repetition}")
    run = {"name": name, "experiment": "e", "dataset": dataset, "label": label, "repetition": repetition,
           "solver": "prox-newton", "path" if isinstance(lambda_, str) else "lambda": lambda_, "mu": mu, "loss_function": "log", "threads": 1,
           "processes": 1, "backend": "openmp", "tol": 1e-6, "time_limit": 60.0, "status": "converged", "objective": 100.0, "nnz": 5,
           "relative_kkt": 1e-7, "seconds": 2.0, "passes": 2.0, "iterations": 2, "comparable": True, "instances": 10,
           "description": "made up", "reference_objective": 100.0, "reference_relative_gap": 1e-12, "warnings": [],
           "machine_name": "m", "machine_id": "1", "options": {}, **changes}
    record = {"record_version": RECORD_VERSION}
    for field in RUN:
        *way, last = place(field)
        at = record
        for key in way:
            at = at.setdefault(key, {})
        at[last] = run.get(field["column"], STANDARD[field["type"]])
    out = os.path.join(folder, "runs", name)
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(record, file)
    rows = [one if isinstance(one, dict) else {"seconds": one[0], "objective": one[1], "passes": one[0],
                                               "iteration": i} for i, one in enumerate(samples)]
    text = ",".join(field["name"] for field in TRACE) + "\n" + "".join(line(TRACE, row) for row in rows)
    with open(os.path.join(out, "trace.csv"), "w", encoding="utf-8") as file:
        file.write(text if trace is None else trace)
    if points:
        with open(os.path.join(out, "path.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(field["name"] for field in PATH) + "\n" + "".join(line(PATH, row) for row in points))
    return out
