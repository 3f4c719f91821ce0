"""Stored results for other programs: runs, samples and points as CSV, SQLite or Parquet."""
import sqlite3
from contextlib import closing
from pathlib import Path

from .errors import Error
from .fields import RUN, in_order
from .files import whole_file
from .plots.texts import csv_text
from .sweep import IDENTITY

# Without quotes, NumPy's genfromtxt, pandas and R read the CSV alike.
PLAIN = str.maketrans({",": ";", '"': " ", "#": " ", "\n": " ", "\r": " ", "\t": " "})


def tables_of(sweep):
    """The frames runs, samples and points, with the columns of exports."""
    columns = in_order(sweep.runs, [field for field in RUN if field["use"] != "record"])
    out = {"runs": sweep.runs[list(dict.fromkeys([*IDENTITY, *columns, "relative_difference"]))],
           "samples": sweep.samples.drop(columns="run")}
    if len(sweep.points):
        out["points"] = sweep.points.drop(columns="run")
    return out


def for_benchopt(sweep):
    """The samples with the columns that benchopt's result page reads, of versions 1.0 to 1.9: it takes data_name for
    dataset_name. Every quantity is a column objective_NAME; a problem of ours is a data set with an objective."""
    out = sweep.samples
    penalty = "lambda = " + out["lambda"].map("{:g}".format) + ", mu = " + out["mu"].map("{:g}".format)
    more = out[["loss", "nnz", "kkt", "gap", "test_accuracy", "passes"]].dropna(axis=1, how="all")
    return out[[]].assign(
        objective_name=penalty, obj_description="", solver_name=out["label"].astype(str), solver_description="",
        data_name=out["dataset"].astype(str), idx_rep=out["repetition"] - 1, sampling_strategy="Callback",
        stop_val=out["iteration"], time=out["seconds"], objective_value=out["objective"]).join(
        more.add_prefix("objective_"))


def csv(frame):
    """As CSV without quotes."""
    texts = {name: column.astype(object).map(lambda text: str(text).translate(PLAIN), na_action="ignore")
             for name, column in frame.select_dtypes(["object", "category"]).items()}
    return csv_text(frame.assign(**texts))


def write(sweep, out, only=""):
    """Writes the tables, or only `samples`, `points` or `benchopt`, into one SQLite file, or a CSV or Parquet file
    each; "-": CSV on standard output."""
    if only == "points":
        sweep.require("paths")
    tables, file = tables_of(sweep), Path(out)
    if only == "benchopt":
        tables = {"samples": for_benchopt(sweep)}
    elif only or out == "-":
        tables = {only: tables[only or "runs"]}
    try:
        if out == "-":
            print(*map(csv, tables.values()), sep="", end="")
        elif file.suffix == ".sqlite":
            with whole_file(out) as name, closing(sqlite3.connect(name)) as database, database:
                for table, frame in tables.items():
                    frame.to_sql(table, database, index=False)
        else:
            for i, (table, frame) in enumerate(tables.items()):
                with whole_file(file.with_stem(f"{file.stem}-{table}") if i else file) as name:
                    if file.suffix == ".parquet":
                        frame.to_parquet(name, index=False)
                    else:
                        name.write_text(csv(frame), "utf-8")
    except sqlite3.Error as error:
        raise Error(f"{out}: cannot be written: {error}") from None
    except ImportError:
        raise Error(f"{out}: Parquet files need the Python package pyarrow, which was not found; expected "
                             "it, or a name that ends in .csv or .sqlite") from None
