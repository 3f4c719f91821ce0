"""Reads the files of stored runs: manifests, traces, paths and references."""
import io
import json
import os
import re

import numpy as np
import pandas as pd

from .errors import ProxbenchError, in_file
from .fields import RECORD_VERSION, RUN, STATUSES, place
from .files import entries_of

AGAIN = "delete it, and `proxbench run` makes the run again"
EXPECTED = f"the record of a run, version {RECORD_VERSION}; {AGAIN}"
TYPES = {"text": str, "integer": int, "real": (int, float), "bool": bool, "numbers": dict, "JSON": object}


def read_bytes(file, expected="a stored result"):
    try:
        with open(file, "rb") as bytes_:
            return bytes_.read()
    except OSError:
        raise in_file(file, 0, "no readable file", expected) from None


def run_of(record, source):
    """The members of a record by the columns of its fields. Names the file and the field where it is damaged."""
    if not isinstance(record, dict):
        raise in_file(source, 0, "no complete JSON object", EXPECTED)
    version = record.get("record_version", 1)
    if version != RECORD_VERSION:
        raise in_file(source, 0, f"version {json.dumps(version)}", EXPECTED)
    run = {}
    for field in RUN:
        value, keys = record, place(field)
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                raise in_file(source, 0, f"no key /{'/'.join(keys)}", EXPECTED)
            value = value[key]
        good = value is None or isinstance(value, TYPES[field["type"]]) and (
            field["type"] == "bool" or not isinstance(value, bool))
        path = keys in (("run", "lambda"), ("run", "mu")) and isinstance(value, str)
        if not good and not path:
            raise in_file(source, 0, f"/{'/'.join(keys)} = {json.dumps(value)}", EXPECTED)
        run[field["column"]] = value
    for name in ("dataset", "label", "repetition"):
        if run[name] is None:
            raise in_file(source, 0, f"/run/{name} = null", EXPECTED)
    _add_penalty(run)
    suffix = f"-{run['label']}-rep{run['repetition']}"
    name = run["name"] or ""
    run["problem"] = name[:name.rfind(suffix)] if suffix in name else name
    status = run["status"] or ""
    run["failed"] = bool(status) and status not in STATUSES or status == "interrupted"
    return run


def _add_penalty(run):
    """Adds `path` and `path_of`: the text of a path, and which of lambda and mu it varies (then None)."""
    run["path"] = run["path_of"] = None
    for name, standard in (("lambda", 1.0), ("mu", 0.0)):
        if isinstance(run[name], str):
            run["path"], run["path_of"], run[name] = run[name], name, None
        run["_" + name] = standard if run[name] is None else float(run[name])
    hinge = run["loss_function"] == "hinge"
    run["loss_text"] = ("hinge" + (f", cost = {run['cost']}" if run["cost"] not in (None, "hamming") else "")
                        if hinge else "log")
    run["key"] = (run["dataset"], run["path"] or "", run["_lambda"], run["_mu"], run["loss_text"])


def read_record(file):
    try:
        record = json.loads(read_bytes(file))
    except ValueError:
        record = None
    return run_of(record, file)


def read_run(folder):
    if not os.path.exists(os.path.join(folder, "manifest.json")):
        raise ProxbenchError(f"{folder}: found no manifest.json, expected a stored run; move away what is none")
    run = read_record(os.path.join(folder, "manifest.json"))
    run["folder"], run["name"] = folder, os.path.basename(folder)
    return run


# ---- traces and paths

def _text_of(fields, file, run):
    """The lines of a file below its header, checked for the number of fields."""
    if run["failed"] and not os.path.exists(file):
        return b""
    advice = f"; delete {run['folder']}, and `proxbench run` makes the run again"
    names = ",".join(field["name"] for field in fields)
    try:
        text = read_bytes(file)
        head, _, rows = text.partition(b"\n")
        if head.decode(errors="replace") != names:
            raise in_file(file, 1, f"'{head.decode(errors='replace')[:200]}'", f"'{names}'")
        if rows and not rows.endswith(b"\n"):
            rows += b"\n"
        if rows.count(b",") != rows.count(b"\n") * (len(fields) - 1) or b"\n\n" in b"\n" + rows:
            for number, line in enumerate(rows.splitlines(), 2):
                if line.count(b",") + 1 != len(fields):
                    raise in_file(file, number, f"{line.count(b',') + 1} fields", str(len(fields)))
    except ProxbenchError as error:
        raise ProxbenchError(f"{error}{advice}") from None
    return rows


