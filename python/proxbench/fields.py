"""The fields of stored results and the keys of configs, as `proxbench list --fields` of the program prints them.

The build writes them into fields.json beside this module's link. No field is named with its type anywhere else.
"""
import json
import math
import os

from .errors import ProxbenchError

FILE = os.path.join(os.path.dirname(__file__), "fields.json")


def _read():
    try:
        with open(FILE, encoding="utf-8") as text:
            return json.load(text)
    except (OSError, ValueError) as error:
        raise ProxbenchError(
            f"{FILE}: found no table of fields ({error}), expected the folder build/release/python of a build"
        ) from None


TABLES = _read()
RUN, TRACE, PATH = TABLES["run"], TABLES["trace"], TABLES["path"]
RECORD_VERSION, STATUSES, PHASES = TABLES["record_version"], TABLES["statuses"], TABLES["phases"]
UNITS = {field.get("column", field["name"]): field["unit"] for table in (RUN, TRACE, PATH) for field in table
         if field["unit"]}
HELP = {field.get("column", field["name"]): field["help"] for table in (PATH, TRACE, RUN) for field in table}


def place(field):
    """Where a manifest holds the field: the keys on the way to it."""
    return tuple(part for part in (*field["section"].split("."), field["name"]) if part)


def config_key(section, name):
    return next(key for key in TABLES["config"][section] if key["name"] == name)


def number_text(value):
    """The shortest text that reads back to the same number."""
    if not isinstance(value, float):
        return str(value)
    text = repr(float(value))
    return text.removesuffix(".0") if not math.isnan(value) else ""


def real(value):
    """A stored number; NaN for what was not measured."""
    return math.nan if value is None else float(value)
