"""Reads the files of stored runs: manifests, traces, paths and references."""
import json
import math

import numpy as np
import pandas as pd

from .errors import Error
from .fields import RECORD_VERSION, RUN, STATUSES, number_text, place
from .files import entries_of, read_json, read_text

EXPECTED = f"the record of a run, version {RECORD_VERSION}"
RAW = ["phases", "warnings"]  # lists that stay lists in a frame
TYPES = {"text": [str], "integer": [int], "real": [int, float], "bool": [bool], "numbers": [dict]}  # JSON: any
MISSING = {"integer": math.nan, "real": math.nan, "numbers": {}}  # what null stands for; else None


def run_of(record, source):
    """The members of a record by the columns of its fields; numbers that were not measured are NaN. Names the file and
    the field where the record is damaged."""
    version = record.get("record_version", 1) if isinstance(record, dict) else None
    if version != RECORD_VERSION:
        raise Error.at(source, f"version {json.dumps(version)}", EXPECTED)
    run = {}
    for field in RUN:
        value, keys, column, kind = record, place(field), field["column"], field["type"]
        for key in keys:
            if not isinstance(value, dict) or key not in value and not field["nullable"]:
                raise Error.at(source, f"no key /{'/'.join(keys)}", EXPECTED)
            value = value.get(key)
        if value is None and column not in ("dataset", "label", "repetition"):
            run[column] = MISSING.get(kind)
        elif type(value) not in TYPES.get(kind, [type(value)]):
            raise Error.at(source, f"/{'/'.join(keys)} = {json.dumps(value)}", EXPECTED)
        else:
            run[column] = text_of(value) if kind == "JSON" and column not in RAW else value
    run["path_of"] = run["path"] and ("lambda" if math.isnan(run["lambda"]) else "mu")
    status = run["status"] = run["status"] or ""
    run["failed"] = bool(status) and status not in STATUSES
    run["loss_text"] = "log" if run["loss_function"] != "hinge" else "hinge" + (
        f", cost = {run['cost']}" if run["cost"] not in (None, "hamming") else "")
    run["penalty"] = penalty_text(run)
    run["problem"] = (run["name"] or "").removesuffix(f"-{run['label']}-rep{run['repetition']}")
    run["machine"] = run["machine_name"] or ""
    return run


def text_of(value):
    """A JSON value as the text of a cell: NAME=VALUE and VALUE, separated by spaces."""
    if isinstance(value, dict):
        return " ".join(f"{name}={text_of(one)}" for name, one in value.items())
    if isinstance(value, list):
        return " ".join(map(text_of, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else number_text(value)


def penalty_text(run, digits=None):
    """E.g. "lambda = 1, mu = 0.1", "lambda = path(max, 50, 50), mu = 0.1" or "hinge, mu = 1"."""
    parts = [run["loss_text"]] if run["loss_text"] != "log" else []
    for name, other in (("lambda", "mu"), ("mu", "lambda")):
        value = run[name]
        if name == run["path_of"]:
            parts.append(f"{name} = {run['path']}")
        elif value or name == "lambda" and not run[other] and not run["path_of"]:
            parts.append(f"{name} = {number_text(value, digits)}")
    return ", ".join(parts)


def read_record(file):
    """A reference, or a run by its folder."""
    record = file / "manifest.json" if file.is_dir() else file
    if not record.exists():
        raise Error.at(file, "no manifest.json", "a stored run")
    return {**run_of(read_json(record, EXPECTED), record), "folder": str(file), "name": file.name}


# ---- traces and paths

def _metrics(text):
    return {name: float(value) for name, value in (pair.split("=", 1) for pair in text.split())}


# How to read a cell of each type, what is expected of it, and the type of a column of such cells.
CELLS = {"real": (lambda text: float(text or "nan"), "a number or an empty field"),
         "integer": (lambda text: int(text if text.isdigit() else ""), "a count"),
         "numbers": (_metrics, "NAME=NUMBER, separated by spaces"), "text": (str, "a text")}
KINDS = {"real": float, "integer": int, "text": object}


def read_rows(fields, file, may_lack):
    """The rows of a trace or a path as a frame, each metric a column NAME.METRIC."""
    names = ",".join(field["name"] for field in fields)
    lacks = may_lack and not file.exists()
    head, *lines = [names] if lacks else read_text(file).splitlines() or [""]
    if head != names:
        raise Error.at(f"{file}:1", f"'{head[:200]}'", f"'{names}'")
    rows, columns = [line.split(",") for line in lines], {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(fields):
            raise Error.at(f"{file}:{number}", f"{len(row)} fields", len(fields))
    for i, field in enumerate(fields):
        (value_of, expected), values = CELLS[field["type"]], []
        try:
            for row in rows:
                values.append(value_of(row[i]))
        except ValueError:
            raise Error.at(f"{file}:{len(values) + 2}", f"{field['name']} '{row[i]}'", expected) from None
        if field["type"] == "numbers":
            for metric in sorted(set().union(*values)):
                columns[f"{field['name']}.{metric}"] = [one.get(metric, math.nan) for one in values]
        else:
            columns[field["name"]] = np.array(values, KINDS[field["type"]])
    return pd.DataFrame(columns)


# ---- folders

def read_each(files, read=read_record, left_out=None):
    """What `read` makes of each file or folder. What is damaged or foreign goes into `left_out`, with the reason, or
    is an error."""
    for file in files:
        try:
            yield read(file)
        except Error as error:
            error.damaged = file
            if left_out is None:
                raise
            left_out.append((file, f"{error}; left out"))


def run_folders(folder):
    runs = folder / "runs"
    if folders := [entry for entry in entries_of(runs) if entry.is_dir()]:
        return folders
    raise Error.at(runs, "no run", "the results of `proxbench run`")


def reference_files(folder):
    return [file for file in entries_of(folder / "references") if file.suffix == ".json"]
