"""Stored results for other programs: runs, samples and points as CSV, SQLite or Parquet."""
import sqlite3
from contextlib import closing
from pathlib import Path

from .errors import ProxbenchError
from .fields import RUN, in_order
from .files import whole_file, write_text
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


def csv(frame):
    """As CSV without quotes."""
    texts = {name: column.astype(object).map(lambda text: str(text).translate(PLAIN), na_action="ignore")
             for name, column in frame.select_dtypes(["object", "category"]).items()}
    return csv_text(frame.assign(**texts))


def write(sweep, out, samples=False, points=False):
    """Writes the tables into one SQLite file, or a CSV or Parquet file each; "-": CSV on standard output."""
    if points:
        sweep.require("paths")
    tables, extension = tables_of(sweep), Path(out).suffix
    if samples or points or out == "-":
        name = "samples" if samples else "points" if points else "runs"
        tables = {name: tables[name]}
    try:
        if out == "-":
            print(*map(csv, tables.values()), sep="", end="")
        elif extension == ".sqlite":
            with whole_file(out) as name, closing(sqlite3.connect(name)) as database, database:
                for table, frame in tables.items():
                    frame.to_sql(table, database, index=False)
        else:
            for i, (table, frame) in enumerate(tables.items()):
                file = out if i == 0 else f"{out.removesuffix(extension)}-{table}{extension}"
                if extension == ".parquet":
                    with whole_file(file) as name:
                        frame.to_parquet(name, index=False)
                else:
                    write_text(file, csv(frame))
    except sqlite3.Error as error:
        raise ProxbenchError(f"{out}: cannot be written: {error}") from None
    except ImportError:
        raise ProxbenchError(f"{out}: Parquet files need the Python package pyarrow, which was not found; expected "
                             "it, or a name that ends in .csv or .sqlite") from None
