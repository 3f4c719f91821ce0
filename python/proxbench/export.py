"""Stored results for other programs: runs, samples and points as CSV, SQLite or Parquet."""
import os

from .errors import ProxbenchError
from .files import whole_file
from .plots.paths import point_columns, require_paths
from .sweep import COLUMNS, IDENTITY, load_folder

# Without quotes, NumPy's genfromtxt, pandas and R read the CSV alike.
PLAIN = str.maketrans({",": ";", '"': " ", "#": " ", "\n": " ", "\r": " ", "\t": " "})


def tables_of(sweep):
    """The frames runs, samples and points, with the columns of exports."""
    runs = sweep.runs
    shown = [name for name in runs if name.partition(".")[0] in {*IDENTITY, *COLUMNS}]
    out = {"runs": runs[[*shown, "relative_difference"]], "samples": sweep.samples.drop(columns="run")}
    if len(sweep.points):
        points = sweep.points
        out["points"] = points[[name for name in IDENTITY if name in points and name not in ("lambda", "mu")]
                               + point_columns(points)]
    return out


def csv(frame):
    """Texts without separators, truth values as words, numbers in full precision and nothing for what is missing."""
    out = frame.copy()
    for name in out:
        if out[name].dtype == bool:
            out[name] = out[name].map({True: "true", False: "false"})
        elif out[name].dtype.kind not in "fiu":
            out[name] = out[name].astype(object).map(lambda text: str(text).translate(PLAIN), na_action="ignore")
        elif out[name].dtype.kind == "f" and (out[name].dropna() % 1 == 0).all() and (out[name].abs().max() < 1e15):
            out[name] = out[name].astype("Int64")
    return out.to_csv(index=False)


def export(folder, out, samples, points, warn):
    """Writes the tables. Returns whether all results could be read."""
    sweep = load_folder(folder)
    for _, why in sweep.left_out:
        warn(f"{why}; left out")
    if points:
        require_paths(sweep)
    tables = tables_of(sweep)
    if samples or points:
        tables = {name: tables[name] for name in (["samples"] if samples else ["points"]) if name in tables}
    elif out == "-":
        tables = {"runs": tables["runs"]}
    stem, extension = os.path.splitext(out)
    if out == "-":
        print("".join(map(csv, tables.values())), end="")
    elif extension == ".sqlite":
        import sqlite3
        from contextlib import closing

        try:
            with whole_file(out) as name, closing(sqlite3.connect(name)) as database, database:
                for table, frame in tables.items():
                    frame.to_sql(table, database, index=False)
        except sqlite3.Error as error:
            raise ProxbenchError(f"{out}: cannot be written: {error}") from None
    else:
        _write_files(tables, out, stem, extension)
    return not sweep.left_out


def _write_files(tables, out, stem, extension):
    if extension == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ProxbenchError(f"{out}: Parquet files need the Python package pyarrow, which is not installed; "
                                 "expected it (pip install pyarrow), or a name that ends in .csv or .sqlite") from None
    for i, (table, frame) in enumerate(tables.items()):
        with whole_file(out if i == 0 else f"{stem}-{table}{extension}") as name:
            if extension == ".parquet":
                frame.to_parquet(name, index=False)
            else:
                with open(name, "w", encoding="utf-8", newline="") as file:
                    file.write(csv(frame))
