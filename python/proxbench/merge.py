"""Combines the results of several folders. Copies bytes, and prints no number again."""
import math
import os
import shutil

from .errors import UsageError, in_file
from .files import entries_of, file_name_part, make_folder
from .records import read_bytes, read_record, read_run, run_folders

MANIFEST = "manifest.json"


def _merged_name(run, chosen):
    """The name under which to store the run; "" if an equal run is among the chosen ones."""
    name = run["name"].partition("@")[0]
    machine = file_name_part(run["machine_name"] or "unknown")
    candidate, number = name, 1
    own = read_bytes(os.path.join(run["folder"], MANIFEST))
    while candidate in chosen:
        taken = chosen[candidate]
        if read_bytes(os.path.join(taken["folder"], MANIFEST)) == own:
            return ""
        if taken["machine_id"] == run["machine_id"]:
            raise UsageError(f"{taken['folder']} and {run['folder']} are different results of the same run, {name} on "
                             f"{run['machine_name'] or 'one machine'}: expected only one of them (run the experiment "
                             "with another seed or name to keep two)")
        candidate = f"{name}@{machine}{'' if number == 1 else f'-{number}'}"
        number += 1
    return candidate


def _uncertainty(file):
    """Relative gap and kkt of a reference. One without a gap counts as less exact than any with one."""
    record = read_record(file)
    known = lambda name, other: other if record[name] is None else record[name]  # noqa: E731
    return known("relative_gap", math.inf), known("relative_kkt", 1.0)


def merge_results(folders, out):
    """Copies runs and references into OUT. A run of another machine with a taken name becomes NAME@MACHINE; of two
    references for the same f* the more exact one is kept. OUT appears whole or not at all."""
    if os.path.exists(out) and (not os.path.isdir(out) or os.listdir(out)):
        raise UsageError(f"{out}: found files, expected a folder that is new or empty")
    chosen, notes, references = {}, [], {}
    for folder in folders:
        runs = [read_run(entry) for entry in run_folders(folder)]
        if not runs:
            raise in_file(os.path.join(folder, "runs"), 0, "no run", "the results of `proxbench run`")
        for run in runs:
            name = _merged_name(run, chosen)
            if name:
                chosen[name] = run
            else:
                notes.append(f"{run['folder']}: the same run is there already, copied once")
        for file in entries_of(os.path.join(folder, "references")):
            best = references.get(os.path.basename(file))
            if file.endswith(".json") and (best is None or _uncertainty(file) < _uncertainty(best)):
                references[os.path.basename(file)] = file
    configs = [os.path.join(folder, "config.ini") for folder in folders]
    for other in configs[1:]:
        if os.path.exists(other) and os.path.exists(configs[0]) and read_bytes(other) != read_bytes(configs[0]):
            notes.append(f"{other} differs from {configs[0]}, which is taken")
    _copy(chosen, references, configs[0], os.path.normpath(out))
    return len(chosen), len(references), notes


def _copy(chosen, references, config, out):
    folder, name = os.path.split(os.path.abspath(out))
    scratch = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        for below in ("runs", "references", "figures", "tables"):
            make_folder(os.path.join(scratch, below))
        if os.path.exists(config):
            shutil.copy(config, os.path.join(scratch, "config.ini"))
        for name, run in chosen.items():
            shutil.copytree(run["folder"], os.path.join(scratch, "runs", name))
        for name, file in references.items():
            shutil.copy(file, os.path.join(scratch, "references", name))
        if os.path.isdir(out):
            os.rmdir(out)
        os.rename(scratch, out)
    except OSError as error:
        raise in_file(out, 0, error, "a folder that can be written") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
