"""The fields of stored results and the keys of configs, as `proxbench list --fields` of the program prints them.

The build writes them into fields.json beside this module's link. No field is named with its type anywhere else.
"""
from pathlib import Path

from .files import read_json

TABLES = read_json(Path(__file__).with_name("fields.json"), "the table of fields in the folder python of a build")
RUN, TRACE, PATH = TABLES["run"], TABLES["trace"], TABLES["path"]
RECORD_VERSION, STATUSES, PHASES = TABLES["record_version"], TABLES["statuses"], TABLES["phases"]


def column_of(field):
    return field.get("column", field["name"])


def in_order(frame, fields):
    """The columns of a frame by a table of fields, in its order; each metric has a column NAME.METRIC."""
    return [name for field in fields for name in sorted(frame) if name.split(".")[0] == column_of(field)]


UNITS = {column_of(field): field["unit"] for field in [*RUN, *TRACE, *PATH] if field["unit"]}


def place(field):
    """Where a manifest holds the field: the keys on the way to it."""
    return tuple(part for part in (*field["section"].split("."), field["name"]) if part)


def config_key(section, name):
    return next(key for key in TABLES["config"][section] if key["name"] == name)


def number_text(value, digits=None):
    """The shortest text that reads back to the same number (or to that with so many digits); "" for NaN."""
    if not isinstance(value, float):
        return str(value)
    text = repr(float(value if digits is None else f"{value:.{digits}g}"))
    return "" if text == "nan" else text.removesuffix(".0")
