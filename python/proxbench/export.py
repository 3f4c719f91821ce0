"""Stored results for other programs: runs, samples and points as CSV, SQLite or Parquet."""
import os

from .errors import ProxbenchError
from .fields import PATH, RUN
from .files import whole_file, write_text
from .records import in_order
from .sweep import IDENTITY

# Without quotes, NumPy's genfromtxt, pandas and R read the CSV alike.
PLAIN = str.maketrans({",": ";", '"': " ", "#": " ", "\n": " ", "\r": " ", "\t": " "})


def tables_of(sweep):
    """The frames runs, samples and points, with the columns of exports."""
    asked = [field for field in RUN if field["use"] != "record"]
    columns = [name for field in asked for name in sorted(sweep.runs)
               if name == field["column"] or field["type"] == "numbers" and name.startswith(field["column"] + ".")]
    out = {"runs": sweep.runs[list(dict.fromkeys([*IDENTITY, *columns, "relative_difference"]))],
           "samples": sweep.samples.drop(columns="run")}
    if len(sweep.points):
        names = [name for name in IDENTITY if name not in ("lambda", "mu")]
        out["points"] = sweep.points[names + in_order(sweep.path_points, PATH)]
    return out


def for_benchopt(sweep):
    """The samples with the columns that benchopt's result page reads, of versions 1.0 to 1.9: it takes data_name for
    dataset_name. Every quantity is a column objective_NAME; a problem of ours is a data set with an objective."""
    out = sweep.samples
    penalty = "lambda = " + out["lambda"].map("{:g}".format).astype(str) + ", mu = " + out["mu"].map("{:g}".format).astype(str)
    frame = out[[]].assign(objective_name=penalty, obj_description="", solver_name=out["label"].astype(str),
                           solver_description="", data_name=out["dataset"].astype(str), idx_rep=out["repetition"] - 1,
                           sampling_strategy="Callback", stop_val=out["iteration"], time=out["seconds"],
                           objective_value=out["objective"])
    for name in ("loss", "nnz", "kkt", "gap", "test_accuracy", "passes"):
        if out[name].notna().any():
            frame[f"objective_{name}"] = out[name]
    return frame


def csv(frame):
    """Texts without separators, truth values as words, integers without a point, and nothing for what is missing."""
    out = frame.copy()
    for name, column in frame.items():
        if column.dtype == bool:
            out[name] = column.map({True: "true", False: "false"})
        elif column.dtype.kind not in "fiu":
            out[name] = column.astype(object).map(lambda text: str(text).translate(PLAIN), na_action="ignore")
        elif column.dtype.kind == "f" and (column.dropna() % 1 == 0).all() and column.abs().max() < 1e15:
            out[name] = column.astype("Int64")
    return out.to_csv(index=False)


def write(sweep, out, samples=False, points=False, benchopt=False):
    """Writes the tables into one SQLite file, or a CSV or Parquet file each; "-": CSV on standard output."""
    if points:
        sweep.require("paths")
    tables, (stem, extension) = tables_of(sweep), os.path.splitext(out)
    if benchopt:
        tables = {"samples": for_benchopt(sweep)}
    elif samples or points or out == "-":
        name = "samples" if samples else "points" if points else "runs"
        tables = {name: tables[name]}
    if out == "-":
        print(*map(csv, tables.values()), sep="", end="")
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
        for i, (table, frame) in enumerate(tables.items()):
            file = out if i == 0 else f"{stem}-{table}{extension}"
            if extension != ".parquet":
                write_text(file, csv(frame))
                continue
            try:
                with whole_file(file) as name:
                    frame.to_parquet(name, index=False)
            except ImportError:
                raise ProxbenchError(f"{out}: Parquet files need the Python package pyarrow, which was not found; "
                                     "expected it, or a name that ends in .csv or .sqlite") from None