def _wrong_cell(field, texts):
    """The first row of a column that holds no value of the field's type, or None."""
    kind = field["type"]
    if kind in ("text", "numbers"):
        form = re.compile(r"(\S+=[-+0-9.eE]+(inf|nan)?( |$))*")
        bad = [kind == "numbers" and not form.fullmatch(one) for one in texts.fillna("").astype(str)]
    else:
        values = pd.to_numeric(texts, errors="coerce")
        bad = (values.isna() & texts.notna() | (values < 0 if kind == "integer" else False)
               | (values.isna() if kind == "integer" else False)).to_numpy()
    return int(np.argmax(bad)) if np.any(bad) else None


def read_table(fields, file_name, runs, left_out):
    """The rows of one file of every run, one below the other, as columns; runs that are damaged are dropped.

    Returns the remaining runs, the frame, and the number of rows of each run.
    """
    while True:
        kept, texts = [], []
        for run in runs:
            try:
                texts.append(_text_of(fields, os.path.join(run["folder"], file_name), run))
                kept.append(run)
            except ProxbenchError as error:
                left_out.append((run["folder"], str(error)))
        counts = [text.count(b"\n") for text in texts]
        names = [field["name"] for field in fields]
        words = {field["name"]: str for field in fields if field["type"] in ("text", "numbers")}
        frame = pd.read_csv(io.BytesIO(b"".join(texts)), names=names, header=None, dtype=words, na_values=[""],
                            keep_default_na=False, float_precision="round_trip", low_memory=False, quoting=3)
        wrong = None
        for field in fields:
            column = frame[field["name"]]
            if column.dtype == object or field["type"] == "integer" and len(column):
                row = _wrong_cell(field, column)
                if row is not None and (wrong is None or row < wrong[0]):
                    wrong = row, field
        if wrong is None:
            return kept, _typed(frame, fields), counts
        row, field = wrong
        at = int(np.searchsorted(np.cumsum(counts), row, side="right"))
        line = row - sum(counts[:at]) + 2
        cell = frame[field["name"]].iloc[row]
        expected = {"integer": "a count", "numbers": "NAME=NUMBER, separated by spaces"}.get(
            field["type"], "a number or an empty field")
        file = os.path.join(kept[at]["folder"], file_name)
        error = in_file(file, line, f"{field['name']} '{'' if pd.isna(cell) else cell}'", expected)
        left_out.append((kept[at]["folder"],
                         f"{error}; delete {kept[at]['folder']}, and `proxbench run` makes the run again"))
        runs = kept[:at] + kept[at + 1:]


def _typed(frame, fields):
    """Numbers become numbers, and each metric a column NAME.METRIC."""
    parts = {}
    for field in fields:
        name, column = field["name"], frame[field["name"]]
        if field["type"] in ("real", "integer"):
            parts[name] = column.astype("float64" if field["type"] == "real" else "int64")
        elif field["type"] == "text":
            parts[name] = column
        else:
            texts = column.fillna("")
            known = {text: dict(pair.split("=", 1) for pair in text.split()) for text in texts.unique()}
            for metric in sorted({metric for pairs in known.values() for metric in pairs}):
                parts[f"{name}.{metric}"] = texts.map(
                    {text: float(pairs.get(metric, "nan")) for text, pairs in known.items()}).astype("float64")
    return pd.DataFrame(parts)


# ---- folders

def run_folders(folder):
    return [entry for entry in entries_of(os.path.join(folder, "runs")) if os.path.isdir(entry)]


def read_runs(folder, left_out):
    """The records of all runs below FOLDER/runs. What is damaged or foreign goes into `left_out`."""
    runs = []
    for entry in run_folders(folder):
        try:
            runs.append(read_run(entry))
        except ProxbenchError as error:
            left_out.append((entry, str(error)))
    return runs


def read_references(folder, left_out):
    """The references by the name of their problem."""
    out = {}
    for file in entries_of(os.path.join(folder, "references")):
        if file.endswith(".json"):
            try:
                out[os.path.basename(file)[:-len(".json")]] = dict(read_record(file), folder=file)
            except ProxbenchError as error:
                left_out.append((file, str(error)))
    return out
