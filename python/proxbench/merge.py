"""Combines the results of several folders. Copies bytes, and prints no number again."""
import filecmp
import math
import shutil
import tempfile
from pathlib import Path

from .errors import Error, UsageError
from .files import file_name_part
from .records import read_each, read_record, reference_files, run_folders


def _merged_name(run, chosen):
    """The name under which to store the run; None if an equal run is among the chosen ones."""
    candidate = name = run["name"].partition("@")[0]
    machine, number = file_name_part(run["machine_name"] or "unknown"), 1
    while candidate in chosen:
        taken = chosen[candidate]
        if filecmp.cmp(*(f"{one['folder']}/manifest.json" for one in (taken, run)), shallow=False):
            return None
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
    return tuple(other if math.isnan(record[name]) else record[name]
                 for name, other in (("relative_gap", math.inf), ("relative_kkt", 1.0)))


def merge_results(folders, out):
    """Copies runs and references into OUT. A run of another machine with a taken name becomes NAME@MACHINE; of two
    references for the same f* the more exact one is kept. OUT appears whole or not at all. Returns the numbers of runs
    and references, and notes on what was not copied."""
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError.at(out, "files", "a folder that is new or empty")
    chosen, notes, references = {}, [], {}
    for folder in map(Path, folders):
        for run in read_each(run_folders(folder)):
            if name := _merged_name(run, chosen):
                chosen[name] = run
            else:
                notes.append(f"{run['folder']}: the same run is there already, copied once")
        for file in reference_files(folder):
            references[file.name] = min(references.get(file.name, file), file, key=_uncertainty)
    config, *others = [Path(folder) / "config.ini" for folder in folders]
    for other in others:
        if other.exists() and config.exists() and not filecmp.cmp(other, config, shallow=False):
            notes.append(f"{other} differs from {config}, which is taken")
    _copy(chosen, references, config, out.absolute())
    return len(chosen), len(references), notes


def _copy(runs, references, config, out):
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
            whole = Path(scratch) / out.name
            for below in ("runs", "references", "figures", "tables"):
                (whole / below).mkdir(parents=True)
            if config.exists():
                shutil.copy(config, whole)
            for name, run in runs.items():
                shutil.copytree(run["folder"], whole / "runs" / name)
            for file in references.values():
                shutil.copy(file, whole / "references")
            whole.rename(out)  # which may be there, and empty
    except OSError as error:
        raise Error.at(out, error, "a folder that can be written") from None
